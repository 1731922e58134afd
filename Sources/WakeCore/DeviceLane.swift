// The events of one device that one handler is owed and has not been given, in the order of their numbers.
import WakeModel

/// What the core knows of a queued event; its bytes stay with the journal.
struct QueuedEvent: Sendable {
    enum Class: Hashable, Sendable {
        case data(Channel)
        case connected, disconnected, attention, gap
    }

    var sequence: Sequence
    var device: DeviceID
    var kind: Class
    /// An attention that must not wait behind the nack it tells about.
    var passesNacks = false
    var isRedelivered = false
    var charges: UInt8 = 0
    var nacks: UInt8 = 0
    var attempts: UInt32 = 0
    /// Bytes of its line, estimated.
    var size: UInt32
    /// When it may wake, on CLOCK_MONOTONIC; it rides along with an earlier wake.
    var due: Instant
    /// On CLOCK_BOOTTIME, for its retention.
    var arrived: Instant
    var wall: WallTime
    /// How it is journaled: the strongest that any subscriber asks for.
    var durability: Durability

    var isBarrier: Bool {
        switch kind {
        case .connected, .disconnected, .attention: true
        case .data, .gap: false
        }
    }
    /// Whether it may wake. Connects, disconnects and attentions never wait for company.
    func isDue(at now: Instant) -> Bool { isBarrier || due <= now }
    var isLink: Bool { kind == .connected || kind == .disconnected }
    var isData: Bool { if case .data = kind { true } else { false } }

    var lane: DeviceLane.Kind {
        switch kind {
        case .data(.advertisement): .advertisements
        case .gap: .gaps
        case .data, .connected, .disconnected, .attention: passesNacks ? .urgent : .ordinary
        }
    }
}

/// What a subscription says of queued events, in small numbers.
struct Terms: Hashable, Sendable {
    var subscription: Int?
    var wakes = true
    var policy = Subscription.Policy.all
    var durability = Durability.run
    var maxLatency: TimeSpan?
    var queueCap = Int.max
    var retention: TimeSpan?

    /// What holds for events whose subscription is gone: they are still owed.
    static let orphaned = Terms()

    /// How long data of a channel may wait for company. A sensor that only broadcasts does so without end, and says the
    /// same again and again.
    func latency(of channel: Channel) -> TimeSpan {
        maxLatency ?? (channel == .advertisement ? Self.advertisementLatency : .zero)
    }

    private static let advertisementLatency = TimeSpan.seconds(5)
}

/// As large as one line of a cache: of ten thousand devices nearly every event finds its lane cold.
struct DeviceLane: Sendable {
    /// Which of a device's lanes an event stands in, so that in each what came first falls due first. They are delivered
    /// in one order of numbers.
    enum Kind: Hashable, Sendable {
        case ordinary
        /// For what overtakes a nack.
        case urgent
        /// They fall due later than what comes after them, and go first when there is no room.
        case advertisements
        /// A gap falls due when what it tells of would have; there are few.
        case gaps
    }

    let device: DeviceID
    let kind: Kind
    /// Where the device's next lane stands; -1 after the last.
    var nextOfDevice: Int32 = -1
    /// Where its terms stand in the table's list, and of them what each filing asks.
    private(set) var terms: Int32
    private(set) var wakes: Bool
    /// On CLOCK_BOOTTIME; zero where no nack holds the device back.
    var heldUntil = Instant.zero

    /// Sorted by sequence from `head` on; what stands before it was taken.
    private var storage: [QueuedEvent] = []
    private(set) var bytes = 0
    private var takenCount: Int32 = 0
    private var barrierCount: Int32 = 0
    /// The newest connect, disconnect or attention that ever stood here.
    private(set) var lastBarrier = Sequence(0)

    init(device: DeviceID, kind: Kind, terms: (place: Int32, wakes: Bool)) {
        self.device = device
        self.kind = kind
        (self.terms, wakes) = terms
    }

    mutating func setTerms(_ terms: (place: Int32, wakes: Bool)) { (self.terms, wakes) = terms }

    private var head: Int {
        get { Int(takenCount) }
        set { takenCount = Int32(newValue) }
    }

    var isEmpty: Bool { head == storage.count }
    var count: Int { storage.count - head }
    var first: QueuedEvent? { isEmpty ? nil : storage[head] }
    var firstSize: Int { isEmpty ? 0 : Int(storage[head].size) }

    func isHeld(at boottime: Instant) -> Bool { kind != .urgent && boottime < heldUntil }

    /// By which keys it is found; none while it is empty.
    struct Filing {
        /// Of what may be taken, and of it what wakes.
        var first: SlotOrder.Key?
        var due: SlotOrder.Key?
        /// Where a nack holds it back.
        var end: SlotOrder.Key?
        var isHeld: Bool
        var wakes: Bool
    }

    func filing(at boottime: Instant) -> Filing {
        var filing = Filing(isHeld: isHeld(at: boottime), wakes: wakes)
        guard head < storage.count else { return filing }
        if filing.isHeld {
            filing.end = heldUntil.nanoseconds
        } else {
            filing.first = storage[head].sequence.key
            if filing.wakes { filing.due = earliestDue?.nanoseconds }
        }
        return filing
    }

