// The way into sleep: freeze, wait for the proof, look for locks, and turn back where a reason to be awake appears.
import WakeModel

extension HandlerLifecycle {
    mutating func freeze(isOverrun: Bool, because reason: String, _ step: inout Step) {
        lingerUntil = nil
        let suspension = Suspension(isOverrun: isOverrun, deadline: step.now + timers.freeze)
        move(to: .suspending(suspension), because: reason, &step)
        step.emit(.freeze(id, epoch))
    }

    mutating func advanceSuspending(_ suspension: Suspension, _ step: inout Step) -> Bool {
        if hasReasonToTurnBack(suspension, step) {
            step.emit(.thaw(id, epoch))
            move(to: .active, because: "turned-back", &step)
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

    /// An overrun is frozen whatever waits; an idle handler stays awake when work comes before the proof does.
    private func hasReasonToTurnBack(_ suspension: Suspension, _ step: Step) -> Bool {
        if isAttached || !budget.tasks.isEmpty || hasOpenRequest(at: step.now) { return true }
        guard !suspension.isOverrun, !budget.isWindowOver(at: step.now, timers) else { return false }
        return wakeReason(step) != nil
    }

    /// The leaf is frozen and every line the handler wrote before that has been heard.
    mutating func confirmSuspension(_ finding: SuspensionFinding, _ step: inout Step) {
        guard case .suspending(let suspension) = phase else { return }
        switch finding {
        case .escaped: kill(.escaped, &step)
        case .blocksOthers: rescueFromLock(&step)
        case .clean, .holdsLock:
            let isOverrun = suspension.isOverrun && batch.hasOpen
            fallAsleep(holdsLock: finding == .holdsLock, isOverrun: isOverrun, &step)
        }
    }

    private mutating func fallAsleep(holdsLock: Bool, isOverrun: Bool, _ step: inout Step) {
        if let since = budget.awakeSince { statistics.awake = statistics.awake + (step.now - since) }
        if budget.isWindowOver(at: step.now, timers) { restUntil = step.now + timers.rest }
        budget.sleep(timers)
        wasRescued = false
        suspendedSince = step.now
        lockInspection = holdsLock ? step.now + Self.lockInspectionInterval : nil
        move(to: .suspended, because: isOverrun ? "overrun" : "frozen", &step)
        if isOverrun { punishOverrun(&step) }
    }

    private mutating func punishOverrun(_ step: inout Step) {
        let strikes = penalty.strike(at: step.now, timers)
        step.emit(.decision(id, .struck(strikes: strikes)))
        hold(atLeast: .seconds(1), because: "overrun", &step)
        if leasesKeptSince == nil { leasesKeptSince = step.boottime }
    }

    mutating func hold(atLeast least: TimeSpan = .zero, because reason: String, _ step: inout Step) {
        let until = penalty.hold(from: step.boottime, atLeast: least, timers)
        step.emit(.decision(id, .held(until: until, because: reason)))
    }

    /// Asleep it held a lock that nobody wanted then; now somebody may.
    mutating func reportLocks(_ finding: SuspensionFinding, _ step: inout Step) {
        guard phase == .suspended else { return }
        switch finding {
        case .holdsLock: break
        case .clean: lockInspection = nil
        case .escaped: kill(.escaped, &step)
        case .blocksOthers:
            lockInspection = nil
            suspendedSince = nil
            budget.wake(at: step.now)
            rescueFromLock(&step)
        }
    }

    /// One second to let go of a lock that somebody waits for; the next time it costs the process.
    private mutating func rescueFromLock(_ step: inout Step) {
        guard !wasRescued else { return kill(.lockHeld, &step) }
        wasRescued = true
        rescueUntil = step.now + timers.rescue
        move(to: .active, because: "lock", &step)
        notifyExpiring("lock", remaining: timers.rescue, &step)
        step.emit(.thaw(id, epoch))
    }
}
