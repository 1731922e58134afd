// What becomes of an event that a handler is owed: queued, put in another's place, or lost and told in a gap.
import WakeModel

extension HandlerLifecycle {
    enum Fate { case queued, lost(GapCause) }

    /// Past so many connects, disconnects and attentions only the last state of each device is kept.
    static let barrierLimit = 256

    /// Frees the place of what `event` replaces, before `event` has its number: a gap's number stays below it.
    mutating func makeRoom(for event: DeviceEvent, _ subscription: Int, _ step: inout Step) {
        guard case .data(let channel, _) = event.kind, policy(of: subscription) == .latest,
            !canTakeAtOnce(event, subscription, step)
        else { return }
        let device = event.device
        let older = queue.removeNewest(
            where: { $0.device == device && $0.kind == .data(channel) },
            while: { !($0.device == device && $0.isBarrier) })
        if let older { discard(older, .policy, &step) }
    }

    func fate(of event: DeviceEvent, _ subscription: Int, _ step: Step) -> Fate {
        if phase == .stopped, settings.stoppedEvents == .drop { return .lost(.stopped) }
        guard case .data = event.kind, policy(of: subscription) == .drop else { return .queued }
        return canTakeAtOnce(event, subscription, step) ? .queued : .lost(.policy)
    }

    mutating func enqueue(
        _ event: DeviceEvent, as sequence: Sequence, _ subscription: Int, _ step: inout Step
    ) {
        let queued = QueuedEvent(event, sequence, subscription, settings.subscriptions, due: due(event, subscription, step))
        if event.isBarrier { gaps.seal(event.device) }
        queue.append(queued)
        explainSleep(queued, step).map { step.emit(.decision(id, .notWoken(sequence, $0))) }
    }

    /// Keeps the queue within its caps; called when the journal holds what was just queued.
    mutating func enforceCaps(_ subscription: Int, _ step: inout Step) {
        let cap = subscription < settings.subscriptions.count ? settings.subscriptions[subscription].queueCap : .max
        while queue.bytes > settings.queueCap || queue.bytes(of: subscription) > cap {
            let isOverall = queue.bytes > settings.queueCap
            guard let victim = removeForOverflow(of: isOverall ? nil : subscription) else { break }
            discard(victim, .overflow, &step)
        }
        while queue.barrierCount > Self.barrierLimit, let victim = removeStaleBarrier() {
            discard(victim, .overflow, &step)
        }
    }

    /// An event that has a number is lost to this handler: it is told in one gap per device and cause.
    mutating func lose(_ event: QueuedEvent, _ cause: GapCause, _ step: inout Step) {
        lose(event.device, cause, event.sequence, from: event.wall, event.subscription, &step)
    }

    mutating func lose(
        _ device: DeviceID, _ cause: GapCause, _ sequence: Sequence?, from wall: WallTime, _ subscription: Int,
        _ step: inout Step
    ) {
        if let grown = gaps.grow(device, cause, by: sequence, at: wall) {
            let event = DeviceEvent(device: device, kind: .gap(grown.gap), stamp: step.stamp)
            step.emit(.update(grown.sequence, event))
            return
        }
        let gap = Gap(cause: cause, count: 1, first: sequence, last: sequence, from: wall, to: wall)
        tell(gap, of: device, subscription, &step)
    }

    mutating func tell(_ gap: Gap, of device: DeviceID, _ subscription: Int, _ step: inout Step) {
        let event = DeviceEvent(device: device, kind: .gap(gap), stamp: step.stamp)
        let sequence = step.takeSequence()
        step.emit(.append(sequence, event, owners: [id], durability(of: subscription)))
        step.emit(.decision(id, .lost(device, gap.cause, gap: sequence)))
        queue.append(QueuedEvent(event, sequence, subscription, settings.subscriptions, due: step.now))
        gaps.insert(PendingGaps.Entry(sequence: sequence, device: device, gap: gap))
    }

    /// What is too old for its subscription is let go before anything is delivered.
    mutating func expireRetention(_ step: inout Step) {
        while let first = queue.first, first.kind != .gap, first.subscription < settings.subscriptions.count,
            let retention = settings.subscriptions[first.subscription].retention,
            step.boottime - first.arrived > retention,
            let expired = queue.removeOldest(where: { _ in true })
        {
            discard(expired, .retention, &step)
        }
    }

