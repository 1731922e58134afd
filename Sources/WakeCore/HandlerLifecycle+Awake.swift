// A running handler: what keeps it awake, when it is warned, and what an overrun leads to.
import WakeModel

extension HandlerLifecycle {
    mutating func advanceActive(_ step: inout Step) -> Bool {
        if let rescue { return endRescue(rescue, &step) }
        if deliverNextBatch(&step) { return true }
        if let warning = warningAt, step.now >= warning {
            beginExpiring(&step)
            return true
        }
        return lingerOrFreeze(&step)
    }

    private mutating func endRescue(_ rescue: Rescue, _ step: inout Step) -> Bool {
        guard step.now >= rescue.until else { return false }
        self.rescue = nil
        freeze(isOverrun: rescue.isOverrun, because: "lock", &step)
        return true
    }

    private mutating func lingerOrFreeze(_ step: inout Step) -> Bool {
        guard !isKeptAwake(at: step.now) else {
            lingerUntil = nil
            return false
        }
        let deadline = lingerUntil ?? step.now + timers.linger
        lingerUntil = deadline
        guard step.now >= deadline else { return false }
        freeze(isOverrun: false, because: "linger", &step)
        return true
    }

    /// A reason to be awake beside the linger.
    func isKeptAwake(at now: Instant) -> Bool {
        isAttached || isOneshot || batch.hasOpen || !budget.tasks.isEmpty || hasOpenRequest(at: now)
    }

    func hasOpenRequest(at now: Instant) -> Bool { requests.contains { now < $0.deadline } }

    /// While a task is open, leases expire with it.
    var awakeDeadline: Instant? {
        if isAttached { return nil }
        if !budget.tasks.isEmpty { return budget.poolEnd }
        return batch.hasOpen || isOneshot ? budget.batchDeadline : nil
    }

    private mutating func beginExpiring(_ step: inout Step) {
        guard let deadline = awakeDeadline else { return }
        if isOneshot {
            requestTermination(.deadline, &step)
            return
        }
        let reason = hurriedBy ?? (budget.tasks.isEmpty ? "budget" : "extension")
        hurriedBy = nil
        move(to: .expiring, because: reason, &step)
        notifyExpiring(reason, remaining: max(.zero, deadline - step.now), &step)
    }

    func notifyExpiring(_ reason: String, remaining: TimeSpan, _ step: inout Step) {
        let notice = Notice.expiring(
            reason: reason, remaining: remaining, tasks: budget.tasks, open: batch.openSequences)
        tell(notice, &step)
    }

    /// A oneshot's input has ended: nothing can be told to it any more.
    func tell(_ notice: Notice, _ step: inout Step) {
        if !isOneshot { step.emit(.notify(id, epoch, notice)) }
    }

    mutating func advanceExpiring(_ step: inout Step) -> Bool {
        guard let deadline = awakeDeadline, let warning = warningAt, step.now >= warning else {
            move(to: .active, because: isAttached ? "attached" : "progress", &step)
            return true
        }
        guard step.now >= deadline + timers.grace else { return false }
        if budget.tasks.isEmpty {
            // Even where the consequence is the kill: what is in the pipe by now was said in time.
            freeze(isOverrun: true, because: "overrun", &step)
        } else {
            kill(.taskLeak, &step)
        }
        return true
    }
}
