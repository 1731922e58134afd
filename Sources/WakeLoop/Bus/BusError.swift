// Why a call over the bus failed: the other side's error, or why the call could not be made.
import CSystemd
import Glibc
import WakeSystem

public struct BusError: Error, Hashable, Sendable {
    /// The D-Bus name: `org.bluez.Error.InProgress`.
    public let name: String
    /// The other side's text, for people.
    public let message: String

    public init(name: String, message: String) {
        self.name = name
        self.message = message
    }

    /// No answer came within the timeout.
    public var isTimeout: Bool {
        ["org.freedesktop.DBus.Error.Timeout", "org.freedesktop.DBus.Error.NoReply"].contains(name)
    }
    /// No program has that name on the bus, and none can be started.
    public var isNobodyThere: Bool {
        [
            "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
            "org.freedesktop.DBus.Error.Spawn.ChildExited",
        ].contains(name)
    }
    /// The policy of the bus, or the other side, refuses this user.
    public var isDenied: Bool {
        ["org.freedesktop.DBus.Error.AccessDenied", "org.freedesktop.DBus.Error.AuthFailed"].contains(name)
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

    /// The error in a message, if it is an error.
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
