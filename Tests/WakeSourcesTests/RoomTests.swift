// What the source tells of adapters and of peripherals that are kept from being connected.
import TestBench
import Testing
import WakeLoop
import WakeModel

@testable import WakeSources

private let adapter = "00:AA:00:00:00:01"

@Suite("Room for links", .serialized)
struct RoomTests {
    private func source(_ number: Int) -> String { "/bluetooth/C0:DE:00:00:00:0\(number)" }

    @Test("an adapter tells what it carries, and once it has refused a link how many at most and who waits for room")
    func learns() throws {
        let air = try Air()
        let source = try #require(air.source)
        try air.populate(3)
        #expect(
            source.adapters == [
                AdapterState(address: adapter, isPowered: true, links: 3, mostLinks: nil, waiting: [])
            ])
        try air.tell("fault Connect full", "quiet", "down 3")
        try air.turn { air.connected.count == 2 }
        #expect(source.adapters.first?.links == 2 && source.linkBlock(of: self.source(3)) == nil)
        try air.tell("advertise 3")
        try air.turn { source.adapters.first?.mostLinks == 2 }
        #expect(source.adapters.first?.waiting.map(\.alias) == ["Strap 3"])
        #expect(source.linkBlock(of: self.source(3)) == .noRoom(adapter: adapter, links: 2))
        #expect(source.linkBlock(of: self.source(1)) == nil)
        // One that is switched off waits for nothing.
        source.setSession(.closed, of: self.source(3))
        #expect(source.adapters.first?.waiting == [] && source.linkBlock(of: self.source(3)) == nil)
        source.setSession(.open, of: self.source(3))
        try air.turn { source.adapters.first?.waiting.count == 1 }
        try air.tell("down 1")
        try air.turn { source.adapters.first?.links == 1 }
        #expect(source.adapters.first?.mostLinks == 2 && source.adapters.first?.waiting == [])
        #expect(source.linkBlock(of: self.source(3)) == nil)
    }

    @Test("a peripheral that is blocked, distrusted, or whose adapter or bluetoothd is away is told to be so")
    func tellsHindrances() throws {
        let air = try Air()
        let source = try #require(air.source)
        #expect(source.linkBlock(of: self.source(1)) == .bluetoothdGone && source.adapters == [])
        try air.populate(3)
        try air.tell("quiet", "down 1", "set 1 Blocked yes", "set 2 Trusted no")
        try air.turn { source.linkBlock(of: self.source(1)) == .blocked }
        try air.turn { source.linkBlock(of: self.source(2)) == .unwatched }
        #expect(source.linkBlock(of: self.source(3)) == nil)
        try air.tell("power hci0 off")
        try air.turn { source.linkBlock(of: self.source(3)) == .adapterDown }
        #expect(source.adapters.first?.isPowered == false)
        try air.tell("die")
        try air.turn { source.linkBlock(of: self.source(3)) == .bluetoothdGone }
        #expect(source.adapters == [])
    }
}
