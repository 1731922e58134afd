// Commands by topics: what is done, what is refused, and how the answer reads.
import TestBench
import Testing
import WakeModel

@Suite("Commands over a broker", .serialized, .tags(.outside), .enabled(unless: MQTTBench.hindrance))
struct CommandTests {
    private let ground = Ground("mqtt")
    private let kept = Kept()
    private let root = "wakebridge/pi"

    private func setUp(_ more: String) async throws -> (Broker, OutsideClient, PublishedBridge) {
        let broker = try Broker(ground)
        try await broker.start()
        let outside = try await OutsideClient(ground, broker.port, topics: ["#"])
        ground.install("h", [])
        let bridge = PublishedBridge(
            ground, trace: PublishedBridge.straps(ground), settings: PublishedBridge.settings(broker, more))
        try bridge.daemon.start()
        _ = try await outside.await("\(root)/devices/strap-1/state")
        kept.things = [broker, bridge.daemon]
        return (broker, outside, bridge)
    }

    @Test("a handler is woken by its button, and the answer has the reference")
    func wakes() async throws {
        let (_, outside, _) = try await setUp("allow: [\"wake\"]")
        _ = try await outside.await("homeassistant/button/wakebridge_pi_h/config")
        outside.publish("\(root)/handlers/h/wake/set", "{\"ref\":7}")
        let answer = try await outside.await("\(root)/handlers/h/wake/set/answer").value
        #expect(
            answer == .object([.init(name: "done", value: .boolean(true)), .init(name: "ref", value: .integer(7))]))
    }

    @Test("what the settings do not allow is refused with what to do")
    func refusesOthers() async throws {
        let (_, outside, _) = try await setUp("allow: [\"read\"]")
        outside.publish("\(root)/devices/strap-1/write", "{\"characteristic\":\"2a06\",\"hex\":\"02\"}")
        let error = try await outside.await("\(root)/devices/strap-1/write/answer").value?["error"]
        #expect(error?["code"]?.string == "not-permitted")
        #expect(error?["advice"]?.string == "add \"write\" to mqtt.allow in wakebridge.json5")
    }

    @Test("where the settings allow no command, the daemon subscribes to none")
    func subscribesToNone() async throws {
        let (broker, _, _) = try await setUp("")
        let names = broker.said.split(whereSeparator: \.isWhitespace).filter { $0.hasPrefix("\(root)/") }
        #expect(names.contains("\(root)/devices/+/about") && !names.contains("\(root)/devices/+/read"))
    }

    @Test("the answer to a command is that of the control API: also its refusals")
    func answersAsControlAPI() async throws {
        let (_, outside, _) = try await setUp("allow: [\"read\", \"session\", \"wake\"]")
        outside.publish("\(root)/devices/other/read", "{\"characteristic\":\"2a19\",\"ref\":\"a\"}")
        let unknown = try await outside.await("\(root)/devices/other/read/answer").value
        #expect(unknown?["error"]?["code"]?.string == "unknown-device" && unknown?["ref"]?.string == "a")
        outside.publish("\(root)/devices/strap-1/session/set", "asleep")
        let session = try await outside.await("\(root)/devices/strap-1/session/set/answer").value
        #expect(session?["error"]?["code"]?.string == "bad-value")
        outside.publish("\(root)/handlers/unknown/wake/set", "PRESS")
        let handler = try await outside.await("\(root)/handlers/unknown/wake/set/answer").value
        #expect(handler?["error"]?["code"]?.string == "unknown-handler")
    }

    @Test("hostile payloads are answered or ignored, and the daemon goes on")
    func survivesHostilePayloads() async throws {
        let (_, outside, bridge) = try await setUp("allow: [\"read\", \"write\", \"session\", \"wake\"]")
        let topic = "\(root)/devices/strap-1/write"
        for payload in ["", "{", "[]", "{\"hex\":1}", String(repeating: "[", count: 60_000), "{\"ref\":[1]}"] {
            outside.publish(topic, payload)
        }
        for odd in ["%zz", "", "a%2", "..%2F"] { outside.publish("\(root)/devices/\(odd)/write", "{}") }
        let isAnswered = try await wait(15) {
            outside.messages.count { $0.topic == topic + "/answer" && $0.payload.contains("error") } >= 5
        }
        #expect(isAnswered)
        outside.publish("\(root)/handlers/h/wake/set", "PRESS")
        _ = try await outside.await("\(root)/handlers/h/wake/set/answer") { $0.payload == "{\"done\":true}" }
        #expect(bridge.daemon.ended == nil)
    }

    @Test("of a flood of commands no more are answered than carried out, and the log says so once")
    func slowsFloods() async throws {
        let (_, outside, bridge) = try await setUp("allow: [\"read\"]")
        let topic = "\(root)/devices/strap-1/write/answer"
        for _ in 1...2_000 { outside.publish("\(root)/devices/strap-1/write", "{") }
        let isLogged = try await wait(60) { bridge.log.contains("commands come faster than 50 a second") }
        #expect(isLogged)
        // Answers come in order: after that of a later command none of the flood's is still to come.
        let isThrough = try await wait(60, every: 0.5) {
            outside.publish("\(root)/devices/strap-1/write", "{\"characteristic\":\"2a06\",\"hex\":\"00\"}")
            return outside.messages.contains { $0.topic == topic && $0.payload.contains("not-permitted") }
        }
        #expect(isThrough)
        #expect((100..<2_000).contains(outside.messages.count { $0.topic == topic }))
        #expect(bridge.log.split(separator: "commands come faster").count == 2)
    }

    @Test("one characteristic that the settings name may be written, and no other")
    func allowsOne() async throws {
        let (_, outside, _) = try await setUp("allow: [\"write:strap-1.2a06\"]")
        let topic = "\(root)/devices/strap-1/write"
        outside.publish(topic, "{\"characteristic\":\"2a06\",\"hex\":\"02\",\"ref\":1}")
        let allowed = try await outside.await(topic + "/answer") { $0.payload.contains("\"ref\":1") }
        #expect(!allowed.payload.contains("not-permitted"))
        outside.publish(topic, "{\"characteristic\":\"2a07\",\"hex\":\"02\"}")
        _ = try await outside.await(topic + "/answer") { $0.payload.contains("not-permitted") }
    }

    @Test("a command of a megabyte is refused like any that is too long")
    func refusesLong() async throws {
        let (_, outside, _) = try await setUp("allow: [\"write\"]")
        outside.publish("\(root)/devices/strap-1/write", String(repeating: "{", count: 1 << 20))
        let answer = try await outside.await("\(root)/devices/strap-1/write/answer").value
        #expect(answer?["error"]?["code"]?.string == "too-large")
    }
}
