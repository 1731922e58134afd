// The queue of what is due, beside a plain list that is sorted at each look.
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("What is due next")
struct DueQueueTests {
    @Test("whatever is set, moved and taken out, the queue gives back what a sorted list would, in its order")
    func likeASortedList() {
        var (queue, plain) = (DueQueue<Instant>(), [AgendaKey: Instant]())
        let keys = (0..<60).map { AgendaKey(HandlerID(rawValue: UInt32($0 % 7)), .alarm, "a\($0)") }
        var seed: UInt64 = 1
        func roll(_ count: UInt64) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((seed >> 33) % count)
        }
        for step in 0..<20_000 {
            let key = keys[roll(60)]
            switch roll(8) {
            case 0:
                queue.set(key, at: nil)
                plain[key] = nil
            case 1:
                let now = Instant.seconds(Int64(roll(200)))
                let due = plain.filter { $0.value <= now }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
                #expect(queue.removeDue(by: now) == due.map(\.key), "step \(step)")
                for key in due.map(\.key) { plain[key] = nil }
            default:
                let instant = Instant.seconds(Int64(roll(1_000)))
                queue.set(key, at: instant)
                plain[key] = instant
            }
            #expect(queue.next == plain.values.min(), "step \(step)")
        }
    }
}
