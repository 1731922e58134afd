// The order of slots against the plainest thing that does the same, under random changes.
import TestBench
import Testing

@testable import WakeCore

@Suite("An order of slots") struct SlotOrderTests {
    @Test("after any changes it knows the least key, all slots up to a limit and the least above it", arguments: 1...5)
    func answers(seed: UInt64) {
        var (dice, order, keys) = (Dice(seed), SlotOrder(), [Int: SlotOrder.Key]())
        for _ in 0..<800 {
            let slot = dice.below(200)
            // Few keys, so that many are equal.
            let key = dice.isOne(in: 3) ? nil : SlotOrder.Key(dice.below(60))
            order.set(key, for: slot)
            keys[slot] = key
            let limit = SlotOrder.Key(dice.below(60))
            #expect(order.least == keys.values.min() && order.isEmpty == keys.isEmpty)
            #expect(order.leastSlot.flatMap { keys[$0] } == order.least)
            #expect(order.least(above: limit) == keys.values.filter { $0 > limit }.min())
            var visited: [Int] = []
            order.visit(upTo: limit) { visited.append($0) }
            #expect(visited.sorted() == keys.filter { $0.value <= limit }.keys.sorted())
            #expect(order.slots.sorted() == keys.keys.sorted())
        }
    }

    @Test(
        "thousands in no order, which fill blocks, split them, thin them out and join them, stay in order",
        arguments: 1...3)
    func blocks(seed: UInt64) {
        var (dice, order, keys) = (Dice(seed), SlotOrder(), [Int: SlotOrder.Key]())
        for round in 0..<24_000 {
            let slot = dice.below(4_000)
            // Many come, most go, many come.
            let goes = dice.below(10) < [1, 9, 2][round / 8_000]
            let key = goes ? nil : SlotOrder.Key(dice.below(3_000))
            order.set(key, for: slot)
            keys[slot] = key
            guard round.isMultiple(of: 400) else { continue }
            let sorted = keys.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
            #expect(order.slots == sorted.map(\.key) && order.least == sorted.first?.value)
            let limit = SlotOrder.Key(dice.below(3_000))
            #expect(order.least(above: limit) == sorted.first { $0.value > limit }?.value)
            var visited: [Int] = []
            order.visit(upTo: limit) { visited.append($0) }
            #expect(visited == sorted.filter { $0.value <= limit }.map(\.key))
            #expect(order.firstSlot { $0.isMultiple(of: 7) } == sorted.first { $0.key.isMultiple(of: 7) }?.key)
        }
    }

    @Test("what comes in its order, is taken from the front and given back there stays in order, however much it is")
    func queue() {
        var (order, waiting, next) = (SlotOrder(), [SlotOrder.Key: Int](), SlotOrder.Key(0))
        for round in 0..<200 {
            for _ in 0..<100 {
                let slot = (Int(next) * 7_919) % 30_000
                order.set(next, for: slot)
                waiting[next] = slot
                next += 1
            }
            var taken: [(key: SlotOrder.Key, slot: Int)] = []
            for _ in 0..<(round < 100 ? 64 : 128) {
                guard let key = order.least, let slot = order.leastSlot else { break }
                taken.append((key, slot))
                order.set(nil, for: slot)
            }
            #expect(taken.map(\.key) == Array(waiting.keys.sorted().prefix(taken.count)))
            #expect(taken.allSatisfy { waiting[$0.key] == $0.slot })
            for (place, (key, slot)) in taken.enumerated().reversed() {
                if place.isMultiple(of: 3) { order.set(key, for: slot) } else { waiting[key] = nil }
            }
        }
        #expect(order.slots == waiting.sorted { $0.key < $1.key }.map(\.value))
    }
}
