// When a sleeping handler must be woken, and how: launched into a frozen leaf or thawed, with its batch written first.
import WakeModel

extension HandlerLifecycle {
    /// The pipe takes 256 KiB, of which notices keep some; a batch stays well below it.
    static let batchByteLimit = 48 << 10

    func isHeldBack(_ event: QueuedEvent, at boottime: Instant) -> Bool {
        guard !nackHolds.isEmpty, !event.passesNacks, let until = nackHolds[event.device] else { return false }
        return boottime < until
    }

    /// Why it should be awake now; nil leaves it asleep.
    func wakeReason(_ step: Step) -> WakeReason? {
        if step.isFinishing { return nil }
        if isAttached { return .attach }
        if penalty.isHeld(at: step.boottime) { return nil }
        if let rest = restUntil, step.now < rest { return nil }
        if let wanted { return wanted }
        if batch.hasOpen { return .owed }
        return queue.events.lazy
            .first { $0.wakes && $0.due <= step.now && !isHeldBack($0, at: step.boottime) }
            .map(\.wakeReason)
    }

    mutating func launchIfDue(_ step: inout Step) -> Bool {
        releaseNacks(step)
        penalty.releaseIfOver(at: step.boottime)
        expireRetention(&step)
        guard let reason = wakeReason(step) else { return false }
        launch(reason, &step)
        return true
    }

    mutating func advanceSuspended(_ step: inout Step) -> Bool {
        releaseNacks(step)
        penalty.releaseIfOver(at: step.boottime)
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

    /// How soon a lock held in sleep is looked at again: no waiter is left blocked for a second.
    static let lockInspectionInterval = TimeSpan.milliseconds(500)

    private mutating func launch(_ reason: WakeReason, _ step: inout Step) {
        epoch = epoch.next
        launchedAt = step.now
        hasSpoken = false
        wanted = nil
        statistics.launches += 1
        batch.reset()
        budget.reset(timers)
        budget.wake(at: step.now)
        step.emit(.launch(id, epoch, reason))
        var delivery = Delivery(preface: .restored(reason), notices: lateAnswers, events: [], budget: timers.budget)
        lateAnswers = []
        if settings.readiness == .explicit, !isOneshot {
            move(to: .launching(deadline: step.now + timers.launch), because: reason.written, &step)
        } else {
            move(to: .active, because: reason.written, &step)
            delivery.events = takeBatch(&step)
        }
        write(delivery, &step)
        step.emit(.thaw(id, epoch))
        if isOneshot {
            if !batch.hasOpen { budget.renew(at: step.now, timers) }
            step.emit(.closeInput(id, epoch))
        }
    }

    private mutating func resume(_ reason: WakeReason, _ step: inout Step) {
        let frozenFor = step.now - (suspendedSince ?? step.now)
        giveBackLeasesKeptTooLong(&step)
        let owed = batch.openSequences
        budget.wake(at: step.now)
        var delivery = Delivery(
            preface: .resumed(frozenFor: frozenFor, reason, open: owed), notices: lateAnswers, events: [],
            budget: timers.budget)
        wanted = nil
        lateAnswers = []
        suspendedSince = nil
        restUntil = nil
        lockInspection = nil
        move(to: .active, because: reason.written, &step)
        if owed.isEmpty {
            delivery.events = takeBatch(&step)
        } else {
            leaseWakes += 1
            budget.renew(at: step.now, timers)
        }
        statistics.wakes += 1
        write(delivery, &step)
        step.emit(.thaw(id, epoch))
    }

    private func write(_ delivery: Delivery, _ step: inout Step) {
        step.emit(.deliver(id, epoch, delivery))
    }

    mutating func deliverNextBatch(_ step: inout Step) -> Bool {
        guard !batch.hasOpen, !queue.isEmpty, !isOneshot || batch.events.isEmpty, rescueUntil == nil,
            !step.isFinishing, !isResting(step)
        else { return false }
        let events = takeBatch(&step)
        guard !events.isEmpty else { return false }
        lingerUntil = nil
        write(Delivery(preface: .none, notices: [], events: events, budget: timers.budget), &step)
        return true
    }

    private func isResting(_ step: Step) -> Bool { !isAttached && budget.isWindowOver(at: step.now, timers) }

    /// Leases the next batch: from here on its events are owed an answer by this process.
    private mutating func takeBatch(_ step: inout Step) -> [DeliveredEvent] {
        releaseNacks(step)
        expireRetention(&step)
        let boottime = step.boottime
        let holds = nackHolds
        var taken = queue.take(limit: settings.batchLimit, byteLimit: Self.batchByteLimit) { event in
            !holds.isEmpty && !event.passesNacks && holds[event.device].map { boottime < $0 } ?? false
        }
        guard let first = taken.first, let last = taken.last else { return [] }
        for index in taken.indices { taken[index].attempts += 1 }
        gaps.seal(taken)
        batch.deliver(taken)
        budget.renew(at: step.now, timers)
        leaseWakes = 0
        leasesKeptSince = nil
        step.emit(.lease(id, taken.map(\.sequence)))
        step.emit(.decision(id, .delivered(first: first.sequence, last: last.sequence, count: taken.count)))
        return taken.map {
            DeliveredEvent(sequence: $0.sequence, attempt: $0.attempts, isRedelivered: $0.isRedelivered)
        }
    }

    /// A lease that outlived three wakes or five minutes of sleep goes back, to be sent again.
    private mutating func giveBackLeasesKeptTooLong(_ step: inout Step) {
        guard batch.hasOpen, let since = leasesKeptSince else { return }
        guard leaseWakes >= 3 || step.boottime - since >= timers.leaseKeep else { return }
        giveBack(batch.releaseAll(), &step)
    }

    private mutating func releaseNacks(_ step: Step) {
        guard !nackHolds.isEmpty else { return }
        nackHolds = nackHolds.filter { step.boottime < $0.value }
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
