// What comes next in time for one handler: the instants at which something follows although nothing else happens.
import WakeModel

/// The earliest of the instants offered that are still to come: what is past has been acted on.
private struct Earliest {
    let after: Instant
    var found: Instant?

    mutating func offer(_ candidate: Instant?) {
        guard let candidate, candidate > after else { return }
        found = min(found ?? candidate, candidate)
    }
}

extension HandlerLifecycle {
    /// The next instant on CLOCK_MONOTONIC.
    func nextMonotonicDeadline(_ step: Step) -> Instant? {
        var next = Earliest(after: step.now)
        switch phase {
        case .stopped, .quarantined: break
        case .idle: next.offer(nextWakeDeadline(step))
        case .launching(let deadline):
            if !isAttached { next.offer(deadline) }
            next.offer(floodEnd)
        case .active:
            offerActive(&next)
            next.offer(floodEnd)
            next.offer(budget.lapse)
        case .expiring:
            offerExpiring(&next, step)
            next.offer(floodEnd)
            next.offer(budget.lapse)
        case .suspending(let suspension): next.offer(suspension.deadline)
        case .suspended:
            next.offer(lockInspection)
            next.offer(idleExitAt)
            next.offer(nextWakeDeadline(step))
        case .terminating(let termination): next.offer(termination.askAt ?? termination.killAt ?? termination.abandonAt)
        }
        return next.found
    }

    private func offerActive(_ next: inout Earliest) {
        if let rescue { return next.offer(rescue.until) }
        if let lingerUntil {
            next.offer(lingerUntil)
            next.offer(budget.windowEnd(timers))
        }
        next.offer(warningAt)
        for request in requests { next.offer(request.deadline) }
    }

    private func offerExpiring(_ next: inout Earliest, _ step: Step) {
        next.offer(awakeDeadline.map { $0 + timers.grace })
        next.offer(strain(step)?.end)
        for request in requests { next.offer(request.deadline) }
    }

    /// The next instant on CLOCK_BOOTTIME at which a hold ends that keeps work waiting.
    func nextBoottimeDeadline(_ step: Step) -> Instant? {
        guard !step.isFinishing, step.machine.sleepsAt == nil, !awaitsPower(step.machine) else { return nil }
        switch phase {
        case .stopped, .quarantined, .launching, .expiring, .suspending, .terminating: return nil
        case .active:
            return batch.hasOpen || isOneshot ? nil : queue.nextRelease(wakingOnly: false)
        case .idle, .suspended: break
        }
        if penalty.isHeld(at: step.boottime) { return hasWork ? penalty.heldUntil : nil }
        return queue.nextRelease(wakingOnly: true)
    }

    private var hasWork: Bool { wanted != nil || hasUnfinished || queue.hasWaking }

    func isWarningDue(at now: Instant) -> Bool { warningAt.map { now >= $0 } ?? false }

    /// A oneshot cannot be warned: its input is closed.
    var warningAt: Instant? {
        guard let deadline = awakeDeadline else { return nil }
        if isOneshot { return deadline }
        return deadline - (budget.tasks.isEmpty ? timers.budgetWarning : timers.extensionWarning)
    }

    var idleExitAt: Instant? {
        guard timers.idleExit > .zero, !hasUnfinished, let since = suspendedSince else { return nil }
        return since + timers.idleExit
    }

    private func nextWakeDeadline(_ step: Step) -> Instant? {
        guard !step.isFinishing, step.machine.sleepsAt == nil, !penalty.isHeld(at: step.boottime) else { return nil }
        if awaitsPower(step.machine) { return nil }
        if let rest, rest.until > step.now { return hasWork ? rest.until : nil }
        return queue.nextDue(after: step.now)
    }
}
