// Entries in the order in which they are due on one clock: what comes first is known without a look at the others.

struct DueIndex: Sendable {
    private struct Slot: Sendable {
        var time: Int64
        var key: AgendaKey

        func precedes(_ other: Slot) -> Bool { time < other.time || time == other.time && key < other.key }
    }

    private var slots: [Slot] = []

    var first: Int64? { slots.first?.time }

    mutating func insert(_ key: AgendaKey, at time: Int64) {
        let slot = Slot(time: time, key: key)
        slots.insert(slot, at: place(of: slot))
    }

    /// - Parameter time: the one with which it was inserted.
    mutating func remove(_ key: AgendaKey, at time: Int64) {
        let slot = Slot(time: time, key: key)
        let place = place(of: slot)
        if place < slots.count, slots[place].key == key, slots[place].time == time { slots.remove(at: place) }
    }

    /// Takes out all that are due by `time`.
    mutating func take(upTo time: Int64) -> [AgendaKey] {
        guard let first, first <= time else { return [] }
        let end = firstPlace { $0.time > time }
        let keys = slots[..<end].map(\.key)
        slots.removeSubrange(..<end)
        return keys
    }

    private func place(of slot: Slot) -> Int { firstPlace { !$0.precedes(slot) } }

    private func firstPlace(where isBehind: (Slot) -> Bool) -> Int {
        var (low, high) = (0, slots.count)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(slots[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
