// The least of many keys, one a slot, each changed in logarithmic time: a bridge may have a thousand handlers, and a handler
// ten thousand devices.

struct SlotHeap: Sendable {
    /// Nanoseconds of an instant, or the number of an event; one type for both, since a generic heap is slow unless optimised.
    typealias Key = Int64

    private var heap: [(key: Key, slot: Int32)] = []
    /// Where each slot stands in the heap; -1 where it has no key.
    private var positions: [Int32] = []

    var isEmpty: Bool { heap.isEmpty }
    var least: Key? { heap.first?.key }
    var leastSlot: Int? { heap.first.map { Int($0.slot) } }

    /// In no order.
    var slots: [Int] { heap.map { Int($0.slot) } }

    /// The slot of the least key, where that is not above `limit`.
    func slot(upTo limit: Key) -> Int? {
        guard let first = heap.first, first.key <= limit else { return nil }
        return Int(first.slot)
    }

    /// Calls `body` with each slot whose key is not above `limit`, in no order; `body` may lower the limit. The others are not
    /// looked at, but for the first above each.
    func visit(upTo limit: Key, _ body: (Int, inout Key) -> Void) {
        var limit = limit
        visit(0, &limit, body)
    }

    private func visit(_ position: Int, _ limit: inout Key, _ body: (Int, inout Key) -> Void) {
        guard position < heap.count, heap[position].key <= limit else { return }
        body(Int(heap[position].slot), &limit)
        visit(2 * position + 1, &limit, body)
        visit(2 * position + 2, &limit, body)
    }

    /// The least key above `limit`.
    func least(above limit: Key) -> Key? { least(above: limit, from: 0) }

    private func least(above limit: Key, from position: Int) -> Key? {
        guard position < heap.count else { return nil }
        if heap[position].key > limit { return heap[position].key }
        let left = least(above: limit, from: 2 * position + 1)
        guard let right = least(above: limit, from: 2 * position + 2) else { return left }
        return left.map { min($0, right) } ?? right
    }

    mutating func set(_ key: Key?, for slot: Int) {
        let position = slot < positions.count ? Int(positions[slot]) : -1
        guard let key else {
            if position >= 0 { remove(at: position) }
            return
        }
        if position < 0 { return insert(key, slot) }
        guard heap[position].key != key else { return }
        heap[position].key = key
        mend(position)
    }

    private mutating func insert(_ key: Key, _ slot: Int) {
        while positions.count <= slot { positions.append(-1) }
        positions[slot] = Int32(heap.count)
        heap.append((key, Int32(slot)))
        siftUp(heap.count - 1)
    }

    private mutating func remove(at position: Int) {
        positions[Int(heap[position].slot)] = -1
        let last = heap.removeLast()
        guard position < heap.count else { return }
        heap[position] = last
        positions[Int(last.slot)] = Int32(position)
        mend(position)
    }

    private mutating func mend(_ position: Int) {
        let slot = Int(heap[position].slot)
        siftUp(position)
        siftDown(Int(positions[slot]))
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0, heap[child].key < heap[(child - 1) / 2].key {
            exchange(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            var least = parent
            for child in (2 * parent + 1)...(2 * parent + 2) where child < heap.count {
                if heap[child].key < heap[least].key { least = child }
            }
            guard least != parent else { return }
            exchange(parent, least)
            parent = least
        }
    }

    private mutating func exchange(_ left: Int, _ right: Int) {
        heap.swapAt(left, right)
        positions[Int(heap[left].slot)] = Int32(left)
        positions[Int(heap[right].slot)] = Int32(right)
    }
}
