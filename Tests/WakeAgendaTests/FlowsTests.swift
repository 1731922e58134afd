// Flows: data begins one, silence ends it, of a group one flows, and the handler is told of each end that is not its own doing.
import TestBench
import Testing
import WakeModel

@testable import WakeAgenda

private let recorder = AgendaWorld.handler
private let player = HandlerID(rawValue: 2)
private let strap = TrafficOrigin.device(alias: "strap", uri: "/bluetooth/C0:F1:F2:F3:F4:01")

extension AgendaWorld {
    /// A handler that is awake, or woken as soon as something is raised for it.
    fileprivate static func with(_ flows: String, of handler: HandlerID = recorder) throws -> AgendaWorld {
        var world = AgendaWorld()
        try world.employ(flows, of: handler)
        return world
    }

    fileprivate mutating func employ(_ flows: String, of handler: HandlerID) throws {
        try configure("{flows: [\(flows)]}", of: handler)
        send(.situated(handler, .awake))
    }

    /// Data ten times a second.
    fileprivate mutating func flow(_ origin: TrafficOrigin, for span: TimeSpan) {
        let end = moment.boottime + span
        while moment.boottime < end {
            send(.traffic(origin))
            pass(.milliseconds(100))
        }
    }

    /// `flow.started ecg`, in order.
    fileprivate var story: [String] { raised.map { "\($0.occasion.name) \($0.key.id)" } }

    /// What is told to the handler, and not its beginning, is answered at once.
    fileprivate mutating func answerEnds() {
        for (sequence, item) in held where item.occasion.name != "flow.started" {
            conclude(sequence, .acknowledged(nil))
        }
    }

    fileprivate var shares: [Int?] {
        effects.compactMap { $0.action(ProcessorShare.self)?.action }.map(\.percent)
    }
}

@Suite("Flows")
struct FlowsTests {
    private let ecg = "{name: 'ecg', from: 'device:strap'}"
    private let mine = "{name: 'rec', from: 'self'}"

    @Test("data begins a flow once, which goes on for ten minutes, and ends five seconds after the last data")
    func tenMinutes() throws {
        var world = try AgendaWorld.with(ecg)
        world.flow(strap, for: .seconds(600))
        #expect(world.story == ["flow.started ecg"])
        #expect(world.raised[0].occasion.budgetClass == .openEnded(idle: .seconds(5)))
        #expect(world.payload(0) == #"{"name":"ecg","from":"device:strap"}"#)
        #expect(world.entry("ecg", .flow)?.state == .running)
        world.pass(.milliseconds(4_900))
        #expect(world.story.count == 1)
        world.pass(.milliseconds(200))
        #expect(world.story == ["flow.started ecg", "flow.ended ecg"])
        #expect(world.payload(1) == #"{"name":"ecg","reason":"idle"}"#)
        world.answerEnds()
        #expect(world.waits("ecg", .flow) == ["data"] && world.heldSequences.isEmpty)
    }

    @Test("a device is meant by its alias and by its URI, and a socket by its name in the same manifest alone")
    func origins() throws {
        var world = try AgendaWorld.with("{name: 'a', from: 'device:/bluetooth/C0:F1:F2:F3:F4:01'}")
        try world.employ("{name: 'b', from: 'socket:sip'}", of: player)
        world.send(.traffic(.device(alias: "belt", uri: "/bluetooth/01")))
        world.send(.traffic(.socket(recorder, "sip")))
        #expect(world.story.isEmpty)
        world.send(.traffic(strap))
        world.send(.traffic(.socket(player, "sip")))
        #expect(world.story == ["flow.started a", "flow.started b"])
    }

    @Test("a handler's own flow is open while it says so at least as often as the flow may be idle")
    func own() throws {
        var world = try AgendaWorld.with("{name: 'rec', from: 'self', idle: '2s'}")
        #expect(world.waits("rec", .flow) == ["open"])
        for _ in 0..<20 {
            #expect(try world.order(#"{"flow":{"name":"rec","open":true}}"#).word == "open")
            world.pass(.milliseconds(1_900))
        }
        #expect(world.story == ["flow.started rec"])
        world.pass(.milliseconds(200))
        #expect(world.story == ["flow.started rec", "flow.ended rec"])
    }

