// Conditions: when they are watched, when they count, and when they are lost.
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("Conditions of the agenda")
struct ConditionsTests {
    private let backup = "{jobs: [{id: 'backup', kind: 'processing', require: ['power'], deadline: '1d'}]}"

    private func world(_ manifest: String? = nil) throws -> AgendaWorld {
        var world = AgendaWorld()
        try world.configure(manifest ?? backup)
        return world
    }

    @Test("a condition counts only after it has been true for as long as it takes to settle")
    func settles() throws {
        var world = try world()
        try world.order(#"{"submit":{"job":"backup"}}"#)
        world.set(.power, true)
        world.pass(.seconds(119))
        #expect(world.raised.isEmpty && world.waits("backup") == ["power"])
        world.pass(.seconds(1))
        #expect(world.raised.count == 1)
    }

    @Test("a route that flaps each 2 s starts nothing, neither before it ever counted nor after")
    func flaps() throws {
        var world = try world("{jobs: [{id: 'send', kind: 'refresh', require: ['network']}]}")
        world.set(.network, true)
        try world.order(#"{"submit":{"job":"send","not_before_s":60}}"#)
        world.pass(.seconds(59))
        for isUp in (0..<60).map({ $0 % 2 == 1 }) {
            world.set(.network, isUp)
            world.pass(.seconds(2))
        }
        #expect(world.raised.isEmpty && world.waits("send") == ["network"])
        world.set(.network, true)
        world.pass(.seconds(3))
        #expect(world.raised.count == 1)
    }

    @Test("a condition that is down for less than ten seconds leaves running work alone, and ten seconds press it")
    func loss() throws {
        var world = try world("{jobs: [{id: 'send', kind: 'processing', require: ['network']}]}")
        world.set(.network, true)
        try world.order(#"{"submit":{"job":"send"}}"#)
        world.pass(.seconds(3))
        world.send(.situated(AgendaWorld.handler, .awake))
        for _ in 0..<5 {
            world.set(.network, false)
            world.pass(.seconds(9))
            world.set(.network, true)
            world.pass(.seconds(1))
        }
        let sequence = try #require(world.heldSequences.first)
        #expect(!world.effects.contains(.press(AgendaWorld.handler, sequence, .condition)))
        world.set(.network, false)
        world.pass(.seconds(10))
        #expect(world.effects.contains(.press(AgendaWorld.handler, sequence, .condition)))
    }

    @Test("a condition is watched only from a settling time before the entry is due, and closed when the entry is gone")
    func watchesLate() throws {
        var world = try world()
        try world.order(#"{"submit":{"job":"backup","not_before_s":3600}}"#)
        #expect(world.open.isEmpty && world.waits("backup") == ["time"])
        world.pass(.seconds(3479))
        #expect(world.open.isEmpty)
        world.set(.power, true)
        world.pass(.seconds(1))
        #expect(Array(world.open.keys) == [.power])
        world.pass(.seconds(120))
        #expect(world.raised.map(\.at) == [Instant.seconds(3700)])
        world.conclude(Sequence(1), .acknowledged(.useful))
        #expect(world.open.isEmpty)
    }

    @Test("a played condition wins at once both ways, and what was true beneath counts again when the play ends")
    func plays() throws {
        var world = try world()
        try world.order(#"{"submit":{"job":"backup"}}"#)
        world.send(.overridden(.power, isTrue: true))
        #expect(world.raised.count == 1)
        world.send(.overridden(.power, isTrue: false))
        #expect(world.effects.contains(.withdraw(AgendaWorld.handler, Sequence(1))))
        #expect(world.waits("backup") == ["power"])
        world.send(.overridden(.power, isTrue: nil))
        world.set(.power, true)
        world.pass(.seconds(119))
        #expect(world.raised.count == 1)
        world.pass(.seconds(1))
        #expect(world.raised.count == 2)
    }

    @Test("sleep is no time in which a condition settles or is lost")
    func sleeps() throws {
        var world = try world()
        world.set(.power, true)
        try world.order(#"{"submit":{"job":"backup"}}"#)
        world.pass(.seconds(60))
        world.sleep(.seconds(3600))
        #expect(world.raised.isEmpty)
        world.pass(.seconds(60))
        #expect(world.raised.count == 1)
        world.set(.power, false)
        world.sleep(.seconds(3600))
        #expect(world.held.count == 1)
        world.pass(.seconds(10))
        #expect(world.held.isEmpty)
    }

    @Test("of each wait `pending` says since when the condition has been missing")
    func since() throws {
        var world = try world()
        world.set(.power, true)
        try world.order(#"{"submit":{"job":"backup","not_before_s":600}}"#)
        world.pass(.seconds(590))
        world.set(.power, false)
        let lostAt = world.wall
        world.pass(.seconds(50))
        #expect(world.entry("backup")?.waitsFor == [.init(word: "power", since: lostAt)])
        world.pass(.seconds(50))
        #expect(world.entry("backup")?.waitsFor == [.init(word: "power", since: lostAt)])
    }

    @Test("every word is read back as the condition that wrote it, with its path made plain")
    func words() throws {
        for condition in Condition.plain + [.mount("/data"), .unlocked("/srv/h x")] {
            #expect(try Condition(word: condition.word) == condition)
        }
        #expect(try Condition(word: "mount:/data/./x//") == .mount("/data/x"))
        #expect(try Condition(word: "unlocked:/") == .unlocked("/"))
    }
}
