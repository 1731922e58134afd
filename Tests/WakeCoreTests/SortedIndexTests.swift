// The sorted index against a dictionary that is sorted for each question, under random changes.
import TestBench
import Testing

@testable import WakeCore

@Suite("A sorted index") struct SortedIndexTests {
    @Test("after any changes it knows the least key, all slots up to a limit and the least above it", arguments: 1...5)
    func answers(seed: UInt64) {
        var (dice, index, keys) = (Dice(seed), SortedIndex(), [Int: SortedIndex.Key]())
        for _ in 0..<800 {
            let slot = dice.below(200)
            // Few keys, so that many are equal.
            let key = dice.isOne(in: 3) ? nil : SortedIndex.Key(dice.below(60))
            index.set(key, for: slot)
            keys[slot] = key
            let limit = SortedIndex.Key(dice.below(60))
            #expect(index.least == keys.values.min() && index.isEmpty == keys.isEmpty)
            #expect(index.leastSlot.flatMap { keys[$0] } == index.least)
            #expect(index.least(above: limit) == keys.values.filter { $0 > limit }.min())
            #expect(index.slots(upTo: limit).sorted() == keys.filter { $0.value <= limit }.keys.sorted())
            #expect(index.slots.sorted() == keys.keys.sorted())
        }
    }

    @Test(
        "thousands of slots that come and go in no order stay sorted",
        arguments: 1...3)
    func thousands(seed: UInt64) {
        var (dice, index, keys) = (Dice(seed), SortedIndex(), [Int: SortedIndex.Key]())
        for round in 0..<24_000 {
            let slot = dice.below(4_000)
            // Many come, most go, many come.
            let goes = dice.below(10) < [1, 9, 2][round / 8_000]
            let key = goes ? nil : SortedIndex.Key(dice.below(3_000))
            index.set(key, for: slot)
            keys[slot] = key
            guard round.isMultiple(of: 400) else { continue }
            let sorted = keys.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
            #expect(index.slots == sorted.map(\.key) && index.least == sorted.first?.value)
            let limit = SortedIndex.Key(dice.below(3_000))
            #expect(index.least(above: limit) == sorted.first { $0.value > limit }?.value)
            #expect(index.slots(upTo: limit) == sorted.filter { $0.value <= limit }.map(\.key))
            #expect(index.firstSlot { $0.isMultiple(of: 7) } == sorted.first { $0.key.isMultiple(of: 7) }?.key)
        }
    }

    @Test("keys that come in order, leave at the front and return there stay sorted, however many they are")
    func queue() {
        var (index, waiting, next) = (SortedIndex(), [SortedIndex.Key: Int](), SortedIndex.Key(0))
        for round in 0..<200 {
            for _ in 0..<100 {
                let slot = (Int(next) * 7_919) % 30_000
                index.set(next, for: slot)
                waiting[next] = slot
                next += 1
            }
            var taken: [(key: SortedIndex.Key, slot: Int)] = []
            for _ in 0..<(round < 100 ? 64 : 128) {
                guard let key = index.least, let slot = index.leastSlot else { break }
                taken.append((key, slot))
                index.set(nil, for: slot)
            }
            #expect(taken.map(\.key) == Array(waiting.keys.sorted().prefix(taken.count)))
            #expect(taken.allSatisfy { waiting[$0.key] == $0.slot })
            for (place, (key, slot)) in taken.enumerated().reversed() {
                if place.isMultiple(of: 3) { index.set(key, for: slot) } else { waiting[key] = nil }
            }
        }
        #expect(index.slots == waiting.sorted { $0.key < $1.key }.map(\.value))
    }
}
