// Ends a process or finds it ended, follows it until its leaf is empty, and charges the handler for it.
import WakeModel

extension HandlerLifecycle {
    /// A leaf that is still populated this long after its kill is given up.
    static let abandonAfter = TimeSpan.seconds(5)
    /// How long others of a leaf may outlive its main process.
    static let orphanPatience = TimeSpan.seconds(1)

    /// How long a handler may go on after the end of its input before SIGTERM.
    static let endOfFilePatience = TimeSpan.seconds(1)

    mutating func kill(_ reason: EndReason, _ step: inout Step) {
        var termination = Termination(reason: reason, killAt: nil, abandonAt: step.now + Self.abandonAfter)
        if case .terminating(let earlier) = phase {
            guard earlier.killAt != nil else { return }
            termination.reason = earlier.reason
            termination.exit = earlier.exit
            termination.isEmpty = earlier.isEmpty
        }
        move(to: .terminating(termination), because: reason.wireName, &step)
        step.emit(.kill(id, epoch))
    }

    /// Thaw, SIGTERM, and the kill after ``HandlerTimers/terminate``.
    mutating func requestTermination(_ reason: EndReason, _ step: inout Step) {
        let termination = Termination(reason: reason, killAt: step.now + timers.terminate)
        send(.terminating(reason: reason.wireName, within: timers.terminate), &step)
        move(to: .terminating(termination), because: reason.wireName, &step)
        step.emit(.thaw(id, epoch))
        step.emit(.requestTermination(id, epoch))
    }

    /// A resident handler exits by itself at the end of its input, and may save its state first. SIGTERM at once would end
    /// most programs before they have read that far.
    mutating func endInput(_ step: inout Step) {
        let askAt = step.now + Self.endOfFilePatience
        let termination = Termination(reason: .finished, askAt: askAt, killAt: askAt + timers.terminate)
        send(.terminating(reason: EndReason.finished.wireName, within: timeToEnd), &step)
        step.emit(.closeInput(id, epoch))
        move(to: .terminating(termination), because: EndReason.finished.wireName, &step)
        step.emit(.thaw(id, epoch))
    }

    /// From the end of its input to the kill.
    var timeToEnd: TimeSpan { Self.endOfFilePatience + timers.terminate }

    mutating func advanceTerminating(_ termination: Termination, _ step: inout Step) -> Bool {
        if termination.isEmpty, termination.exit != nil {
            conclude(termination, &step)
            return true
        }
        if let askAt = termination.askAt, step.now >= askAt {
            var asked = termination
            asked.askAt = nil
            phase = .terminating(asked)
            step.emit(.requestTermination(id, epoch))
            return true
        }
        if let killAt = termination.killAt, step.now >= killAt {
            kill(termination.reason, &step)
            return false
        }
        guard let abandonAt = termination.abandonAt, step.now >= abandonAt else { return false }
        conclude(termination, &step)
        return true
    }

    /// The main process has ended; other processes of its leaf may be left.
    mutating func recordExit(_ status: ExitStatus, _ step: inout Step) {
        switch phase {
        case .terminating(var termination):
            guard termination.exit == nil else { return }
            termination.exit = status
            termination.askAt = nil
            termination.killAt = termination.killAt.map { min($0, step.now + patienceWithOrphans) }
            phase = .terminating(termination)
        case .suspended:
            kill(.exit(status), &step)
            recordExit(status, &step)
        case .launching, .active, .expiring, .suspending:
            var termination = Termination(reason: .exit(status), killAt: step.now + patienceWithOrphans)
            termination.exit = status
            if case .suspending = phase { step.emit(.thaw(id, epoch)) }
            move(to: .terminating(termination), because: termination.reason.wireName, &step)
        case .stopped, .idle, .quarantined: break
        }
    }

    private var patienceWithOrphans: TimeSpan {
        settings.allowsBackgroundChildren ? timers.budget + timers.grace : Self.orphanPatience
    }

    mutating func recordEmptyLeaf() {
        guard case .terminating(var termination) = phase else { return }
        termination.isEmpty = true
        phase = .terminating(termination)
    }

