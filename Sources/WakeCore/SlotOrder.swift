// Slots in the order of their keys, one each: a bridge may have a thousand handlers, and a handler ten thousand devices.

/// Numbers and instants nearly always come in their order and go in it too: what is new goes to the end and what is taken comes from
/// the front, wherever among ten thousand its slot is. A heap would touch seven others for it, each in a cold place. What
/// belongs in between moves the shorter side.
struct SlotOrder: Sendable {
    /// Nanoseconds of an instant, or the number of an event; one type for both, since a generic order is slow unless optimised.
    typealias Key = Int64

    private struct Entry {
        var key: Key
        var slot: Int32

        /// Of equal keys the lower slot comes first, so that each entry has one place.
        static func < (one: Entry, other: Entry) -> Bool {
            one.key < other.key || one.key == other.key && one.slot < other.slot
        }
    }

    /// In order from `head` on; what stands before it has gone.
    private var entries: [Entry] = []
    private var head = 0
    /// By slot: its key, or `none`.
    private var keys: [Key] = []
    private static let none = Key.min

    var isEmpty: Bool { head == entries.count }
    var least: Key? { isEmpty ? nil : entries[head].key }
    var leastSlot: Int? { isEmpty ? nil : Int(entries[head].slot) }

    /// All of them, in order.
    var slots: [Int] { entries[head...].map { Int($0.slot) } }

    /// The slot of the least key, where that is not above `limit`.
    func slot(upTo limit: Key) -> Int? {
        guard !isEmpty, entries[head].key <= limit else { return nil }
        return Int(entries[head].slot)
    }

    /// The first slot in order that `fits`.
    func firstSlot(where fits: (Int) -> Bool) -> Int? {
        entries[head...].first { fits(Int($0.slot)) }.map { Int($0.slot) }
    }

    /// Calls `body` with each slot whose key is not above `limit`, in order.
    func visit(upTo limit: Key, _ body: (Int) -> Void) {
        for entry in entries[head...] {
            guard entry.key <= limit else { return }
            body(Int(entry.slot))
        }
    }

    /// The least key above `limit`.
    func least(above limit: Key) -> Key? {
        if let least, least > limit { return least }
        let place = place(of: Entry(key: limit, slot: .max))
        return place < entries.count ? entries[place].key : nil
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
        if isEmpty || entries[entries.count - 1] < entry { return entries.append(entry) }
        let place = place(of: entry)
        guard place - head < entries.count - place else { return entries.insert(entry, at: place) }
        makeRoomInFront()
        head -= 1
        var hole = head
        while hole + 1 < entries.count, entries[hole + 1] < entry {
            entries[hole] = entries[hole + 1]
            hole += 1
        }
        entries[hole] = entry
    }

    /// For a whole batch: events given back come one by one, and each move would cost the length of all.
    private mutating func makeRoomInFront() {
        guard head == 0 else { return }
        head = max(64, entries.count / 8)
        entries.insert(contentsOf: repeatElement(entries[0], count: head), at: 0)
    }

    private mutating func remove(_ entry: Entry) {
        let place = place(of: entry)
        guard place - head < entries.count - place else {
            entries.remove(at: place)
            return compact()
        }
        var hole = place
        while hole > head {
            entries[hole] = entries[hole - 1]
            hole -= 1
        }
        head += 1
        compact()
    }

    /// Moving the rest down costs its length, so it is done only when what has gone has outgrown it.
    private mutating func compact() {
        if isEmpty {
            entries.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 1_024, head * 2 >= entries.count {
            entries.removeFirst(head)
            head = 0
        }
    }

    /// Where the entry stands, or would: mostly in front.
    private func place(of entry: Entry) -> Int {
        if head < entries.count, !(entries[head] < entry) { return head }
        var (low, high) = (head, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle] < entry { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
