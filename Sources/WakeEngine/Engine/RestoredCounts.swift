// Composes the counters of a handler's past that `restored` contains.
import WakeCore
import WakeJournal
import WakeModel

extension Turn {
    /// Launches and acknowledgements count from the bridge's start; queued and dead-lettered events count as of now.
    /// Read once a launch, so that looking the dead letters up costs no wake of a suspended process.
    func counters(of handler: HandlerID) -> Restoration.Counters {
        var counters = Restoration.Counters()
        if let standing = handlerStatus(of: handler) {
            counters.launches = standing.launches
            counters.acknowledged = standing.outcomes.acknowledged
            counters.useful = standing.outcomes.useful
            counters.nothing = standing.outcomes.nothing
            counters.failed = standing.outcomes.failed
            // Its first batch is leased by now, and the process has not been given it.
            counters.queued = UInt64(standing.queuedCount + standing.openCount)
        }
        counters.deadLetters = UInt64(journal.deadLetters().count { $0.handler == handler })
        return counters
    }
}
