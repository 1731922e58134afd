// NetworkManager's state, where it runs: whether the world can be reached, and whether traffic costs money.
import WakeLoop
import WakeModel
import WakeSystem

/// Follows its coming and going, and never starts it.
final class NetworkManagerLook {
    private var subscriptions: [BusSubscription] = []
    private let connection: BusConnection
    /// The properties that were read; empty while it does not run.
    private var known: [String: BusValue] = [:]

    private static let name = "org.freedesktop.NetworkManager"
    private static let path = "/org/freedesktop/NetworkManager"
    private static let wanted: Set<String> = ["Connectivity", "ConnectivityCheckEnabled", "Metered"]

    /// Calls `changed` when an answer may be another one. The connection must live longer than this.
    init(on connection: BusConnection, _ changed: @escaping () -> Void) throws(SystemError) {
        self.connection = connection
        let owner = BusRule(
            sender: "org.freedesktop.DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged",
            argument: Self.name)
        let properties = BusRule(
            sender: Self.name, path: .exactly(Self.path), interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged", argument: Self.name)
        subscriptions = [
            try connection.subscribe(owner, of: self) { look, signal in look.hearOwner(signal, changed) },
            try connection.subscribe(properties, of: self) { look, signal in look.hearProperties(signal, changed) },
        ]
        ask(changed)
    }

    /// It has checked, and reached a portal or nothing beyond this network. A report of no connection of its own is no
    /// proof: another program may keep one.
    var findsNoWay: Bool {
        guard known["ConnectivityCheckEnabled"]?.boolean != false else { return false }
        switch known["Connectivity"]?.integer {
        case Self.portal, Self.limited: return true
        default: return false
        }
    }

    private static let portal: Int64 = 2
    private static let limited: Int64 = 3

    /// True for a primary connection that costs money; an unknown one costs nothing.
    var isMetered: Bool {
        switch known["Metered"]?.integer {
        case Self.yes, Self.guessedYes: true
        default: false
        }
    }

    private static let yes: Int64 = 1
    private static let guessedYes: Int64 = 3

    private func ask(_ changed: @escaping () -> Void) {
        var call = BusCall(Self.name, Self.path, "org.freedesktop.DBus.Properties", "GetAll", [.string(Self.name)])
        call.startsDestination = false
        connection.call(call, within: .seconds(5)) { [weak self] result in
            guard let self else { return }
            known = [:]
            if case .success(let values) = result, let properties = values.first { add(properties) }
            changed()
        }
    }

    private func hearOwner(_ signal: BusSignal, _ changed: @escaping () -> Void) {
        known = [:]
        changed()
        if signal.arguments.count > 2, signal.arguments[2].string != "" { ask(changed) }
    }

    private func hearProperties(_ signal: BusSignal, _ changed: @escaping () -> Void) {
        guard signal.arguments.count > 2 else { return }
        add(signal.arguments[1])
        let stale = signal.arguments[2].array?.compactMap(\.string) ?? []
        if Self.wanted.isDisjoint(with: stale) { changed() } else { ask(changed) }
    }

    private func add(_ properties: BusValue) {
        for name in Self.wanted { if let value = properties[name] { known[name] = value } }
    }
}
