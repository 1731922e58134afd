// In which lanes events stand: devices on the same terms share them, until something asks for one of them alone.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Lanes")
struct LaneTests {
    private let often = Terms(subscription: 0)
    private let rarely = Terms(subscription: 1, retention: .seconds(1))

    private func event(
        _ sequence: UInt64, of device: UInt32, due: Int64 = 1, arrived: Int64 = 1
    ) -> QueuedEvent {
        QueuedEvent(
            sequence: Sequence(sequence), origin: EventOrigin(rawValue: device), kind: .data(.serial), size: 10,
            due: Instant(nanoseconds: due), arrived: Instant(nanoseconds: arrived), wall: WallTime(microseconds: 0),
            durability: .run)
    }

    private func insert(_ event: QueuedEvent, _ terms: Terms, _ table: inout LaneTable) {
        let place = table.place(of: event, terms)
        table.insert(event, at: place)
    }

    private func take(_ table: inout LaneTable) -> UInt64? {
        guard let place = table.ready.leastSlot else { return nil }
        let event = table[place].popFirst()
        table.refile(place)
        return event?.sequence.rawValue
    }

    @Test("ten thousand devices on the same terms share one lane, and what they say is taken in its order")
    func shared() {
        var table = LaneTable()
        for number in UInt32(1)...10_000 { insert(event(UInt64(number), of: number), often, &table) }
        #expect(table.occupied.count == 1)
        for number in UInt64(1)...10_000 { #expect(take(&table) == number) }
        #expect(take(&table) == nil)
    }

    @Test("a device that is held back takes what it said out of the lane that it shared, and the others' goes on")
    func apart() {
        var table = LaneTable()
        for number in UInt32(1)...6 { insert(event(UInt64(number), of: number % 2), often, &table) }
        table.hold(EventOrigin(rawValue: 0), until: Instant(nanoseconds: 50))
        insert(event(7, of: 0), often, &table)
        #expect((0..<4).map { _ in take(&table) } == [1, 3, 5, nil])
        table.release(at: Instant(nanoseconds: 50))
        #expect((0..<5).map { _ in take(&table) } == [2, 4, 6, 7, nil])
    }

    @Test("what one device has before all others is held back as one, and goes on in its order")
    func run() {
        var table = LaneTable()
        for number in UInt64(1)...3_000 { insert(event(number, of: 0), often, &table) }
        insert(event(3_001, of: 1), often, &table)
        insert(event(3_002, of: 0), often, &table)
        table.hold(EventOrigin(rawValue: 0), until: Instant(nanoseconds: 50))
        #expect(take(&table) == 3_001 && take(&table) == nil)
        #expect(table.occupied.count == 1)
        table.release(at: Instant(nanoseconds: 50))
        for number in UInt64(1)...3_000 { #expect(take(&table) == number) }
        #expect(take(&table) == 3_002 && take(&table) == nil)
    }

    @Test("what falls due sooner than its neighbours in the lane stands in one of its own, and is taken in its turn")
    func sooner() {
        var table = LaneTable()
        insert(event(1, of: 1, due: 100), often, &table)
        insert(event(3, of: 2, due: 40), often, &table)
        #expect(table.occupied.count == 2 && table.dues.least == 40)
        insert(event(4, of: 1, due: 100), often, &table)
        insert(event(2, of: 3, due: 60), often, &table)
        #expect(table.occupied.count == 3)
        #expect((0..<5).map { _ in take(&table) } == [1, 2, 3, 4, nil])
    }

    @Test("what came before its neighbours in the lane stands in one of its own only where it may become too old")
    func older() {
        var table = LaneTable()
        for (number, terms) in [(UInt32(1), often), (2, often), (3, rarely), (4, rarely)] {
            insert(event(UInt64(number), of: number, arrived: 10 - Int64(number)), terms, &table)
        }
        let retentions = table.occupied.map { table.terms(at: $0).retention }
        #expect(retentions.count { $0 == nil } == 1 && retentions.count { $0 == .seconds(1) } == 2)
    }

    @Test("what nobody subscribes to, and what the latest replaces, shares no lane")
    func own() {
        var table = LaneTable()
        let latest = Terms(subscription: 0, policy: .latest)
        for number in UInt32(1)...4 {
            insert(event(UInt64(number), of: number), number.isMultiple(of: 2) ? latest : .orphaned, &table)
        }
        #expect(table.occupied.count == 4)
    }

    @Test("devices keep their own terms, and what all of them were given anew forgets the former")
    func terms() {
        var table = LaneTable()
        for number in UInt32(1)...4 { insert(event(UInt64(number), of: number), number == 3 ? rarely : often, &table) }
        func retentions() -> [TimeSpan?] { (1...4).map { table.terms(of: EventOrigin(rawValue: $0))?.retention } }
        #expect(retentions() == [nil, nil, .seconds(1), nil])
        #expect(table.terms.count == 2)
        table.resetTerms { $0 == EventOrigin(rawValue: 1) ? often : rarely }
        #expect(retentions() == [nil, .seconds(1), .seconds(1), .seconds(1)])
        for _ in 0..<50 { table.resetTerms { _ in often } }
        let place = table.place(of: event(9, of: 9), often)
        #expect(place < 4, "the former lanes are used again")
        table.resetTerms { _ in rarely }
        #expect(table.terms == [rarely] && table.occupied.count == 1)
        #expect((0..<5).map { _ in take(&table) } == [1, 2, 3, 4, nil])
    }
}
