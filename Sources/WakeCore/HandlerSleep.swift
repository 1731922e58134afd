// When a handler is woken, what keeps it awake, and how it is frozen.
import WakeModel

// MARK: - Waking

extension HandlerLifecycle {
    /// Why the handler should be awake now; nil leaves it asleep.
    func wakeReason(_ step: Step) -> WakeReason? {
        if step.isFinishing || penalty.isHeld(at: step.boottime) { return nil }
        if step.machine.sleepsAt != nil || pressures.memoryUntil != nil || awaitsPower(step.machine) { return nil }
        if let rest = sleep.rest, step.now < rest.until { return nil }
        if let requestedWake { return requestedWake }
        if hasUnfinished { return .owed }
        return queue.firstWaking(now: step.now)?.wakeReason
    }

    mutating func launchIfDue(_ step: inout Step) -> Bool {
        guard !step.isFinishing, !isGated else { return false }
        expireRetention(&step)
        guard let reason = wakeReason(step) else { return false }
        launch(reason, &step)
        return true
    }

    mutating func advanceSuspended(_ step: inout Step) -> Bool {
        if let reason = wakeReason(step) {
            resume(reason, &step)
            return true
        }
        if let inspection = sleep.lockInspection, step.now >= inspection {
            sleep.lockInspection = step.now + Self.lockInspectionInterval
            step.emit(.inspectLocks(id, epoch))
        }
        if let exit = idleExitAt, step.now >= exit {
            kill(.idle, &step)
            return true
        }
        return false
    }

    private mutating func launch(_ reason: WakeReason, _ step: inout Step) {
        prepareProcess(at: step.now)
        step.emit(.launch(id, epoch, reason))
        var delivery = Delivery(preface: .restored(reason), notices: [], events: [], budget: timers.budget)
        if process.isStarting {
            move(to: .launching(deadline: step.now + timers.launch), because: reason.wireName, &step)
        } else {
            move(to: .active, because: reason.wireName, &step)
            delivery.events = leaseBatch(&step)
            delivery.budget = timeForBatch(step)
        }
        step.emit(.deliver(id, epoch, delivery))
        // The input ends before the process runs, so that it reads the whole batch.
        if process.isOneshot { step.emit(.closeInput(id, epoch)) }
        step.emit(.thaw(id, epoch))
    }

    private mutating func prepareProcess(at now: Instant) {
        epoch = epoch.next
        let isOneshot = settings.lifecycle == .oneshot
        process = ProcessFacts(
            startedAt: now, isOneshot: isOneshot, isStarting: settings.readiness == .explicit && !isOneshot,
            requestedWake: requestedWake)
        requestedWake = nil
        statistics.launches += 1
        statistics.outcomes.beginProcess()
        batch.reset()
        budget.reset(timers)
        budget.wake(at: now)
        if !isAttached { standing.run(from: now) }
        // A oneshot without an event has a budget too.
        if isOneshot { budget.renew(at: now, for: timers.budget) }
    }

    private mutating func resume(_ reason: WakeReason, _ step: inout Step) {
        let frozenFor = timeAsleep(step)
        giveBackLeasesKeptTooLong(&step)
        budget.wake(at: step.now)
        if !isAttached { standing.run(from: step.now) }
        dialogue.flood?.since = step.now
        var delivery = Delivery(
            preface: .resumed(frozenFor: frozenFor, reason, open: openSequences), notices: dialogue.lateAnswers,
            events: [],
            budget: timers.budget)
        forgetSleep()
        statistics.thaws += 1
        statistics.outcomes.beginWake()
        move(to: .active, because: reason.wireName, &step)
        if !batch.hasOpen {
            delivery.events = leaseBatch(&step)
            delivery.budget = timeForBatch(step)
        } else {
            sleep.leaseWakes += 1
            budget.renew(at: step.now, for: timeForLeases)
        }
        step.emit(.deliver(id, epoch, delivery))
        step.emit(.thaw(id, epoch))
    }

    private mutating func forgetSleep() {
        requestedWake = nil
        dialogue.lateAnswers = []
        (sleep.suspendedSince, sleep.frozenAt) = (nil, nil)
        sleep.rest = nil
        sleep.lockInspection = nil
        dialogue.wasLetReadAnswer = false
    }

    /// While a task is open, leases expire with it.
    func timeForBatch(_ step: Step) -> TimeSpan { timeLeft(step) ?? timeForLeases }

    /// Everything that was delivered and not answered.
    var openSequences: [Sequence] {
        standing.hasOpen ? (standing.sequences + batch.openSequences).sorted() : batch.openSequences
    }

    /// The machine's own sleep counts: connections time out in it as in a freeze.
    func timeAsleep(_ step: Step) -> TimeSpan { step.boottime - (sleep.frozenAt ?? step.boottime) }

