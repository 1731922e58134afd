// A running handler: what keeps it awake, when it is warned, and what an overrun leads to.
import WakeModel

extension HandlerLifecycle {
    mutating func advanceActive(_ step: inout Step) -> Bool {
        if let rescue { return endRescue(rescue, &step) }
        if deliverNextBatch(&step) { return true }
        feelHeat(step)
        if isTimeToExpire(step) {
            beginExpiring(&step)
            return true
        }
        return lingerOrFreeze(&step)
    }

    private func isTimeToExpire(_ step: Step) -> Bool { strain(step) != nil || isWarningDue(at: step.now) }

    private mutating func endRescue(_ rescue: Rescue, _ step: inout Step) -> Bool {
        guard step.now >= rescue.until else { return false }
        self.rescue = nil
        freeze(for: rescue.purpose, because: "lock", &step)
        return true
    }

    private mutating func lingerOrFreeze(_ step: inout Step) -> Bool {
        guard !isKeptAwake(at: step.now) else {
            lingerUntil = nil
            return false
        }
        if let cause = makesWayFor(step) {
            freeze(for: .rest, because: cause.rawValue, &step)
            return true
        }
        if budget.isWindowOver(at: step.now, timers) {
            freeze(for: .rest, because: "window", &step)
            return true
        }
        let deadline = lingerUntil ?? step.now + timers.linger
        lingerUntil = deadline
        guard step.now >= deadline else { return false }
        freeze(for: .rest, because: "linger", &step)
        return true
    }

    /// A reason to be awake beside the linger.
    func isKeptAwake(at now: Instant) -> Bool {
        isAttached || isOneshot || batch.hasOpen || !budget.tasks.isEmpty || hasOpenRequest(at: now)
    }

    func hasOpenRequest(at now: Instant) -> Bool { requests.contains { now < $0.deadline } }

    /// Where nothing takes time away from it. While a task is open, leases expire with it.
    var awakeDeadline: Instant? {
        if isAttached { return nil }
        if !budget.tasks.isEmpty { return budget.poolEnd }
        return batch.hasOpen || isOneshot ? budget.batchDeadline : nil
    }

    private mutating func beginExpiring(_ step: inout Step) {
        if isOneshot {
            requestTermination(.deadline, &step)
            return
        }
        if let strain = strain(step) {
            move(to: .expiring, because: strain.cause.rawValue, &step)
            tell(strain, &step)
            return
        }
        let reason = hurriedBy ?? (budget.tasks.isEmpty ? "budget" : "extension")
        hurriedBy = nil
        move(to: .expiring, because: reason, &step)
        notifyExpiring(reason, remaining: timeLeft(step) ?? .zero, &step)
    }

    /// To the deadline that comes first; nil where there is none.
    func timeLeft(_ step: Step) -> TimeSpan? {
        let deadline = Instant.earlier(awakeDeadline, strain(step)?.deadline)
        return deadline.map { max(.zero, $0 - step.now) }
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
        feelHeat(step)
        let strain = strain(step)
        if let strain, strainTold != strain.cause {
            tell(strain, &step)
            return true
        }
        if let strain, step.now >= strain.end {
            makeWay(for: strain.cause, &step)
            return true
        }
        guard strain != nil || (strainTold == nil && isWarningDue(at: step.now)) else {
            leaveExpiring(&step)
            return true
        }
        guard let deadline = awakeDeadline, step.now >= deadline + timers.grace else { return false }
        if budget.tasks.isEmpty {
            // Even where the consequence is the kill: what is in the pipe by now was said in time.
            freeze(for: .overrun, because: "overrun", &step)
        } else {
            kill(.taskLeak, &step)
        }
        return true
    }

    private mutating func leaveExpiring(_ step: inout Step) {
        let reason = isAttached ? "attached" : strainTold == nil ? "progress" : "eased"
        strainTold = nil
        move(to: .active, because: reason, &step)
    }
}
