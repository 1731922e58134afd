// Gates: a handler is not launched before what its manifest names under `after`.
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("Gates of handlers")
struct GatesTests {
    private let handler = AgendaWorld.handler
    private let gated = """
        {after: ['mount:/data', 'network'], jobs: [{id: 'sync', kind: 'refresh'}]}
        """

    private func opened() throws -> AgendaWorld {
        var world = AgendaWorld()
        try world.configure(gated)
        world.set(.mount("/data"), true)
        world.set(.network, true)
        world.pass(.seconds(3))
        return world
    }

    @Test("a gated handler is closed until all its gates are true at once and settled")
    func closed() throws {
        var world = AgendaWorld()
        try world.configure(gated)
        #expect(world.gates[handler] == false)
        try world.order(#"{"submit":{"job":"sync"}}"#)
        world.set(.network, true)
        world.pass(.seconds(100))
        world.set(.network, false)
        world.set(.mount("/data"), true)
        world.pass(.seconds(100))
        #expect(world.gates[handler] == false && world.raised.isEmpty && world.waits("sync") == ["gate"])
        world.set(.network, true)
        world.pass(.seconds(2))
        #expect(world.gates[handler] == false)
        world.pass(.seconds(1))
        #expect(world.gates[handler] == true && world.raised.count == 1)
    }

    @Test("a handler without gates is never told to be closed")
    func ungated() throws {
        var world = AgendaWorld()
        try world.configure("{jobs: [{id: 'sync', kind: 'refresh'}]}")
        try world.order(#"{"submit":{"job":"sync"}}"#)
        #expect(world.gates.isEmpty && world.raised.count == 1)
    }

    @Test("once open, a gate stays open until the machine boots again, whatever becomes of its conditions")
    func latched() throws {
        var world = try opened()
        world.set(.network, false)
        world.set(.mount("/data"), false)
        world.pass(.seconds(60))
        #expect(world.gates[handler] == true)
        world.restart()
        #expect(world.gates[handler] == true)
        world.reboot(off: .seconds(5))
        #expect(world.gates[handler] == false)
    }

    @Test("an open gate goes on watching its storage, and nothing else")
    func watchesStorage() throws {
        let world = try opened()
        #expect(Array(world.open.keys) == [.mount("/data")])
    }

    @Test("the handler is told once when its storage goes, after ten seconds, and once when it is back")
    func notices() throws {
        var world = try opened()
        func notices() -> [Notice] {
            world.effects.compactMap { if case .notify(handler, let notice) = $0 { notice } else { nil } }
        }
        world.set(.mount("/data"), false)
        world.pass(.seconds(9))
        #expect(notices() == [])
        world.pass(.seconds(100))
        #expect(notices() == [.storage(path: "/data", available: false)])
        world.set(.mount("/data"), true)
        world.pass(.seconds(100))
        #expect(
            notices() == [.storage(path: "/data", available: false), .storage(path: "/data", available: true)])
    }

    @Test("the notice of storage names the path, and whether it is there")
    func noticeText() {
        var writer = JSONWriter()
        Notice.storage(path: "/data", available: false)
            .write(into: &writer, idPrefix: "n", number: 1, time: WallTime(microseconds: 0))
        let text = String(decoding: writer.bytes, as: UTF8.self)
        #expect(text.contains("\"type\":\"wakebridge.storage\""))
        #expect(text.contains("\"data\":{\"path\":\"/data\",\"available\":false}"))
    }

    @Test("a manifest that drops its gates opens the handler, and one that adds a gate closes it again")
    func reloads() throws {
        var world = AgendaWorld()
        try world.configure(gated)
        try world.configure("{jobs: [{id: 'sync', kind: 'refresh'}]}")
        #expect(world.gates[handler] == true && world.open.isEmpty)
        world = try opened()
        try world.configure("{after: ['mount:/data']}")
        #expect(world.gates[handler] == true)
        try world.configure("{after: ['mount:/data', 'time-synced']}")
        #expect(world.gates[handler] == false)
    }
}
