// Why a node could not be opened.
import WakeSystem

public enum PortRefusal: Error, Hashable, Sendable {
    /// EACCES, or a node that is not there yet: right after the plug udev may still be at work.
    case denied(String)
    /// Another program has it exclusively.
    case busy(String)
    /// The device is not near, or the way to it is not there: nothing is wrong.
    case absent(String)
    case other(String)

    var sentence: String {
        switch self {
        case .denied(let why), .busy(let why), .absent(let why), .other(let why): why
        }
    }
}

extension PortRefusal {
    init(_ error: SystemError) {
        switch error.errno {
        case .denied, .notPermitted, .noEntry: self = .denied(error.description)
        case .busy: self = .busy(error.description)
        default: self = .other(error.description)
        }
    }
}
