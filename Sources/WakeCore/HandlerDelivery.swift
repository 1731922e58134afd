// Admits events to a handler's queue, reports those that are lost in gaps, and leases batches to its process.
import WakeModel

extension HandlerLifecycle {
    enum AdmissionResult {
        case queued
        case lost(GapCause)

        var isLost: Bool { if case .lost = self { true } else { false } }
    }

    /// Decides on an event that has no number yet, and makes room for it. So the gap that reports what was removed has a
    /// lower number than the event.
    mutating func admit(_ event: DeviceEvent, _ subscription: Int?, _ step: inout Step) -> AdmissionResult {
        if isBarred, settings.stoppedEvents == .drop { return .lost(.stopped) }
        guard case .data(let channel, _) = event.kind else {
            for stale in queue.collapseBarriers() { discard(stale, .overflow, &step) }
            return .queued
        }
        let rules = rules(of: subscription)
        if canTakeAtOnce(event, channel, rules, step) { return .queued }
        switch rules.policy {
        case .all: break
        case .drop: return .lost(.policy)
        case .latest:
            if let older = queue.removeNewest(of: channel, event.origin) { discard(older, .policy, &step) }
        }
        return makeRoom(for: event, channel, rules, &step) ? .queued : .lost(.overflow)
    }

    /// False where nothing is left that may be removed: connects, disconnects and attentions never are.
    private mutating func makeRoom(
        for event: DeviceEvent, _ channel: Channel, _ rules: DeliveryRules, _ step: inout Step
    ) -> Bool {
        let size = QueuedEvent.size(of: event)
        while true {
            let isFull = queue.bytes + size > settings.queueCap
            let isShareFull = rules.subscription.map { queue.bytes(of: $0) + size > rules.queueCap } ?? false
            guard isFull || isShareFull else { return true }
            let share = isFull ? nil : rules.subscription
            guard let victim = queue.removeForOverflow(of: share, sparingData: channel == .advertisement) else {
                return false
            }
            discard(victim, .overflow, &step)
        }
    }

    mutating func enqueue(
        _ event: DeviceEvent, as sequence: Sequence, _ subscription: Int?, _ durability: Durability,
        passesNacks: Bool = false, _ step: inout Step
    ) {
        let rules = rules(of: subscription)
        var queued = QueuedEvent(event, sequence, due: due(event, subscription, step), durability)
        queued.passesNacks = passesNacks
        // A link that flaps for days must not leave a gap each time: past a few, gaps grow across barriers.
        if event.isBarrier, queue.gapCount(of: event.origin) < Self.gapLimit {
            for entry in gaps.seal(event.origin) { rewrite(entry, &step) }
        }
        queue.insert(queued, rules)
        if let why = explainSleep(queued, rules, step) { step.emit(.decision(id, .notWoken(sequence, why))) }
    }

    /// Undelivered gaps of one device between barriers.
    private static let gapLimit = 64

    /// An event that has a number is lost to this handler: one gap per device and cause reports it.
    mutating func lose(_ event: QueuedEvent, _ cause: GapCause, _ step: inout Step) {
        lose(
            event.origin, cause, event.sequence, from: event.wall, due: event.due, nil, keptBy: event.durability, &step)
    }

    /// `due` is when the lost event would have woken the handler: its gap must not wake it sooner. `durability` is how the
    /// event is journaled. Two databases cannot commit at one instant, so a gap is kept in the same one as its event: else
    /// a crash between the commits would erase the event without a gap.
    mutating func lose(
        _ device: EventOrigin, _ cause: GapCause, _ sequence: Sequence?, from wall: WallTime, due: Instant,
        _ subscription: Int?, keptBy durability: Durability, _ step: inout Step
    ) {
        if let grown = gaps.grow(device, cause, durability, by: sequence, at: wall) {
            if !grown.isAhead { rewrite(grown, &step) }
            return
        }
        let gap = Gap(cause: cause, count: 1, first: sequence, last: sequence, from: wall, to: wall)
        reportGap(gap, of: device, due: due, subscription, atLeast: durability, &step)
    }