    @Test("a flow that its handler closes, or acknowledges, is over without a word about it")
    func closed() throws {
        var world = try AgendaWorld.with("\(mine), \(ecg)")
        try world.order(#"{"flow":{"name":"rec","open":true}}"#)
        #expect(try world.order(#"{"flow":{"name":"rec","open":false}}"#).word == "closed")
        #expect(world.heldSequences.isEmpty && world.waits("rec", .flow) == ["open"])
        world.send(.traffic(strap))
        world.conclude(world.heldSequences[0], .acknowledged(nil))
        world.flow(strap, for: .seconds(60))
        #expect(world.story == ["flow.started rec", "flow.started ecg"] && world.waits("ecg", .flow) == ["pause"])
        try world.order(#"{"flow":{"name":"rec","open":true}}"#)
        world.pass(.seconds(6))
        world.send(.traffic(strap))
        #expect(world.story.suffix(2) == ["flow.ended rec", "flow.started ecg"])
    }

    @Test("of one group one flows: the other waits, is told for which, and begins when that has ended")
    func group() throws {
        var world = try AgendaWorld.with("{name: 'rec', from: 'self', group: 'audio'}")
        try world.employ("{name: 'music', from: 'device:strap', group: 'audio'}", of: player)
        try world.order(#"{"flow":{"name":"rec","open":true}}"#)
        world.send(.traffic(strap))
        #expect(world.story == ["flow.started rec"] && world.waits("music", .flow) == ["group:audio"])
        #expect(world.entry("music", .flow)?.holder == AgendaKey(recorder, .flow, "rec"))
        world.flow(strap, for: .seconds(6))
        #expect(world.story == ["flow.started rec", "flow.ended rec", "flow.started music"])
    }

    @Test("one of a higher priority interrupts the one that flows, which begins again after it")
    func priority() throws {
        var world = try AgendaWorld.with("{name: 'music', from: 'device:strap', group: 'audio'}")
        try world.employ("{name: 'call', from: 'self', group: 'audio', priority: 9}", of: player)
        world.send(.traffic(strap))
        try world.order(#"{"flow":{"name":"call","open":true}}"#, of: player)
        #expect(world.story == ["flow.started music", "flow.started call", "flow.interrupted music"])
        #expect(world.payload(2) == #"{"name":"music","reason":"group","group":"audio"}"#)
        world.answerEnds()
        world.flow(strap, for: .seconds(6))
        #expect(world.story.suffix(2) == ["flow.ended call", "flow.started music"])
    }

    @Test("a handler that a person attached to comes before any priority, and gives way when the person has let go")
    func attached() throws {
        var world = try AgendaWorld.with("{name: 'music', from: 'device:strap', group: 'audio', priority: 100}")
        try world.employ("{name: 'call', from: 'self', group: 'audio', idle: '60s'}", of: player)
        world.send(.traffic(strap))
        try world.order(#"{"flow":{"name":"call","open":true}}"#, of: player)
        #expect(world.waits("call", .flow) == ["group:audio"])
        world.send(.situated(player, .attached))
        #expect(world.story == ["flow.started music", "flow.started call", "flow.interrupted music"])
        world.answerEnds()
        world.flow(strap, for: .seconds(1))
        world.send(.situated(player, .awake))
        #expect(world.story.suffix(2) == ["flow.started music", "flow.interrupted call"])
    }

    @Test(
        "a handler that cannot run leaves its group to another, and flows again when it can",
        arguments: [HandlerSituation.stopped, .quarantined, .unread, .held(until: .seconds(110))])
    func barred(situation: HandlerSituation) throws {
        var world = try AgendaWorld.with("{name: 'a', from: 'device:strap', group: 'g', priority: 1}")
        try world.employ("{name: 'b', from: 'device:strap', group: 'g'}", of: player)
        world.send(.traffic(strap))
        world.send(.situated(recorder, situation))
        #expect(world.story.prefix(2) == ["flow.started a", "flow.started b"])
        #expect(world.entry("b", .flow)?.state == .running && world.entry("a", .flow)?.state == .waiting)
        world.answerEnds()
        world.flow(strap, for: .seconds(20))
        world.send(.situated(recorder, .awake))
        world.answerEnds()
        world.send(.traffic(strap))
        #expect(world.entry("a", .flow)?.state == .running && world.entry("b", .flow)?.state == .waiting)
    }

    @Test("nothing flows for a handler that is stopped, and no event is raised for it")
    func stopped() throws {
        var world = try AgendaWorld.with(ecg)
        world.send(.situated(recorder, .stopped))
        world.flow(strap, for: .seconds(10))
        #expect(world.story.isEmpty && world.waits("ecg", .flow) == ["stopped"])
    }

    @Test("the machine's sleep interrupts a flow, which begins again with the first data after it")
    func slept() throws {
        var world = try AgendaWorld.with(ecg)
        world.flow(strap, for: .seconds(3))
        world.send(.sleeping(true))
        world.send(.traffic(strap))
        #expect(world.story == ["flow.started ecg", "flow.interrupted ecg"])
        #expect(world.payload(1) == #"{"name":"ecg","reason":"system-sleep"}"#)
        world.sleep(.seconds(3_600))
        world.send(.sleeping(false))
        world.answerEnds()
        world.pass(.seconds(60))
        #expect(world.story.count == 2)
        world.send(.traffic(strap))
        #expect(world.story.last == "flow.started ecg")
    }

    @Test("a sleep that nothing announced interrupts too")
    func sleptUnannounced() throws {
        var world = try AgendaWorld.with(ecg)
        world.send(.traffic(strap))
        world.sleep(.seconds(3_600))
        #expect(world.story == ["flow.started ecg", "flow.interrupted ecg"])
    }

    @Test("a crash keeps the flow: its beginning is given again by the core, while data flows")
    func crashed() throws {
        var world = try AgendaWorld.with(ecg)
        world.send(.traffic(strap))
        world.conclude(world.heldSequences[0], .crashed)
        world.flow(strap, for: .seconds(60))
        #expect(world.story == ["flow.started ecg"] && world.heldSequences.count == 1)
    }

    @Test("a beginning that its handler refused leaves the group to another until its wait is over")
    func refused() throws {
        var world = try AgendaWorld.with("{name: 'a', from: 'device:strap', group: 'g', priority: 1}")
        try world.employ("{name: 'b', from: 'device:strap', group: 'g'}", of: player)
        world.send(.traffic(strap))
        world.conclude(world.heldSequences[0], .givenBack(until: world.moment.boottime + .seconds(60)))
        #expect(world.story == ["flow.started a", "flow.started b"])
        #expect(world.waits("a", .flow) == ["time", "group:g"] && world.entry("a", .flow)?.nextChance != nil)
        world.flow(strap, for: .seconds(61))
        #expect(world.story.suffix(2).contains("flow.started a"))
    }

    @Test("a flow that the bridge's end cut off is told to have ended, and data begins another")
    func restarted() throws {
        var world = AgendaWorld(restored: false)
        let key = AgendaKey(recorder, .flow, "ecg")
        world.send(.restored([], bootID: world.bootID))
        world.send(.owed(key, Sequence(77)))
        world.send(.concluded(recorder, Sequence(77), .ended, awake: .zero, cpu: .zero))
        try world.employ(ecg, of: recorder)
        #expect(world.story == ["flow.ended ecg"] && world.payload(0) == #"{"name":"ecg","reason":"bridge-restart"}"#)
        world.send(.traffic(strap))
        #expect(world.story.count == 1 && world.waits("ecg", .flow) == ["earlier-run"])
        world.answerEnds()
        #expect(world.story == ["flow.ended ecg", "flow.started ecg"])
    }

    @Test("a flow that its handler never got is not told to have ended")
    func unheard() throws {
        var world = try AgendaWorld.with(ecg)
        world.send(.situated(recorder, .asleep))
        world.send(.traffic(strap))
        world.pass(.seconds(6))
        #expect(world.story == ["flow.started ecg"] && world.heldSequences.isEmpty)
    }

    @Test("a manifest that declares it no more ends it at once, and the handler is told that once")
    func undeclared() throws {
        var world = try AgendaWorld.with(ecg)
        world.send(.traffic(strap))
        try world.configure("{flows: [\(mine)]}")
        #expect(world.heldSequences.isEmpty)
        let told = world.effects.filter { if case .notify(recorder, .error) = $0 { true } else { false } }
        #expect(told.count == 1)
        world.flow(strap, for: .seconds(10))
        #expect(world.story == ["flow.started ecg"])
    }

    @Test("while flows hold a handler awake it has the largest of their shares, and without one all there is")
    func shares() throws {
        var world = try AgendaWorld.with(
            "{name: 'a', from: 'device:strap', cpu: '25%'}, {name: 'b', from: 'self', cpu: '50%'}")
        world.send(.traffic(strap))
        try world.order(#"{"flow":{"name":"b","open":true}}"#)
        world.send(.situated(recorder, .attached))
        world.send(.situated(recorder, .awake))
        world.pass(.seconds(6))
        #expect(world.shares == [25, 50, nil, 50, 25, nil] || world.shares == [25, 50, nil, 50, nil])
        #expect(world.entry("a", .flow)?.processorShare == 25)
    }

    @Test("whatever happens, each group has one flow at most, and each that waits names a reason")
    func random() throws {
        for seed in 0..<40 as Range<UInt64> {
            var random = Dice(seed)
            var world = AgendaWorld()
            let handlers = (1...3).map { HandlerID(rawValue: UInt32($0)) }
            for handler in handlers {
                let rank = Int.random(in: 0...2, using: &random)
                try world.employ(
                    "{name: 'a', from: 'device:strap', group: 'g', priority: \(rank)}, {name: 'b', from: 'self', group: 'h'}",
                    of: handler)
            }
            for _ in 0..<200 {
                let handler = handlers.randomElement(using: &random) ?? recorder
                switch Int.random(in: 0...9, using: &random) {
                case 0...2: world.send(.traffic(strap))
                case 3: try world.order(#"{"flow":{"name":"b","open":true}}"#, of: handler)
                case 4: try world.order(#"{"flow":{"name":"b","open":false}}"#, of: handler)
                case 5:
                    let all: [HandlerSituation] = [.awake, .asleep, .attached, .stopped, .held(until: .seconds(500))]
                    world.send(.situated(handler, all.randomElement(using: &random) ?? .awake))
                case 6: if let one = world.heldSequences.randomElement(using: &random) { world.conclude(one, .crashed) }
                case 7: world.answerEnds()
                default: world.pass(.milliseconds(Int64.random(in: 1...3_000, using: &random)))
                }
                let entries = world.pending.filter { $0.key.source == .flow }
                for id in ["a", "b"] { #expect(entries.count { $0.key.id == id && $0.state != .waiting } <= 1) }
                #expect(entries.allSatisfy { $0.state != .waiting || !$0.waitsFor.isEmpty })
            }
        }
    }
}
