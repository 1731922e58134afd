// How handlers are reported: their states, their reasons, their work and what is due to them.
import WakeAgenda
import WakeControl
import WakeCore
import WakeEngine
import WakeModel
import WakeSystem

struct HandlerReports {
    let catalog: Catalog
    let turn: Turn
    let executor: ProcessExecutor
    let history: WakeHistory
    let reasons: HandlerReasons
    let startedAt: Instant

    func all() -> [HandlerReport] {
        turn.handlerStatuses.filter { catalog.handlers[$0.handler] != nil }.map { report($0) }
            .sorted { $0.id < $1.id }
    }

    func report(_ standing: HandlerStatus) -> HandlerReport {
        var status = HandlerReport(
            id: catalog.name(of: standing.handler), state: standing.state.rawValue, why: reasons.why(standing),
            process: executor.pid(of: standing.handler), epoch: standing.epoch)
        status.queued = standing.queuedCount
        status.open = standing.openCount
        status.strikes = standing.strikes
        status.heldFor = standing.heldFor ?? .zero
        status.wakes = standing.wakes
        status.events = history.deliveryCount(standing.handler)
        status.awake = standing.awake
        status.work = work(standing)
        status.status = executor.status(of: standing.handler)
        status.lastExit = standing.lastEnd?.wireName
        status.unbonded = reasons.unbonded(of: standing).map(\.alias)
        let outlook = turn.outlook(of: standing.handler)
        (status.agenda.scheduled, status.agenda.nextDue, status.agenda.messages, status.agenda.flows) = (
            outlook.count, outlook.next, outlook.messages, outlook.holdingAwake
        )
        status.transfers = TransfersReport(outlook.transfers)
        return status
    }

    func work(_ standing: HandlerStatus) -> WorkReport {
        WorkReport(
            standing, uptime: SystemClock.monotonic() - startedAt,
            processorTime: executor.processorTime(of: standing.handler))
    }
}

extension WorkReport {
    /// `uptime` is the daemon's, which is how long the counts go back.
    init(_ standing: HandlerStatus, uptime: TimeSpan, processorTime: TimeSpan?) {
        self.init()
        useful = standing.outcomes.useful
        nothing = standing.outcomes.nothing
        failed = standing.outcomes.failed
        unsaid = standing.outcomes.unsaid
        judgedWakes = standing.outcomes.judgedWakes
        usefulWakes = standing.outcomes.usefulWakes
        acknowledgedByProcess = standing.outcomes.acknowledgedByProcess
        awakeRatio = uptime > .zero ? min(1, standing.awake.seconds / uptime.seconds) : 0
        self.processorTime = processorTime
    }
}

extension TransfersReport {
    init(_ progress: TransferProgress) {
        self.init()
        (open, moving, done, total) = (progress.open, progress.moving, progress.done, progress.total)
    }
}
