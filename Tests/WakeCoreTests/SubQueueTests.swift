// How a handler's queue orders, holds back and expires the events of several devices.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Sub-queues")
struct SubQueueTests {
    private let often = DeliveryRules(subscription: 0)
    private let rarely = DeliveryRules(subscription: 1, retention: .seconds(1))

    private func event(
        _ sequence: UInt64, of device: UInt32, due: Int64 = 1, arrived: Int64 = 1
    ) -> QueuedEvent {
        QueuedEvent(
            sequence: Sequence(sequence), origin: EventOrigin(rawValue: device), kind: .data(.serial), size: 10,
            due: Instant(nanoseconds: due), arrived: Instant(nanoseconds: arrived), wall: WallTime(microseconds: 0),
            durability: .run)
    }

    private func dequeue(_ queue: inout EventQueue) -> UInt64? {
        queue.dequeue(limit: 1, byteLimit: .max).first?.sequence.rawValue
    }

    @Test("events of ten thousand devices are dequeued in the order of their numbers")
    func order() {
        var queue = EventQueue()
        for number in UInt32(1)...10_000 { queue.insert(event(UInt64(number), of: 10_001 - number), often) }
        for number in UInt64(1)...10_000 { #expect(dequeue(&queue) == number) }
        #expect(dequeue(&queue) == nil && queue.isEmpty && queue.bytes == 0)
    }

    @Test("a device that is held back keeps its events, and those of others go on")
    func held() {
        var queue = EventQueue()
        for number in UInt32(1)...6 { queue.insert(event(UInt64(number), of: number % 2), often) }
        queue.hold(EventOrigin(rawValue: 0), until: Instant(nanoseconds: 50))
        queue.insert(event(7, of: 0), often)
        #expect((0..<4).map { _ in dequeue(&queue) } == [1, 3, 5, nil])
        queue.release(at: Instant(nanoseconds: 50))
        #expect((0..<5).map { _ in dequeue(&queue) } == [2, 4, 6, 7, nil])
    }

    @Test("thousands of events that a handler returns one by one stay in order before those that came meanwhile")
    func returned() {
        var queue = EventQueue()
        for number in UInt64(1)...3_000 { queue.insert(event(number, of: 0), often) }
        let dequeued = queue.dequeue(limit: 2_000, byteLimit: .max)
        queue.insert(event(3_001, of: 1), often)
        queue.giveBack(dequeued)
        #expect(queue.count == 3_001)
        for number in UInt64(1)...3_001 { #expect(dequeue(&queue) == number) }
    }

    @Test("an event that falls due before one with a lower number wakes first, and is dequeued in its turn")
    func sooner() {
        var queue = EventQueue()
        for (number, due) in [(UInt64(1), Int64(100)), (3, 40), (2, 60)] {
            queue.insert(event(number, of: 1, due: due), often)
        }
        #expect(queue.nextDue(after: .zero) == Instant(nanoseconds: 40))
        #expect(queue.firstWaking(now: Instant(nanoseconds: 40))?.sequence.rawValue == 3)
        #expect((0..<4).map { _ in dequeue(&queue) } == [1, 2, 3, nil])
    }

    @Test("an event that arrived before one with a lower number expires first")
    func older() {
        var queue = EventQueue()
        for number in UInt64(1)...4 { queue.insert(event(number, of: 3, arrived: 10 - Int64(number)), rarely) }
        let expired = queue.removeExpired(at: Instant(nanoseconds: 8) + .seconds(1))
        #expect(expired.map(\.sequence.rawValue) == [3, 4])
        #expect((0..<3).map { _ in dequeue(&queue) } == [1, 2, nil])
    }

    @Test("a device keeps its own rules until it is given others")
    func rules() {
        var queue = EventQueue()
        for number in UInt32(1)...4 { queue.insert(event(UInt64(number), of: number), number == 3 ? rarely : often) }
        func retentions() -> [TimeSpan?] { (1...4).map { queue.rules(of: EventOrigin(rawValue: $0)).retention } }
        #expect(retentions() == [nil, nil, .seconds(1), nil])
        #expect(queue.bytes(of: 0) == 30 && queue.bytes(of: 1) == 10)
        queue.reroute { $0 == EventOrigin(rawValue: 1) ? often : rarely }
        #expect(retentions() == [nil, .seconds(1), .seconds(1), .seconds(1)])
        #expect(queue.bytes(of: 0) == 10 && queue.bytes(of: 1) == 30)
        #expect((0..<5).map { _ in dequeue(&queue) } == [1, 2, 3, 4, nil])
    }
}
