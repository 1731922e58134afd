// Why a call over the bus failed: what the other side answered, or what kept us from asking.
import CSystemd
import Glibc
import WakeSystem

public struct BusError: Error, Hashable, Sendable {
    /// As D-Bus names it: `org.bluez.Error.InProgress`.
    public let name: String
    /// What the other side says of it, for people.
    public let message: String

    public init(name: String, message: String) {
        self.name = name
        self.message = message
    }

    /// Nobody answered within the time given.
    public var isTimeout: Bool {
        ["org.freedesktop.DBus.Error.Timeout", "org.freedesktop.DBus.Error.NoReply"].contains(name)
    }
    /// Nobody of that name is on the bus, and nobody can be started.
    public var isNobodyThere: Bool {
        [
            "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
            "org.freedesktop.DBus.Error.Spawn.ChildExited",
        ].contains(name)
    }
    public var isUnknownObject: Bool {
        ["org.freedesktop.DBus.Error.UnknownObject", "org.freedesktop.DBus.Error.UnknownMethod"].contains(name)
    }

    static func malformed(_ what: String) -> BusError {
        BusError(name: "org.freedesktop.DBus.Error.InvalidSignature", message: "the message holds \(what)")
    }

    /// `code` is sd-bus's -errno.
    static func local(_ attempted: String, _ code: Int32) -> BusError {
        let reason = Errno(code: -code).description
        return BusError(
            name: "org.freedesktop.DBus.Error.Failed", message: "could not \(attempted): \(reason)")
    }

    /// The error that a message is, if it is one.
    static func carried(by message: OpaquePointer) -> BusError? {
        guard sd_bus_message_is_method_error(message, nil) > 0, let error = sd_bus_message_get_error(message)?.pointee
        else { return nil }
        return BusError(
            name: error.name.map { String(cString: $0) } ?? "",
            message: error.message.map { String(cString: $0) } ?? "")
    }
}

extension BusError: CustomStringConvertible {
    /// `Operation already in progress (org.bluez.Error.InProgress)`.
    public var description: String { message.isEmpty ? name : "\(message) (\(name))" }
}
