// What a device's node gives, and how it shows that its device is gone: the same for serial lines, hidraw and evdev.
import CLinux
import Glibc

/// What one read of a node brought. Read until it would block: one look at a node that is ready is not enough.
public enum NodeReading<Content: Sendable>: Sendable {
    case content(Content)
    /// Nothing is there yet; wait for readiness.
    case wouldBlock
    /// The device is gone. Close the node at once: as long as it is open, the device cannot come back under its old name.
    case closed
}

extension NodeReading: Equatable where Content: Equatable {}

extension Errno {
    /// What lets a node be opened that answered this; nil where it is not known.
    fileprivate func adviceOfNode(_ path: String) -> String? {
        switch self {
        case .busy: "another program has it for itself; 'fuser -v \(path)' names it"
        case .denied: "install the udev rules and join their group: wakebridge doctor"
        // Of a node, the kernel says it for the control group alone.
        case .notPermitted: "its container or unit was not given it: '--device=\(path)', or DeviceAllow= of the unit"
        default: nil
        }
    }

    /// What calls on a node answer once its device is gone.
    public var tellsGone: Bool { [EIO, ENODEV, ENXIO, ESHUTDOWN].contains(code) }
}

extension FileDescriptor {
    /// Opens a node for reading and writing, never waiting, and never as the terminal that controls this process.
    static func openNode(_ path: String) throws(SystemError) -> FileDescriptor {
        let answer = attempt { Int(open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) }
        if case .failure(.busy) = answer { throw SystemError.taken(path) }
        if case .failure(let errno) = answer, let advice = errno.adviceOfNode(path) {
            throw SystemError("open", path, errno, advice: advice)
        }
        return FileDescriptor(owningNode: Int32(try answer.get("open", path)))
    }

    /// Reads once, at most `limit` bytes, from the node at `path`. An end of file is what a hang-up leaves behind; but where
    /// another program shares a line, and has set it so that an empty one reads as its end, it is nothing.
    borrowing func readNode(_ path: String, limit: Int) throws(SystemError) -> NodeReading<[UInt8]> {
        var bytes: [UInt8] = []
        switch answerOfRead(appendingTo: &bytes, limit: limit) {
        case .value(0): return hasHungUp() ? .closed : .wouldBlock
        case .value: return .content(bytes)
        case .failure(.wouldBlock): return .wouldBlock
        case .failure(let errno) where errno.tellsGone: return .closed
        case .failure(let errno): throw SystemError("read", path, errno)
        }
    }

    /// Writes once to the node at `path`. Drivers say EIO too of a device that is there and would not take it; only where
    /// it has hung up as well is it gone.
    borrowing func writeNode(_ bytes: ArraySlice<UInt8>, _ path: String) throws(SystemError) -> WriteResult {
        switch answerOfWrite(bytes) {
        case .value(let count): return .wrote(count)
        case .failure(.wouldBlock): return .wouldBlock
        case .failure(let errno) where errno.tellsGone && (errno.code != EIO || hasHungUp()): return .closed
        case .failure(let errno): throw SystemError("write to", path, errno)
        }
    }

    private borrowing func hasHungUp() -> Bool { clinux_is_hung_up(raw) > 0 }
}

extension SystemError {
    /// Somebody else has the node for themselves.
    static func taken(_ path: String) -> SystemError {
        SystemError("open", path, .busy, advice: Errno.busy.adviceOfNode(path))
    }
}
