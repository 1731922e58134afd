// Which devices a handler is not woken for because its manifest requires a bond, and how an operator learns of it.
import WakeCore
import WakeEngine
import WakeModel

extension HandlerReasons {
    /// The devices that a bond would bring to it; none while it waits for an operator, or for a penalty's end.
    func unbonded(of standing: HandlerStatus) -> [Device] { unproved(to: standing).filter(canBond) }

    /// Why it is not woken for some of its devices; nil where nothing is in the way.
    func bondClause(of standing: HandlerStatus) -> String? {
        let (unproved, areReal) = (unproved(to: standing), devices.sources.areReal)
        let bonding = unproved.filter { canBond($0) && !keepsNoBond($0) }
        let clauses = [
            Self.clause(bonding) { alias in
                "not bonded; bond it with: wakebridge pair \(alias.asShellWord); where it cannot bond, \(Self.waiver)"
            },
            Self.clause(unproved.filter(keepsNoBond)) { _ in "paired and keeps no bond; \(Self.waiver)" },
            Self.clause(unproved.filter { !canBond($0) }) { _ in
                !areReal ? "not bonded, as nothing in a trace is" : "without Bluetooth, so without a bond"
            },
        ].compactMap { $0 }
        guard !clauses.isEmpty else { return nil }
        return "its manifest requires bonded devices, and \(clauses.joined(separator: "; "))"
    }

    private static let waiver = "remove \"bonded\" from require in the manifest"

    /// It was paired, and stored no keys.
    private func keepsNoBond(_ device: Device) -> Bool {
        devices.sources.bluetooth?.client.mirror.peripherals.values.contains {
            $0.uri == device.uri && $0.isPaired && !$0.isBonded
        } ?? false
    }

    private func canBond(_ device: Device) -> Bool {
        devices.sources.areReal && Device.bluetoothAddress(in: device.uri) != nil
    }

    private func unproved(to standing: HandlerStatus) -> [Device] {
        switch standing.state {
        case .stopped, .quarantined, .held: return []
        case .idle, .launching, .active, .expiring, .suspending, .suspended, .terminating: break
        }
        guard let settings = catalog.handlers[standing.handler]?.settings else { return [] }
        return catalog.devices(watchedBy: standing.handler).map(\.device)
            .filter { !settings.accepts($0) && !devices.isForgotten($0) }
    }

    /// The first of them by name; `what` goes on after "is", of the first.
    private static func clause(_ devices: [Device], _ what: (String) -> String) -> String? {
        guard let first = devices.first else { return nil }
        let others = devices.count - 1
        let verb = others == 0 ? "is" : "and \(others.counted("other")) are"
        return "\(first.alias) \(verb) \(what(first.alias))"
    }
}