    /// True while it is awake with nothing in flight. A oneshot gets its one batch at launch, and then its input ends.
    func canTakeBatch(_ step: Step) -> Bool {
        guard !batch.hasOpen, !process.isOneshot, sleep.lockGrace == nil, !step.isFinishing, !awaitsPower(step.machine)
        else {
            return false
        }
        // A standing lease leaves no rest in which the window could end.
        return isAttached
            || (causeToMakeWay(step) == nil && (standing.hasOpen || !budget.isWindowOver(at: step.now, timers)))
    }

    /// A lease kept over three wakes or five minutes of sleep returns to the queue, to be sent again.
    private mutating func giveBackLeasesKeptTooLong(_ step: inout Step) {
        guard batch.hasOpen, let since = sleep.leasesKeptSince else { return }
        guard sleep.leaseWakes >= 3 || step.boottime - since >= timers.leaseKeep else { return }
        giveBack(batch.lapse(), &step)
    }
}

extension QueuedEvent {
    var wakeReason: WakeReason {
        attempts > 0 ? .owed : reason
    }
}

// MARK: - Awake

extension HandlerLifecycle {
    mutating func advanceActive(_ step: inout Step) -> Bool {
        if let lockGrace = sleep.lockGrace { return endLockGrace(lockGrace, &step) }
        if deliverNextBatch(&step) { return true }
        updateHeatDeadline(step)
        if isTimeToExpire(step) {
            beginExpiring(&step)
            return true
        }
        return lingerOrFreeze(&step)
    }

    private func isTimeToExpire(_ step: Step) -> Bool { pressure(step) != nil || isWarningDue(at: step.now) }

    private mutating func endLockGrace(_ lockGrace: LockGrace, _ step: inout Step) -> Bool {
        guard step.now >= lockGrace.until else { return false }
        sleep.lockGrace = nil
        freeze(for: lockGrace.purpose, because: "lock", &step)
        return true
    }

    private mutating func lingerOrFreeze(_ step: inout Step) -> Bool {
        guard !isKeptAwake(at: step.now) else {
            sleep.lingerUntil = nil
            return false
        }
        if let cause = causeToMakeWay(step) {
            freeze(for: .rest, because: cause.wireName, &step)
            return true
        }
        if budget.isWindowOver(at: step.now, timers) {
            freeze(for: .rest, because: "window", &step)
            return true
        }
        let deadline = sleep.lingerUntil ?? step.now + timers.linger
        sleep.lingerUntil = deadline
        guard step.now >= deadline else { return false }
        freeze(for: .rest, because: "linger", &step)
        return true
    }

    /// True while it has a reason to be awake other than the linger.
    func isKeptAwake(at now: Instant) -> Bool {
        if standing.hasOpen { return true }
        return isAttached || process.isOneshot || batch.hasOpen || !budget.tasks.isEmpty || hasOpenRequest(at: now)
    }

    func hasOpenRequest(at now: Instant) -> Bool { dialogue.requests.contains { now < $0.deadline } }

    /// Its own deadline, without pressures. While a task is open, leases expire with it.
    var awakeDeadline: Instant? {
        if isAttached { return nil }
        if !budget.tasks.isEmpty { return budget.poolEnd }
        if process.isOneshot, standing.hasOpen { return standing.deadline }
        return batch.hasOpen || process.isOneshot ? budget.batchDeadline : nil
    }

    private mutating func beginExpiring(_ step: inout Step) {
        if process.isOneshot {
            requestTermination(.deadline, &step)
            return
        }
        if let pressure = pressure(step) {
            move(to: .expiring, because: pressure.cause.wireName, &step)
            warn(of: pressure, &step)
            return
        }
        let reason = pressures.earlyDeadlineReason ?? (budget.tasks.isEmpty ? "budget" : "extension")
        pressures.earlyDeadlineReason = nil
        move(to: .expiring, because: reason, &step)
        notifyExpiring(reason, remaining: timeLeft(step) ?? .zero, &step)
    }

    /// The time to the earliest deadline; nil where there is none.
    func timeLeft(_ step: Step) -> TimeSpan? {
        let deadline = Instant.earlier(awakeDeadline, pressure(step)?.deadline)
        return deadline.map { max(.zero, $0 - step.now) }
    }

    /// A notice that is only about a long job names that job alone.
    func notifyExpiring(
        _ reason: String, remaining: TimeSpan, concerning cause: ResourcePressure.Cause? = nil, _ step: inout Step
    ) {
        let open: [Sequence] =
            switch cause {
            case .withdrawal(let why): pressures.withdrawn.filter { $0.value == why }.keys.sorted()
            case .stalled, .longest: standing.first.map { [$0.sequence] } ?? []
            case .systemSleep, .memory, .thermal, nil: openSequences
            }
        send(.expiring(reason: reason, remaining: remaining, tasks: budget.tasks, open: open), &step)
    }

