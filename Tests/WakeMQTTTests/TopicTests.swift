// Topics of names with odd characters, and commands that are read strictly.
import Testing
import WakeModel

@testable import WakeMQTT

@Suite("Topics and commands")
struct TopicTests {
    private let topics = BridgeTopics(base: "wakebridge", bridge: "pi-kitchen")

    @Test(
        "a name makes one level of a topic, and comes back from it",
        arguments: ["chest-strap", "a/b", "über+#", "50 %", "$SYS", "tab\there", "%2F", "日本", "strap 1.5"])
    func escapes(name: String) {
        let level = TopicName.escaped(name)
        #expect(!level.contains { "+#/. ".contains($0) } && !level.hasPrefix("$"))
        #expect(TopicName.unescaped(level) == name)
    }

    @Test("a topic of an earlier bridge, with dots and spaces, is still read")
    func readsEarlier() { #expect(TopicName.unescaped("strap 1.5%2F") == "strap 1.5/") }

    @Test("a person may write dots and spaces into a topic of the settings, and no wildcard")
    func levels() {
        for level in ["home.lan", "first floor"] { #expect(TopicName.isLevel(level)) }
        for level in ["", "a+", "#", "$SYS", "50 %"] { #expect(!TopicName.isLevel(level)) }
    }

    @Test("a level that no name is escaped to is none", arguments: ["%zz", "%2", "a+b", "%61", "%ff"])
    func refusesOthers(level: String) { #expect(TopicName.unescaped(level) == nil) }

    @Test("a command's topic says what is asked of which device")
    func readsTopics() {
        for kind in BridgeCommand.Kind.allCases {
            let target = BridgeCommand.target(of: topics.command(kind, of: "a/b"), in: topics)
            #expect(target?.kind == kind && target?.name == "a/b")
        }
        for other in ["wakebridge/pi-kitchen/devices/x/state", "wakebridge/other/devices/x/read", "x"] {
            #expect(BridgeCommand.target(of: other, in: topics) == nil)
        }
    }

    private func refusal(_ kind: BridgeCommand.Kind, _ payload: String, isRetained: Bool = false) -> String? {
        let topic = topics.command(kind, of: "strap")
        do throws(BridgeCommand.Refusal) {
            _ = try BridgeCommand(kind, of: "strap", MQTTMessage(topic, Array(payload.utf8), isRetained: isRetained))
            return nil
        } catch { return error.code }
    }

    @Test("what is no command is refused with a reason")
    func refuses() {
        #expect(refusal(.read, "{\"characteristic\":\"2a19\"}") == nil)
        #expect(refusal(.session, "paused") == nil)
        #expect(refusal(.wake, "PRESS") == nil)
        #expect(refusal(.read, "2a19") == "bad-json")
        #expect(refusal(.read, "{\"characteristic\":\"2a19\",\"hex\":\"00\"}") == "unknown-key")
        #expect(refusal(.write, "{\"ref\":{}}") == "bad-value")
        #expect(refusal(.wake, "{\"ref\":\"\(String(repeating: "x", count: 65))\"}") == "bad-value")
        #expect(refusal(.session, "open", isRetained: true) == "retained")
        #expect(refusal(.write, String(repeating: "{", count: 70_000)) == "too-large")
        #expect(refusal(.write, "{\"device\":\"other\"}") == "unknown-key")
    }

    @Test("the reference of a command is the last member of its answer")
    func answersWithReference() {
        let answer = BridgeCommand.answer(Array("{\"done\":true}\n".utf8), to: .string("a\"b"))
        #expect(String(decoding: answer, as: UTF8.self) == "{\"done\":true,\"ref\":\"a\\\"b\"}")
        #expect(String(decoding: BridgeCommand.answer(Array("{}\n".utf8), to: nil), as: UTF8.self) == "{}")
    }

    @Test(
        "the address of a broker is read, and nothing else is one",
        arguments: [
            ("mqtt://host", "mqtt://host:1883"), ("mqtts://host", "mqtts://host:8883"),
            ("mqtt://[::1]:99", "mqtt://[::1]:99"), ("http://host", ""), ("mqtt://", ""), ("mqtt://host:0", ""),
            ("mqtt://user@host", ""), ("mqtt://host:1/x", ""),
        ])
    func readsAddress(text: String, read: String) { #expect(BrokerAddress(text)?.text ?? "" == read) }

    @Test("many changes of a topic are one message while the broker is slow")
    func coalescesRetained() {
        var retained = RetainedTopics(limit: 1)
        retained.set("a", [1])
        retained.set("b", [1])
        let first = retained.next()
        #expect(first?.message.topic == "a" && retained.next() == nil)
        for value in 2...9 { retained.set("b", [UInt8(value)]) }
        if let first { retained.delivered(first.tag) }
        #expect(retained.next()?.message.payload == [9])
    }

    @Test("of names that strangers retain without end a bounded number waits to be removed")
    func boundsRemovals() throws {
        var retained = RetainedTopics(limit: 1)
        retained.set("own", [1])
        var count = 0
        while retained.takesStrangers, count < 5_000 {
            retained.remove("stranger/\(count)")
            count += 1
        }
        #expect(count == 1_000)
        let own = retained.next()
        retained.delivered(try #require(own).tag)
        let next = retained.next()
        let removal = try #require(next)
        #expect(removal.message.topic == "stranger/0" && removal.message.payload.isEmpty && !retained.takesStrangers)
        retained.delivered(removal.tag)
        #expect(retained.takesStrangers)
    }

    @Test("what waits is published in the order in which it came, however much of it there is")
    func keepsOrder() {
        var retained = RetainedTopics(limit: 1)
        var topics: [String] = []
        for number in 0..<1_000 { retained.set("t/\(number)", [1]) }
        while let (tag, message) = retained.next() {
            topics.append(message.topic)
            // Further topics come meanwhile.
            if topics.count <= 100 { retained.set("later/\(topics.count)", [1]) }
            retained.delivered(tag)
        }
        #expect(topics == (0..<1_000).map { "t/\($0)" } + (1...100).map { "later/\($0)" })
    }

    @Test("a topic that is longer than any of a bridge's is nobody's")
    func boundsNames() {
        let name = String(repeating: "n", count: 5_000)
        #expect(topics.owner(of: "wakebridge/pi-kitchen/devices/strap/about") == .device("strap"))
        #expect(topics.owner(of: "wakebridge/pi-kitchen/devices/\(name)/about") == nil)
    }
}
