// Elements in order that are mostly appended and taken from the front; neither moves the others.

/// Its owner knows the order: a predicate decides which elements come before another.
struct SortedArray<Element: Sendable>: Sendable {
    /// In order from `head` on; elements before it were taken.
    private var storage: [Element] = []
    private var head = 0
    /// The room that is kept when the last element goes: there may be an array for each of ten thousand devices.
    private static var smallRoom: Int { 16 }
    private static var minimumGap: Int { 64 }

    var isEmpty: Bool { head == storage.count }
    var count: Int { storage.count - head }
    var first: Element? { isEmpty ? nil : storage[head] }
    var elements: ArraySlice<Element> { storage[head...] }

    /// Puts the element where it belongs, and returns its index in ``elements``.
    @discardableResult mutating func insert(_ element: Element, after precedes: (Element) -> Bool) -> Int {
        if isEmpty || precedes(storage[storage.count - 1]) {
            storage.append(element)
            return storage.count - 1
        }
        let index = firstIndex(after: precedes)
        guard index == head else {
            storage.insert(element, at: index)
            return index
        }
        prepend(element)
        return head
    }

    private mutating func prepend(_ element: Element) {
        if head == 0 {
            guard count >= Self.minimumGap else { return storage.insert(element, at: 0) }
            // A whole batch may be given back, one event after the other: each must not move all others.
            head = max(Self.minimumGap, count / 8)
            storage.insert(contentsOf: repeatElement(element, count: head), at: 0)
        }
        head -= 1
        storage[head] = element
    }

    mutating func popFirst() -> Element? {
        guard head < storage.count else { return nil }
        let element = storage[head]
        head += 1
        compact()
        return element
    }

    mutating func remove(at index: Int) -> Element {
        let element = storage[index]
        if index == head { head += 1 } else { storage.remove(at: index) }
        compact()
        return element
    }

    mutating func removeAll(where fits: (Element) -> Bool) -> [Element] {
        let removed = elements.filter(fits)
        guard !removed.isEmpty else { return [] }
        storage = elements.filter { !fits($0) }
        head = 0
        return removed
    }

    /// The index in ``elements`` of the first that is not before another; mostly the first of all.
    func firstIndex(after precedes: (Element) -> Bool) -> Int {
        if isEmpty || !precedes(storage[head]) { return head }
        var (low, high) = (head, storage.count)
        while low < high {
            let middle = (low + high) / 2
            if precedes(storage[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Moving the rest down costs its length, so it waits until the taken part has outgrown it.
    private mutating func compact() {
        if isEmpty {
            storage.removeAll(keepingCapacity: storage.capacity <= Self.smallRoom)
            head = 0
        } else if head >= Self.minimumGap, head * 2 >= storage.count {
            storage.removeFirst(head)
            head = 0
        }
    }
}
