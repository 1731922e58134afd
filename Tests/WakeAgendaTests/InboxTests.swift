// Messages: when the inbox wakes for one, what rides along, and what becomes of those that wait.
import TestBench
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("Inboxes of handlers")
struct InboxTests {
    private let handler = AgendaWorld.handler

    private func world(_ inbox: String = "{}", _ situation: HandlerSituation = .asleep) throws -> AgendaWorld {
        var world = AgendaWorld()
        try world.configure("{inbox: \(inbox)}")
        world.send(.situated(handler, situation))
        return world
    }

    @Test("a message to a handler that sleeps wakes it at once, and its event has what was sent")
    func wakes() throws {
        var world = try world()
        let receipt = world.post(#"{"payload":"hello","topic":"cfg","content_type":"text/plain"}"#)
        #expect(receipt == .accepted(id: "1", lifetime: .seconds(604_800), wakesIn: .zero))
        #expect(
            world.payload(0)
                == #"{"id":"1","content_type":"text/plain","topic":"cfg","payload":"hello","received":"2026-06-01T00:00:00.000000Z"}"#
        )
        #expect(world.raised.map(\.occasion.name) == ["message.received"])
        #expect(world.raised.map(\.occasion.budgetClass) == [.content])
    }

    @Test("bytes that are no text come in hexadecimal")
    func bytes() throws {
        var world = try world()
        world.post(#"{"raw":"ff00"}"#)
        #expect(world.payload(0).contains(#""raw":"ff00""#))
    }

    @Test("a burst of wakes is followed by one wake in each interval, with all that waits by then")
    func bucket() throws {
        var world = try world("{rate: '6/h', burst: 2}")
        for (id, wait) in [("1", 0), ("2", 0), ("3", 600)] as [(String, Int64)] {
            #expect(world.post("{}") == .accepted(id: id, lifetime: week, wakesIn: .seconds(wait)))
            world.acknowledgeAll()
        }
        #expect(world.post("{}") == .accepted(id: "4", lifetime: week, wakesIn: .seconds(600)))
        #expect(world.raisedIDs == ["1", "2"])
        #expect(world.waits("", .inbox) == ["rate"])
        world.pass(.seconds(599))
        #expect(world.raisedIDs == ["1", "2"])
        world.pass(.seconds(1))
        #expect(world.raisedIDs == ["1", "2", "3", "4"])
        world.acknowledgeAll()
        #expect(world.post("{}") == .accepted(id: "5", lifetime: week, wakesIn: .seconds(600)))
    }

    private let week = TimeSpan.seconds(604_800)

    @Test("urgent messages pass the bucket, and do not use it up; what waits comes along")
    func urgent() throws {
        var world = try world("{rate: '6/h', burst: 1}")
        world.post("{}")
        world.acknowledgeAll()
        world.post("{}")
        #expect(world.raisedIDs == ["1"])
        world.post(#"{"urgency":"high"}"#)
        #expect(world.raisedIDs == ["1", "2", "3"])
        world.acknowledgeAll()
        world.pass(.seconds(600))
        #expect(world.post("{}") == .accepted(id: "4", lifetime: week, wakesIn: .zero))
    }

    @Test("messages of low urgency never wake, and come with any wake", arguments: ["low", "very-low"])
    func low(_ urgency: String) throws {
        var world = try world()
        #expect(
            world.post(#"{"urgency":"\#(urgency)"}"#) == .accepted(id: "1", lifetime: week, wakesIn: nil))
        world.pass(.seconds(86_400))
        #expect(world.raised.isEmpty && world.waits("", .inbox) == ["wake"])
        world.send(.situated(handler, .awake))
        #expect(world.raisedIDs == ["1"])
    }

    @Test("a handler that is awake gets every message at once, and none is taken from the bucket")
    func awake() throws {
        var world = try world("{burst: 1}", .awake)
        for _ in 0..<20 { world.post("{}") }
        #expect(world.raised.count == 20)
        world.acknowledgeAll()
        world.send(.situated(handler, .asleep))
        #expect(world.post("{}") == .accepted(id: "21", lifetime: week, wakesIn: .zero))
    }

    @Test("with max_latency a message waits for another wake that long, and no longer")
    func latency() throws {
        var world = try world("{max_latency: '5m'}")
        #expect(world.post("{}") == .accepted(id: "1", lifetime: week, wakesIn: .seconds(300)))
        #expect(world.waits("", .inbox) == ["time"])
        world.pass(.seconds(299))
        #expect(world.raised.isEmpty)
        world.pass(.seconds(1))
        #expect(world.raisedIDs == ["1"])
        world.acknowledgeAll()
        world.post("{}")
        world.send(.situated(handler, .awake))
        #expect(world.raisedIDs == ["1", "2"])
    }

    @Test("a message that would be over before max_latency is does not wait for company")
    func shortLife() throws {
        var world = try world("{max_latency: '5m'}")
        world.post(#"{"ttl_s":60}"#)
        #expect(world.raisedIDs == ["1"])
    }

    @Test("a later message of a topic takes the place of the earlier one, and says how many it stands for")
    func collapse() throws {
        var world = try world("{}", .stopped)
        for text in ["a", "b", "c"] { world.post(#"{"topic":"cfg","payload":"\#(text)"}"#) }
        world.post(#"{"topic":"other"}"#)
        world.send(.situated(handler, .asleep))
        #expect(world.raisedIDs == ["3", "4"])
        #expect(world.payload(0).contains(#""payload":"c""#) && world.payload(0).contains(#""collapsed":2"#))
        #expect(!world.payload(1).contains("collapsed"))
    }

    @Test("what is in the core's queue collapses too, and what the handler has by now does not")
    func collapseQueued() throws {
        var world = try world()
        world.post(#"{"topic":"cfg"}"#)
        world.post(#"{"topic":"cfg"}"#)
        #expect(world.raisedIDs == ["1", "2"] && world.heldSequences == [Sequence(2)])
        #expect(world.payload(1).contains(#""collapsed":1"#))
        world.send(.situated(handler, .awake))
        world.post(#"{"topic":"cfg"}"#)
        #expect(world.heldSequences == [Sequence(2), Sequence(3)])
        #expect(!world.payload(2).contains("collapsed"))
    }

    @Test("five hundred messages to a stopped handler leave one gap, and the newest hundred")
    func overflow() throws {
        var world = try world("{keep: 100}", .stopped)
        for _ in 0..<500 { world.post("{}") }
        #expect(world.gaps.isEmpty && world.entry("", .inbox)?.messages == 100)
        world.send(.situated(handler, .asleep))
        #expect(world.gaps.map(\.count) == [400] && world.gaps.map(\.cause) == [.overflow])
        #expect(world.raisedIDs == (401...500).map(String.init))
        #expect(world.rows.keys.filter { $0.source == .inbox }.count == 101)
    }

    @Test("keep: 1 holds the latest message alone, also while it is in the core's queue")
    func single() throws {
        var world = try world("{keep: 1}")
        world.post("{}")
        world.post("{}")
        world.post("{}")
        #expect(world.heldSequences == [Sequence(3)])
        world.acknowledgeAll()
        world.post("{}")
        #expect(world.gaps.compactMap(\.count) == [1, 1])
    }

    @Test("a message expires when its time is over, whatever the handler does, and over reboots")
    func expires() throws {
        var world = try world("{}", .stopped)
        world.post(#"{"ttl_s":3600}"#)
        world.post(#"{"ttl_s":7200}"#)
        world.pass(.seconds(1_000))
        world.reboot(off: .seconds(2_600))
        #expect(world.entry("", .inbox)?.messages == 1)
        world.pass(.seconds(3_500))
        #expect(world.entry("", .inbox)?.messages == 1)
        world.pass(.seconds(100))
        #expect(world.entry("", .inbox) == nil)
        #expect(world.decisions.filter { $0.hasSuffix("expire") }.count == 2)
        world.send(.situated(handler, .asleep))
        #expect(world.raised.isEmpty && world.gaps.isEmpty)
    }

    @Test("a message that is to be had at once or never wakes, or is gone")
    func now() throws {
        var world = try world("{burst: 1}")
        #expect(world.post(#"{"ttl_s":0}"#) == .accepted(id: "1", lifetime: .zero, wakesIn: .zero))
        world.acknowledgeAll()
        #expect(world.post(#"{"ttl_s":0}"#) == .accepted(id: "2", lifetime: .zero, wakesIn: nil))
        #expect(world.raisedIDs == ["1"] && world.entry("", .inbox) == nil)
    }

    @Test("one that is on its way as its time ends has ten seconds to arrive, and is then taken back")
    func arrival() throws {
        var world = try world()
        world.post(#"{"ttl_s":1}"#)
        world.pass(.seconds(9))
        #expect(world.heldSequences == [Sequence(1)])
        world.pass(.seconds(2))
        #expect(world.heldSequences.isEmpty && world.entry("", .inbox) == nil)
    }

    @Test("a life longer than the inbox's is cut to that, and the answer says so")
    func cut() throws {
        var world = try world("{ttl: '1h'}")
        #expect(world.post(#"{"ttl_s":99999999999}"#) == .accepted(id: "1", lifetime: .seconds(3_600), wakesIn: .zero))
    }

    @Test("without an inbox in the manifest a message is refused; without its manifest any more, all are gone")
    func noInbox() throws {
        var world = AgendaWorld()
        world.send(.situated(handler, .asleep))
        if case .refused(let fault) = world.post("{}") {
            #expect(fault.code == .notPermitted)
        } else {
            Issue.record("accepted without an inbox")
        }
        try world.configure("{inbox: {}}")
        world.send(.situated(handler, .stopped))
        world.post("{}")
        try world.configure("{}")
        #expect(world.rows.isEmpty && world.pending.isEmpty)
    }

    @Test("what a handler hands back comes again when its conditions are true, and takes nothing from the bucket")
    func handedBack() throws {
        var world = try world("{burst: 1}")
        world.post("{}")
        world.conclude(Sequence(1), .handedBack(until: ["network"]))
        world.pass(.seconds(120))
        #expect(world.raised.count == 1 && world.waits("", .inbox) == ["network"])
        world.set(.network, true)
        world.pass(.seconds(10))
        #expect(world.raisedIDs == ["1", "1"])
    }

    @Test("what is handed back after its time, or after a later one of its topic came, does not come again")
    func handedBackTooLate() throws {
        var world = try world()
        world.post(#"{"topic":"cfg"}"#)
        // The handler has it, though the agenda cannot know.
        world.keep(Sequence(1))
        world.post(#"{"topic":"cfg"}"#)
        world.pass(.seconds(1))
        world.conclude(Sequence(1), .handedBack(until: []))
        world.pass(.seconds(120))
        #expect(world.raisedIDs == ["1", "2"] && world.heldSequences == [Sequence(2)])
        world.acknowledgeAll()
        world.post(#"{"ttl_s":1}"#)
        world.keep(Sequence(3))
        world.pass(.seconds(20))
        world.conclude(Sequence(3), .handedBack(until: []))
        world.pass(.seconds(120))
        #expect(world.raisedIDs == ["1", "2", "3"] && world.entry("", .inbox) == nil)
        #expect(world.rows.keys.filter { $0.source == .inbox }.count == 1, "one row is left, of the inbox itself")
    }

    @Test("a crash gives the message again, and a lost one is gone with the core's gap")
    func crashed() throws {
        var world = try world()
        world.post("{}")
        world.conclude(Sequence(1), .crashed)
        #expect(world.entry("", .inbox)?.state == .queued)
        world.conclude(Sequence(1), .dropped)
        #expect(world.entry("", .inbox) == nil)
    }

    @Test("nothing is raised while a gate is closed, while the handler is held, or before its manifest is read")
    func barred() throws {
        var world = AgendaWorld()
        try world.configure("{inbox: {}, after: ['network']}")
        world.send(.situated(handler, .asleep))
        #expect(world.post("{}") == .accepted(id: "1", lifetime: week, wakesIn: nil))
        #expect(world.raised.isEmpty && world.waits("", .inbox) == ["gate"])
        world.set(.network, true)
        world.pass(.seconds(10))
        #expect(world.raisedIDs == ["1"])
        world.acknowledgeAll()
        world.send(.situated(handler, .held(until: world.moment.boottime + .seconds(30))))
        #expect(world.post("{}") == .accepted(id: "2", lifetime: week, wakesIn: .seconds(30)))
        #expect(world.waits("", .inbox) == ["held"])
        world.pass(.seconds(30))
        #expect(world.raisedIDs == ["1", "2"])
        world.acknowledgeAll()
        world.send(.situated(handler, .stopped))
        world.post("{}")
        world.forget(handler)
        world.restart()
        #expect(world.waits("", .inbox) == ["manifest"])
    }

    @Test("ids go on after a restart, and what waited goes on waiting in its order")
    func restarts() throws {
        var world = try world("{}", .stopped)
        for _ in 0..<12 { world.post("{}") }
        world.restart()
        #expect(world.post("{}") == .accepted(id: "13", lifetime: week, wakesIn: nil))
        world.send(.situated(handler, .asleep))
        #expect(world.raisedIDs == (1...13).map(String.init))
    }

    @Test("the bucket goes on over a restart and a reboot")
    func bucketRestarts() throws {
        var world = try world("{rate: '6/h', burst: 1}")
        world.post("{}")
        world.acknowledgeAll()
        world.restart()
        #expect(world.post("{}") == .accepted(id: "2", lifetime: week, wakesIn: .seconds(600)))
        world.reboot(off: .seconds(280))
        #expect(world.raisedIDs == ["1"])
        world.pass(.seconds(299))
        #expect(world.raisedIDs == ["1"])
        world.pass(.seconds(2))
        #expect(world.raisedIDs == ["1", "2"])
    }
}

extension AgendaWorld {
    /// Sends a message as JSON; nil where it was not answered.
    @discardableResult
    mutating func post(_ json: String, to handler: HandlerID = handler) -> InboxReceipt.Outcome? {
        guard let value = try? JSONValue(parsing: Array(json.utf8)), let message = try? InboxMessage(value) else {
            Issue.record("no message: \(json)")
            return nil
        }
        let effects = send(.message(handler, message, ticket: 7))
        return effects.compactMap { $0.action(InboxReceipt.self)?.action }.first { $0.ticket == 7 }?.outcome
    }

    mutating func acknowledgeAll() {
        for sequence in heldSequences { conclude(sequence, .acknowledged(nil)) }
    }

    /// The ids of messages, as they were raised.
    var raisedIDs: [String] { raised.filter { $0.key.source == .inbox }.map(\.key.id) }

    var gaps: [Gap] {
        effects.compactMap { if case .lose(_, let gap) = $0 { gap } else { nil } }
    }

    /// With the names of their entries.
    var decisions: [String] {
        effects.compactMap {
            guard case .decision(_, let decision) = $0 else { return nil }
            return "\(decision.key.id) \(decision.wireName)"
        }
    }
}