    mutating func discard(_ event: QueuedEvent, _ cause: GapCause, _ step: inout Step) {
        step.emit(.acknowledge(id, [event.sequence]))
        lose(event, cause, &step)
    }

    // MARK: Questions

    private func policy(of subscription: Int) -> Subscription.Policy {
        subscription < settings.subscriptions.count ? settings.subscriptions[subscription].policy : .all
    }

    func durability(of subscription: Int) -> Durability {
        subscription < settings.subscriptions.count ? settings.subscriptions[subscription].durability : .run
    }

    private func due(_ event: DeviceEvent, _ subscription: Int, _ step: Step) -> Instant {
        guard case .data = event.kind, subscription < settings.subscriptions.count else { return step.now }
        return step.now + settings.subscriptions[subscription].maxLatency
    }

    /// True where the event would be delivered in this very step.
    private func canTakeAtOnce(_ event: DeviceEvent, _ subscription: Int, _ step: Step) -> Bool {
        if let until = nackHolds[event.device], step.boottime < until { return false }
        switch phase {
        case .active: return !batch.hasOpen && rescueUntil == nil && !isOneshot
        case .idle, .suspended: break
        case .stopped, .launching, .expiring, .suspending, .terminating, .quarantined: return false
        }
        let wakes = subscription < settings.subscriptions.count ? settings.subscriptions[subscription].wakes : true
        return wakes && !batch.hasOpen && !penalty.isHeld(at: step.boottime) && !step.isFinishing
            && due(event, subscription, step) <= step.now && restUntil.map { $0 <= step.now } ?? true
    }

    /// Why the event does not wake its handler now; nil where it does, or where nothing sleeps.
    private func explainSleep(_ event: QueuedEvent, _ step: Step) -> NotWoken? {
        switch phase {
        case .stopped: return .stopped
        case .quarantined: return .quarantined
        case .terminating: return .ending
        case .launching, .active, .expiring, .suspending: return nil
        case .idle, .suspended: break
        }
        if step.isFinishing { return .finishing }
        if isAttached || wanted != nil { return nil }
        if penalty.isHeld(at: step.boottime) { return .held }
        if let rest = restUntil, step.now < rest { return .resting }
        if !event.wakes { return .subscription }
        if isHeldBack(event, at: step.boottime) { return .nacked }
        return event.due > step.now ? .coalescing : nil
    }

    private mutating func removeForOverflow(of subscription: Int?) -> QueuedEvent? {
        let policies = settings.subscriptions.map(\.policy)
        let belongs = { (event: QueuedEvent) in subscription.map { $0 == event.subscription } ?? true }
        if policies.contains(.latest) {
            let replaceable = queue.removeOldest {
                $0.isData && belongs($0) && $0.subscription < policies.count && policies[$0.subscription] == .latest
            }
            if let replaceable { return replaceable }
        }
        return queue.removeOldest { $0.isData && belongs($0) }
    }

    /// The oldest connect, disconnect or attention after which its device has another.
    private mutating func removeStaleBarrier() -> QueuedEvent? {
        var last: [DeviceID: Sequence] = [:]
        for event in queue.events where event.isBarrier { last[event.device] = event.sequence }
        return queue.removeOldest { $0.isBarrier && last[$0.device] != $0.sequence }
    }
}

extension QueuedEvent {
    /// An estimate is enough: it bounds a batch and a queue, not a buffer.
    private static let envelopeBytes = 320

    init(_ event: DeviceEvent, _ sequence: Sequence, _ subscription: Int, _ all: [Subscription], due: Instant) {
        var size = Self.envelopeBytes
        switch event.kind {
        case .data(let channel, let bytes):
            kind = .data(channel)
            size += bytes.count * 4
        case .connected: kind = .connected
        case .disconnected: kind = .disconnected
        case .attention(_, let detail):
            kind = .attention
            size += detail.utf8.count
        case .gap: kind = .gap
        }
        self.sequence = sequence
        device = event.device
        self.subscription = subscription
        wakes = subscription < all.count ? all[subscription].wakes : true
        self.size = UInt32(clamping: size)
        self.due = due
        arrived = event.stamp.moment.boottime
        wall = event.stamp.wall
    }
}
