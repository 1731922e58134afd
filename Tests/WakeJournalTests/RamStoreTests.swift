// Events that only memory has, compared with the simplest store: one dictionary.
import Testing
import WakeModel

@testable import WakeJournal

@Suite("Events in memory")
struct RamStoreTests {
    private let owners = [HandlerID(rawValue: 1), HandlerID(rawValue: 2)]

    private struct Chance: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    @Test(
        "appends, updates and acknowledgements in any order leave exactly the pending events",
        arguments: 1...20)
    func holdsWhatIsPending(seed: UInt64) {
        var chance = Chance(state: seed)
        var store = RamStore()
        var pending: [Sequence: (event: DeviceEvent, owners: Set<HandlerID>)] = [:]
        var next: UInt64 = 1
        for _ in 0..<2_000 {
            switch Int.random(in: 0..<10, using: &chance) {
            case 0..<5:
                next += UInt64.random(in: 1...3, using: &chance)
                let these = Array(owners.prefix(Int.random(in: 1...2, using: &chance)))
                let event = made(next)
                store.append(event, as: Sequence(next), for: these)
                pending[Sequence(next)] = (event, Set(these))
            case 5:
                let seq = Sequence(UInt64.random(in: 1...next, using: &chance))
                #expect(store.update(made(7), as: seq) == (pending[seq] != nil))
                pending[seq]?.event = made(7)
            default:
                let last = UInt64.random(in: 1...next, using: &chance)
                let range = Sequence(last - min(last - 1, UInt64.random(in: 0...90, using: &chance)))...Sequence(last)
                let handler = owners[Int.random(in: 0...1, using: &chance)]
                let expected = pending.filter { range.contains($0.key) && $0.value.owners.contains(handler) }.map(\.key)
                #expect(store.acknowledge(range, by: handler) == expected.count)
                for seq in expected { pending[seq]?.owners.remove(handler) }
                pending = pending.filter { !$0.value.owners.isEmpty }
            }
            #expect(store.count == pending.count && store.oldest == pending.keys.min())
        }
        #expect(store.events.map(\.seq) == pending.keys.sorted())
        #expect(store.events.allSatisfy { pending[$0.seq]?.event == $0.event && store[$0.seq] == $0.event })
        #expect((1...next).allSatisfy { (store[Sequence($0)] != nil) == (pending[Sequence($0)] != nil) })
    }

    private func made(_ number: UInt64) -> DeviceEvent {
        DeviceEvent(
            origin: EventOrigin(rawValue: 1), kind: .data(.serial, [UInt8(truncatingIfNeeded: number)]),
            stamp: Stamp(
                moment: Moment(monotonic: .zero, boottime: .zero), wall: WallTime(microseconds: Int64(number))))
    }
}