    /// A gap for the losses of a restart must outlive the next restart, even a reboot. The disk has it beside the
    /// journal's record of the hole. So one commit writes the gap and clears the record.
    private func durability(of gap: Gap, _ rules: DeliveryRules) -> Durability {
        gap.cause == .bridgeRestart ? .disk : rules.durability
    }

    /// Brings the journal's copy of a gap up to date.
    func rewrite(_ entry: PendingGaps.Entry, _ step: inout Step) {
        step.emit(.update(entry.sequence, step.event(.gap(entry.gap), of: entry.origin)))
    }

    mutating func reportGap(
        _ gap: Gap, of device: EventOrigin, due: Instant, _ subscription: Int?, atLeast least: Durability = .ram,
        _ step: inout Step
    ) {
        let event = step.event(.gap(gap), of: device)
        let rules = subscription.map { self.rules(of: $0) } ?? queue.rules(of: device)
        let sequence = step.allocateSequence()
        let durability = max(durability(of: gap, rules), least)
        step.emit(.append(sequence, event, owners: [id], durability))
        step.emit(.decision(id, .lost(device, gap.cause, gap: sequence)))
        queue.insert(QueuedEvent(event, sequence, due: due, durability), rules)
        gaps.insert(PendingGaps.Entry(sequence: sequence, origin: device, gap: gap, durability: durability))
    }

    /// Records the loss of an entry of the agenda before it was raised: it joins the gap that was not delivered yet.
    mutating func reportLoss(_ gap: Gap, of entry: EventOrigin, keptBy durability: Durability, _ step: inout Step) {
        if let grown = gaps.grow(entry, durability, by: gap) { return rewrite(grown, &step) }
        reportGap(gap, of: entry, due: step.now, nil, atLeast: durability, &step)
    }

    /// Removes events that are older than their subscription's retention; to be called before a delivery.
    mutating func expireRetention(_ step: inout Step) {
        guard !queue.isEmpty else { return }
        for expired in queue.removeExpired(at: step.boottime) { discard(expired, .retention, &step) }
    }

    /// Removes those that are still queued. Events in flight stay: the handler may acknowledge them at any moment.
    mutating func shed(_ sequences: [Sequence], _ step: inout Step) {
        for event in queue.remove(Set(sequences)) { discard(event, .overflow, &step) }
    }

    mutating func discard(_ event: QueuedEvent, _ cause: GapCause, _ step: inout Step) {
        step.emit(.acknowledge(id, [event.sequence]))
        conclude(event, .dropped, awake: .zero, &step)
        lose(event, cause, &step)
    }

    // MARK: Questions

    func due(_ event: DeviceEvent, _ subscription: Int?, _ step: Step) -> Instant {
        guard case .data(let channel, _) = event.kind else { return step.now }
        return step.now + rules(of: subscription).latency(of: channel)
    }

    /// True where the event would be delivered in this step, or launches the handler that gets it.
    private func canTakeAtOnce(_ event: DeviceEvent, _ channel: Channel, _ rules: DeliveryRules, _ step: Step) -> Bool {
        if queue.isHeld(event.origin, at: step.boottime) { return false }
        switch phase {
        case .active: return canTakeBatch(step)
        case .suspending(let suspension):
            guard suspension.purpose == .rest, pressures.memoryUntil == nil, !budget.isWindowOver(at: step.now, timers)
            else {
                return false
            }
        case .idle, .suspended: break
        case .stopped, .launching, .expiring, .terminating, .quarantined: return false
        }
        return rules.wakes && rules.latency(of: channel) == .zero && !batch.hasOpen
            && !penalty.isHeld(at: step.boottime) && !step.isFinishing && step.machine.sleepsAt == nil
            && !awaitsPower(step.machine)
            && sleep.rest.map { $0.until <= step.now } ?? true
    }