    /// A oneshot's input has ended, so it gets no notices.
    func send(_ notice: Notice, _ step: inout Step) {
        if !process.isOneshot { step.emit(.notify(id, epoch, notice)) }
    }

    mutating func advanceExpiring(_ step: inout Step) -> Bool {
        updateHeatDeadline(step)
        let pressure = pressure(step)
        // A pressure that takes only a long job's time delays no other event.
        if pressure?.cause.isOfStanding ?? false, deliverNextBatch(&step) { return true }
        if let pressure, pressures.reportedPressure != pressure.cause {
            warn(of: pressure, &step)
            return true
        }
        if let pressure, step.now >= pressure.end {
            makeWay(for: pressure.cause, &step)
            return true
        }
        guard pressure != nil || (pressures.reportedPressure == nil && isWarningDue(at: step.now)) else {
            leaveExpiring(&step)
            return true
        }
        guard let deadline = awakeDeadline, step.now >= deadline + timers.grace else { return false }
        if budget.tasks.isEmpty {
            // The freeze comes even before a kill: lines that are in the pipe by now were written in time.
            freeze(for: .overrun, because: "overrun", &step)
        } else {
            kill(.taskLeak, &step)
        }
        return true
    }

    private mutating func leaveExpiring(_ step: inout Step) {
        let reason = isAttached ? "attached" : pressures.reportedPressure == nil ? "progress" : "eased"
        pressures.reportedPressure = nil
        move(to: .active, because: reason, &step)
    }
}

// MARK: - Freezing

extension HandlerLifecycle {
    mutating func freeze(for purpose: Suspension.Purpose, because reason: String, _ step: inout Step) {
        sleep.lingerUntil = nil
        let suspension = Suspension(purpose: purpose, deadline: step.now + timers.freeze)
        move(to: .suspending(suspension), because: reason, &step)
        step.emit(.freeze(id, epoch))
    }

