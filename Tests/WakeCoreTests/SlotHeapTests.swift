// The heap of slots against the plainest thing that does the same, under random changes.
import TestBench
import Testing

@testable import WakeCore

@Suite("A heap of slots") struct SlotHeapTests {
    @Test("after any changes it knows the least key, all slots up to a limit and the least above it", arguments: 1...5)
    func answers(seed: UInt64) {
        var (dice, heap, keys) = (Dice(seed), SlotHeap(), [Int: SlotHeap.Key]())
        for _ in 0..<800 {
            let slot = dice.below(200)
            // Few keys, so that many are equal.
            let key = dice.isOne(in: 3) ? nil : SlotHeap.Key(dice.below(60))
            heap.set(key, for: slot)
            keys[slot] = key
            let limit = SlotHeap.Key(dice.below(60))
            #expect(heap.least == keys.values.min() && heap.isEmpty == keys.isEmpty)
            #expect(heap.leastSlot.flatMap { keys[$0] } == heap.least)
            #expect(heap.least(above: limit) == keys.values.filter { $0 > limit }.min())
            var visited: [Int] = []
            heap.visit(upTo: limit) { slot, _ in visited.append(slot) }
            #expect(visited.sorted() == keys.filter { $0.value <= limit }.keys.sorted())
            #expect(heap.slots.sorted() == keys.keys.sorted())
        }
    }
}
