// The events one handler is owed and has not been given, in lanes, so that a device held back costs others nothing.
import WakeModel

struct EventQueue: Sendable {
    private var lanes = LaneTable()
    private(set) var count = 0
    private(set) var bytes = 0
    private var bytesOfSubscription: [Int] = []
    /// Connects, disconnects and attentions in the queue.
    private(set) var barrierCount = 0
    /// How many barriers may stand before they are looked through for stale ones.
    private var collapseAt = EventQueue.barrierLimit
    static let barrierLimit = 256
    /// Nothing is too old before; nil where nothing ever is.
    private var expiresAt: Instant?

    var isEmpty: Bool { count == 0 }
    /// Whether anything is there that no nack holds back.
    var hasReady: Bool { !lanes.ready.isEmpty }

    mutating func insert(_ event: QueuedEvent, _ terms: Terms) {
        let lane = lanes.place(of: event, terms)
        account(event, lane, 1)
        lanes.insert(event, at: lane)
        guard let retention = lanes.terms(at: lane).retention, event.kind != .gap else { return }
        expiresAt = min(expiresAt ?? event.arrived + retention, event.arrived + retention)
    }

    /// Puts events back that were taken, the newest first so that each goes before the last.
    mutating func giveBack(_ events: [QueuedEvent]) {
        for event in events.reversed() { insert(event, terms(of: event.origin)) }
    }

    /// Takes up to `limit` events or `byteLimit` bytes in order, past devices held back; at least one where one may go.
    mutating func take(limit: Int, byteLimit: Int) -> [QueuedEvent] {
        guard count > 0 else { return [] }
        var taken: [QueuedEvent] = []
        var size = 0
        while taken.count < limit, let lane = lanes.ready.leastSlot {
            size += lanes[lane].firstSize
            guard taken.isEmpty || size <= byteLimit, let event = lanes[lane].popFirst() else { break }
            account(event, lane, -1)
            lanes.refile(lane)
            taken.append(event)
        }
        return taken
    }

    private func firstExpiry(of lane: Int) -> Instant? {
        lanes.terms(at: lane).retention.flatMap { lanes[lane].firstExpiry(after: $0) }
    }

    private mutating func account(_ event: QueuedEvent, _ lane: Int, _ sign: Int) {
        count += sign
        bytes += sign * Int(event.size)
        if event.isBarrier { barrierCount += sign }
        guard let subscription = lanes.terms(at: lane).subscription else { return }
        while bytesOfSubscription.count <= subscription { bytesOfSubscription.append(0) }
        bytesOfSubscription[subscription] += sign * Int(event.size)
    }
}

// MARK: - Waking

extension EventQueue {
    var hasWaking: Bool { !lanes.dues.isEmpty || !lanes.heldWaking.isEmpty }

    /// The event for which a handler must be awake now: of all that are due the one with the lowest number.
    func firstWaking(now: Instant) -> QueuedEvent? {
        guard let least = lanes.dues.least, least <= now.nanoseconds else { return nil }
        // Nearly always it is the first of all that may be taken.
        if let place = lanes.ready.leastSlot, lanes[place].wakes, let event = lanes[place].first,
            event.isDue(at: now)
        {
            return event
        }
        return firstOfAllWaking(now: now)
    }

    /// Apart, because a closure that asks the queue has all of it copied for each lane.
    @inline(never)
    private func firstOfAllWaking(now: Instant) -> QueuedEvent? {
        var best: QueuedEvent?
        lanes.dues.visit(upTo: now.nanoseconds) { place in
            guard let event = lanes[place].firstDue(at: now) else { return }
            if best.map({ event.sequence < $0.sequence }) ?? true { best = event }
        }
        return best
    }

    /// When data has waited long enough for company.
    func nextDue(after now: Instant) -> Instant? {
        lanes.dues.least(above: now.nanoseconds).map(Instant.init(nanoseconds:))
    }
}

// MARK: - Nacks

extension EventQueue {
    /// The latest word counts: it is about the oldest event, and so about all that follow.
    mutating func hold(_ device: EventOrigin, until: Instant) { lanes.hold(device, until: until) }

    func isHeld(_ device: EventOrigin, at boottime: Instant) -> Bool { lanes.isHeld(device, at: boottime) }

    func hasHeld(at boottime: Instant) -> Bool { lanes.held.slots.contains { lanes[$0].isHeld(at: boottime) } }

    /// To be called before anything is asked: holds that are over at `boottime` hold nothing back.
    mutating func release(at boottime: Instant) { lanes.release(at: boottime) }

    /// When a device with events waiting is let go on; of those that wake only, where `wakingOnly`.
    func nextRelease(wakingOnly: Bool) -> Instant? {
        (wakingOnly ? lanes.heldWaking.least : lanes.held.least).map(Instant.init(nanoseconds:))
    }
}

// MARK: - Letting go

extension EventQueue {
    func bytes(of subscription: Int) -> Int {
        subscription < bytesOfSubscription.count ? bytesOfSubscription[subscription] : 0
    }

    func gapCount(of device: EventOrigin) -> Int {
        lanes.ownPlaces(.gaps, of: device).reduce(0) { $0 + lanes[$1].count }
    }

    /// Of one whose policy is `latest`, so that all of it stands in lanes of its own.
    mutating func removeNewest(of channel: Channel, _ device: EventOrigin) -> QueuedEvent? {
        let barrier = lanes.ownPlaces(.barriers, of: device).map { lanes[$0].newest }.max() ?? Sequence(0)
        let kind: EventLane.Kind = channel == .advertisement ? .advertisements : .data
        let found = lanes.ownPlaces(kind, of: device).compactMap { place in
            lanes[place].newest(of: channel, since: barrier).map { (place, $0) }
        }
        guard let (place, sequence) = found.max(by: { $0.1 < $1.1 }) else { return nil }
        return remove(from: place) { $0.remove(sequence) }
    }

