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

    var isBarrier: Bool {
        switch kind {
        case .connected, .disconnected, .attention: true
        case .data, .gap: false
        }
    }
    var isLink: Bool { kind == .connected || kind == .disconnected }
    var isData: Bool { if case .data = kind { true } else { false } }
}

/// What a subscription says of queued events, in small numbers.
struct Terms: Hashable, Sendable {
    var subscription: Int?
    var wakes = true
    var policy = Subscription.Policy.all
    var durability = Durability.run
    var maxLatency = TimeSpan.zero
    var queueCap = Int.max
    var retention: TimeSpan?

    /// What holds for events whose subscription is gone: they are still owed.
    static let orphaned = Terms()
}

struct DeviceLane: Sendable {
    let device: DeviceID
    /// A lane of its own for what overtakes a nack.
    let passesNacks: Bool
    var terms: Terms
    /// On CLOCK_BOOTTIME; zero where no nack holds the device back.
    var heldUntil = Instant.zero

    /// Sorted by sequence from `head` on; what stands before it was taken.
    private var storage: [QueuedEvent] = []
    private var head = 0
    private(set) var bytes = 0
    private(set) var dataCount = 0
    private(set) var barrierCount = 0

    init(device: DeviceID, passesNacks: Bool, terms: Terms) {
        self.device = device
        self.passesNacks = passesNacks
        self.terms = terms
    }

    var isEmpty: Bool { head == storage.count }
    var count: Int { storage.count - head }
    var gapCount: Int { count - dataCount - barrierCount }
    var firstSequence: Sequence? { isEmpty ? nil : storage[head].sequence }
    var firstSize: Int { isEmpty ? 0 : Int(storage[head].size) }

    func isHeld(at boottime: Instant) -> Bool { !passesNacks && boottime < heldUntil }

    /// Only data waits for company, and data of one device falls due in the order in which it came.
    var earliestDue: Instant? {
        guard !isEmpty else { return nil }
        return dataCount < count ? .zero : storage[head].due
    }

    /// The first event that may wake by `now`.
    func firstDue(at now: Instant) -> QueuedEvent? { storage[head...].first { !$0.isData || $0.due <= now } }

    mutating func popFirst() -> QueuedEvent? {
        guard head < storage.count else { return nil }
        let event = storage[head]
        head += 1
        account(event, -1)
        compact()
        return event
    }

    /// Puts an event where its number belongs: nearly always at one of the ends.
    mutating func insert(_ event: QueuedEvent) {
        account(event, 1)
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

    /// Takes out the newest event of `channel` since the last barrier; a `latest` lane has few before that.
    mutating func removeNewest(of channel: Channel) -> QueuedEvent? {
        var index = storage.count - 1
        while index >= head, !storage[index].isBarrier {
            if storage[index].kind == .data(channel) { return remove(at: index) }
            index -= 1
        }
        return nil
    }

    var firstDataSequence: Sequence? { firstIndex(where: \.isData).map { storage[$0].sequence } }

    mutating func removeFirstData() -> QueuedEvent? { firstIndex(where: \.isData).map { remove(at: $0) } }

    /// Takes out what is older than the retention; gaps stay, being what tells of it.
    mutating func removeFirstExpired(at boottime: Instant) -> QueuedEvent? {
        guard let retention = terms.retention, let index = firstIndex(where: { $0.kind != .gap }),
            boottime - storage[index].arrived > retention
        else { return nil }
        return remove(at: index)
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
        if event.isData { dataCount += sign }
        if event.isBarrier { barrierCount += sign }
    }
}
