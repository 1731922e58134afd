// Events that one handler is owed and has not been given, in the order of their numbers: of one device, or of all on the same terms.
import WakeModel

struct EventLane: Sendable {
    /// Which events stand together. They are delivered in one order of numbers.
    enum Kind: Hashable, Sendable {
        case data
        /// They fall due later than what comes after them, and go first when there is no room.
        case advertisements
        /// Connects, disconnects and attentions: always due.
        case barriers
        /// For what overtakes a nack.
        case urgent
        /// A gap falls due when what it tells of would have; there are few.
        case gaps
    }

    let kind: Kind
    /// Nil where it is that of many.
    let origin: EventOrigin?
    /// Where the device's next lane stands; -1 after the last.
    var nextOfDevice: Int32 = -1
    /// Where its terms stand in the table's list, and of them what each filing asks.
    private(set) var terms: Int32
    private(set) var wakes: Bool
    /// On CLOCK_BOOTTIME; zero where no nack holds the device back.
    var heldUntil = Instant.zero

    /// Sorted by sequence from `head` on; what stands before it was taken.
    private var storage: [QueuedEvent] = []
    private var head = 0
    private(set) var bytes = 0
    /// The newest event that ever stood in this lane.
    private(set) var newest = Sequence(0)

    init(_ kind: Kind, of origin: EventOrigin?, terms: (place: Int32, wakes: Bool)) {
        self.kind = kind
        self.origin = origin
        (self.terms, wakes) = terms
    }

    mutating func setTerms(_ terms: (place: Int32, wakes: Bool)) { (self.terms, wakes) = terms }

    var isEmpty: Bool { head == storage.count }
    var count: Int { storage.count - head }
    var events: ArraySlice<QueuedEvent> { storage[head...] }
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
            if filing.wakes { filing.due = earliestDue.nanoseconds }
        }
        return filing
    }

    private var earliestDue: Instant {
        switch kind {
        case .data, .advertisements: storage[head].due
        case .barriers, .urgent: .zero
        case .gaps: events.lazy.map(\.due).min() ?? .zero
        }
    }

    /// The first event that may wake by `now`.
    func firstDue(at now: Instant) -> QueuedEvent? { events.first { $0.isDue(at: now) } }

    mutating func popFirst() -> QueuedEvent? {
        guard head < storage.count else { return nil }
        let event = storage[head]
        head += 1
        bytes -= Int(event.size)
        compact()
        return event
    }

    /// Takes out what stands before the first of another device.
    mutating func popFirst(of device: EventOrigin) -> [QueuedEvent] {
        let end = events.firstIndex { $0.origin != device } ?? storage.count
        let taken = Array(storage[head..<end])
        head = end
        for event in taken { bytes -= Int(event.size) }
        compact()
        return taken
    }

    /// Puts events, which are in order, behind all others; false, and nothing put, where they do not belong there. What is said
    /// of the first by ``takes(_:_:)`` holds for them.
    mutating func append(_ events: [QueuedEvent]) -> Bool {
        guard let first = events.first, let last = events.last else { return true }
        guard isEmpty || storage[storage.count - 1].sequence < first.sequence else { return false }
        storage.append(contentsOf: events)
        for event in events { bytes += Int(event.size) }
        newest = max(newest, last.sequence)
        return true
    }

    /// Whether it is of the kind, and comes and falls due here in the order of the numbers: so that what stands first is what
    /// falls due first, and is too old first.
    func takes(_ event: QueuedEvent, _ terms: Terms) -> Bool {
        guard kind == event.lane else { return false }
        guard kind != .gaps, !isEmpty else { return true }
        let (ages, last) = (terms.retention != nil, storage.count - 1)
        if storage[last].sequence < event.sequence { return event.mayFollow(storage[last], ages: ages) }
        let place = position(of: event.sequence)
        return storage[place].mayFollow(event, ages: ages)
            && (place == head || event.mayFollow(storage[place - 1], ages: ages))
    }

    /// Puts an event where its number belongs: nearly always at one of the ends.
    mutating func insert(_ event: QueuedEvent) {
        bytes += Int(event.size)
        newest = max(newest, event.sequence)
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

    /// The newest event of `channel` since `barrier`; where `latest` asks, few came before that.
    func newest(of channel: Channel, since barrier: Sequence) -> Sequence? {
        for event in events.reversed() where event.sequence > barrier && event.kind == .data(channel) {
            return event.sequence
        }
        return nil
    }

    mutating func remove(_ sequence: Sequence) -> QueuedEvent? {
        let place = position(of: sequence)
        guard place < storage.count, storage[place].sequence == sequence else { return nil }
        let event = storage.remove(at: place)
        bytes -= Int(event.size)
        compact()
        return event
    }

    /// What is older than the retention; gaps stay, being what tells of it.
    mutating func removeFirstExpired(at boottime: Instant, after retention: TimeSpan) -> QueuedEvent? {
        guard let expiry = firstExpiry(after: retention), expiry < boottime else { return nil }
        return popFirst()
    }

    /// From when on something is.
    func firstExpiry(after retention: TimeSpan) -> Instant? {
        kind == .gaps ? nil : first.map { $0.arrived + retention }
    }

    /// Takes out all that fits.
    mutating func removeAll(where fits: (QueuedEvent) -> Bool) -> [QueuedEvent] {
        let removed = events.filter(fits)
        guard !removed.isEmpty else { return [] }
        storage = events.filter { !fits($0) }
        head = 0
        for event in removed { bytes -= Int(event.size) }
        return removed
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
            // Ten thousand devices may have lanes of their own.
            storage.removeAll(keepingCapacity: head <= (origin == nil ? 1024 : 16))
            head = 0
        } else if head >= 1024, head * 2 >= storage.count {
            storage.removeFirst(head)
            head = 0
        }
    }
}

extension QueuedEvent {
    fileprivate func mayFollow(_ former: QueuedEvent, ages: Bool) -> Bool {
        due >= former.due && (!ages || arrived >= former.arrived)
    }
}
