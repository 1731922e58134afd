// Lanes as memory sees them: a bridge of ten thousand devices finds nearly each of them cold.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Lanes in memory")
struct LaneTests {
    private func event(_ sequence: UInt64, of device: UInt32) -> QueuedEvent {
        let (instant, wall) = (Instant(nanoseconds: 1), WallTime(microseconds: 0))
        return QueuedEvent(
            sequence: Sequence(sequence), device: DeviceID(rawValue: device), kind: .data(.serial), size: 10,
            due: instant, arrived: instant, wall: wall, durability: .run)
    }

    @Test("a lane fits into one line of a cache")
    func size() {
        #expect(MemoryLayout<DeviceLane>.stride <= 64)
    }

    @Test("what a lane that went empty has of room serves the next one that fills, and what has much is kept")
    func room() throws {
        var lane = DeviceLane(device: DeviceID(rawValue: 1), kind: .ordinary, terms: (0, true))
        #expect(!lane.hasRoom)
        lane.insert(event(1, of: 1))
        var refused = lane.giveUpRoom()
        #expect(refused == nil)
        _ = lane.popFirst()
        let given = lane.giveUpRoom()
        let room = try #require(given)
        #expect(room.isEmpty && room.capacity > 0 && !lane.hasRoom)
        for sequence in 2...300 { lane.insert(event(UInt64(sequence), of: 1)) }
        while lane.popFirst() != nil {}
        refused = lane.giveUpRoom()
        #expect(refused == nil && lane.hasRoom)
    }

    @Test("devices that speak in turn, one event each, share the room of one")
    func shared() {
        var table = LaneTable()
        for number in UInt32(1)...100 {
            let event = event(UInt64(number), of: number)
            let place = table.place(of: event, .orphaned)
            table.insert(event, at: place)
            let taken = table[place].popFirst()
            #expect(taken?.sequence == Sequence(UInt64(number)))
            table.refile(place)
        }
        #expect(table.indices.filter { table[$0].hasRoom }.isEmpty)
        #expect(table.spareRooms.count == 1)
    }

    @Test("lanes keep their own terms, and what all of them were given anew forgets the former")
    func terms() {
        var (table, often) = (LaneTable(), Terms())
        often.retention = .seconds(1)
        let places = (UInt32(1)...4).map { table.place(of: event(UInt64($0), of: $0), $0 == 3 ? often : .orphaned) }
        #expect(places.map { table.terms(at: $0).retention } == [nil, nil, .seconds(1), nil])
        #expect(table.terms.count == 2)
        table.resetTerms { $0 == DeviceID(rawValue: 1) ? .orphaned : often }
        #expect(places.map { table.terms(at: $0).retention } == [nil, .seconds(1), .seconds(1), .seconds(1)])
        table.resetTerms { _ in often }
        #expect(table.terms == [often])
    }
}
