// The one batch in flight to a process: which of its events are still owed an answer, in the order of delivery.
import WakeModel

struct Batch: Sendable {
    private(set) var events: [QueuedEvent] = []
    private var isOpen: [Bool] = []
    /// Before this place nothing is open.
    private var firstOpen = 0
    private(set) var openCount = 0
    /// Sequences of earlier batches of this process, so that a repeated acknowledgement is known from a false one.
    private var earlier = RecentSequences()
    /// Those of the process before, whose word comes too late.
    private var former = RecentSequences()
    /// Those that this process had open and lost unanswered: its word on them may still come.
    private var lapsed: Set<Sequence> = []

    var hasOpen: Bool { openCount > 0 }
    var openSequences: [Sequence] { openCount == 0 ? [] : openIndices.map { events[$0].sequence } }
    /// The oldest event that was delivered and not answered.
    var oldestOpen: QueuedEvent? { openCount == 0 ? nil : openIndices.first.map { events[$0] } }

    /// What is known of a number that a handler names.
    enum LeaseState { case leased, answered, former, unknown }

    mutating func deliver(_ batch: [QueuedEvent]) {
        for event in events { earlier.insert(event.sequence) }
        events = batch
        isOpen.removeAll(keepingCapacity: true)
        isOpen.append(contentsOf: repeatElement(true, count: batch.count))
        firstOpen = 0
        openCount = batch.count
    }

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

    /// Takes `sequence` and every open event of its device after it out of the batch. Nil where it holds no lease.
    mutating func refuse(_ sequence: Sequence) -> [QueuedEvent]? {
        guard let position = position(of: sequence), isOpen[position] else { return nil }
        let device = events[position].origin
        return release(from: position) { $0.origin == device }
    }

    /// Takes back what the process had too long for it to count, though it may be at it yet.
    mutating func lapse() -> [QueuedEvent] {
        let released = releaseAll()
        lapsed.formUnion(released.lazy.map(\.sequence))
        return released
    }

    /// How many of `taken` may be delivered together. A late word on what lapsed must not speak for events before it that the
    /// process has not seen: so what lapsed stands behind no other.
    func reach(of taken: [QueuedEvent]) -> Int {
        guard !lapsed.isEmpty else { return taken.count }
        let hasLapsed = taken.map { lapsed.contains($0.sequence) }
        return hasLapsed.indices.dropFirst().first { hasLapsed[$0] && !hasLapsed[$0 - 1] } ?? taken.count
    }

    mutating func releaseAll() -> [QueuedEvent] { openCount == 0 ? [] : release(from: 0) { _ in true } }

    /// Takes one event out without an answer.
    mutating func drop(_ sequence: Sequence) {
        guard let position = position(of: sequence), isOpen[position] else { return }
        isOpen[position] = false
        openCount -= 1
    }

    /// A process began: nothing was delivered to it yet.
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

    /// A batch is in order of sequence, being taken from a queue that is.
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