    mutating func advanceSuspending(_ suspension: Suspension, _ step: inout Step) -> Bool {
        if hasReasonToStayAwake(suspension, step) {
            cancelSuspension(from: suspension, &step)
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

    private mutating func cancelSuspension(from suspension: Suspension, _ step: inout Step) {
        requestedWake = nil
        if suspension.purpose == .pressure { budget.restart(at: step.now, timers) }
        if dialogue.hasUnreadAnswer { dialogue.wasLetReadAnswer = true }
        dialogue.hasUnreadAnswer = false
        sendLateAnswers(&step)
        step.emit(.thaw(id, epoch))
        move(to: .active, because: "turned-back", &step)
    }

    private mutating func sendLateAnswers(_ step: inout Step) {
        for answer in dialogue.lateAnswers { send(answer, &step) }
        dialogue.lateAnswers = []
    }

    /// Only a task begun in time cancels the freeze of an overrun. An idle handler stays awake when work comes before its
    /// leaf is found frozen.
    private func hasReasonToStayAwake(_ suspension: Suspension, _ step: Step) -> Bool {
        if isAttached { return true }
        if isTimeToMakeWay(step) { return false }
        if !budget.tasks.isEmpty { return true }
        guard suspension.purpose != .overrun else { return false }
        if hasOpenRequest(at: step.now) || (dialogue.hasUnreadAnswer && !dialogue.wasLetReadAnswer) { return true }
        return !budget.isWindowOver(at: step.now, timers) && wakeReason(step) != nil
    }

    /// An acknowledgement found in the drain is on time, so there was no overrun.
    mutating func forgiveOverrunInDrain() {
        guard case .suspending(var suspension) = phase, suspension.purpose == .overrun else { return }
        suspension.purpose = .rest
        phase = .suspending(suspension)
    }

    /// The leaf is frozen, and every line that the handler wrote before has been handled.
    mutating func confirmSuspension(_ finding: SuspensionFinding, _ step: inout Step) {
        guard case .suspending(let suspension) = phase else { return }
        // A task begun in time cancels an overrun, even if it must wait for the end of the machine's sleep.
        let isOverrun = suspension.purpose == .overrun && batch.hasOpen && budget.tasks.isEmpty
        switch finding {
        case .escaped: kill(.escaped, &step)
        case .blocksOthers: grantLockGrace(for: suspension.purpose, &step)
        case .clean, .holdsLock:
            if isOverrun {
                punishOverrun(holdsLock: finding == .holdsLock, &step)
            } else {
                fallAsleep(
                    holdsLock: finding == .holdsLock, because: pressures.memoryUntil == nil ? "frozen" : "memory", &step
                )
            }
        }
    }

    private mutating func fallAsleep(holdsLock: Bool, because reason: String, _ step: inout Step) {
        if let since = budget.awakeSince { statistics.awake = statistics.awake + (step.now - since) }
        if pressures.memoryUntil != nil {
            sleep.rest = Rest(until: step.now + Self.memoryRest, cause: .memory)
        } else if budget.isWindowOver(at: step.now, timers) {
            sleep.rest = Rest(until: step.now + timers.rest, cause: .window)
        }
        // Later it would go on without its condition.
        withdrawOpen(&step)
        clearPressure()
        budget.sleep(timers)
        standing.pause(at: step.now)
        sleep.hadLockGrace = false
        dialogue.hasUnreadAnswer = false
        pressures.earlyDeadlineReason = nil
        (sleep.suspendedSince, sleep.frozenAt) = (step.now, step.boottime)
        pauseFlood(at: step.now)
        sleep.lockInspection = holdsLock ? step.now + Self.lockInspectionInterval : nil
        if batch.hasOpen, sleep.leasesKeptSince == nil { sleep.leasesKeptSince = step.boottime }
        move(to: .suspended, because: reason, &step)
    }

    /// No answer came in time: a strike and a hold with the lease kept, or the end of the process.
    private mutating func punishOverrun(holdsLock: Bool, _ step: inout Step) {
        let strikes = penalty.strike(at: step.now, timers)
        step.emit(.decision(id, .struck(strikes: strikes, misdirects: process.misdirects)))
        for occasion in batch.openOccasions() { conclude(occasion, .overrun, awake: awakeForBatch(step), &step) }
        guard strikes < Penalty.strikeLimit, settings.onOverrun == .suspend else {
            penalty.forgiveStrikes()
            return kill(.overrun, &step)
        }
        fallAsleep(holdsLock: holdsLock, because: "overrun", &step)
        hold(atLeast: .seconds(1), because: "overrun", &step)
    }

    mutating func hold(atLeast least: TimeSpan = .zero, because reason: String, _ step: inout Step) {
        let until = penalty.hold(from: step.boottime, atLeast: least, because: reason, timers)
        penalty.keepStrikes(for: until - step.boottime)
        step.emit(.decision(id, .held(until: until, because: reason)))
    }

    /// How often a lock held in sleep is inspected: no other process may wait for it for a second.
    static let lockInspectionInterval = TimeSpan.milliseconds(500)

    /// The handler held a lock when it was frozen; another process may wait for it by now.
    mutating func reportLocks(_ finding: SuspensionFinding, _ step: inout Step) {
        guard phase == .suspended else { return }
        switch finding {
        case .holdsLock: break
        case .clean: sleep.lockInspection = nil
        case .escaped: kill(.escaped, &step)
        case .blocksOthers: wakeForLock(&step)
        }
    }

    /// Its process ends: a client would wait for as long as it sleeps. The next start would do the same, so there is
    /// none before it has changed.
    mutating func refuseListening(_ step: inout Step) {
        if phase == .suspended { kill(.listensAsleep, &step) }
    }

    private mutating func wakeForLock(_ step: inout Step) {
        let frozenFor = timeAsleep(step)
        let preface = Delivery.Preface.resumed(frozenFor: frozenFor, .lock, open: openSequences)
        sleep.lockInspection = nil
        (sleep.suspendedSince, sleep.frozenAt) = (nil, nil)
        sleep.rest = nil
        dialogue.wasLetReadAnswer = false
        budget.wake(at: step.now)
        dialogue.flood?.since = step.now
        // It may stay awake after the lock grace, and then its leases need a deadline.
        if batch.hasOpen { budget.renew(at: step.now, for: timeForLeases) }
        standing.run(from: step.now)
        step.emit(
            .deliver(
                id, epoch, Delivery(preface: preface, notices: dialogue.lateAnswers, events: [], budget: timers.rescue))
        )
        dialogue.lateAnswers = []
        grantLockGrace(for: .rest, &step)
    }

    /// The handler has a second to release a lock that another process waits for; the next time it is killed.
    private mutating func grantLockGrace(for purpose: Suspension.Purpose, _ step: inout Step) {
        guard !sleep.hadLockGrace else { return kill(.lockHeld, &step) }
        sleep.hadLockGrace = true
        sleep.lockGrace = LockGrace(until: step.now + timers.rescue, purpose: purpose)
        sendLateAnswers(&step)
        move(to: .active, because: "lock", &step)
        notifyExpiring("lock", remaining: timers.rescue, &step)
        step.emit(.thaw(id, epoch))
    }
}
