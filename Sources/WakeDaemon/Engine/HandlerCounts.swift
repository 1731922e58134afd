// What a handler is told of its past in `restored`, counted as the decisions are made.
import WakeCore
import WakeJournal
import WakeModel

/// Launches and acknowledgements count from the bridge's start; what is queued and dead-lettered is as it stands.
final class HandlerCounts: DecisionListener {
    private unowned let engine: Engine
    private var acknowledged: [HandlerID: UInt64] = [:]

    init(engine: Engine) { self.engine = engine }

    func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        if case .acknowledged(_, let count) = decision { acknowledged[handler, default: 0] += UInt64(count) }
    }

    /// Asked once a launch, so that looking the dead letters up costs no wake of a suspended process.
    func counters(of handler: HandlerID) -> Restoration.Counters {
        var counters = Restoration.Counters()
        let standing = engine.standing(of: handler)
        counters.launches = standing?.launches ?? 0
        counters.acknowledged = acknowledged[handler] ?? 0
        // Its first batch is leased by now, and the process has not been given it.
        counters.queued = UInt64((standing?.queuedCount ?? 0) + (standing?.openCount ?? 0))
        counters.deadLetters = UInt64(engine.journal.deadLetters().count { $0.handler == handler })
        return counters
    }
}
