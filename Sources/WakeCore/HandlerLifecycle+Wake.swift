// When a sleeping handler must be woken, and how: launched into a frozen leaf or thawed, with its batch written first.
import WakeModel

extension HandlerLifecycle {
    /// The pipe takes 256 KiB, of which notices keep some; a batch stays well below it.
    static let batchByteLimit = 48 << 10

    /// Why it should be awake now; nil leaves it asleep.
    func wakeReason(_ step: Step) -> WakeReason? {
        if step.isFinishing || penalty.isHeld(at: step.boottime) { return nil }
        if step.machine.sleepsAt != nil || memoryUntil != nil || awaitsPower(step.machine) { return nil }
        if let rest, step.now < rest.until { return nil }
        if let wanted { return wanted }
        if hasUnfinished { return .owed }
        return queue.firstWaking(now: step.now)?.wakeReason
    }

    mutating func launchIfDue(_ step: inout Step) -> Bool {
        guard !step.isFinishing else { return false }
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
        if let inspection = lockInspection, step.now >= inspection {
            lockInspection = step.now + Self.lockInspectionInterval
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
        if isStarting {
            move(to: .launching(deadline: step.now + timers.launch), because: reason.written, &step)
        } else {
            move(to: .active, because: reason.written, &step)
            delivery.events = takeBatch(&step)
        }
        step.emit(.deliver(id, epoch, delivery))
        // Its input has an end before it runs: what is read to the end is the whole batch.
        if isOneshot { step.emit(.closeInput(id, epoch)) }
        step.emit(.thaw(id, epoch))
    }

    private mutating func prepareProcess(at now: Instant) {
        epoch = epoch.next
        launchedAt = now
        hasSpoken = false
        isOneshot = settings.lifecycle == .oneshot
        isStarting = settings.readiness == .explicit && !isOneshot
        (wantedAtLaunch, wanted) = (wanted, nil)
        statistics.launches += 1
        statistics.outcomes.beginProcess()
        batch.reset()
        budget.reset(timers)
        budget.wake(at: now)
        // A oneshot that was given nothing has its time too.
        if isOneshot { budget.renew(at: now, timers) }
    }

    private mutating func resume(_ reason: WakeReason, _ step: inout Step) {
        let frozenFor = timeAsleep(step)
        giveBackLeasesKeptTooLong(&step)
        let owed = batch.openSequences
        budget.wake(at: step.now)
        flood?.since = step.now
        var delivery = Delivery(
            preface: .resumed(frozenFor: frozenFor, reason, open: owed), notices: lateAnswers, events: [],
            budget: timers.budget)
        forgetSleep()
        statistics.wakes += 1
        statistics.outcomes.beginWake()
        move(to: .active, because: reason.written, &step)
        if owed.isEmpty {
            delivery.events = takeBatch(&step)
            delivery.budget = timeForBatch(step)
        } else {
            leaseWakes += 1
            budget.renew(at: step.now, timers)
        }
        step.emit(.deliver(id, epoch, delivery))
        step.emit(.thaw(id, epoch))
    }

    private mutating func forgetSleep() {
        wanted = nil
        lateAnswers = []
        (suspendedSince, frozenAt) = (nil, nil)
        rest = nil
        lockInspection = nil
        wasLetReadAnswer = false
    }

    mutating func deliverNextBatch(_ step: inout Step) -> Bool {
        guard canTakeBatch(step), !queue.isEmpty else { return false }
        let events = takeBatch(&step)
        guard !events.isEmpty else { return false }
        let delivery = Delivery(preface: .none, notices: [], events: events, budget: timeForBatch(step))
        step.emit(.deliver(id, epoch, delivery))
        return true
    }

    /// While a task is open, leases expire with it.
    private func timeForBatch(_ step: Step) -> TimeSpan { timeLeft(step) ?? timers.budget }

    /// Of the machine's own sleep too: connections die in it as in any other.
    func timeAsleep(_ step: Step) -> TimeSpan { step.boottime - (frozenAt ?? step.boottime) }

    /// Awake, with nothing in flight. A oneshot has its one batch from the start, and an end of input after it.
    func canTakeBatch(_ step: Step) -> Bool {
        guard !batch.hasOpen, !isOneshot, rescue == nil, !step.isFinishing, !awaitsPower(step.machine) else {
            return false
        }
        return isAttached || (makesWayFor(step) == nil && !budget.isWindowOver(at: step.now, timers))
    }

    /// Leases the next batch: from here on its events are owed an answer by this process.
    private mutating func takeBatch(_ step: inout Step) -> [DeliveredEvent] {
        expireRetention(&step)
        var taken = queue.dequeue(limit: settings.batchLimit, byteLimit: Self.batchByteLimit)
        let reach = batch.reach(of: taken)
        if reach < taken.count {
            queue.giveBack(Array(taken[reach...]))
            taken.removeSubrange(reach...)
        }
        guard let first = taken.first, let last = taken.last else { return [] }
        for index in taken.indices { taken[index].countAttempt() }
        for entry in gaps.seal(taken) { rewrite(entry, &step) }
        noteEarlierAttempts(of: taken, &step)
        batch.deliver(taken)
        budget.renew(at: step.now, timers)
        lingerUntil = nil
        hurriedBy = nil
        wasRescued = false
        leaseWakes = 0
        leasesKeptSince = nil
        step.emit(.lease(id, taken.map(\.sequence)))
        step.emit(.decision(id, .delivered(first: first.sequence, last: last.sequence, count: taken.count)))
        return taken.map {
            DeliveredEvent(
                sequence: $0.sequence, origin: $0.origin, attempt: $0.attempts, isRedelivered: $0.isRedelivered)
        }
    }

    /// The journal counts a batch in flight as one delivery. What an earlier bridge had delivered is known only from such
    /// a batch, which this one replaces: unless it is written down, a bridge that dies twice counts once.
    func noteEarlierAttempts(of taken: [QueuedEvent], _ step: inout Step) {
        for event in taken where event.isRedelivered {
            step.emit(
                .giveBack(
                    id, event.sequence, attempts: event.attempts - 1, charges: event.charges, heldUntil: nil))
        }
    }

    /// A lease that outlived three wakes or five minutes of sleep goes back, to be sent again.
    private mutating func giveBackLeasesKeptTooLong(_ step: inout Step) {
        guard batch.hasOpen, let since = leasesKeptSince else { return }
        guard leaseWakes >= 3 || step.boottime - since >= timers.leaseKeep else { return }
        giveBack(batch.lapse(), &step)
    }
}

extension QueuedEvent {
    var wakeReason: WakeReason {
        if attempts > 0 { return .owed }
        return switch kind {
        case .data: .data
        case .connected: .connected
        case .disconnected: .disconnected
        case .attention: .attention
        case .gap: .gap
        }
    }
}