    /// Why the event does not wake its handler now; nil where it does, or where the handler is awake.
    private func explainSleep(_ event: QueuedEvent, _ rules: DeliveryRules, _ step: Step) -> NotWoken? {
        switch phase {
        case .stopped: return .stopped
        case .quarantined: return .quarantined
        case .terminating: return .ending
        case .launching, .active, .expiring, .suspending: return nil
        case .idle, .suspended: break
        }
        if phase == .idle, isGated { return .gated }
        if step.isFinishing { return .finishing }
        if penalty.isHeld(at: step.boottime) { return .held }
        if let rest = sleep.rest, step.now < rest.until { return rest.cause == .memory ? .makingWay : .resting }
        if !rules.wakes { return .subscription }
        if !event.passesNacks, queue.isHeld(event.origin, at: step.boottime) { return .nacked }
        if step.machine.sleepsAt != nil { return .systemSleep }
        if awaitsPower(step.machine) { return .power }
        return event.due > step.now ? .coalescing : nil
    }
}

// MARK: - Batches

extension HandlerLifecycle {
    /// The pipe holds 256 KiB, and notices need a part of it; a batch stays well below that.
    static let batchByteLimit = 48 << 10

    mutating func deliverNextBatch(_ step: inout Step) -> Bool {
        guard canTakeBatch(step), !queue.isEmpty else { return false }
        let events = leaseBatch(&step)
        guard !events.isEmpty else { return false }
        let delivery = Delivery(preface: .none, notices: [], events: events, budget: timeForBatch(step))
        step.emit(.deliver(id, epoch, delivery))
        return true
    }

    /// Leases the next batch: from here on this process has to acknowledge its events.
    mutating func leaseBatch(_ step: inout Step) -> [DeliveredEvent] {
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
        journalEarlierAttempts(of: taken, &step)
        lease(taken, step)
        sleep.lingerUntil = nil
        pressures.earlyDeadlineReason = nil
        sleep.hadLockGrace = false
        sleep.leaseWakes = 0
        sleep.leasesKeptSince = nil
        step.emit(.lease(id, standing.hasOpen ? openSequences : taken.map(\.sequence)))
        step.emit(.decision(id, .delivered(first: first.sequence, last: last.sequence, count: taken.count)))
        let standing = standing
        return taken.map {
            DeliveredEvent(
                sequence: $0.sequence, origin: $0.origin, attempt: $0.attempts, isRedelivered: $0.isRedelivered,
                ownBudget: standing.contains($0.sequence) ? $0.standingTime : nil, isOpenEnded: $0.isOpenEnded)
        }
    }

    private mutating func lease(_ taken: [QueuedEvent], _ step: Step) {
        // Most batches hold none, and all that follows is about them.
        if taken.contains(where: { $0.budgetClass != nil }) { return leaseOccasions(among: taken, step) }
        batch.deliver(taken, at: step.now)
        budget.renew(at: step.now, for: timers.budget)
    }

    /// Long jobs and open-ended events are leased beside the batch, which goes on without them. If a write acknowledges, none is.
    private mutating func leaseOccasions(among taken: [QueuedEvent], _ step: Step) {
        let mayStand = settings.acknowledgement == .explicit
        let others = taken.filter { !mayStand || !$0.isStanding }
        batch.deliver(others, at: step.now, hasOccasions: others.contains { $0.budgetClass != nil })
        if !others.isEmpty { budget.renew(at: step.now, for: timeForLeases) }
        for event in taken where mayStand && event.isStanding { standing.add(event, at: step.now) }
    }

    /// How long open leases have from their last progress on.
    var timeForLeases: TimeSpan { batch.hasOpenContent ? timers.contentTime : timers.budget }

    /// The journal counts a batch in flight as one delivery. It knows the deliveries of an earlier daemon only from such a
    /// batch, which this one replaces. Unless they are written first, two crashes of the daemon count as one.
    func journalEarlierAttempts(of taken: [QueuedEvent], _ step: inout Step) {
        for event in taken where event.isRedelivered {
            step.emit(
                .giveBack(
                    id, event.sequence, attempts: event.attempts - 1, charges: event.charges, heldUntil: nil))
        }
    }
}
