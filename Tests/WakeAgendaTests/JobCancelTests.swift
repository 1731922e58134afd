// Jobs that a person takes back.
import Testing
import WakeModel

@testable import WakeAgenda

private let handler = AgendaWorld.handler

@Suite("Jobs that a person cancels")
struct JobCancelTests {
    private func world(_ manifest: String = "{jobs: [{id: 'backup', kind: 'processing'}]}") throws -> AgendaWorld {
        var world = AgendaWorld()
        try world.configure(manifest)
        return world
    }

    private func cancel(_ id: String, _ world: inout AgendaWorld) {
        world.send(.cancelled(AgendaKey(handler, .job, id)))
    }

    @Test("what was submitted is gone with its row")
    func waiting() throws {
        var world = try world()
        try world.order(#"{"submit":{"job":"backup","not_before_s":60}}"#)
        cancel("backup", &world)
        world.pass(.seconds(600))
        #expect(world.pending.isEmpty && world.rows.isEmpty && world.raised.isEmpty)
        let told = AgendaDecision(AgendaKey(handler, .job, "backup"), "cancel operator")
        #expect(world.effects.contains(.decision(handler, told)))
    }

    @Test("what waits in a queue is taken out of it")
    func queued() throws {
        var world = try world()
        try world.order(#"{"submit":{"job":"backup"}}"#)
        cancel("backup", &world)
        #expect(world.raised.count == 1 && world.held.isEmpty && world.pending.isEmpty)
    }

    @Test("what runs is asked to end, and nothing of it comes back, nor what was submitted after it")
    func running() throws {
        var world = try world()
        world.send(.situated(handler, .awake))
        try world.order(#"{"submit":{"job":"backup"}}"#)
        try world.order(#"{"submit":{"job":"backup"}}"#)
        cancel("backup", &world)
        cancel("backup", &world)
        #expect(world.effects.filter { $0 == .press(handler, Sequence(1), .cancelled) }.count == 1)
        world.conclude(Sequence(1), .withdrawn)
        world.pass(.seconds(600))
        #expect(world.raised.count == 1 && world.pending.isEmpty && world.rows.isEmpty)
    }

    @Test("a job of the manifest goes on with its next time, and its history says who cancelled it")
    func scheduled() throws {
        var world = try world("{jobs: [{id: 'tidy', kind: 'processing', every: '1h'}]}")
        cancel("tidy", &world)
        #expect(world.entry("tidy")?.due == world.wall + .seconds(7_200))
        #expect(world.entry("tidy")?.history.last?.sentence == "cancelled by an operator")
        world.send(.situated(handler, .awake))
        world.pass(.seconds(7_200))
        cancel("tidy", &world)
        world.conclude(Sequence(1), .withdrawn)
        #expect(world.raised.count == 1 && world.entry("tidy")?.due == world.wall + .seconds(3_600))
    }
}
