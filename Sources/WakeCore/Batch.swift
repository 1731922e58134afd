// The batch that a process has: which of its events are not acknowledged yet, in the order of delivery.
import WakeModel

struct Batch: Sendable {
    private(set) var events: [QueuedEvent] = []
    private var isOpen: [Bool] = []
    /// No event before this index is open.
    private var firstOpen = 0
    private(set) var openCount = 0
    private(set) var deliveredAt = Instant.zero
    /// False if the batch has no occasion, which spares the search for one.
    private var hasOccasions = false
    /// Sequences of earlier batches of this process, to distinguish a repeated acknowledgement from a false one.
    private var earlier = RecentSequences()
    /// Sequences of the process before and of closed long jobs, whose acknowledgements come too late.
    private var former = RecentSequences()
    /// Events whose lease this process lost: it may still acknowledge them.
    private var lapsed: Set<Sequence> = []

    var hasOpen: Bool { openCount > 0 }
    var openSequences: [Sequence] { openCount == 0 ? [] : openIndices.map { events[$0].sequence } }
    /// The oldest event that was delivered and not answered.
    var oldestOpen: QueuedEvent? { openCount == 0 ? nil : openIndices.first.map { events[$0] } }

    /// The state of a number that a handler names.
    enum LeaseState { case leased, answered, former, unknown }

    mutating func deliver(_ batch: [QueuedEvent], at now: Instant, hasOccasions: Bool = false) {
        for event in events { earlier.insert(event.sequence) }
        events = batch
        deliveredAt = now
        self.hasOccasions = hasOccasions
        isOpen.removeAll(keepingCapacity: true)
        isOpen.append(contentsOf: repeatElement(true, count: batch.count))
        firstOpen = 0
        openCount = batch.count
    }

    /// Closes a lease beside the batches of this process: an answer to it comes too late.
    mutating func recordFormer(_ sequence: Sequence) { former.insert(sequence) }

    /// Open ones that were delivered no later than `sequence`.
    func openOccasions(through sequence: Sequence = Sequence(.max)) -> [QueuedEvent] {
        guard hasOccasions else { return [] }
        return openIndices.map { events[$0] }.filter { $0.sequence <= sequence && $0.budgetClass != nil }
    }

    var hasOpenContent: Bool { hasOccasions && openOccasions().contains { $0.budgetClass == .content } }

    func leaseState(of sequence: Sequence) -> LeaseState {
        if let position = position(of: sequence) { return isOpen[position] ? .leased : .answered }
        if earlier.contains(sequence) { return .answered }
        return former.contains(sequence) ? .former : .unknown
    }

    /// Closes every lease of this batch delivered no later than `sequence`, which is of this batch or of none open.
    mutating func close(through sequence: Sequence) -> [Sequence] {
        guard let position = position(of: sequence), firstOpen <= position else { return [] }
        var closed: [Sequence] = []
        closed.reserveCapacity(openCount)
        for index in firstOpen...position where isOpen[index] {
            isOpen[index] = false
            closed.append(events[index].sequence)
        }
        firstOpen = position + 1
        openCount -= closed.count
        if !lapsed.isEmpty { lapsed.subtract(closed) }
        return closed
    }

    /// Removes `sequence` and every open event of its device after it. Nil where it holds no lease.
    mutating func refuse(_ sequence: Sequence) -> [QueuedEvent]? {
        guard let position = position(of: sequence), isOpen[position] else { return nil }
        let device = events[position].origin
        return release(from: position) { $0.origin == device }
    }

    /// Ends leases that were kept for too long, though the process may still work on them.
    mutating func lapse() -> [QueuedEvent] {
        let released = releaseAll()
        lapsed.formUnion(released.lazy.map(\.sequence))
        return released
    }

    /// The number of events in `taken` that may be delivered together. A late acknowledgement of a lapsed event must
    /// not cover events before it that the process has not seen. So no other event comes before a lapsed one.
    func reach(of taken: [QueuedEvent]) -> Int {
        guard !lapsed.isEmpty else { return taken.count }
        let hasLapsed = taken.map { lapsed.contains($0.sequence) }
        return hasLapsed.indices.dropFirst().first { hasLapsed[$0] && !hasLapsed[$0 - 1] } ?? taken.count
    }

    mutating func releaseAll() -> [QueuedEvent] { openCount == 0 ? [] : release(from: 0) { _ in true } }

    /// Closes one event without an acknowledgement.
    @discardableResult
    mutating func drop(_ sequence: Sequence) -> QueuedEvent? {
        guard let position = position(of: sequence), isOpen[position] else { return nil }
        isOpen[position] = false
        openCount -= 1
        return events[position]
    }

    func openEvent(_ sequence: Sequence) -> QueuedEvent? {
        guard let position = position(of: sequence), isOpen[position] else { return nil }
        return events[position]
    }

    /// A process was started, and has had no delivery yet.
    mutating func reset() {
        for event in events { earlier.insert(event.sequence) }
        let past = earlier
        self = Batch()
        former = past
    }

    mutating func changeOldestOpen(_ change: (inout QueuedEvent) -> Void) {
        if let index = openIndices.first { change(&events[index]) }
    }

    private mutating func release(from start: Int, where belongs: (QueuedEvent) -> Bool) -> [QueuedEvent] {
        var released: [QueuedEvent] = []
        for index in start..<events.count where isOpen[index] && belongs(events[index]) {
            isOpen[index] = false
            released.append(events[index])
        }
        openCount -= released.count
        return released
    }

    private var openIndices: [Int] { isOpen.indices.filter { isOpen[$0] } }

    /// A batch is in the order of sequences, like the queue that it comes from.
    private func position(of sequence: Sequence) -> Int? {
        var low = 0
        var high = events.count
        while low < high {
            let middle = (low + high) / 2
            if events[middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low < events.count && events[low].sequence == sequence ? low : nil
    }
}

/// The last 1,024 sequences put in; older ones are forgotten.
struct RecentSequences: Sendable {
    private var ring: [Sequence] = []
    private var next = 0
    private static let capacity = 1024

    mutating func insert(_ sequence: Sequence) {
        if ring.count < Self.capacity {
            ring.append(sequence)
        } else {
            ring[next] = sequence
            next = (next + 1) % Self.capacity
        }
    }

    func contains(_ sequence: Sequence) -> Bool { ring.contains(sequence) }
}
