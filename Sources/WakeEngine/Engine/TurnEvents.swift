// The events that a turn appended: what is delivered in the same turn is handed over, and not read back from the journal.
import WakeModel

/// In the order of their numbers, which rise.
struct TurnEvents {
    private var entries: [(sequence: Sequence, event: DeviceEvent)] = []

    mutating func append(_ event: DeviceEvent, as sequence: Sequence) { entries.append((sequence, event)) }

    /// A pending event changed, such as a gap that grew.
    mutating func update(_ event: DeviceEvent, as sequence: Sequence) {
        if let place = place(of: sequence) { entries[place].event = event }
    }

    mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

    /// Nil for one that an earlier turn appended.
    subscript(sequence: Sequence) -> DeviceEvent? { place(of: sequence).map { entries[$0].event } }

    private func place(of sequence: Sequence) -> Int? {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].sequence == sequence ? low : nil
    }
}
