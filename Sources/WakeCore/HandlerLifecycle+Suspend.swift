// Into sleep: the freeze is asked for, proven, looked at for locks, and taken back where a reason to be awake appears.
import WakeModel

extension HandlerLifecycle {
    mutating func freeze(for purpose: Suspension.Purpose, because reason: String, _ step: inout Step) {
        lingerUntil = nil
        let suspension = Suspension(purpose: purpose, deadline: step.now + timers.freeze)
        move(to: .suspending(suspension), because: reason, &step)
        step.emit(.freeze(id, epoch))
    }

    mutating func advanceSuspending(_ suspension: Suspension, _ step: inout Step) -> Bool {
        if hasReasonToTurnBack(suspension, step) {
            turnBack(from: suspension, &step)
            return true
        }
        guard step.now >= suspension.deadline else { return false }
        if suspension.isSecondTry {
            kill(.unfreezable, &step)
            return true
        }
        step.emit(.thaw(id, epoch))
        step.emit(.freeze(id, epoch))
        var second = suspension
        second.isSecondTry = true
        second.deadline = step.now + timers.freeze
        phase = .suspending(second)
        return false
    }

    private mutating func turnBack(from suspension: Suspension, _ step: inout Step) {
        wanted = nil
        if suspension.purpose == .strain { budget.restart(at: step.now, timers) }
        if hasUnreadAnswer { wasLetReadAnswer = true }
        hasUnreadAnswer = false
        tellLateAnswers(&step)
        step.emit(.thaw(id, epoch))
        move(to: .active, because: "turned-back", &step)
    }

    private mutating func tellLateAnswers(_ step: inout Step) {
        for answer in lateAnswers { tell(answer, &step) }
        lateAnswers = []
    }

    /// An overrun is frozen whatever waits, but for a task begun in time; an idle handler stays awake when work comes
    /// before the proof does.
    private func hasReasonToTurnBack(_ suspension: Suspension, _ step: Step) -> Bool {
        if isAttached { return true }
        if isTimeToMakeWay(step) { return false }
        if !budget.tasks.isEmpty { return true }
        guard suspension.purpose != .overrun else { return false }
        if hasOpenRequest(at: step.now) || (hasUnreadAnswer && !wasLetReadAnswer) { return true }
        return !budget.isWindowOver(at: step.now, timers) && wakeReason(step) != nil
    }

    /// An acknowledgement found in the drain is on time: the overrun was none.
    mutating func forgiveOverrunInDrain() {
        guard case .suspending(var suspension) = phase, suspension.purpose == .overrun else { return }
        suspension.purpose = .rest
        phase = .suspending(suspension)
    }

    /// The leaf is frozen and every line the handler wrote before that has been heard.
    mutating func confirmSuspension(_ finding: SuspensionFinding, _ step: inout Step) {
        guard case .suspending(let suspension) = phase else { return }
        // A task begun in time takes an overrun back, also where it must wait for the end of the machine's sleep.
        let isOverrun = suspension.purpose == .overrun && batch.hasOpen && budget.tasks.isEmpty
        switch finding {
        case .escaped: kill(.escaped, &step)
        case .blocksOthers: rescueFromLock(for: suspension.purpose, &step)
        case .clean, .holdsLock:
            if isOverrun {
                punishOverrun(holdsLock: finding == .holdsLock, &step)
            } else {
                fallAsleep(
                    holdsLock: finding == .holdsLock, because: memoryUntil == nil ? "frozen" : "memory", &step)
            }
        }
    }

    private mutating func fallAsleep(holdsLock: Bool, because reason: String, _ step: inout Step) {
        if let since = budget.awakeSince { statistics.awake = statistics.awake + (step.now - since) }
        if memoryUntil != nil {
            rest = Rest(until: step.now + Self.memoryRest, cause: .memory)
        } else if budget.isWindowOver(at: step.now, timers) {
            rest = Rest(until: step.now + timers.rest, cause: .window)
        }
        forgetStrain()
        budget.sleep(timers)
        wasRescued = false
        hasUnreadAnswer = false
        hurriedBy = nil
        (suspendedSince, frozenAt) = (step.now, step.boottime)
        pauseFlood(at: step.now)
        lockInspection = holdsLock ? step.now + Self.lockInspectionInterval : nil
        if batch.hasOpen, leasesKeptSince == nil { leasesKeptSince = step.boottime }
        move(to: .suspended, because: reason, &step)
    }

    /// Nothing was said in time: a strike and a hold with the lease kept, or the end of the process.
    private mutating func punishOverrun(holdsLock: Bool, _ step: inout Step) {
        let strikes = penalty.strike(at: step.now, timers)
        step.emit(.decision(id, .struck(strikes: strikes)))
        guard strikes < Penalty.strikeLimit, settings.onOverrun == .suspend else {
            penalty.forgiveStrikes()
            return kill(.overrun, &step)
        }
        fallAsleep(holdsLock: holdsLock, because: "overrun", &step)
        hold(atLeast: .seconds(1), because: "overrun", &step)
    }

    mutating func hold(atLeast least: TimeSpan = .zero, because reason: String, _ step: inout Step) {
        let until = penalty.hold(from: step.boottime, atLeast: least, timers)
        penalty.keepStrikes(for: until - step.boottime)
        heldBecause = reason
        step.emit(.decision(id, .held(until: until, because: reason)))
    }

    /// How soon a lock held in sleep is looked at again: no waiter is left blocked for a second.
    static let lockInspectionInterval = TimeSpan.milliseconds(500)

    /// Asleep it held a lock that nobody wanted then; now somebody may.
    mutating func reportLocks(_ finding: SuspensionFinding, _ step: inout Step) {
        guard phase == .suspended else { return }
        switch finding {
        case .holdsLock: break
        case .clean: lockInspection = nil
        case .escaped: kill(.escaped, &step)
        case .blocksOthers: wakeForLock(&step)
        }
    }

    private mutating func wakeForLock(_ step: inout Step) {
        let frozenFor = timeAsleep(step)
        let preface = Delivery.Preface.resumed(frozenFor: frozenFor, .lock, open: batch.openSequences)
        lockInspection = nil
        (suspendedSince, frozenAt) = (nil, nil)
        rest = nil
        wasLetReadAnswer = false
        budget.wake(at: step.now)
        flood?.since = step.now
        // It may stay awake after the rescue, and then what it owes needs a deadline.
        if batch.hasOpen { budget.renew(at: step.now, timers) }
        step.emit(
            .deliver(id, epoch, Delivery(preface: preface, notices: lateAnswers, events: [], budget: timers.rescue)))
        lateAnswers = []
        rescueFromLock(for: .rest, &step)
    }

    /// One second to let go of a lock that somebody waits for; the next time it costs the process.
    private mutating func rescueFromLock(for purpose: Suspension.Purpose, _ step: inout Step) {
        guard !wasRescued else { return kill(.lockHeld, &step) }
        wasRescued = true
        rescue = Rescue(until: step.now + timers.rescue, purpose: purpose)
        tellLateAnswers(&step)
        move(to: .active, because: "lock", &step)
        notifyExpiring("lock", remaining: timers.rescue, &step)
        step.emit(.thaw(id, epoch))
    }
}
