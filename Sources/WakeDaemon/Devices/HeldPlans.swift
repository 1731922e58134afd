// What devices go on with that were connected when profiles changed, until their links have ended.
import WakeSources

struct HeldPlans<Plan> {
    private var plans: [String: Plan] = [:]

    /// What is asked of each now, by source.
    mutating func hold(_ plans: [String: Plan]) { self.plans = plans }

    /// Nil for one that has been away since.
    mutating func plan(for peripheral: BluezPeripheral) -> Plan? {
        guard !peripheral.isConnected else { return plans[peripheral.uri] }
        plans[peripheral.uri] = nil
        return nil
    }
}
