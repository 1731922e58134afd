// The one batch in flight to a process: which of its events are still owed an answer, in the order of delivery.
import WakeModel

struct Batch: Sendable {
    private(set) var events: [QueuedEvent] = []
    private var isOpen: [Bool] = []
    private(set) var openCount = 0
    /// Sequences of earlier batches of this process, so that a repeated acknowledgement is known from a false one.
    private var earlier = RecentSequences()

    var hasOpen: Bool { openCount > 0 }
    var openSequences: [Sequence] { openIndices.map { events[$0].sequence } }
    /// The oldest event that was delivered and not answered.
    var oldestOpen: QueuedEvent? { openIndices.first.map { events[$0] } }

    enum Closing { case closed([Sequence]), nothingLeft, notDelivered }

    mutating func deliver(_ batch: [QueuedEvent]) {
        for event in events { earlier.insert(event.sequence) }
        events = batch
        isOpen = Array(repeating: true, count: batch.count)
        openCount = batch.count
    }

    /// Closes every lease delivered no later than `sequence`.
    mutating func close(through sequence: Sequence) -> Closing {
        guard let position = position(of: sequence) else {
            return earlier.contains(sequence) ? .nothingLeft : .notDelivered
        }
        var closed: [Sequence] = []
        closed.reserveCapacity(openCount)
        for index in 0...position where isOpen[index] {
            isOpen[index] = false
            closed.append(events[index].sequence)
        }
        openCount -= closed.count
        return closed.isEmpty ? .nothingLeft : .closed(closed)
    }

    /// Takes `sequence` and every open event of its device after it out of the batch. Nil where it holds no lease.
    mutating func refuse(_ sequence: Sequence) -> [QueuedEvent]? {
        guard let position = position(of: sequence), isOpen[position] else { return nil }
        let device = events[position].device
        return release(from: position) { $0.device == device }
    }

    mutating func releaseAll() -> [QueuedEvent] { release(from: 0) { _ in true } }

    /// Takes one event out without an answer.
    mutating func drop(_ sequence: Sequence) {
        guard let position = position(of: sequence), isOpen[position] else { return }
        isOpen[position] = false
        openCount -= 1
    }

    /// A process began: nothing was delivered to it yet.
    mutating func reset() { self = Batch() }

    mutating func changeOldestOpen(_ change: (inout QueuedEvent) -> Void) {
        if let index = openIndices.first { change(&events[index]) }
    }

    /// True for a sequence that some batch of this process held.
    func wasDelivered(_ sequence: Sequence) -> Bool { position(of: sequence) != nil || earlier.contains(sequence) }

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
