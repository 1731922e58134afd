// Answers queries about the core between two inputs.
import WakeAgenda
import WakeCore
import WakeModel
import WakeSources

extension Turn {
    package var nextMonotonicDeadline: Instant? {
        .earlier(ask { $0.nextMonotonicDeadline }, agenda.nextMonotonicDeadline)
    }
    package var nextBoottimeDeadline: Instant? {
        .earlier(ask { $0.nextBoottimeDeadline }, agenda.nextBoottimeDeadline)
    }
    package var nextWallDeadline: WallTime? { agenda.nextWallDeadline }
    /// Whether the passing of time alone goes on with what has begun, beside what is scheduled: a handler is still to do
    /// something, or data comes whose end is awaited.
    var hasWorkInHand: Bool {
        agenda.hasTraffic || ask { $0.nextMonotonicDeadline != nil || $0.nextBoottimeDeadline != nil }
    }
    /// Whether something is scheduled.
    var hasSchedule: Bool { agenda.nextBoottimeDeadline != nil || agenda.nextWallDeadline != nil }
    /// Whether anything follows now although nothing else happens.
    func isDue(at stamp: Stamp) -> Bool {
        nextMonotonicDeadline.map { $0 <= stamp.moment.monotonic } ?? false
            || nextBoottimeDeadline.map { $0 <= stamp.moment.boottime } ?? false
            || nextWallDeadline.map { $0 <= stamp.wall } ?? false
    }
    /// The scheduled entries of one handler, or of all.
    package func pending(of handler: HandlerID?) -> [PendingEntry] { agenda.pending(of: handler, at: clock.stamp()) }
    /// How much that is, and what comes due next.
    package func outlook(of handler: HandlerID) -> AgendaOutlook { agenda.outlook(of: handler, at: clock.stamp()) }
    /// The conditions that keep a handler's gates closed; empty where they are open.
    package func closedGates(of handler: HandlerID) -> [PendingEntry.Wait] {
        agenda.closedGates(of: handler, at: clock.stamp())
    }
    /// Nil where its manifest has none.
    package func peripheral(of handler: HandlerID) -> PeripheralStanding? { agenda.peripheral(of: handler) }
    package var conditions: [ConditionStanding] { agenda.conditions(at: clock.stamp()) }
    /// The name of an open transfer, by its number.
    package func transferName(of handler: HandlerID, _ number: Int64) -> String? {
        agenda.transferName(of: handler, number)
    }
    package func transferNumber(of handler: HandlerID, _ name: String) -> Int64? {
        agenda.transferNumber(of: handler, name)
    }
    /// The entries of a source that a person may raise.
    package func startable(_ source: AgendaSource, of handler: HandlerID) -> [String] {
        agenda.startable(source, of: handler)
    }
    package func obstacle(to key: AgendaKey) -> OperationObstacle? { agenda.obstacle(to: key, at: clock.stamp()) }
    var nextSequence: Sequence { ask { $0.nextSequence } }
    package var isSettled: Bool { ask { $0.isSettled } }
    var isQuiet: Bool { ask { $0.isQuiet } }
    /// No process of a handler runs.
    package var isEverybodyAsleep: Bool { ask { $0.isEverybodyAsleep } }
    package var isBackedUp: Bool { ask { $0.isBackedUp } }
    package var isFed: Bool { ask { $0.isFed } }
    /// A trace that keeps its own time waits where half a queue is full, and one that keeps none while a handler is at work.
    func mustWait(at speed: ReplaySpeed) -> Bool { speed == .max ? isFed : isBackedUp }
    /// True once nothing runs that could be frozen before the machine sleeps.
    package var isReadyForSleep: Bool { ask { $0.isReadyForSleep } }
    package var hasSuspended: Bool { ask { $0.hasSuspended } }
    package var handlerStatuses: [HandlerStatus] { ask { [clock] in $0.handlerStatuses(at: clock.now()) } }
    func isExpiring(_ handler: HandlerID) -> Bool { ask { $0.isExpiring(handler) } }
    package func handlerStatus(of handler: HandlerID) -> HandlerStatus? {
        ask { [clock] in $0.handlerStatus(of: handler, at: clock.now()) }
    }
}