    /// Connects, disconnects and attentions never wait for company.
    private var earliestDue: Instant? {
        guard !isEmpty else { return nil }
        if kind == .gaps { return storage[head...].lazy.map(\.due).min() }
        return barrierCount > 0 ? .zero : storage[head].due
    }

    /// The first event that may wake by `now`.
    func firstDue(at now: Instant) -> QueuedEvent? { storage[head...].first { $0.isDue(at: now) } }

    mutating func popFirst() -> QueuedEvent? {
        guard head < storage.count else { return nil }
        let event = storage[head]
        head += 1
        account(event, -1)
        compact()
        return event
    }

    // MARK: Room

    var hasRoom: Bool { storage.capacity > 0 }

    /// What an empty lane keeps for its next events, for another lane; nil of one that has much, or none.
    mutating func giveUpRoom() -> [QueuedEvent]? {
        guard isEmpty, (1...Self.smallRoom).contains(storage.capacity) else { return nil }
        var room: [QueuedEvent] = []
        swap(&room, &storage)
        return room
    }

    mutating func takeRoom(_ room: [QueuedEvent]) { storage = room }

    private static let smallRoom = 64

    /// Puts an event where its number belongs: nearly always at one of the ends.
    mutating func insert(_ event: QueuedEvent) {
        account(event, 1)
        if event.isBarrier { lastBarrier = max(lastBarrier, event.sequence) }
        if isEmpty || storage[storage.count - 1].sequence < event.sequence { return storage.append(event) }
        if event.sequence < storage[head].sequence { return prepend(event) }
        storage.insert(event, at: position(of: event.sequence))
    }

    private mutating func prepend(_ event: QueuedEvent) {
        if head == 0 {
            // Room for a whole batch: events given back come one by one, and each move would cost the lane's length.
            head = max(64, count / 8)
            storage.insert(contentsOf: repeatElement(event, count: head), at: 0)
        }
        head -= 1
        storage[head] = event
    }

    /// Takes out the newest event of `channel` since `barrier`; a `latest` lane has few before that.
    mutating func removeNewest(of channel: Channel, since barrier: Sequence) -> QueuedEvent? {
        var index = storage.count - 1
        while index >= head, storage[index].sequence > barrier {
            if storage[index].kind == .data(channel) { return remove(at: index) }
            index -= 1
        }
        return nil
    }

    var firstDataSequence: Sequence? { firstIndex(where: \.isData).map { storage[$0].sequence } }

    mutating func removeFirstData() -> QueuedEvent? { firstIndex(where: \.isData).map { remove(at: $0) } }

    /// Takes out what is older than the retention; gaps stay, being what tells of it.
    mutating func removeFirstExpired(at boottime: Instant, after retention: TimeSpan) -> QueuedEvent? {
        guard let index = firstIndex(where: { $0.kind != .gap }),
            boottime - storage[index].arrived > retention
        else { return nil }
        return remove(at: index)
    }

    /// From when on something is.
    func firstExpiry(after retention: TimeSpan) -> Instant? {
        firstIndex { $0.kind != .gap }.map { storage[$0].arrived + retention }
    }

    /// Takes out all that fits.
    mutating func removeAll(where fits: (QueuedEvent) -> Bool) -> [QueuedEvent] {
        let removed = storage[head...].filter(fits)
        guard !removed.isEmpty else { return [] }
        storage = storage[head...].filter { !fits($0) }
        head = 0
        for event in removed { account(event, -1) }
        return removed
    }

    /// Leaves the last link event and the last attention of all barriers.
    mutating func removeStaleBarriers() -> [QueuedEvent] {
        let lastLink = storage[head...].last(where: \.isLink)?.sequence
        let lastAttention = storage[head...].last { $0.kind == .attention }?.sequence
        return removeAll { $0.isBarrier && $0.sequence != lastLink && $0.sequence != lastAttention }
    }

    private func firstIndex(where fits: (QueuedEvent) -> Bool) -> Int? { storage[head...].firstIndex(where: fits) }

    /// Moves the shorter side: what overflows is near the head, what is replaced is near the end.
    private mutating func remove(at index: Int) -> QueuedEvent {
        let event = storage[index]
        account(event, -1)
        if index - head <= storage.count - index {
            var hole = index
            while hole > head {
                storage[hole] = storage[hole - 1]
                hole -= 1
            }
            head += 1
            compact()
        } else {
            storage.remove(at: index)
        }
        return event
    }

    private func position(of sequence: Sequence) -> Int {
        var low = head
        var high = storage.count
        while low < high {
            let middle = (low + high) / 2
            if storage[middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Moving the rest down costs its length, so it is done only when the taken part has outgrown it.
    private mutating func compact() {
        if head == storage.count {
            storage.removeAll(keepingCapacity: head <= 1024)
            head = 0
        } else if head >= 1024, head * 2 >= storage.count {
            storage.removeFirst(head)
            head = 0
        }
    }

    private mutating func account(_ event: QueuedEvent, _ sign: Int) {
        bytes += sign * Int(event.size)
        if event.isBarrier { barrierCount += Int32(sign) }
    }
}
