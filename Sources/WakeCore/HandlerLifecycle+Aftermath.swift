// After the end of a process: what was open goes back, who is charged for it, and what it costs the handler.
import WakeModel

extension HandlerLifecycle {
    static let chargeLimit: UInt8 = 5

    mutating func afterEnd(_ reason: EndReason, _ step: inout Step) {
        let wasAsleep = suspendedSince != nil
        if let since = budget.awakeSince { statistics.awake = statistics.awake + (step.now - since) }
        statistics.lastEnd = reason
        let isFailure = isFailure(reason, wasAsleep: wasAsleep)
        // What it died of is gone with the event, so the next event begins with a count of none.
        let hasLostItsPoison = isFailure && chargeOldest(reason, &step)
        giveBackAfter(reason, &step)
        forgetProcess()
        move(to: isBarred ? .stopped : .idle, because: reason.written, &step)
        if phase == .stopped { dropWhereStoppedDrops(&step) }
        if isFailure { punishFailure(reason, counts: !hasLostItsPoison && !reason.isExhaustion, &step) }
    }

    private mutating func punishFailure(_ reason: EndReason, counts: Bool, _ step: inout Step) {
        if hasProvenItself(at: step.now) { penalty.progress() }
        let isLoop = counts && penalty.crash()
        guard phase == .idle else { return }
        if isLoop {
            wanted = nil
            move(to: .quarantined, because: "crash-loop", &step)
        } else if !isAttached || reason.isExhaustion {
            // Attached too: what the machine lacks it lacks at once again, and no count of crashes ends that.
            hold(because: reason.written, &step)
        }
    }

    /// Who is never heard has its length of life for a word: a crash once a month is no loop.
    private func hasProvenItself(at now: Instant) -> Bool {
        settings.acknowledgement == .delivery && now - launchedAt >= timers.strikeWindow
    }

    private func isFailure(_ reason: EndReason, wasAsleep: Bool) -> Bool {
        switch reason {
        case .exit(let status): wasAsleep ? false : isStarting || !isClean(status)
        case .launchTimeout, .launchFailed, .exhausted, .overrun, .taskLeak, .flood, .watchdog, .lockHeld, .escaped,
            .unfreezable,
            .deadline:
            true
        case .reclaimed, .idle, .stopped, .reconfigured, .finished, .killedByOperator, .memory, .thermal: false
        }
    }

    private func isClean(_ status: ExitStatus) -> Bool {
        switch status {
        case .exited(code: 0): !batch.hasOpen
        case .exited(code: 75): isOneshot
        case .exited, .signalled: false
        }
    }

    /// Only the oldest unanswered event can have done it; five times is enough. True where it is dead-lettered now.
    private mutating func chargeOldest(_ reason: EndReason, _ step: inout Step) -> Bool {
        guard isChargeable(reason, at: step.now), let oldest = batch.oldestOpen else { return false }
        batch.changeOldestOpen { $0.charges += 1 }
        step.emit(.decision(id, .charged(oldest.sequence, charges: oldest.charges + 1)))
        guard oldest.charges + 1 >= Self.chargeLimit else { return false }
        deadLetter(oldest, because: reason.written, &step)
        penalty.forgiveCrashes()
        return true
    }

    /// A program that dies before its first line has not begun with the event; one that was given its whole time has. A
    /// oneshot mostly says nothing but its exit code, so it has begun when it has run for a second.
    private func isChargeable(_ reason: EndReason, at now: Instant) -> Bool {
        switch reason {
        case .launchFailed, .exhausted, .launchTimeout, .memory, .thermal: return false
        case .overrun, .deadline, .taskLeak: return true
        case .exit(let status):
            guard isOneshot else { return hasSpoken }
            if now - launchedAt >= .seconds(1) { return true }
            if case .signalled = status { return hasSpoken }
            return false
        case .flood, .watchdog, .lockHeld, .escaped, .unfreezable, .reclaimed, .idle, .stopped, .reconfigured,
            .finished,
            .killedByOperator:
            return hasSpoken
        }
    }

    private mutating func deadLetter(_ event: QueuedEvent, because reason: String, _ step: inout Step) {
        batch.drop(event.sequence)
        step.emit(.deadLetter(id, event.sequence, reason: reason))
        step.emit(.decision(id, .deadLettered(event.sequence)))
        lose(event, .deadLetter, &step)
    }

    /// What never reached a program keeps its number of attempts; what the bridge's own end cuts short stays in flight
    /// in the journal, to come again as redelivered.
    private mutating func giveBackAfter(_ reason: EndReason, _ step: inout Step) {
        let open = batch.releaseAll()
        if reason == .finished {
            queue.giveBack(open)
        } else {
            giveBack(open, isUndelivered: reason.isLaunchFailure, &step)
        }
    }

    /// Back to the queue, to be sent again with a higher attempt, and where a nack says so, not before an instant.
    mutating func giveBack(
        _ events: [QueuedEvent], isUndelivered: Bool = false, until: Instant? = nil, _ step: inout Step
    ) {
        let wall = until.map { step.stamp.wall + ($0 - step.boottime) }
        var returned = events
        for index in returned.indices {
            if isUndelivered { returned[index].attempts -= 1 }
            let event = returned[index]
            step.emit(
                .giveBack(
                    id, event.sequence, attempts: event.attempts, charges: event.charges, heldUntil: wall))
        }
        if isUndelivered { keepInFlight(returned, &step) }
        queue.giveBack(returned)
    }

    /// What an earlier bridge had in flight is in flight still where no program was reached: unless it is written down so, a bridge that
    /// dies next gives it again as if it were returned.
    private mutating func keepInFlight(_ events: [QueuedEvent], _ step: inout Step) {
        let inFlight = events.filter(\.isRedelivered)
        guard !inFlight.isEmpty else { return }
        noteEarlierAttempts(of: inFlight, &step)
        step.emit(.keepInFlight(id, inFlight.map(\.sequence)))
    }

    private mutating func forgetProcess() {
        budget.reset(timers)
        requests = []
        lateAnswers = []
        rescue = nil
        wasRescued = false
        lockInspection = nil
        lingerUntil = nil
        (suspendedSince, frozenAt) = (nil, nil)
        rest = nil
        hurriedBy = nil
        flood = nil
        forgetStrain()
        isStarting = false
        hasUnreadAnswer = false
        wasLetReadAnswer = false
        leaseWakes = 0
        leasesKeptSince = nil
    }
}

extension EndReason {
    /// Held for a while it may be started after all; five times of that say nothing of the program.
    var isExhaustion: Bool {
        if case .exhausted = self { true } else { false }
    }

    /// The program never saw what was written to it.
    var isLaunchFailure: Bool {
        switch self {
        case .launchFailed, .exhausted: true
        case .exit, .launchTimeout, .overrun, .taskLeak, .flood, .watchdog, .lockHeld, .escaped, .unfreezable,
            .reclaimed, .idle, .stopped, .reconfigured, .finished, .killedByOperator, .deadline, .memory, .thermal:
            false
        }
    }
}