    /// What a full queue loses first: what `latest` may drop, then advertisements, then the oldest data, but never that
    /// for an advertisement. Nil where nothing is left that may go.
    mutating func removeForOverflow(of subscription: Int?, sparingData: Bool) -> QueuedEvent? {
        lanes.orderData()
        var lane: Int?
        if lanes.hasLatest { lane = laneOfOldestData(of: subscription) { $1.policy == .latest } }
        if lane == nil, lanes.hasAdvertisements {
            lane = laneOfOldestData(of: subscription) { kind, _ in kind == .advertisements }
        }
        if lane == nil, !sparingData { lane = laneOfOldestData(of: subscription) { _, _ in true } }
        return remove(from: lane) { $0.popFirst() }
    }

    mutating func removeExpired(at boottime: Instant) -> [QueuedEvent] {
        guard mayHaveExpired(at: boottime) else { return [] }
        var expired: [QueuedEvent] = []
        // What goes lets others come first, some of which a nack moves to another lane.
        repeat {
            for place in lanes.occupied {
                guard let retention = lanes.terms(at: place).retention else { continue }
                while let event = remove(from: place, { $0.removeFirstExpired(at: boottime, after: retention) }) {
                    expired.append(event)
                }
            }
            expiresAt = lanes.occupied.compactMap { firstExpiry(of: $0) }.min()
        } while mayHaveExpired(at: boottime)
        return expired.sorted { $0.sequence < $1.sequence }
    }

    private func mayHaveExpired(at boottime: Instant) -> Bool { expiresAt.map { $0 < boottime } ?? false }

    /// Past so many connects, disconnects and attentions only the last state of each device is kept.
    mutating func collapseBarriers() -> [QueuedEvent] {
        guard barrierCount >= collapseAt else { return [] }
        var newest: [DeviceState: Sequence] = [:]
        for place in lanes.occupied where lanes[place].kind.isOfBarriers {
            for event in lanes[place].events {
                let state = DeviceState(event)
                newest[state] = max(event.sequence, newest[state] ?? event.sequence)
            }
        }
        let stale = removeFromAll { lane in
            guard lane.kind.isOfBarriers else { return [] }
            return lane.removeAll { newest[DeviceState($0)] != $0.sequence }
        }
        // With many devices a snapshot is large itself: looking again must not cost every further event.
        collapseAt = max(Self.barrierLimit, barrierCount * 2)
        return stale
    }

    /// What of these is still queued.
    mutating func remove(_ sequences: Set<Sequence>) -> [QueuedEvent] {
        removeFromAll { $0.removeAll { $0.isData && sequences.contains($0.sequence) } }
    }

    /// Gaps stay: what was lost before is still to be told.
    mutating func removeAllButGaps() -> [QueuedEvent] {
        lanes.letAllGo()
        return removeFromAll { $0.removeAll { $0.kind != .gap } }
    }

    private func laneOfOldestData(of subscription: Int?, where fits: (EventLane.Kind, Terms) -> Bool) -> Int? {
        lanes.data.firstSlot { place in
            let terms = lanes.terms(at: place)
            return (subscription ?? terms.subscription) == terms.subscription && fits(lanes[place].kind, terms)
        }
    }

    private mutating func remove(from lane: Int?, _ body: (inout EventLane) -> QueuedEvent?) -> QueuedEvent? {
        guard let lane, let event = body(&lanes[lane]) else { return nil }
        account(event, lane, -1)
        lanes.refile(lane)
        return event
    }

    private mutating func removeFromAll(_ body: (inout EventLane) -> [QueuedEvent]) -> [QueuedEvent] {
        var removed: [QueuedEvent] = []
        for index in lanes.occupied {
            let events = body(&lanes[index])
            for event in events { account(event, index, -1) }
            lanes.refile(index)
            removed += events
        }
        return removed.sorted { $0.sequence < $1.sequence }
    }
}

// MARK: - Terms

extension EventQueue {
    func terms(of device: EventOrigin) -> Terms { lanes.terms(of: device) ?? .orphaned }

    mutating func reroute(_ device: EventOrigin, _ terms: Terms) {
        if lanes.setTerms(terms, of: device) { noteTerms() }
    }

    /// A changed manifest: what is queued is owed on the new terms.
    mutating func reroute(_ terms: (EventOrigin) -> Terms) {
        lanes.resetTerms(terms)
        noteTerms()
    }

    private mutating func noteTerms() {
        expiresAt = count > 0 ? .zero : nil
        bytesOfSubscription = []
        for index in lanes.occupied {
            guard let subscription = lanes.terms(at: index).subscription else { continue }
            while bytesOfSubscription.count <= subscription { bytesOfSubscription.append(0) }
            bytesOfSubscription[subscription] += lanes[index].bytes
        }
    }
}

/// What a connect, disconnect or attention is the newest of, for its device.
private struct DeviceState: Hashable {
    let origin: EventOrigin
    let isLink: Bool
    let passesNacks: Bool

    init(_ event: QueuedEvent) { (origin, isLink, passesNacks) = (event.origin, event.isLink, event.passesNacks) }
}

extension EventLane.Kind {
    fileprivate var isOfBarriers: Bool {
        switch self {
        case .barriers, .urgent: true
        case .data, .advertisements, .gaps: false
        }
    }
}
