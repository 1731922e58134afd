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

    @Test("an alarm that comes once and was handed back is cancelled, and does not come again")
    func cancelledAfterHandBack() throws {
        var world = try fired()
        world.conclude(Sequence(1), .handedBack(until: ["network"]))
        #expect(try world.order(#"{"cancel":{"alarm":"tea"}}"#).word == "cancelled")
        world.set(.network, true)
        world.pass(.seconds(3_600))
        #expect(world.raised.count == 1 && world.pending.isEmpty && world.rows.isEmpty && world.open.isEmpty)
    }

    @Test("an alarm that comes once and waits behind other work is cancelled, and a second time it is not there")
    func cancelledInQueue() throws {
        var world = try atWork(#"{"alarm":{"id":"tea","in_s":60}}"#)
        #expect(try world.order(#"{"cancel":{"alarm":"tea"}}"#).word == "cancelled")
        #expect(world.held.isEmpty && world.pending.isEmpty && world.rows.isEmpty)
        #expect(try world.order(#"{"cancel":{"alarm":"tea"}}"#).fault?.code == .notRegistered)
    }

    @Test(
        "an alarm that was handed back and is ordered again rests as long as it would have, so that it cannot go round")
    func restsWhenOrderedAgain() throws {
        var world = try fired()
        for _ in 0..<300 {
            if let sequence = world.heldSequences.first {
                world.conclude(sequence, .handedBack(until: []))
                try world.order(#"{"alarm":{"id":"tea","in_s":6000}}"#)
            }
            world.pass(.seconds(1))
        }
        #expect(world.raised.map(\.at) == [110, 140, 200, 320].map { Instant.seconds($0) })
    }

    @Test("a changed manifest does not end the rest of an alarm that was handed back")
    func restsWhenDeclaredAgain() throws {
        var world = AgendaWorld()
        try world.configure("{alarms: [{id: 'a', every: '1h'}]}")
        world.pass(.seconds(3_600))
        world.conclude(Sequence(1), .handedBack(until: []))
        try world.configure("{alarms: [{id: 'a', every: '2h'}]}")
        world.pass(.seconds(29))
        #expect(world.raised.count == 1)
        world.pass(.seconds(1))
        #expect(world.raised.count == 2)
    }

    @Test(
        "an alarm that is cancelled while its handler has it is taken back when the handler crashes or overruns, also after a restart",
        arguments: [Conclusion.crashed, .overrun], [false, true])
    func cancelledWhileRunning(conclusion: Conclusion, restarts: Bool) throws {
        var world = AgendaWorld()
        try world.configure("{alarms: []}")
        world.send(.situated(AgendaWorld.handler, .awake))
        try world.order(#"{"alarm":{"id":"beat","every_s":60}}"#)
        world.pass(.seconds(60))
        #expect(try world.order(#"{"cancel":{"alarm":"beat"}}"#).word == "cancelled")
        #expect(world.heldSequences == [Sequence(1)] && world.pending.isEmpty)
        #expect(try world.order(#"{"cancel":{"alarm":"beat"}}"#).fault?.code == .notRegistered)
        if restarts { world.restart() }
        world.send(.situated(AgendaWorld.handler, .asleep))
        world.conclude(Sequence(1), conclusion)
        #expect(world.held.isEmpty && world.pending.isEmpty && world.rows.isEmpty)
        world.pass(.seconds(3_600))
        #expect(world.raised.count == 1)
    }

    @Test("an alarm that its handler cancels and orders again comes at the new time alone")
    func orderedAgainWhileRunning() throws {
        var world = AgendaWorld()
        try world.configure("{alarms: []}")
        world.send(.situated(AgendaWorld.handler, .awake))
        try world.order(#"{"alarm":{"id":"beat","every_s":60}}"#)
        world.pass(.seconds(60))
        try world.order(#"{"cancel":{"alarm":"beat"}}"#)
        #expect(try world.order(#"{"alarm":{"id":"beat","in_s":600}}"#).word == "set")
        world.send(.situated(AgendaWorld.handler, .asleep))
        world.conclude(Sequence(1), .handedBack(until: []))
        world.pass(.seconds(599))
        #expect(world.raised.count == 1)
        world.pass(.seconds(1))
        #expect(world.raised.count == 2 && world.payload(1).contains("\"missed\":0"))
    }

    @Test("an alarm that the manifest declares no more, while its handler has it, is taken back after a crash too")
    func undeclaredWhileRunning() throws {
        var world = AgendaWorld()
        try world.configure("{alarms: [{id: 'beat', every: '1m'}]}")
        world.send(.situated(AgendaWorld.handler, .awake))
        world.pass(.seconds(60))
        try world.configure("{alarms: []}")
        world.send(.situated(AgendaWorld.handler, .asleep))
        world.conclude(Sequence(1), .crashed)
        #expect(world.held.isEmpty && world.rows.isEmpty)
    }

    @Test("an alarm that is cancelled before its event has a number is taken back as soon as it has one")
    func cancelledBeforeNumber() throws {
        var agenda = Agenda(seed: 7)
        let (handler, key) = (AgendaWorld.handler, AgendaKey(AgendaWorld.handler, .alarm, "a"))
        func stamp(_ seconds: Int64) -> Stamp {
            let instant = Instant.seconds(100 + seconds)
            return Stamp(
                moment: Moment(monotonic: instant, boottime: instant), wall: WallTime(microseconds: 1 << 50),
                isClockSynchronized: true)
        }
        func order(_ verb: HandlerOrder.Verb, _ text: String) throws -> AgendaInput {
            let value = try JSONValue(parsing: Array(text.utf8))
            return .ordered(handler, Epoch(rawValue: 1), HandlerOrder(verb, value), ref: nil)
        }
        _ = agenda.step(.restored([], bootID: "b"), at: stamp(0))
        _ = agenda.step(.configured(handler, try AgendaPlan.parsed("{alarms: []}")), at: stamp(0))
        _ = agenda.step(try order(.alarm, #"{"id":"a","every_s":60}"#), at: stamp(0))
        var effects = agenda.step(.tick, at: stamp(60))
        effects += agenda.step(try order(.cancel, #"{"alarm":"a"}"#), at: stamp(60))
        #expect(effects.contains { if case .raise = $0 { true } else { false } })
        #expect(agenda.step(.raised(key, Sequence(5)), at: stamp(60)).contains(.recall(handler, Sequence(5))))
        let last = agenda.step(
            .concluded(handler, Sequence(5), .withdrawn, awake: .zero, cpu: .zero), at: stamp(60))
        #expect(last.contains(.erase(key)))
    }

    @Test(
        "an alarm that repeats and was handed back for what never comes true is raised by its next occurrence, which counts it as missed"
    )
    func nextOccurrence() throws {
        var world = AgendaWorld()
        try world.configure("{alarms: [{id: 'a', every: '1h'}]}")
        world.pass(.seconds(3_600))
        world.conclude(Sequence(1), .handedBack(until: ["unmetered"]))
        #expect(world.entry("a", .alarm)?.nextChance == world.wall + .seconds(30))
        world.pass(.seconds(60))
        #expect(world.waits("a", .alarm) == ["unmetered"])
        #expect(world.entry("a", .alarm)?.nextChance == world.wall + .seconds(3_540))
        world.pass(.seconds(3_539))
        #expect(world.raised.count == 1)
        world.pass(.seconds(1))
        #expect(world.raised.count == 2 && world.payload(1).contains("\"missed\":1"))
        #expect(world.open.isEmpty)
        world.conclude(Sequence(2), .handedBack(until: ["unmetered"]))
        world.send(.situated(AgendaWorld.handler, .stopped))
        world.pass(.seconds(3 * 3_600))
        world.send(.situated(AgendaWorld.handler, .asleep))
        #expect(world.raised.count == 3 && world.payload(2).contains("\"missed\":4"))
    }

    /// A handler at work, with an alarm that is due and waits behind that.
    private func atWork(_ order: String) throws -> AgendaWorld {
        var world = AgendaWorld()
        try world.configure("{alarms: []}")
        world.send(.situated(AgendaWorld.handler, .awake))
        world.isAtWork = true
        try world.order(order)
        world.pass(.seconds(60))
        #expect(world.held.count == 1)
        return world
    }
}