    /// There is no process, so no exit of it will be reported.
    mutating func concludeFailedLaunch(_ reason: EndReason, _ step: inout Step) {
        guard hasProcess else { return }
        step.emit(.discard(id, epoch, isEmpty: true))
        // The wake that it was launched for did not take place.
        if reason.isExhaustion, !isBarred, process.requestedWake != .attach || isAttached {
            requestedWake = requestedWake ?? process.requestedWake
        }
        afterEnd(reason, &step)
    }

    private mutating func conclude(_ termination: Termination, _ step: inout Step) {
        step.emit(.discard(id, epoch, isEmpty: termination.isEmpty))
        guard process.isOneshot, let exit = termination.exit else { return afterEnd(termination.reason, &step) }
        answerByExit(exit, &step)
        // A program that acknowledges at its deadline has not failed.
        let isAnswer = termination.reason == .deadline && (exit == .exited(code: 0) || exit == .exited(code: 75))
        afterEnd(isAnswer ? .exit(exit) : termination.reason, &step)
    }

    /// A oneshot answers with its exit code: 0 acknowledges the rest, 75 (EX_TEMPFAIL) refuses it.
    private mutating func answerByExit(_ exit: ExitStatus, _ step: inout Step) {
        switch exit {
        case .exited(code: 0):
            for sequence in standing.sequences { acknowledge(sequence, nil, &step) }
            if let last = batch.events.last { acknowledge(last.sequence, nil, &step) }
        case .exited(code: 75):
            for sequence in standing.sequences { refuse(sequence, after: nil, nil, &step) }
            while let oldest = batch.oldestOpen { refuse(oldest.sequence, after: nil, nil, &step) }
        case .exited, .signalled: break
        }
    }
}

// MARK: - What follows

extension HandlerLifecycle {
    static let chargeLimit: UInt8 = 5

    mutating func afterEnd(_ reason: EndReason, _ step: inout Step) {
        let wasAsleep = sleep.suspendedSince != nil
        if let since = budget.awakeSince { statistics.awake = statistics.awake + (step.now - since) }
        statistics.lastEnd = reason
        let isFailure = isFailure(reason, wasAsleep: wasAsleep)
        let fate = OpenFate(reason, isFailure: isFailure, overdue: standing.first?.sequence)
        // The dead-lettered event caused the crash, so the crash does not count against the next event.
        let isDeadLettered = isFailure && chargeOldest(reason, &step)
        giveBackAfter(reason, fate, &step)
        forgetProcess()
        move(to: isBarred ? .stopped : .idle, because: reason.wireName, &step)
        if phase == .stopped { dropWhereStoppedDrops(&step) }
        if isFailure { punishFailure(reason, counts: !isDeadLettered && !reason.isExhaustion, &step) }
    }

    private mutating func punishFailure(_ reason: EndReason, counts: Bool, _ step: inout Step) {
        if hasProvenItself(at: step.now) { penalty.progress() }
        let isLoop = reason == .listensAsleep || (counts && penalty.crash())
        guard phase == .idle else { return }
        if isLoop {
            requestedWake = nil
            move(to: .quarantined, because: reason == .listensAsleep ? reason.wireName : "crash-loop", &step)
        } else if !isAttached || reason.isExhaustion {
            // An attached handler is held too: the machine would lack the same again at once, and no count of crashes ends that.
            hold(because: reason.wireName, &step)
        }
    }

    /// A program that never acknowledges proves itself by its running time: a crash once a month is no loop.
    private func hasProvenItself(at now: Instant) -> Bool {
        settings.acknowledgement == .delivery && now - process.startedAt >= timers.strikeWindow
    }

    private func isFailure(_ reason: EndReason, wasAsleep: Bool) -> Bool {
        switch reason {
        case .exit(let status): wasAsleep ? false : process.isStarting || !isClean(status)
        case .launchTimeout, .launchFailed, .exhausted, .overrun, .taskLeak, .flood, .watchdog, .lockHeld, .escaped,
            .unfreezable,
            .deadline, .stalled, .listensAsleep:
            true
        case .reclaimed, .idle, .stopped, .reconfigured, .finished, .killedByOperator, .restarted, .memory, .thermal:
            false
        }
    }

    private func isClean(_ status: ExitStatus) -> Bool {
        switch status {
        case .exited(code: 0): !batch.hasOpen && !standing.hasOpen
        case .exited(code: 75): process.isOneshot
        case .exited, .signalled: false
        }
    }

