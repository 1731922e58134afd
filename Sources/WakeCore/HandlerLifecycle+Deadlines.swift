// What comes next in time for one handler: the instants at which something follows although nothing else happens.
import WakeModel

extension HandlerLifecycle {
    /// The next instant on CLOCK_MONOTONIC. What is past has been acted on, so that an idle bridge never ticks.
    func nextMonotonicDeadline(_ step: Step) -> Instant? {
        let candidates: [Instant?] =
            switch phase {
            case .stopped, .quarantined: []
            case .idle: [nextWakeDeadline(step)]
            case .launching(let deadline): [isAttached ? nil : deadline]
            case .active: [lingerUntil, rescueUntil, warningAt, requestDeadline(after: step.now)]
            case .expiring: [awakeDeadline.map { $0 + timers.grace }]
            case .suspending(let suspension): [suspension.deadline]
            case .suspended: [lockInspection, idleExitAt, nextWakeDeadline(step)]
            case .terminating(let termination): [termination.killAt ?? termination.abandonAt]
            }
        var next: Instant?
        for case let candidate? in candidates where candidate > step.now { next = min(next ?? candidate, candidate) }
        return next
    }

    /// The next instant on CLOCK_BOOTTIME at which a hold ends that keeps work waiting.
    func nextBoottimeDeadline(_ step: Step) -> Instant? {
        guard !step.isFinishing else { return nil }
        switch phase {
        case .stopped, .quarantined, .launching, .expiring, .suspending, .terminating: return nil
        case .active: return nextNackRelease(step)
        case .idle, .suspended: break
        }
        guard hasWork else { return nil }
        return penalty.heldUntil ?? nextNackRelease(step)
    }

    private var hasWork: Bool { wanted != nil || batch.hasOpen || queue.events.contains(where: \.wakes) }

    private func nextNackRelease(_ step: Step) -> Instant? {
        nackHolds.values.filter { $0 > step.boottime }.min()
    }

    /// A oneshot cannot be warned: its input is closed.
    var warningAt: Instant? {
        guard let deadline = awakeDeadline else { return nil }
        if isOneshot { return deadline }
        return deadline - (budget.tasks.isEmpty ? timers.budgetWarning : timers.extensionWarning)
    }

    var idleExitAt: Instant? {
        guard timers.idleExit > .zero, !batch.hasOpen, let since = suspendedSince else { return nil }
        return since + timers.idleExit
    }

    private func requestDeadline(after now: Instant) -> Instant? {
        requests.lazy.map(\.deadline).filter { $0 > now }.min()
    }

    private func nextWakeDeadline(_ step: Step) -> Instant? {
        guard !step.isFinishing, penalty.heldUntil == nil else { return nil }
        if let rest = restUntil, rest > step.now { return hasWork ? rest : nil }
        guard queue.latestDue > step.now else { return nil }
        return queue.events.lazy.filter { $0.wakes && $0.due > step.now }.map(\.due).min()
    }
}
