// The earliest of many deadlines, one a slot, each changed in logarithmic time: a bridge may have a thousand handlers.
import WakeModel

struct DeadlineHeap: Sendable {
    private var heap: [(deadline: Instant, slot: Int)] = []
    /// Where each slot stands in the heap; -1 where it has no deadline.
    private var positions: [Int] = []

    var earliest: Instant? { heap.first?.deadline }

    /// The slot of the earliest deadline, where that is not after `now`.
    func due(at now: Instant) -> Int? {
        guard let first = heap.first, first.deadline <= now else { return nil }
        return first.slot
    }

    mutating func set(_ deadline: Instant?, for slot: Int) {
        while positions.count <= slot { positions.append(-1) }
        let position = positions[slot]
        switch (position, deadline) {
        case (-1, nil): break
        case (-1, let deadline?):
            heap.append((deadline, slot))
            positions[slot] = heap.count - 1
            siftUp(heap.count - 1)
        case (_, nil): remove(at: position)
        case (_, let deadline?):
            guard heap[position].deadline != deadline else { return }
            heap[position].deadline = deadline
            siftUp(position)
            siftDown(positions[slot])
        }
    }

    private mutating func remove(at position: Int) {
        positions[heap[position].slot] = -1
        let last = heap.removeLast()
        guard position < heap.count else { return }
        heap[position] = last
        positions[last.slot] = position
        siftUp(position)
        siftDown(positions[last.slot])
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0, heap[child].deadline < heap[(child - 1) / 2].deadline {
            exchange(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            var least = parent
            for child in (2 * parent + 1)...(2 * parent + 2) where child < heap.count {
                if heap[child].deadline < heap[least].deadline { least = child }
            }
            guard least != parent else { return }
            exchange(parent, least)
            parent = least
        }
    }

    private mutating func exchange(_ left: Int, _ right: Int) {
        heap.swapAt(left, right)
        positions[heap[left].slot] = left
        positions[heap[right].slot] = right
    }
}
