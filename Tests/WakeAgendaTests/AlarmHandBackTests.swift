// Alarms that a handler hands back until something is true, or cancels: what comes again of them, and what does not.
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("Alarms that are handed back or taken back")
struct AlarmHandBackTests {
    /// One alarm that fired at 110 s.
    private func fired() throws -> AgendaWorld {
        var world = AgendaWorld()
        var plan = AgendaPlan()
        plan.alarms = []
        world.send(.configured(AgendaWorld.handler, plan))
        try world.order(#"{"alarm":{"id":"tea","in_s":10}}"#)
        world.pass(.seconds(10))
        #expect(world.raised.count == 1)
        return world
    }

    @Test("an alarm that is handed back until a condition is true comes again when it is, and only then")
    func waits() throws {
        var world = try fired()
        world.conclude(Sequence(1), .handedBack(until: ["network"]))
        #expect(world.waits("tea", .alarm) == ["time", "network"])
        world.pass(.seconds(3_600))
        #expect(world.raised.count == 1 && world.waits("tea", .alarm) == ["network"])
        world.set(.network, true)
        world.pass(.seconds(3))
        #expect(world.raised.count == 2 && world.payload(1).contains("\"due\":\"2026-06-01T00:00:10"))
        world.conclude(Sequence(2), .acknowledged(nil))
        #expect(world.pending.isEmpty && world.open.isEmpty)
    }

    @Test(
        "what is handed back for a condition that is true rests, longer each time, so that it cannot go round in a circle"
    )
    func rests() throws {
        var world = try fired()
        world.set(.network, true)
        for _ in 0..<300 {
            if let sequence = world.heldSequences.first { world.conclude(sequence, .handedBack(until: ["network"])) }
            world.pass(.seconds(1))
        }
        #expect(world.raised.map(\.at) == [110, 140, 200, 320].map { Instant.seconds($0) })
    }

    @Test("a restart keeps what an alarm was handed back for, and a cancellation lets go of the condition")
    func restart() throws {
        var world = try fired()
        world.conclude(Sequence(1), .handedBack(until: ["mount:/srv"]))
        world.restart()
        world.pass(.seconds(60))
        #expect(world.raised.count == 1 && world.waits("tea", .alarm) == ["mount:/srv"])
        world.set(.mount("/srv"), true)
        world.pass(.seconds(1))
        #expect(world.raised.count == 2)
        world.conclude(Sequence(2), .handedBack(until: ["mount:/srv"]))
        world.send(.removed(AgendaWorld.handler))
        #expect(world.open.isEmpty && world.rows.isEmpty)
    }

    @Test("a person can have an alarm at once that was handed back")
    func operated() throws {
        var world = try fired()
        world.conclude(Sequence(1), .handedBack(until: ["network"]))
        world.send(.operated(AgendaKey(AgendaWorld.handler, .alarm, "tea"), ref: nil))
        #expect(world.raised.count == 2 && world.open.isEmpty)
    }

    @Test("an alarm that repeats and waits behind other work does not come once it is cancelled")
    func cancelled() throws {
        var world = AgendaWorld()
        var plan = AgendaPlan()
        plan.alarms = []
        world.send(.configured(AgendaWorld.handler, plan))
        world.send(.situated(AgendaWorld.handler, .awake))
        world.isAtWork = true
        try world.order(#"{"alarm":{"id":"beat","every_s":60}}"#)
        world.pass(.seconds(60))
        #expect(world.held.count == 1)
        try world.order(#"{"cancel":{"alarm":"beat"}}"#)
        #expect(world.held.isEmpty && world.pending.isEmpty && world.rows.isEmpty)
    }
}
