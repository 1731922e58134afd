// Regions: a handler is told of an entry and an exit where it is not as it was told last, over restarts too.
import TestBench
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("Regions of handlers")
struct RegionsTests {
    private static let uuid = "f7826da6-4fa2-4e98-8024-bc5b71e0893e"
    private let home = "{regions: [{id: 'home', beacon: {ibeacon: '\(uuid)', major: 1}}]}"
    private let beacon = BeaconPattern.iBeacon(
        uuid: BluetoothUUID(high: 0xf782_6da6_4fa2_4e98, low: 0x8024_bc5b_71e0_893e), major: 1, minor: nil)

    private func configured() throws -> AgendaWorld {
        var world = AgendaWorld()
        try world.configure(home)
        return world
    }

    private func story(of world: AgendaWorld) -> [String] {
        world.raised.indices.map { "\(world.raised[$0].occasion.name) \(world.payload($0))" }
    }

    private func acknowledge(_ world: inout AgendaWorld) {
        for sequence in world.heldSequences { world.conclude(sequence, .acknowledged(nil)) }
    }

    @Test(
        "where the beacon is when the region is first known, the handler is told so as initial; then of each difference"
    )
    func differences() throws {
        var world = try configured()
        for presence in [RegionPresence.inside, .inside, .unknown, .inside, .outside, .outside, .inside] {
            world.send(.region(beacon, presence))
            acknowledge(&world)
        }
        #expect(
            story(of: world) == [
                #"region.entered {"id":"home","initial":true}"#, #"region.exited {"id":"home","initial":false}"#,
                #"region.entered {"id":"home","initial":false}"#,
            ])
    }

    @Test("a region that was never entered is never left, and its first entry is then no initial one")
    func neverEntered() throws {
        var world = try configured()
        world.send(.region(beacon, .outside))
        #expect(world.raised.isEmpty)
        world.send(.region(beacon, .inside))
        #expect(story(of: world) == [#"region.entered {"id":"home","initial":false}"#])
    }

    @Test("a radio that is gone is no exit")
    func unknown() throws {
        var world = try configured()
        world.send(.region(beacon, .inside))
        acknowledge(&world)
        world.send(.region(beacon, .unknown))
        world.pass(.seconds(100_000))
        #expect(world.raised.count == 1)
    }

    @Test("over a restart and a reboot only differences are told")
    func restarts() throws {
        var world = try configured()
        world.send(.region(beacon, .inside))
        acknowledge(&world)
        world.restart()
        world.send(.region(beacon, .inside))
        #expect(world.raised.count == 1)
        world.reboot(off: .seconds(600))
        world.send(.region(beacon, .outside))
        acknowledge(&world)
        #expect(story(of: world).last == #"region.exited {"id":"home","initial":false}"#)
        world.restart()
        world.send(.region(beacon, .outside))
        #expect(world.raised.count == 2)
    }

    @Test("a handler that asks where it is is told what the radio hears, and nothing of a region that it does not have")
    func state() throws {
        var world = try configured()
        let question = #"{"state":{"region":"home"}}"#
        #expect(try world.order(question).word == "unknown")
        for presence in [RegionPresence.inside, .outside, .unknown] {
            world.send(.region(beacon, presence))
            #expect(try world.order(question).word == presence.rawValue)
        }
        world.send(.region(beacon, .inside))
        world.restart()
        #expect(try world.order(question).word == "unknown")
        guard case .fault(let fault) = try world.order(#"{"state":{"region":"hom"}}"#) else {
            Issue.record("A region that is not declared was answered for.")
            return
        }
        #expect(fault.code == .notRegistered && fault.sentence.contains("\"home\""))
        try world.configure("{}")
        guard case .fault(let refusal) = try world.order(question) else {
            Issue.record("A handler without regions was answered.")
            return
        }
        #expect(refusal.code == .notPermitted)
    }

    @Test("what came and went while the handler has not answered is folded: entered and exited alternate")
    func folded() throws {
        var world = try configured()
        world.send(.region(beacon, .inside))
        for presence in [RegionPresence.outside, .inside, .outside] { world.send(.region(beacon, presence)) }
        #expect(world.raised.count == 1)
        acknowledge(&world)
        #expect(story(of: world).map { String($0.prefix(13)) } == ["region.entere", "region.exited"])
    }

    @Test("a stopped handler is told when it is started, if it is not as it knows it")
    func stopped() throws {
        var world = try configured()
        world.send(.situated(AgendaWorld.handler, .stopped))
        world.send(.region(beacon, .inside))
        #expect(world.raised.isEmpty)
        world.send(.situated(AgendaWorld.handler, .asleep))
        #expect(world.raised.count == 1)
    }

    @Test("what was dropped before it was delivered is told again after a minute, if it is still so")
    func dropped() throws {
        var world = try configured()
        world.send(.region(beacon, .inside))
        world.conclude(world.heldSequences[0], .dropped)
        world.pass(.seconds(59))
        #expect(world.raised.count == 1)
        world.pass(.seconds(2))
        #expect(story(of: world).last == #"region.entered {"id":"home","initial":true}"#)
    }

    @Test("another beacon under the same id is another region, and one that is declared no more is forgotten")
    func changed() throws {
        var world = try configured()
        world.send(.region(beacon, .inside))
        acknowledge(&world)
        try world.configure("{regions: [{id: 'home', beacon: {altbeacon: '\(Self.uuid)'}}]}")
        world.send(.region(beacon, .outside))
        #expect(world.raised.count == 1)
        try world.configure("{}")
        #expect(world.rows.keys.filter { $0.source == .region }.isEmpty)
        try world.configure(home)
        world.send(.region(beacon, .inside))
        #expect(story(of: world).last == #"region.entered {"id":"home","initial":true}"#)
    }

    @Test("a region that gets another id while it is entered is entered under that too")
    func renamed() throws {
        var world = try configured()
        world.send(.region(beacon, .inside))
        acknowledge(&world)
        try world.configure(home.replacing("'home'", with: "'house'"))
        #expect(story(of: world).last == #"region.entered {"id":"house","initial":true}"#)
    }

    @Test("whatever happens in whatever order, each handler is told entries and exits in turn", arguments: 1...60)
    func alternates(seed: UInt64) throws {
        var dice = Dice(seed)
        var world = try configured()
        var presence = RegionPresence.outside
        for _ in 0..<300 {
            switch dice.below(9) {
            case 0...2:
                presence = RegionPresence.allCases[dice.below(3)]
                world.send(.region(beacon, presence))
            case 3: world.restart()
            case 4: world.pass(.seconds(Int64(dice.below(50))))
            case 5: world.send(.situated(AgendaWorld.handler, dice.isOne(in: 2) ? .stopped : .asleep))
            case 6: world.reboot(off: .seconds(5))
            default: acknowledge(&world)
            }
        }
        world.send(.situated(AgendaWorld.handler, .asleep))
        acknowledge(&world)
        acknowledge(&world)
        let names = world.raised.map(\.occasion.name)
        for (turn, name) in names.enumerated() {
            #expect(name == (turn % 2 == 0 ? "region.entered" : "region.exited"), "\(turn)")
        }
    }

    @Test(
        "a region that cannot be is refused, and the sentence names what is wrong",
        arguments: [
            ("{}", "must be a list"), ("[{id: 'a'}]", "lacks \"beacon\""),
            ("[{id: 'a', beacon: {}}]", "must have one of"),
            ("[{id: 'a', beacon: {ibeacon: 'x'}}]", "a UUID of 36 characters"),
            ("[{id: 'a', beacon: {ibeacon: '\(uuid)', minor: 2}}]", "has \"minor\" and no \"major\""),
            ("[{id: 'a', beacon: {ibeacon: '\(uuid)', major: 65536}}]", "from 0 to 65535"),
            ("[{id: 'a', beacon: {eddystone: '00'}}]", "10 bytes in hexadecimal"),
            ("[{id: 'a', beacon: {eddystone: '00', major: 1}}]", "major"),
            (
                "[{id: 'a', beacon: {ibeacon: '\(uuid)'}}, {id: 'a', beacon: {ibeacon: '\(uuid)'}}]",
                "Two regions have the id"
            ),
        ])
    func faults(text: String, expected: String) throws {
        do {
            _ = try AgendaPlan.parsed("{regions: \(text)}")
            Issue.record("it was taken")
        } catch let fault as ProtocolFault {
            #expect(fault.sentence.contains(expected), "\(fault.sentence)")
        }
    }

    @Test("twenty regions are the most of one handler")
    func limit() throws {
        let one = { (number: Int) in "{id: 'r\(number)', beacon: {eddystone: '00112233445566778899'}}" }
        let list = { (count: Int) in "{regions: [\((0..<count).map(one).joined(separator: ","))]}" }
        #expect(try AgendaPlan.parsed(list(20)).regions.count == 20)
        #expect(throws: ProtocolFault.self) { try AgendaPlan.parsed(list(21)) }
    }
}
