// Slots of a table in the order of their keys, at most one key a slot: returns the first without a look at the table.

struct SortedIndex: Sendable {
    /// Nanoseconds of an instant, or the number of an event.
    typealias Key = Int64

    /// In the order of their keys, and of equal keys the lower slot first. Only slots are moved, being small: among ten
    /// thousand an insertion moves five thousand on average.
    private var sorted = SortedArray<Int32>()
    /// By slot: its key, or `none`.
    private var keys: [Key] = []
    private static let none = Key.min

    var isEmpty: Bool { sorted.isEmpty }
    var leastSlot: Int? { sorted.first.map { Int($0) } }
    var least: Key? { sorted.first.map { keys[Int($0)] } }

    /// All of them, in order.
    var slots: [Int] { sorted.elements.map { Int($0) } }

    /// The slot of the least key, where that is not above `limit`.
    func slot(upTo limit: Key) -> Int? {
        guard let first = sorted.first, keys[Int(first)] <= limit else { return nil }
        return Int(first)
    }

    /// All slots whose keys are not above `limit`, in order.
    func slots(upTo limit: Key) -> [Int] {
        sorted.elements.prefix { keys[Int($0)] <= limit }.map { Int($0) }
    }

    /// The first slot in order that `fits`.
    func firstSlot(where fits: (Int) -> Bool) -> Int? {
        sorted.elements.first { fits(Int($0)) }.map { Int($0) }
    }

    /// The least key above `limit`.
    func least(above limit: Key) -> Key? {
        let index = sorted.firstIndex { keys[Int($0)] <= limit }
        return index < sorted.elements.endIndex ? keys[Int(sorted.elements[index])] : nil
    }

    /// Nil takes the slot out.
    mutating func set(_ key: Key?, for slot: Int) {
        let former = slot < keys.count ? keys[slot] : Self.none
        let key = key ?? Self.none
        guard former != key else { return }
        while keys.count <= slot { keys.append(Self.none) }
        if former != Self.none { remove(Int32(slot)) }
        keys[slot] = key
        if key != Self.none { insert(Int32(slot)) }
    }

    private mutating func insert(_ slot: Int32) {
        let (keys, key) = (keys, keys[Int(slot)])
        sorted.insert(slot) { Self.precedes((keys[Int($0)], $0), (key, slot)) }
    }

    private mutating func remove(_ slot: Int32) {
        let (keys, key) = (keys, keys[Int(slot)])
        _ = sorted.remove(at: sorted.firstIndex { Self.precedes((keys[Int($0)], $0), (key, slot)) })
    }

    private static func precedes(_ one: (key: Key, slot: Int32), _ other: (key: Key, slot: Int32)) -> Bool {
        one.key < other.key || one.key == other.key && one.slot < other.slot
    }
}
