// The events that wait for one handler: a sub-queue for each device and kind, and indexes of the first event in each.
import WakeModel

/// Each question is answered from an index, so that an event costs the same with ten devices or ten thousand.
struct EventQueue: Sendable {
    /// The rules of a device, whether or not events of it wait.
    private struct DeviceEntry: Sendable {
        let origin: EventOrigin
        var rules: DeliveryRules
        /// On CLOCK_BOOTTIME; in the past where no nack holds the device back.
        var heldUntil = Instant.zero
        /// The newest connect, disconnect or attention that ever waited, but for those that overtake a nack.
        var newestBarrier = Sequence(0)
    }

    private var places = PlaceTable()
    private var devices: [DeviceEntry] = []
    /// The slots of a device follow each other, one for each kind.
    private var queues: [SubQueue] = []
    /// Slots with events that no nack holds back, by their lowest number: those of data, which may have to make room, and
    /// the others.
    private var readyData = SortedIndex()
    private var readyOthers = SortedIndex()
    /// The slots of those that wake, by when.
    private var dues = SortedIndex()
    /// Slots with events that a nack holds back, by its end.
    private var held = SortedIndex()
    /// Slots with events that have a retention, by its end.
    private var expiries = SortedIndex()
    /// Up to when holds are over, on CLOCK_BOOTTIME.
    private var releasedUpTo = Instant.zero

    private(set) var count = 0
    private(set) var bytes = 0
    private var bytesOfSubscription: [Int] = []
    /// Connects, disconnects and attentions in the queue.
    private(set) var barrierCount = 0
    private var advertisementCount = 0
    /// True while some device is on the policy `latest`; it goes first when there is no room.
    private var hasLatest = false
    /// The number of barriers at which they are searched for stale ones.
    private var collapseAt = EventQueue.barrierLimit
    static let barrierLimit = 256

    var isEmpty: Bool { count == 0 }
    /// Whether an event waits that no nack holds back.
    var hasReady: Bool { firstReady != nil }

    /// `rules` count for a device of which nothing was ever queued; the others have theirs already.
    mutating func insert(_ event: QueuedEvent, _ rules: DeliveryRules) {
        let place = places[event.origin.rawValue] ?? add(event.origin, rules)
        let slot = slot(event.subQueue, at: place)
        if event.subQueue == .barriers {
            devices[place].newestBarrier = max(devices[place].newestBarrier, event.sequence)
        }
        queues[slot].insert(event)
        account(for: event, in: slot, 1)
        reindex(slot)
    }

    /// Returns events that were dequeued, the newest first so that each goes before the last.
    mutating func giveBack(_ events: [QueuedEvent]) {
        for event in events.reversed() { insert(event, rules(of: event.origin)) }
    }

    /// Removes up to `limit` events or `byteLimit` bytes in order, past devices held back; at least one where one may go.
    mutating func dequeue(limit: Int, byteLimit: Int) -> [QueuedEvent] {
        var dequeued: [QueuedEvent] = []
        var size = 0
        while dequeued.count < limit, let slot = firstReady {
            size += Int(queues[slot].first?.size ?? 0)
            guard dequeued.isEmpty || size <= byteLimit, let event = queues[slot].popFirst() else { break }
            account(for: event, in: slot, -1)
            reindex(slot)
            dequeued.append(event)
        }
        return dequeued
    }

    private mutating func add(_ origin: EventOrigin, _ rules: DeliveryRules) -> Int {
        let place = devices.count
        places[origin.rawValue] = place
        devices.append(DeviceEntry(origin: origin, rules: rules))
        queues += SubQueue.Kind.allCases.map(SubQueue.init)
        if rules.policy == .latest { hasLatest = true }
        return place
    }

    private mutating func account(for event: QueuedEvent, in slot: Int, _ sign: Int) {
        count += sign
        bytes += sign * Int(event.size)
        if event.isBarrier { barrierCount += sign }
        if queues[slot].kind == .advertisements { advertisementCount += sign }
        account(for: sign * Int(event.size), of: device(of: slot).rules.subscription)
    }

    private mutating func account(for bytes: Int, of subscription: Int?) {
        guard let subscription, bytes != 0 else { return }
        while bytesOfSubscription.count <= subscription { bytesOfSubscription.append(0) }
        bytesOfSubscription[subscription] += bytes
    }
}

// MARK: - Slots

extension EventQueue {
    private static let kindCount = SubQueue.Kind.allCases.count

    private func slot(_ kind: SubQueue.Kind, at place: Int) -> Int { place * Self.kindCount + kind.rawValue }
    private func slots(at place: Int) -> Range<Int> { place * Self.kindCount..<(place + 1) * Self.kindCount }
    private func device(of slot: Int) -> DeviceEntry { devices[slot / Self.kindCount] }
    private var occupied: [Int] { readyData.slots + readyOthers.slots + held.slots }

