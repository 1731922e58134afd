// The end of a process: asked, killed or found dead; what was open goes back, and what it costs.
import WakeModel

extension HandlerLifecycle {
    /// A leaf that is still populated so long after its kill is given up.
    static let abandonAfter = TimeSpan.seconds(5)
    static let chargeLimit: UInt8 = 5

    mutating func kill(_ reason: EndReason, _ step: inout Step) {
        var termination = Termination(reason: reason, killAt: nil, abandonAt: step.now + Self.abandonAfter)
        if case .terminating(let earlier) = phase {
            termination.reason = earlier.reason
            termination.exit = earlier.exit
            termination.isEmpty = earlier.isEmpty
        }
        move(to: .terminating(termination), because: reason.written, &step)
        step.emit(.kill(id, epoch))
    }

    /// Thaw, SIGTERM, and the kill after T_term.
    mutating func requestTermination(_ reason: EndReason, _ step: inout Step) {
        let termination = Termination(reason: reason, killAt: step.now + timers.terminate)
        let notice = Notice.terminating(reason: reason.written, within: timers.terminate)
        if !isOneshot { step.emit(.notify(id, epoch, notice)) }
        if reason == .finished { step.emit(.closeInput(id, epoch)) }
        move(to: .terminating(termination), because: reason.written, &step)
        step.emit(.thaw(id, epoch))
        step.emit(.requestTermination(id, epoch))
    }

    mutating func advanceTerminating(_ termination: Termination, _ step: inout Step) -> Bool {
        if termination.isEmpty, let exit = termination.exit {
            conclude(termination, exit: exit, &step)
            return true
        }
        if let killAt = termination.killAt, step.now >= killAt {
            kill(termination.reason, &step)
        } else if let abandonAt = termination.abandonAt, step.now >= abandonAt {
            step.emit(.discard(id, epoch, isEmpty: false))
            afterEnd(termination.reason, &step)
            return true
        }
        return false
    }

    /// The main process has ended; others of its leaf may be left.
    mutating func noteExit(_ status: ExitStatus, _ step: inout Step) {
        switch phase {
        case .terminating(var termination):
            termination.exit = status
            phase = .terminating(termination)
        case .suspended:
            kill(.exit(status), &step)
            noteExit(status, &step)
        case .launching, .active, .expiring, .suspending:
            let patience = settings.allowsBackgroundChildren ? timers.budget + timers.grace : .seconds(1)
            var termination = Termination(reason: .exit(status), killAt: step.now + patience)
            termination.exit = status
            if case .suspending = phase { step.emit(.thaw(id, epoch)) }
            move(to: .terminating(termination), because: termination.reason.written, &step)
        case .stopped, .idle, .quarantined: break
        }
    }

    mutating func noteEmpty() {
        guard case .terminating(var termination) = phase else { return }
        termination.isEmpty = true
        phase = .terminating(termination)
    }

    mutating func noteLaunchFailure(_ reason: String, _ step: inout Step) {
        guard isLive else { return }
        kill(.launchFailed(reason), &step)
    }

    private mutating func conclude(_ termination: Termination, exit: ExitStatus, _ step: inout Step) {
        step.emit(.discard(id, epoch, isEmpty: true))
        if isOneshot { answerByExit(exit, &step) }
        afterEnd(verdict(on: termination.reason, exit), &step)
    }

    /// A deadline that the program met with a clean exit is no failure.
    private func verdict(on reason: EndReason, _ exit: ExitStatus) -> EndReason {
        if reason == .deadline, case .exited(code: 0) = exit { return .exit(exit) }
        return reason
    }

    /// A oneshot answers with its exit code: 0 acknowledges the rest, 75 (EX_TEMPFAIL) refuses it.
    private mutating func answerByExit(_ exit: ExitStatus, _ step: inout Step) {
        switch exit {
        case .exited(code: 0):
            if let last = batch.events.last { acknowledge(last.sequence, &step) }
        case .exited(code: 75):
            while let oldest = batch.oldestOpen { refuse(oldest.sequence, after: nil, &step) }
            penalty.forgiveCrashes()
        case .exited, .signalled: break
        }
    }

    private mutating func afterEnd(_ reason: EndReason, _ step: inout Step) {
        let wasAsleep = suspendedSince != nil
        if let since = budget.awakeSince { statistics.awake = statistics.awake + (step.now - since) }
        statistics.lastEnd = reason
        let isFailure = isFailure(reason, wasAsleep: wasAsleep)
        if isFailure { chargeOldest(reason, &step) }
        giveBack(batch.releaseAll(), isUndelivered: reason.isLaunchFailure, &step)
        forgetProcess()
        if reason == .stopped {
            move(to: .stopped, because: reason.written, &step)
            if settings.stoppedEvents == .drop { dropForStop(&step) }
        } else {
            move(to: .idle, because: reason.written, &step)
        }
        guard isFailure else { return }
        if penalty.crash() {
            move(to: .quarantined, because: "crash-loop", &step)
        } else {
            hold(because: reason.written, &step)
        }
    }

    private func isFailure(_ reason: EndReason, wasAsleep: Bool) -> Bool {
        switch reason {
        case .exit(.exited(code: 0)): isOneshot ? false : batch.hasOpen && !wasAsleep
        case .exit(.exited(code: 75)): !isOneshot
        case .exit: !wasAsleep
        case .launchTimeout, .launchFailed, .overrun, .taskLeak, .lockHeld, .escaped, .unfreezable, .deadline: true
        case .reclaimed, .idle, .stopped, .reconfigured, .finished, .killedByOperator: false
        }
    }

    /// Only the oldest unanswered event can have done it; five times is enough.
    private mutating func chargeOldest(_ reason: EndReason, _ step: inout Step) {
        guard hasSpoken, !reason.isLaunchFailure, let oldest = batch.oldestOpen else { return }
        if isOneshot, case .exit(.exited) = reason, step.now - launchedAt < .seconds(1) { return }
        batch.changeOldestOpen { $0.charges += 1 }
        step.emit(.decision(id, .charged(oldest.sequence, charges: oldest.charges + 1)))
        guard oldest.charges + 1 >= Self.chargeLimit else { return }
        deadLetter(oldest, because: reason.written, &step)
        penalty.forgiveCrashes()
    }

    private mutating func deadLetter(_ event: QueuedEvent, because reason: String, _ step: inout Step) {
        batch.drop(event.sequence)
        step.emit(.deadLetter(id, event.sequence, reason: reason))
        step.emit(.decision(id, .deadLettered(event.sequence)))
        lose(event, .deadLetter, &step)
    }

    /// Back to the queue, to be sent again with a higher attempt; what never reached a program keeps its number.
    mutating func giveBack(_ events: [QueuedEvent], isUndelivered: Bool = false, _ step: inout Step) {
        var returned = events
        for index in returned.indices {
            if isUndelivered { returned[index].attempts -= 1 }
            let event = returned[index]
            step.emit(.giveBack(id, event.sequence, attempts: event.attempts, charges: event.charges))
        }
        queue.giveBack(returned)
    }

    private mutating func forgetProcess() {
        batch.reset()
        budget.reset(timers)
        requests = []
        rescueUntil = nil
        wasRescued = false
        lockInspection = nil
        lingerUntil = nil
        suspendedSince = nil
        restUntil = nil
        leaseWakes = 0
        leasesKeptSince = nil
    }
}

extension EndReason {
    /// The program never saw what was written to it.
    var isLaunchFailure: Bool {
        if case .launchFailed = self { true } else { false }
    }
}
