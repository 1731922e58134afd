// What wakes a handler: the quick answer of its queue against the one that looks at every lane.
import TestBench
import Testing
import WakeModel

@testable import WakeCore

@Suite("What a queue wakes for") struct QueueWakingTests {
    private func event(_ number: UInt64, _ dice: inout Dice) -> QueuedEvent {
        let kinds: [QueuedEvent.Class] = [.data(.serial), .data(.advertisement), .gap, .connected]
        return QueuedEvent(
            sequence: Sequence(number), device: DeviceID(rawValue: UInt32(dice.below(4))), kind: kinds[dice.below(4)],
            size: 4,
            due: Instant(nanoseconds: Int64(dice.below(20))), arrived: .zero, wall: WallTime(microseconds: 0),
            durability: .run)
    }

    @Test(
        "it is the event with the lowest number of all that are due, wake, and are held back by no nack",
        arguments: 1...20)
    func first(seed: UInt64) {
        var (dice, queue) = (Dice(seed), EventQueue())
        for number in UInt64(1)...400 {
            let event = event(number, &dice)
            queue.insert(event, Terms(wakes: event.device.rawValue != 0))
            if dice.isOne(in: 3) { _ = queue.take(limit: dice.below(6), byteLimit: 1_000) }
            if dice.isOne(in: 20) {
                queue.hold(DeviceID(rawValue: 1), until: Instant(nanoseconds: Int64(number) + Int64(dice.below(9))))
            }
            queue.release(at: Instant(nanoseconds: Int64(number)))
            for now in [0, 7, 19] {
                let now = Instant(nanoseconds: Int64(now))
                #expect(queue.firstWaking(now: now)?.sequence == queue.firstOfAllWaking(now: now)?.sequence)
            }
        }
    }
}
