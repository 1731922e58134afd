// Keys by when each has to be looked at again; each key stands in it once.
import WakeModel

/// A heap that forgets late: what was set anew stays in it until it comes to the top.
struct DueQueue: Sendable {
    private struct Item {
        var at: Instant
        var key: AgendaKey

        func isBefore(_ other: Item) -> Bool { (at, key) < (other.at, other.key) }
    }

    private var times: [AgendaKey: Instant] = [:]
    private var heap: [Item] = []

    var next: Instant? { heap.first?.at }

    /// Nil takes the key out.
    mutating func set(_ key: AgendaKey, at instant: Instant?) {
        guard times[key] != instant else { return }
        times[key] = instant
        if let instant { push(Item(at: instant, key: key)) }
        if heap.count > 2 * times.count + 16 { rebuild() }
        dropStale()
    }

    mutating func removeDue(by now: Instant) -> [AgendaKey] {
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