    /// Only the oldest unacknowledged event can be the cause. True where this charge dead-letters it.
    private mutating func chargeOldest(_ reason: EndReason, _ step: inout Step) -> Bool {
        guard isChargeable(reason, at: step.now), let oldest = suspect(of: reason) else { return false }
        if standing.contains(oldest.sequence) {
            standing.changeFirst { $0.charges += 1 }
        } else {
            batch.changeOldestOpen { $0.charges += 1 }
        }
        step.emit(.decision(id, .charged(oldest.sequence, charges: oldest.charges + 1)))
        guard oldest.charges + 1 >= Self.chargeLimit else { return false }
        deadLetter(oldest, because: reason.wireName, &step)
        penalty.forgiveCrashes()
        return true
    }

    /// The oldest of the batch before a long job, which the program may not even have begun.
    private func suspect(of reason: EndReason) -> QueuedEvent? {
        reason == .stalled ? standing.first : batch.oldestOpen ?? standing.first
    }

    /// A program that crashes before its first line has not begun with the event; one that used its whole time has. A
    /// oneshot mostly has only an exit code, so it has begun when it has run for a second.
    private func isChargeable(_ reason: EndReason, at now: Instant) -> Bool {
        switch reason {
        case .launchFailed, .exhausted, .launchTimeout, .memory, .thermal, .listensAsleep: return false
        case .overrun, .deadline, .taskLeak, .stalled: return true
        case .exit(let status):
            guard process.isOneshot else { return process.hasSpoken }
            if now - process.startedAt >= .seconds(1) { return true }
            if case .signalled = status { return process.hasSpoken }
            return false
        case .flood, .watchdog, .lockHeld, .escaped, .unfreezable, .reclaimed, .idle, .stopped, .reconfigured,
            .finished,
            .killedByOperator, .restarted:
            return process.hasSpoken
        }
    }

    private mutating func deadLetter(_ event: QueuedEvent, because reason: String, _ step: inout Step) {
        batch.drop(event.sequence)
        _ = standing.close(event.sequence, at: step.now)
        conclude(event, .deadLettered, awake: .zero, &step)
        step.emit(.deadLetter(id, event.sequence, reason: reason))
        step.emit(.decision(id, .deadLettered(event.sequence)))
        lose(event, .deadLetter, &step)
    }

    /// An event that never reached a program keeps its number of attempts. When the daemon ends, events stay in flight in
    /// the journal, to come again as redelivered.
    private mutating func giveBackAfter(_ reason: EndReason, _ fate: OpenFate, _ step: inout Step) {
        if reason != .finished, !reason.isLaunchFailure { concludeOpen(fate, &step) }
        let jobs = standing.releaseAll()
        let open = jobs.isEmpty ? batch.releaseAll() : (jobs + batch.releaseAll()).sorted { $0.sequence < $1.sequence }
        if reason == .finished {
            queue.giveBack(open)
        } else {
            giveBack(open, isUndelivered: reason.isLaunchFailure, &step)
        }
    }

    /// Returns events to the queue, to be sent again with a higher attempt; after a nack, not before its end.
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

    /// Keeps the events of an earlier daemon in flight if no program was reached. Without this record, a daemon that
    /// dies next gives them again as if they were returned.
    private mutating func keepInFlight(_ events: [QueuedEvent], _ step: inout Step) {
        let inFlight = events.filter(\.isRedelivered)
        guard !inFlight.isEmpty else { return }
        journalEarlierAttempts(of: inFlight, &step)
        step.emit(.keepInFlight(id, inFlight.map(\.sequence)))
    }

    private mutating func forgetProcess() {
        budget.reset(timers)
        process.isStarting = false
        dialogue = Dialogue()
        sleep = SleepFacts()
        pressures = Pressures()
    }
}

extension EndReason {
    /// A later launch may succeed; five such failures prove no fault of the program.
    var isExhaustion: Bool {
        if case .exhausted = self { true } else { false }
    }

    /// The program never saw the delivery.
    var isLaunchFailure: Bool {
        switch self {
        case .launchFailed, .exhausted: true
        case .exit, .launchTimeout, .overrun, .taskLeak, .flood, .watchdog, .lockHeld, .escaped, .unfreezable,
            .reclaimed, .idle, .stopped, .reconfigured, .finished, .killedByOperator, .restarted, .deadline, .memory,
            .thermal, .stalled, .listensAsleep:
            false
        }
    }
}
