// What people ask of the agenda, and the reasons for which they cannot have an entry raised.
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("Questions of people to the agenda")
struct AgendaQuestionsTests {
    private let handler = AgendaWorld.handler
    private let backup = AgendaKey(AgendaWorld.handler, .job, "backup")
    private let sync = """
        {jobs: [{id: 'backup', kind: 'processing', require: ['power', 'mount:/data']}, {id: 'sync', kind: 'refresh'}]}
        """

    private func standing(_ condition: Condition, in world: AgendaWorld) throws -> ConditionStanding {
        try #require(world.agenda.conditions(at: world.stamp).first { $0.condition == condition })
    }

    @Test("a condition tells what its source said, whether that counts yet, since when, and which entries wait for it")
    func conditions() throws {
        var world = AgendaWorld()
        try world.configure(sync)
        #expect(try !standing(.power, in: world).isOpen)
        try world.order(#"{"submit":{"job":"backup"}}"#)
        let unmet = try standing(.power, in: world)
        #expect(unmet.isOpen && unmet.raw == false && !unmet.isTrue && unmet.waiting == [backup])
        world.set(.power, true)
        world.pass(.seconds(119))
        let unsettled = try standing(.power, in: world)
        #expect(unsettled.raw == true && !unsettled.isSettled && unsettled.waiting == [backup])
        world.pass(.seconds(1))
        let settled = try standing(.power, in: world)
        #expect(settled.isSettled && settled.since == world.wall && settled.waiting.isEmpty)
        #expect(try standing(.mount("/data"), in: world).waiting == [backup])
    }

    @Test("while a condition settles, the next chance of what waits for it is the end of that, and not the deadline")
    func settling() throws {
        var world = AgendaWorld()
        try world.configure("{jobs: [{id: 'backup', kind: 'processing', require: ['power', 'unmetered']}]}")
        world.set(.unmetered, true)
        try world.order(#"{"submit":{"job":"backup","deadline_s":9000}}"#)
        let deadline = try #require(world.entry("backup")?.deadline)
        #expect(world.entry("backup")?.nextChance == deadline, "power is not there")
        world.set(.power, true)
        let settled = world.wall + .seconds(120)
        world.pass(.seconds(50))
        let entry = try #require(world.entry("backup"))
        #expect(entry.nextChance == settled && entry.waitsFor.map(\.settles) == [settled])
        var writer = JSONWriter()
        ListedEntry(entry, of: "hr", holder: nil).write(into: &writer)
        #expect(String(decoding: writer.bytes, as: UTF8.self).contains(#""settles":"\#(settled.rfc3339)""#))
        world.pass(.seconds(70))
        #expect(world.raised.count == 1)
    }

    @Test("what a job or a poll requires is told long before it is due, and not while it is on its way")
    func requires() throws {
        var world = AgendaWorld()
        try world.configure(
            "{poll: {min_interval: '15m'}, jobs: [{id: 'backup', kind: 'refresh', require: ['power']}]}")
        try world.order(#"{"submit":{"job":"backup","not_before_s":36000}}"#)
        #expect(world.waits("backup") == ["time"] && world.entry("backup")?.requires == [.power])
        #expect(world.entry("", .poll)?.requires == [.network])
        world.send(.operated(backup, ref: nil))
        #expect(world.entry("backup")?.requires == [])
    }

    @Test("the history of a job that a person starts says who did, and lists what it goes without")
    func startedByPerson() throws {
        var world = AgendaWorld()
        try world.configure("{jobs: [{id: 'backup', kind: 'processing', require: ['power', 'unmetered']}]}")
        world.send(.operated(backup, ref: nil))
        #expect(world.raised.count == 1)
        let history = world.entry("backup")?.history.map(\.sentence)
        #expect(history == ["wanted now by a person", "started by a person, without power, unmetered"])
    }

    @Test("a condition that a person plays is told as such beside what its source says")
    func played() throws {
        var world = AgendaWorld()
        try world.configure(sync)
        try world.order(#"{"submit":{"job":"backup"}}"#)
        world.send(.overridden(.power, isTrue: true))
        let played = try standing(.power, in: world)
        #expect(played.played == true && played.isTrue && played.raw == false && !played.isSettled)
        world.send(.overridden(.power, isTrue: nil))
        #expect(try standing(.power, in: world).played == nil)
    }

    @Test("the gates of a handler wait for a condition like an entry does, until they have opened")
    func gates() throws {
        var world = AgendaWorld()
        try world.configure("{after: ['mount:/data'], jobs: [{id: 'sync', kind: 'refresh'}]}")
        let gate = AgendaKey(handler, .gate, "")
        #expect(try standing(.mount("/data"), in: world).waiting == [gate])
        #expect(world.agenda.closedGates(of: handler, at: world.stamp).map(\.word) == ["mount:/data"])
        world.set(.mount("/data"), true)
        world.pass(.seconds(1))
        #expect(world.agenda.closedGates(of: handler, at: world.stamp).isEmpty)
        #expect(try standing(.mount("/data"), in: world).waiting.isEmpty)
    }

    @Test("what no person can have raised has its reason: not declared, stopped, gated, or on its way already")
    func obstacles() throws {
        var world = AgendaWorld()
        try world.configure("{after: ['network'], jobs: [{id: 'backup', kind: 'refresh'}]}")
        func obstacle(_ key: AgendaKey) -> OperationObstacle? { world.agenda.obstacle(to: key, at: world.stamp) }
        #expect(obstacle(AgendaKey(handler, .job, "bakcup")) == .unknown(known: ["backup"]))
        #expect(obstacle(AgendaKey(handler, .poll, "")) == .unknown(known: []))
        #expect(obstacle(backup) == .gated([.network]))
        world.set(.network, true)
        world.pass(.seconds(3))
        world.send(.situated(handler, .stopped))
        #expect(obstacle(backup) == .stopped)
        world.send(.situated(handler, .asleep))
        #expect(obstacle(backup) == nil)
        world.send(.operated(backup, ref: nil))
        #expect(obstacle(backup) == .underWay(.queued))
        world.send(.situated(handler, .awake))
        #expect(obstacle(backup) == .underWay(.running))
    }

    @Test("the outlook counts what is pending, and names what comes due next by time")
    func outlook() throws {
        var world = AgendaWorld()
        try world.configure(sync)
        #expect(world.agenda.outlook(of: handler, at: world.stamp) == AgendaOutlook())
        try world.order(#"{"submit":{"job":"sync","not_before_s":3600}}"#)
        try world.order(#"{"submit":{"job":"backup","not_before_s":600}}"#)
        let outlook = world.agenda.outlook(of: handler, at: world.stamp)
        #expect(outlook.count == 2 && outlook.next == world.wall + .seconds(600))
        world.pass(.seconds(700))
        let later = world.agenda.outlook(of: handler, at: world.stamp)
        #expect(later.count == 2 && later.next == world.wall + .seconds(2900), "what waits for a condition has no time")
    }

    @Test("a poll tells its slot, and the hour of the week that it is due in with what is known of that")
    func pace() throws {
        var world = AgendaWorld()
        try world.configure("{poll: {min_interval: '15m', require: []}}")
        let entry = try #require(world.entry("", .poll))
        let pace = try #require(entry.pace)
        #expect(pace.slot == .seconds(32) && pace.hour == "Mon 00:00" && pace.polls == 0 && !pace.isQuiet)
        var writer = JSONWriter()
        ListedEntry(entry, of: "hr", holder: nil).write(into: &writer)
        let text = String(decoding: writer.bytes, as: UTF8.self)
        #expect(text.contains(#""slot_s":32,"bin":{"hour":"Mon 00:00","polls":0,"useful":0,"quiet":false}"#), "\(text)")
    }
}
