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
        for child in Self.children(of: position) { visit(child, &limit, body) }
    }

    /// The least key above `limit`.
    func least(above limit: Key) -> Key? { least(above: limit, from: 0) }

    private func least(above limit: Key, from position: Int) -> Key? {
        guard position < heap.count else { return nil }
        if heap[position].key > limit { return heap[position].key }
        var least: Key?
        for child in Self.children(of: position) {
            guard let found = self.least(above: limit, from: child) else { continue }
            least = min(least ?? found, found)
        }
        return least
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

    private mutating func mend(_ position: Int) { siftDown(siftUp(position)) }

    /// Returns where it stands then.
    @discardableResult
    private mutating func siftUp(_ start: Int) -> Int {
        let rising = heap[start]
        var place = start
        while place > 0, rising.key < heap[Self.parent(of: place)].key {
            put(heap[Self.parent(of: place)], at: place)
            place = Self.parent(of: place)
        }
        if place != start { put(rising, at: place) }
        return place
    }

    private mutating func siftDown(_ start: Int) {
        let sinking = heap[start]
        var place = start
        while let child = leastChild(of: place), heap[child].key < sinking.key {
            put(heap[child], at: place)
            place = child
        }
        if place != start { put(sinking, at: place) }
    }

    private func leastChild(of place: Int) -> Int? {
        let children = Self.children(of: place).clamped(to: 0..<heap.count)
        guard var least = children.first else { return nil }
        for child in children where heap[child].key < heap[least].key { least = child }
        return least
    }

    private mutating func put(_ entry: (key: Key, slot: Int32), at place: Int) {
        heap[place] = entry
        positions[Int(entry.slot)] = Int32(place)
    }

    /// Four, which lie side by side in one line of a cache or two: half as many levels as with two.
    private static func children(of place: Int) -> Range<Int> { (4 * place + 1)..<(4 * place + 5) }
    private static func parent(of place: Int) -> Int { (place - 1) / 4 }
}