    /// The slot whose event is the next to be delivered.
    private var firstReady: Int? {
        guard let other = readyOthers.least else { return readyData.leastSlot }
        return readyData.least.map { $0 < other } ?? false ? readyData.leastSlot : readyOthers.leastSlot
    }

    /// To be called when the events of the slot have changed, or the rules of their device.
    private mutating func reindex(_ slot: Int) {
        let (device, kind) = (device(of: slot), queues[slot].kind)
        let isHeld = kind != .urgent && releasedUpTo < device.heldUntil
        let first = queues[slot].first?.sequence.key
        let readyKey = isHeld ? nil : first
        if kind.isOfData { readyData.set(readyKey, for: slot) } else { readyOthers.set(readyKey, for: slot) }
        dues.set(isHeld || !device.rules.wakes ? nil : queues[slot].earliestDue?.nanoseconds, for: slot)
        held.set(isHeld && first != nil ? device.heldUntil.nanoseconds : nil, for: slot)
        guard kind != .gaps else { return }
        let retention = device.rules.retention
        expiries.set(
            retention.flatMap { span in queues[slot].earliestArrival.map { ($0 + span).nanoseconds } }, for: slot)
    }
}

// MARK: - Waking

extension EventQueue {
    var hasWaking: Bool { !dues.isEmpty || firstHeldWaking != nil }

    private var firstHeldWaking: Int? { held.firstSlot { device(of: $0).rules.wakes } }

    /// The event for which a handler must be awake now: of all that are due the one with the lowest number.
    func firstWaking(now: Instant) -> QueuedEvent? {
        guard let least = dues.least, least <= now.nanoseconds else { return nil }
        // Nearly always it is the first of all that are ready.
        if let slot = firstReady, device(of: slot).rules.wakes, let event = queues[slot].first, event.isDue(at: now) {
            return event
        }
        return dues.slots(upTo: now.nanoseconds).compactMap { queues[$0].firstDue(at: now) }
            .min { $0.sequence < $1.sequence }
    }

    /// When data has waited long enough for company.
    func nextDue(after now: Instant) -> Instant? {
        dues.least(above: now.nanoseconds).map(Instant.init(nanoseconds:))
    }
}

// MARK: - Nacks

extension EventQueue {
    /// The latest word counts: it is about the oldest event, and so about all that follow.
    mutating func hold(_ device: EventOrigin, until: Instant) {
        guard let place = places[device.rawValue] else { return }
        devices[place].heldUntil = until
        for slot in slots(at: place) { reindex(slot) }
    }

    func isHeld(_ device: EventOrigin, at boottime: Instant) -> Bool {
        places[device.rawValue].map { boottime < devices[$0].heldUntil } ?? false
    }

    func hasHeld(at boottime: Instant) -> Bool { held.least(above: boottime.nanoseconds) != nil }

    /// To be called before a look at the queue: releases the holds that are over at `boottime`.
    mutating func release(at boottime: Instant) {
        guard releasedUpTo < boottime else { return }
        releasedUpTo = boottime
        while let slot = held.slot(upTo: boottime.nanoseconds) { reindex(slot) }
    }

    /// When the next hold ends that keeps events waiting; of events that wake only, where `wakingOnly`.
    func nextRelease(wakingOnly: Bool) -> Instant? {
        let slot = wakingOnly ? firstHeldWaking : held.leastSlot
        return slot.map { device(of: $0).heldUntil }
    }
}

// MARK: - Removing

extension EventQueue {
    func bytes(of subscription: Int) -> Int {
        subscription < bytesOfSubscription.count ? bytesOfSubscription[subscription] : 0
    }

    func gapCount(of device: EventOrigin) -> Int {
        places[device.rawValue].map { queues[slot(.gaps, at: $0)].count } ?? 0
    }

    /// Removes the newest data of the channel, unless a connect, disconnect or attention came after it.
    mutating func removeNewest(of channel: Channel, _ device: EventOrigin) -> QueuedEvent? {
        guard let place = places[device.rawValue] else { return nil }
        let slot = slot(channel == .advertisement ? .advertisements : .data, at: place)
        let newest = queues[slot].newest(of: channel, since: devices[place].newestBarrier)
        return newest.flatMap { newest in remove(from: slot) { $0.remove(newest) } }
    }

    /// Removes the first loss of a full queue: events with the policy `latest`, then advertisements, then the oldest
    /// data. An advertisement never displaces data. Nil if no event is left that may go.
    mutating func removeForOverflow(of subscription: Int?, sparingData: Bool) -> QueuedEvent? {
        var slot: Int?
        if hasLatest { slot = slotOfOldestData(of: subscription) { $1.policy == .latest } }
        if slot == nil, advertisementCount > 0 {
            slot = slotOfOldestData(of: subscription) { kind, _ in kind == .advertisements }
        }
        if slot == nil, !sparingData { slot = slotOfOldestData(of: subscription) { _, _ in true } }
        return slot.flatMap { remove(from: $0) { $0.popFirst() } }
    }

