// The two slots of jobs that may take long: what stands still makes way for what waits.
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("Jobs that wait for a slot")
struct JobSlotTests {
    private static let handlers = AgendaWorld.threeHandlers
    private let pressed = AgendaEffect.press(handlers[0], Sequence(1), .stalled)

    private func waits(_ world: AgendaWorld, _ handler: HandlerID) -> [String] {
        world.pending.first { $0.key.handler == handler }?.waitsFor.map(\.word) ?? []
    }

    @Test("a job that stood still for half a minute makes way for one that waits, and comes after it")
    func makesWay() throws {
        var world = try AgendaWorld.withFullSlots()
        world.pass(.seconds(26))
        world.send(.progressed(Self.handlers[1], Sequence(2), done: 1, total: nil))
        #expect(!world.effects.contains(pressed))
        world.pass(.seconds(1))
        #expect(world.effects.filter { $0 == pressed }.count == 1)
        world.pass(.seconds(20))
        #expect(world.effects.count { if case .press = $0 { true } else { false } } == 1, "one waits, so one makes way")
        world.conclude(Sequence(1), .withdrawn)
        #expect(world.raised.map(\.key.handler) == Self.handlers && waits(world, Self.handlers[0]) == ["slot"])
        world.conclude(Sequence(2), .acknowledged(nil))
        #expect(world.raised.last?.key.handler == Self.handlers[0])
        #expect(world.payload(3).contains(#""returned":"stalled""#))
    }

    @Test("what made way comes after what waits, though its deadline is nearer")
    func comesLast() throws {
        var world = try AgendaWorld.withFullSlots()
        try world.order(#"{"submit":{"job":"backup","deadline_s":60}}"#, of: Self.handlers[0])
        world.conclude(Sequence(1), .acknowledged(nil))
        #expect(world.raised.last?.key.handler == Self.handlers[0], "its deadline is nearest")
        world.send(.progressed(Self.handlers[1], Sequence(2), done: 1, total: nil))
        world.pass(.seconds(25))
        world.send(.progressed(Self.handlers[1], Sequence(2), done: 2, total: nil))
        world.pass(.seconds(5))
        world.conclude(Sequence(3), .withdrawn)
        #expect(world.raised.last?.key.handler == Self.handlers[2])
    }

    @Test("a job whose number grows keeps its slot; the same number again, or a smaller one, is no progress")
    func progress() throws {
        var world = try AgendaWorld.withFullSlots()
        for done in 1...20 {
            for number in [0, 1] {
                let sequence = Sequence(UInt64(number + 1))
                world.send(.progressed(Self.handlers[number], sequence, done: Int64(done), total: 20))
            }
            world.pass(.seconds(29))
        }
        #expect(!world.effects.contains { if case .press = $0 { true } else { false } })
        world.send(.progressed(Self.handlers[0], Sequence(1), done: 3, total: 20))
        world.send(.progressed(Self.handlers[0], Sequence(1), done: 20, total: 20))
        world.send(.progressed(Self.handlers[1], Sequence(2), done: 21, total: 20))
        world.pass(.seconds(1))
        #expect(world.effects.contains(pressed))
    }

    @Test("nothing makes way while nothing waits, and the agenda has no deadline for it")
    func nothingWaits() throws {
        var world = try AgendaWorld.withFullSlots()
        try world.order(#"{"cancel":{"job":"backup"}}"#, of: Self.handlers[2])
        world.pass(.seconds(600))
        #expect(!world.effects.contains { if case .press = $0 { true } else { false } })
        #expect(world.agenda.nextBoottimeDeadline == nil)
    }

    @Test("a frozen handler, a person's foreground and the machine's sleep are no standing still")
    func clockStands() throws {
        var world = try AgendaWorld.withFullSlots()
        world.send(.situated(Self.handlers[0], .asleep))
        world.send(.situated(Self.handlers[1], .attached))
        world.pass(.seconds(600))
        #expect(!world.effects.contains { if case .press = $0 { true } else { false } })
        world.send(.situated(Self.handlers[0], .awake))
        world.pass(.seconds(20))
        world.sleep(.seconds(3_600))
        world.pass(.seconds(29))
        #expect(!world.effects.contains(pressed))
        world.pass(.seconds(1))
        #expect(world.effects.contains(pressed))
    }

    @Test("that it made way is kept over a restart, and told when it comes again")
    func restart() throws {
        var world = try AgendaWorld.withFullSlots()
        world.pass(.seconds(30))
        world.conclude(Sequence(1), .withdrawn)
        world.restart()
        world.conclude(Sequence(2), .acknowledged(nil))
        #expect(world.payload(3).contains(#""returned":"stalled""#))
    }
}
