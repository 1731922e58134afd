// What handlers order of jobs, and what they are answered.
import Testing
import WakeModel

@testable import WakeAgenda

private let handler = AgendaWorld.handler

@Suite("Orders for jobs")
struct JobsOrderTests {
    private let manifest =
        "{jobs: [{id: 'backup', kind: 'processing'}, {id: 'look', kind: 'refresh'}, {id: 'scan', kind: 'refresh'}]}"

    private func world(_ manifest: String? = nil) throws -> AgendaWorld {
        var world = AgendaWorld()
        try world.configure(manifest ?? self.manifest)
        return world
    }

    @Test("a second submit of an id replaces what is pending of it")
    func replaces() throws {
        var world = try world()
        #expect(try world.order(#"{"submit":{"job":"backup","not_before_s":60}}"#).word == "submitted")
        let answer = try world.order(#"{"submit":{"job":"backup","not_before_s":120}}"#)
        #expect(answer.word == "replaced" && answer.entries.map(\.key.id) == ["backup"])
        world.pass(.seconds(119))
        #expect(world.raised.isEmpty)
        world.pass(.seconds(1))
        #expect(world.raised.count == 1)
    }

    @Test("a handler has one refresh pending at most, and is refused a second")
    func refreshLimit() throws {
        var world = try world()
        try world.order(#"{"submit":{"job":"look","not_before_s":60}}"#)
        #expect(try world.order(#"{"submit":{"job":"scan","not_before_s":60}}"#).fault?.code == .tooMany)
        #expect(try world.order(#"{"submit":{"job":"look","not_before_s":90}}"#).word == "replaced")
    }

    @Test("a handler has ten processing jobs pending at most, and the eleventh evicts none")
    func processingLimit() throws {
        let jobs = (0...10).map { "{id: 'job\($0)', kind: 'processing'}" }.joined(separator: ",")
        var world = try world("{jobs: [\(jobs)]}")
        for number in 0..<10 { try world.order("{\"submit\":{\"job\":\"job\(number)\",\"not_before_s\":60}}") }
        #expect(try world.order(#"{"submit":{"job":"job10","not_before_s":60}}"#).fault?.code == .tooMany)
        #expect(world.pending.count == 10)
    }

    @Test("cancelling takes back what waits and what is queued, and says where nothing was pending")
    func cancels() throws {
        var world = try world()
        try world.order(#"{"submit":{"job":"look","not_before_s":60}}"#)
        try world.order(#"{"submit":{"job":"backup"}}"#)
        #expect(try world.order(#"{"cancel":{"job":"look"}}"#).word == "cancelled")
        #expect(try world.order(#"{"cancel":{"job":"look"}}"#).word == "not-pending")
        #expect(try world.order(#"{"cancel":{"jobs":true}}"#).word == "cancelled")
        #expect(world.pending.isEmpty && world.held.isEmpty && world.rows.isEmpty)
        world.pass(.seconds(600))
        #expect(world.raised.count == 1)
    }

    @Test("cancelling an occurrence of a manifest's schedule leaves the schedule")
    func cancelsOccurrence() throws {
        var world = try world("{jobs: [{id: 'tidy', kind: 'processing', every: '1h'}]}")
        try world.order(#"{"cancel":{"job":"tidy"}}"#)
        world.pass(.seconds(7199))
        #expect(world.raised.isEmpty)
        world.pass(.seconds(1))
        #expect(world.raised.count == 1)
    }

    @Test("a job that waits behind other work of a handler that is awake is taken back by cancelling")
    func cancelsQueued() throws {
        var world = try world()
        world.send(.situated(handler, .awake))
        world.isAtWork = true
        try world.order(#"{"submit":{"job":"backup"}}"#)
        #expect(try world.order(#"{"cancel":{"job":"backup"}}"#).word == "cancelled")
        #expect(world.held.isEmpty && world.pending.isEmpty && world.rows.isEmpty)
    }

    @Test("a job that the handler has already is not taken from it by cancelling, and does not come back")
    func cancelsRunning() throws {
        var world = try world("{jobs: [{id: 'backup', kind: 'processing', require: ['power']}]}")
        world.set(.power, true)
        try world.order(#"{"submit":{"job":"backup"}}"#)
        world.pass(.seconds(120))
        world.send(.situated(handler, .awake))
        try world.order(#"{"cancel":{"job":"backup"}}"#)
        #expect(world.held.count == 1 && world.entry("backup")?.state == .running)
        world.conclude(Sequence(1), .withdrawn)
        #expect(world.pending.isEmpty && world.rows.isEmpty)
    }

    @Test("a manifest registers its jobs; registering one says so, twice in one process is refused, an unknown id too")
    func registers() throws {
        var world = try world()
        #expect(try world.order(#"{"register":"backup"}"#).word == "registered")
        #expect(try world.order(#"{"register":"backup"}"#).fault?.code == .conflict)
        #expect(try world.order(#"{"register":"backup"}"#, epoch: 2).word == "registered")
        let fault = try #require(try world.order(#"{"register":"bakup"}"#).fault)
        #expect(fault.code == .notRegistered && fault.sentence.contains("\"backup\""))
    }

    @Test(
        "a job that is to fail unless it starts now is refused while a slot, its handler or a known condition is missing"
    )
    func failStrategy() throws {
        var world = try world("{jobs: [{id: 'export', kind: 'continued'}, {id: 'backup', kind: 'processing'}]}")
        let fail = #"{"submit":{"job":"backup","strategy":"fail"}}"#
        let refused = try world.order(#"{"submit":{"job":"export","strategy":"fail"}}"#).fault
        #expect(refused?.code == .unavailable && refused?.sentence.contains("attached") == true)
        world.send(.situated(handler, .stopped))
        #expect(try world.order(fail).fault?.sentence.contains("stopped") == true)
        #expect(world.pending.isEmpty && world.rows.isEmpty)
        world.send(.situated(handler, .asleep))
        #expect(try world.order(fail).word == "submitted")
        #expect(try world.order(fail).fault?.sentence.contains("earlier-run") == true)
    }

    @Test("a handler reads everything that is pending of its own, and of no other handler")
    func pending() throws {
        var world = try world()
        try world.configure(manifest, of: HandlerID(rawValue: 2))
        try world.order(#"{"submit":{"job":"look","not_before_s":60}}"#)
        try world.order(#"{"submit":{"job":"scan","not_before_s":60}}"#, of: HandlerID(rawValue: 2))
        #expect(try world.order(#"{"pending":true}"#).entries.map(\.key.id) == ["look"])
        #expect(world.pending.map(\.key.id) == ["look", "scan"])
    }
}
