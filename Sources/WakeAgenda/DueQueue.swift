// Keys by when each has to be looked at again, on one clock; the queue contains each key once.

/// A heap that forgets late: what was set to another time stays in it until it comes to the top. All alarms move when the clock is set, so
/// a change must not cost more the more there are.
struct DueQueue<Time: Comparable & Sendable>: Sendable {
    private struct Item {
        var at: Time
        var key: AgendaKey

        func isBefore(_ other: Item) -> Bool { (at, key) < (other.at, other.key) }
    }

    private var times: [AgendaKey: Time] = [:]
    private var heap: [Item] = []

    var next: Time? { heap.first?.at }

    /// Nil takes the key out.
    mutating func set(_ key: AgendaKey, at time: Time?) {
        guard times[key] != time else { return }
        times[key] = time
        if let time { push(Item(at: time, key: key)) }
        if heap.count > 2 * times.count + 16 { rebuild() }
        dropStale()
    }

    /// Takes out all that are due by `now`, the earliest first.
    mutating func removeDue(by now: Time) -> [AgendaKey] {
        var due: [AgendaKey] = []
        while let first = heap.first, first.at <= now {
            due.append(first.key)
            times[first.key] = nil
            pop()
            dropStale()
        }
        return due
    }

    private mutating func dropStale() {
        while let first = heap.first, times[first.key] != first.at { pop() }
    }

    private mutating func rebuild() {
        heap = times.map { Item(at: $0.value, key: $0.key) }.sorted { $0.isBefore($1) }
    }

    private mutating func push(_ item: Item) {
        heap.append(item)
        var place = heap.count - 1
        while place > 0, heap[place].isBefore(heap[(place - 1) / 2]) {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func pop() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count {
                if heap[child].isBefore(heap[least]) { least = child }
            }
            if least == place { return }
            heap.swapAt(place, least)
            place = least
        }
    }
}
