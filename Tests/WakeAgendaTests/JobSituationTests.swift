// Jobs and the situation of their handlers: since when a job waits for one, and what becomes of what a handler cannot run.
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("Jobs and their handlers")
struct JobSituationTests {
    private let handler = AgendaWorld.handler

    @Test("a job that waits for a person has done so since its handler was known, and not for decades")
    func waitsSince() throws {
        var world = AgendaWorld()
        let known = world.wall
        world.send(.situated(handler, .asleep))
        try world.configure("{jobs: [{id: 'copy', kind: 'continued'}]}")
        world.pass(.seconds(60))
        try world.order(#"{"submit":{"job":"copy"}}"#)
        #expect(world.entry("copy")?.waitsFor == [.init(word: "attached", since: known)])
    }

    // MARK: Slots

    private static let handlers = AgendaWorld.threeHandlers

    private func entry(_ world: AgendaWorld, _ handler: HandlerID) -> PendingEntry? {
        world.pending.first { $0.key.handler == handler }
    }
    private func words(_ world: AgendaWorld, _ handler: HandlerID) -> [String] {
        entry(world, handler)?.waitsFor.map(\.word) ?? ["nothing pending"]
    }

    @Test(
        "a handler that is stopped or quarantined gives its long job back: another runs, and it runs again afterwards",
        arguments: [(HandlerSituation.stopped, "stopped"), (.quarantined, "quarantined")])
    func barred(situation: HandlerSituation, word: String) throws {
        var world = try AgendaWorld.withFullSlots()
        world.send(.situated(Self.handlers[0], situation))
        #expect(world.raised.last?.key.handler == Self.handlers[2])
        #expect(entry(world, Self.handlers[0])?.state == .waiting && words(world, Self.handlers[0]) == [word])
        world.restart()
        world.conclude(Sequence(2), .acknowledged(nil))
        #expect(world.raised.count == 3 && words(world, Self.handlers[0]) == [word])
        world.send(.situated(Self.handlers[0], .asleep))
        #expect(world.raised.count == 4 && world.payload(3).contains(#""returned":"stopped""#))
    }

    @Test("what a handler had when it was stopped comes back once its process has ended, and not before")
    func stillEnding() throws {
        var world = try AgendaWorld.withFullSlots()
        world.isAtWork = false
        world.keep(Sequence(1))
        world.send(.situated(Self.handlers[0], .stopped))
        #expect(entry(world, Self.handlers[0])?.state == .running && words(world, Self.handlers[0]) == ["stopped"])
        #expect(world.raised.count == 3, "its slot is free, for it is ended")
        world.conclude(Sequence(1), .givenBack(until: nil))
        world.keep(nil)
        world.send(.situated(Self.handlers[0], .stopped))
        #expect(entry(world, Self.handlers[0])?.state == .waiting && words(world, Self.handlers[0]) == ["stopped"])
    }

    @Test("a long job that its handler refused rests, says until when, and holds no slot meanwhile")
    func refused() throws {
        var world = try AgendaWorld.withFullSlots()
        world.conclude(Sequence(1), .givenBack(until: world.moment.boottime + .seconds(3600)))
        #expect(world.raised.last?.key.handler == Self.handlers[2])
        let resting = try #require(entry(world, Self.handlers[0]))
        #expect(resting.state == .queued && resting.waitsFor == [.init(word: "time", since: world.wall)])
        #expect(resting.nextChance == world.wall + .seconds(3600))
        world.conclude(Sequence(2), .acknowledged(nil))
        try world.order(#"{"submit":{"job":"backup"}}"#, of: Self.handlers[1])
        #expect(world.heldSequences.count == 3, "two run while the first rests")
        world.pass(.seconds(3600))
        #expect(entry(world, Self.handlers[0])?.state == .running && words(world, Self.handlers[0]) == [])
        world.conclude(Sequence(3), .acknowledged(nil))
        try world.order(#"{"submit":{"job":"backup"}}"#, of: Self.handlers[2])
        #expect(words(world, Self.handlers[2]) == ["slot"], "it has a slot again")
    }

    @Test("a handler that is held after a crash leaves its slot to others, and has one again when it runs")
    func held() throws {
        var world = try AgendaWorld.withFullSlots()
        let end = world.moment.boottime + .seconds(600)
        world.conclude(Sequence(1), .crashed)
        world.send(.situated(Self.handlers[0], .held(until: end)))
        #expect(world.raised.last?.key.handler == Self.handlers[2])
        #expect(entry(world, Self.handlers[0])?.state == .queued && words(world, Self.handlers[0]) == ["held"])
        #expect(entry(world, Self.handlers[0])?.nextChance == world.wall + .seconds(600))
        world.pass(.seconds(600))
        #expect(words(world, Self.handlers[0]) == [])
        world.send(.situated(Self.handlers[0], .awake))
        world.conclude(Sequence(2), .acknowledged(nil))
        try world.order(#"{"submit":{"job":"backup"}}"#, of: Self.handlers[1])
        #expect(words(world, Self.handlers[1]) == ["slot"])
    }

    @Test("no long job begins for a handler that is held: it says so, and begins when the hold ends by itself")
    func beginsAfterHold() throws {
        var world = AgendaWorld()
        try world.configure("{jobs: [{id: 'backup', kind: 'processing'}, {id: 'look', kind: 'refresh'}]}")
        world.send(.situated(handler, .held(until: world.moment.boottime + .seconds(60))))
        try world.order(#"{"submit":{"job":"backup"}}"#)
        try world.order(#"{"submit":{"job":"look"}}"#)
        #expect(world.raised.map(\.key.id) == ["look"] && world.waits("look") == ["held"])
        #expect(world.waits("backup") == ["held"] && world.entry("backup")?.nextChance == world.wall + .seconds(60))
        #expect(try world.order(#"{"submit":{"job":"backup","strategy":"fail"}}"#).fault?.code == .unavailable)
        world.pass(.seconds(60))
        #expect(world.raised.map(\.key.id) == ["look", "backup"])
    }

    // MARK: What was raised, and cannot run

    @Test("an alarm and a poll that are queued for a stopped handler say that it is stopped")
    func queued() throws {
        var world = AgendaWorld()
        var plan = try AgendaPlan.parsed("{poll: {min_interval: '10m', require: []}}")
        plan.alarms = try AlarmRule.rules(try JSONValue(json5: Array("[{id: 'tea', every: '10m'}]".utf8)))
        world.send(.configured(handler, plan))
        world.pass(.seconds(1200))
        #expect(world.waits("tea", .alarm) == ["earlier-run"] && world.waits("", .poll) == [])
        world.send(.situated(handler, .stopped))
        #expect(world.waits("tea", .alarm) == ["earlier-run", "stopped"] && world.waits("", .poll) == ["stopped"])
        world.send(.situated(handler, .quarantined))
        #expect(world.waits("", .poll) == ["quarantined"])
        #expect(world.agenda.obstacle(to: AgendaKey(handler, .poll, ""), at: world.stamp) == .quarantined)
    }

    @Test("a job that lost its condition while a person had its handler is asked to end once the person has let go")
    func pressedWhileAttached() throws {
        var world = AgendaWorld()
        try world.configure(
            "{jobs: [{id: 'backup', kind: 'processing', require: ['network']}], poll: {min_interval: '10m'}}")
        world.set(.network, true)
        world.send(.situated(handler, .attached))
        try world.order(#"{"submit":{"job":"backup"}}"#)
        world.pass(.seconds(1200))
        #expect(world.raised.count == 2)
        world.set(.network, false)
        world.pass(.seconds(60))
        let mark = world.effects.count
        world.send(.situated(handler, .awake))
        let asked = world.effects[mark...].filter { if case .press(_, _, .condition) = $0 { true } else { false } }
        #expect(asked.count == 2, "the job and the poll")
        world.send(.situated(handler, .asleep))
        world.send(.situated(handler, .awake))
        #expect(world.effects[mark...].filter { if case .press = $0 { true } else { false } }.count == 2, "once")
    }

    @Test("a job that an operator cancelled while a person had its handler is asked to end once the person has let go")
    func cancelledWhileAttached() throws {
        var world = AgendaWorld()
        try world.configure("{jobs: [{id: 'backup', kind: 'processing'}]}")
        world.send(.situated(handler, .attached))
        try world.order(#"{"submit":{"job":"backup"}}"#)
        world.send(.cancelled(AgendaKey(handler, .job, "backup")))
        let mark = world.effects.count
        world.send(.situated(handler, .awake))
        #expect(world.effects[mark...].contains(.press(handler, Sequence(1), .cancelled)))
    }

    // MARK: After a restart

    @Test("a handler whose manifest went while no daemon ran leaves its slots and all that was pending")
    func gone() throws {
        var world = try AgendaWorld.withFullSlots()
        world.forget(Self.handlers[0])
        world.restart()
        #expect(words(world, Self.handlers[2]) == ["slot"])
        world.send(.removed(Self.handlers[0]))
        #expect(world.raised.last?.key.handler == Self.handlers[2] && entry(world, Self.handlers[0]) == nil)
        #expect(!world.rows.keys.contains { $0.handler == Self.handlers[0] })
    }

    @Test("a handler whose manifest cannot be read keeps what is pending, says so, and holds no slot")
    func unread() throws {
        var world = try AgendaWorld.withFullSlots()
        let plan = world.forget(Self.handlers[0])
        world.restart()
        world.send(.situated(Self.handlers[0], .unread))
        #expect(world.raised.last?.key.handler == Self.handlers[2] && words(world, Self.handlers[0]) == ["manifest"])
        world.send(.configured(Self.handlers[0], try #require(plan)))
        world.send(.situated(Self.handlers[0], .awake))
        #expect(entry(world, Self.handlers[0])?.due == entry(world, Self.handlers[1])?.due.map { $0 - .seconds(1) })
    }

    @Test("what the journal has lost is over: an alarm, a poll and a job are raised again when they are due again")
    func lostByTheJournal() throws {
        var world = AgendaWorld()
        var plan = try AgendaPlan.parsed(
            "{poll: {min_interval: '10m', require: []}, jobs: [{id: 'tidy', kind: 'refresh', every: '10m'}]}")
        plan.alarms = try AlarmRule.rules(try JSONValue(json5: Array("[{id: 'tea', every: '10m'}]".utf8)))
        world.send(.configured(handler, plan))
        world.pass(.seconds(1200))
        #expect(world.raised.count == 3)
        let kept = try #require(world.raised.firstIndex { $0.key.source == .job }) + 1
        world.restart()
        world.send(.recovered(handler, owed: [Sequence(UInt64(kept))]))
        #expect(world.entry("tidy")?.sequence == Sequence(UInt64(kept)), "the journal has it still")
        #expect(world.entry("", .poll)?.state == .waiting)
        #expect(world.entry("tea", .alarm)?.sequence == Sequence(4), "it is overdue again")
        world.pass(.seconds(1200))
        #expect(Set(world.raised[3...].map(\.key.source)) == [.alarm, .poll])
    }
}
