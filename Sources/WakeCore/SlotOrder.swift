// Slots in the order of their keys, one each: a bridge may have a thousand handlers, and a handler ten thousand devices.

/// Numbers and instants mostly come in their order and go in it too: what is new goes to the end and what is taken comes from
/// the front, wherever among ten thousand its slot is. A heap would touch seven others for it, each in a cold place. They
/// stand in blocks, so that what belongs in between moves a few hundred neighbours at most.
struct SlotOrder: Sendable {
    /// Nanoseconds of an instant, or the number of an event; one type for both, since a generic order is slow unless optimised.
    typealias Key = Int64

    /// In order. None is empty but the only one.
    private var blocks = [Block()]
    /// By slot: its key, or `none`.
    private var keys: [Key] = []
    private static let none = Key.min

    var isEmpty: Bool { blocks[0].isEmpty }
    var least: Key? { blocks[0].first?.key }
    var leastSlot: Int? { blocks[0].first.map { Int($0.slot) } }

    /// All of them, in order.
    var slots: [Int] { blocks.flatMap { $0.entries.map { Int($0.slot) } } }

    /// The slot of the least key, where that is not above `limit`.
    func slot(upTo limit: Key) -> Int? {
        guard let first = blocks[0].first, first.key <= limit else { return nil }
        return Int(first.slot)
    }

    /// The first slot in order that `fits`.
    func firstSlot(where fits: (Int) -> Bool) -> Int? {
        for block in blocks {
            if let found = block.entries.first(where: { fits(Int($0.slot)) }) { return Int(found.slot) }
        }
        return nil
    }

    /// Calls `body` with each slot whose key is not above `limit`, in order.
    func visit(upTo limit: Key, _ body: (Int) -> Void) {
        for block in blocks {
            for entry in block.entries {
                guard entry.key <= limit else { return }
                body(Int(entry.slot))
            }
        }
    }

    /// The least key above `limit`.
    func least(above limit: Key) -> Key? {
        let bound = Entry(key: limit, slot: .max)
        let place = place(of: bound)
        if let next = blocks[place].first(after: bound) { return next.key }
        return place + 1 < blocks.count ? blocks[place + 1].first?.key : nil
    }

    mutating func set(_ key: Key?, for slot: Int) {
        let former = slot < keys.count ? keys[slot] : Self.none
        let key = key ?? Self.none
        guard former != key else { return }
        while keys.count <= slot { keys.append(Self.none) }
        keys[slot] = key
        if former != Self.none { remove(Entry(key: former, slot: Int32(slot))) }
        if key != Self.none { insert(Entry(key: key, slot: Int32(slot))) }
    }

    private mutating func insert(_ entry: Entry) {
        let end = blocks.count - 1
        guard blocks[end].isBefore(entry) else {
            let place = place(of: entry)
            blocks[place].insert(entry)
            if let half = blocks[place].giveUpHalf() { blocks.insert(half, at: place + 1) }
            return
        }
        if blocks[end].isFull { blocks.append(Block()) }
        blocks[blocks.count - 1].append(entry)
    }

    private mutating func remove(_ entry: Entry) {
        let place = place(of: entry)
        blocks[place].remove(entry)
        if blocks[place].isEmpty, blocks.count > 1 {
            blocks.remove(at: place)
        } else {
            join(place + 1)
            join(place)
        }
    }

    /// Of blocks that thin out a few entries each would keep the room of hundreds.
    private mutating func join(_ place: Int) {
        guard place > 0, place < blocks.count, blocks[place - 1].takes(blocks[place]) else { return }
        blocks[place - 1].append(blocks[place])
        blocks.remove(at: place)
    }

    /// The block in which the entry stands, or would: mostly the first.
    private func place(of entry: Entry) -> Int {
        var (low, high) = (0, blocks.count - 1)
        if high == 0 || !blocks[1].startsUpTo(entry) { return 0 }
        while low < high {
            let middle = (low + high + 1) / 2
            if blocks[middle].startsUpTo(entry) { low = middle } else { high = middle - 1 }
        }
        return low
    }
}

extension SlotOrder {
    struct Entry: Sendable {
        var key: Key
        var slot: Int32

        /// Of equal keys the lower slot comes first, so that each entry has one place.
        static func < (one: Entry, other: Entry) -> Bool {
            one.key < other.key || one.key == other.key && one.slot < other.slot
        }
    }

    /// A few hundred neighbours.
    private struct Block: Sendable {
        /// In order from `head` on; what stands before it has gone.
        private var storage: [Entry] = []
        private var head = 0
        private static let limit = 256
        /// So much is kept while there is nothing in it.
        private static let smallRoom = 64

        var count: Int { storage.count - head }
        var isEmpty: Bool { head == storage.count }
        var isFull: Bool { storage.count >= Self.limit }
        var first: Entry? { isEmpty ? nil : storage[head] }
        var entries: ArraySlice<Entry> { storage[head...] }

        /// Whether all of it comes before the entry.
        func isBefore(_ entry: Entry) -> Bool { isEmpty || storage[storage.count - 1] < entry }

        func startsUpTo(_ entry: Entry) -> Bool { !isEmpty && !(entry < storage[head]) }

        func first(after bound: Entry) -> Entry? {
            let place = place(of: bound)
            return place < storage.count ? storage[place] : nil
        }

        mutating func append(_ entry: Entry) { storage.append(entry) }

        /// Whether so few would be in it with the next one's that they stay one block for a while.
        func takes(_ next: Block) -> Bool { count + next.count <= Self.limit / 2 }

        mutating func append(_ next: Block) { storage.append(contentsOf: next.entries) }

        mutating func insert(_ entry: Entry) {
            let place = place(of: entry)
            guard place == head, head > 0 else { return storage.insert(entry, at: place) }
            head -= 1
            storage[head] = entry
        }

        mutating func remove(_ entry: Entry) {
            let place = place(of: entry)
            if place == head { head += 1 } else { storage.remove(at: place) }
            if isEmpty {
                storage.removeAll(keepingCapacity: storage.capacity <= Self.smallRoom)
                head = 0
            } else if head >= Self.smallRoom, head * 2 >= storage.count {
                storage.removeFirst(head)
                head = 0
            }
        }

        /// What of it is a block of its own from now on, where it has become too large.
        mutating func giveUpHalf() -> Block? {
            guard count >= 2 * Self.limit else { return nil }
            var half = Block()
            half.storage = Array(storage[(head + Self.limit)...])
            storage.removeSubrange((head + Self.limit)...)
            return half
        }

        /// Where the entry stands, or would: mostly in front.
        private func place(of entry: Entry) -> Int {
            if head < storage.count, !(storage[head] < entry) { return head }
            var (low, high) = (head, storage.count)
            while low < high {
                let middle = (low + high) / 2
                if storage[middle] < entry { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }
}