    /// Held back or not.
    private func slotOfOldestData(of subscription: Int?, where fits: (SubQueue.Kind, DeliveryRules) -> Bool) -> Int? {
        func matches(_ slot: Int) -> Bool {
            let (kind, rules) = (queues[slot].kind, device(of: slot).rules)
            return kind.isOfData && (subscription ?? rules.subscription) == rules.subscription && fits(kind, rules)
        }
        let candidates = held.slots.filter(matches) + [readyData.firstSlot(where: matches)].compactMap { $0 }
        return candidates.compactMap { slot in queues[slot].first.map { (slot, $0.sequence) } }.min { $0.1 < $1.1 }?.0
    }

    /// Removes events that are older than their retention; gaps stay, since they report the loss.
    mutating func removeExpired(at boottime: Instant) -> [QueuedEvent] {
        var expired: [QueuedEvent] = []
        while let slot = expiries.slot(upTo: boottime.nanoseconds - 1), let retention = device(of: slot).rules.retention
        {
            expired += removeAll(from: slot) { $0.removeExpired(before: boottime - retention) }
        }
        return expired.sorted { $0.sequence < $1.sequence }
    }

    /// Past this many connects, disconnects and attentions only the last state of each device is kept.
    mutating func collapseBarriers() -> [QueuedEvent] {
        guard barrierCount >= collapseAt else { return [] }
        let stale = removeFromAll { $0.kind.isOfBarriers ? $0.removeStaleBarriers() : [] }
        // With many devices the rest is large itself: the next search must not follow with every further event.
        collapseAt = max(Self.barrierLimit, barrierCount * 2)
        return stale
    }

    /// Removes those of these that are still queued.
    mutating func remove(_ sequences: Set<Sequence>) -> [QueuedEvent] {
        removeFromAll { queue in queue.kind.isOfData ? queue.removeAll { sequences.contains($0.sequence) } : [] }
    }

    /// Nil where it is not queued any more.
    mutating func remove(occasion sequence: Sequence) -> QueuedEvent? {
        removeFromAll { $0.kind == .occasions ? $0.removeAll { $0.sequence == sequence } : [] }.first
    }

    /// Gaps stay: the handler must still learn of the loss.
    mutating func removeAllButGaps() -> [QueuedEvent] {
        for place in devices.indices { devices[place].heldUntil = .zero }
        return removeFromAll { queue in queue.kind == .gaps ? [] : queue.removeAll { _ in true } }
    }

    private mutating func remove(from slot: Int, _ body: (inout SubQueue) -> QueuedEvent?) -> QueuedEvent? {
        guard let event = body(&queues[slot]) else { return nil }
        account(for: event, in: slot, -1)
        reindex(slot)
        return event
    }

    private mutating func removeAll(from slot: Int, _ body: (inout SubQueue) -> [QueuedEvent]) -> [QueuedEvent] {
        let events = body(&queues[slot])
        for event in events { account(for: event, in: slot, -1) }
        reindex(slot)
        return events
    }

    private mutating func removeFromAll(_ body: (inout SubQueue) -> [QueuedEvent]) -> [QueuedEvent] {
        var removed: [QueuedEvent] = []
        for slot in occupied { removed += removeAll(from: slot, body) }
        return removed.sorted { $0.sequence < $1.sequence }
    }
}

// MARK: - Rules

extension EventQueue {
    func rules(of device: EventOrigin) -> DeliveryRules {
        places[device.rawValue].map { devices[$0].rules } ?? .orphaned
    }

    /// Queued events of the device follow these rules from here on.
    mutating func reroute(_ device: EventOrigin, _ rules: DeliveryRules) {
        if let place = places[device.rawValue] { setRules(rules, at: place) }
    }

    /// After a changed manifest, queued events follow the new rules.
    mutating func reroute(_ rules: (EventOrigin) -> DeliveryRules) {
        hasLatest = false
        for place in devices.indices { setRules(rules(devices[place].origin), at: place) }
    }

    private mutating func setRules(_ rules: DeliveryRules, at place: Int) {
        if rules.policy == .latest { hasLatest = true }
        let former = devices[place].rules
        guard former != rules else { return }
        devices[place].rules = rules
        for slot in slots(at: place) {
            account(for: -queues[slot].bytes, of: former.subscription)
            account(for: queues[slot].bytes, of: rules.subscription)
            reindex(slot)
        }
    }
}

extension Sequence {
    /// In an index.
    fileprivate var key: SortedIndex.Key { SortedIndex.Key(clamping: rawValue) }
}
