// D-Bus signals: match rules, and the content of one signal.
import CSystemd
import WakeSystem

/// Which signals to receive (D-Bus Specification, "Match Rules"). Nil matches any.
public struct BusRule: Hashable, Sendable {
    public enum Path: Hashable, Sendable {
        case exactly(String)
        /// This object and all objects below it.
        case under(String)
    }

    public var sender: String?
    public var path: Path?
    public var interface: String?
    public var member: String?
    /// The first argument, where it is a text.
    public var argument: String?

    public init(
        sender: String? = nil, path: Path? = nil, interface: String? = nil, member: String? = nil,
        argument: String? = nil
    ) {
        self.sender = sender
        self.path = path
        self.interface = interface
        self.member = member
        self.argument = argument
    }

    var wireName: String {
        var parts = ["type='signal'"]
        if let sender { parts.append("sender='\(sender)'") }
        switch path {
        case .exactly(let path): parts.append("path='\(path)'")
        case .under(let path): parts.append("path_namespace='\(path)'")
        case nil: break
        }
        if let interface { parts.append("interface='\(interface)'") }
        if let member { parts.append("member='\(member)'") }
        if let argument { parts.append("arg0='\(argument)'") }
        return parts.joined(separator: ",")
    }
}

/// Changes of properties that are dropped unread: those of objects that wait for none of them.
public struct BusGlance {
    let names: StaticString
    let isIdle: (String) -> Bool

    /// - Parameters:
    ///   - names: of properties, each ended by a zero, the last by two: `"RSSI\0TxPower\0\0"`.
    ///   - isIdle: whether nothing waits for such a change of the object at a path.
    public init(_ names: StaticString, isIdle: @escaping (String) -> Bool) {
        (self.names, self.isIdle) = (names, isIdle)
    }

    /// Asked for every signal of many devices: its values are not read.
    func drops(_ message: OpaquePointer) -> Bool {
        guard let path = sd_bus_message_get_path(message), isIdle(String(cString: path)) else { return false }
        return csystemd_changes_only(message, names.utf8Start)
    }
}

public struct BusSignal {
    /// The unique name of the sender, `:1.7`.
    public let sender: String
    public let path: String
    public let interface: String
    public let member: String
    public let arguments: [BusValue]

    package init(sender: String, path: String, interface: String, member: String, arguments: [BusValue]) {
        (self.sender, self.path, self.interface) = (sender, path, interface)
        (self.member, self.arguments) = (member, arguments)
    }
}

extension BusSignal {
    init(_ message: OpaquePointer) throws(BusError) {
        self.init(
            sender: sd_bus_message_get_sender(message).map { String(cString: $0) } ?? "",
            path: sd_bus_message_get_path(message).map { String(cString: $0) } ?? "",
            interface: sd_bus_message_get_interface(message).map { String(cString: $0) } ?? "",
            member: sd_bus_message_get_member(message).map { String(cString: $0) } ?? "",
            arguments: try BusMessage.values(of: message))
    }
}

/// A subscription for as long as this object is kept. The rule is sent at once, without waiting, so a call made after it is
/// answered after the rule holds: subscribe first, then ask.
public final class BusSubscription {
    private var slot: OpaquePointer?
    private let glance: BusGlance?
    private let body: (BusSignal) -> Void

    init(
        on bus: OpaquePointer, _ rule: BusRule, _ glance: BusGlance?, _ body: @escaping (BusSignal) -> Void
    ) throws(SystemError) {
        (self.glance, self.body) = (glance, body)
        let code = sd_bus_add_match_async(
            bus, &slot, rule.wireName,
            { message, owner, _ in
                guard let owner, let message else { return 0 }
                Unmanaged<BusSubscription>.fromOpaque(owner).takeUnretainedValue().hear(message)
                // Another subscription may match the same signal.
                return 0
            }, nil, Unmanaged.passUnretained(self).toOpaque())
        try check(code, "listen to the bus for", rule.wireName)
    }

    deinit { cancel() }

    public func cancel() {
        sd_bus_slot_unref(slot)
        slot = nil
    }

    /// Every matching rule reads the same message, so each rewinds it. A message that cannot be read is skipped: sd-bus has
    /// checked its form, so it has a type that the specification does not know.
    private func hear(_ message: OpaquePointer) {
        if let glance, glance.drops(message) { return }
        sd_bus_message_rewind(message, 1)
        guard let signal = try? BusSignal(message) else { return }
        body(signal)
    }
}
