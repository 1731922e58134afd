// Messages under topics of a real broker, to a handler whose broker and daemon are killed meanwhile.
import TestBench
import Testing

@Suite("Messages from a broker", .serialized, .tags(.outside), .enabled(unless: MQTTBench.hindrance))
struct InboxTopicTests {
    private let ground = Ground("mqtt-inbox")

    @Test("a message under a topic of the manifest wakes the handler; a retained one and one of another topic do not")
    func topics() async throws {
        let broker = try Broker(ground)
        try await broker.start()
        let outside = try await OutsideClient(ground, broker.port, topics: [])
        outside.publish("home/cmd", "old", isRetained: true)
        try await outside.settle()
        let bench = try await InboxBench(ground, broker, inbox: "{ mqtt: [\"home/cmd\", \"door/+/bell\"] }", topics: 2)
        outside.publish("door/front/knock", "no")
        outside.publish("door/front/bell", "ring")
        outside.publish("home/cmd", "light")
        let hasCome = try await wait(60) { bench.heard.count >= 2 }
        #expect(
            hasCome && bench.heard == ["door/front/bell ring", "home/cmd light"],
            "\(bench.heard)\n\(bench.bridge.log)")
    }

    @Test("messages that were published while no daemon ran come once it runs")
    func absent() async throws {
        let broker = try Broker(ground)
        try await broker.start()
        let bench = try await InboxBench(ground, broker, inbox: "{ mqtt: [\"home/cmd\"] }")
        let outside = try await OutsideClient(ground, broker.port, topics: [])
        bench.bridge.daemon.killForGood()
        for number in 0..<20 { outside.publish("home/cmd", "\(number)") }
        try await outside.settle()
        try bench.bridge.daemon.start()
        let hasCome = try await wait(60) { bench.heard.count >= 20 }
        #expect(hasCome && bench.heard == (0..<20).map { "home/cmd \($0)" }, "\(bench.heard)\n\(bench.bridge.log)")
    }

    @Test("messages for a handler whose manifest is broken wait at the broker until that is mended")
    func brokenManifest() async throws {
        let broker = try Broker(ground)
        try await broker.start()
        let whole = InboxBench.manifest(ground, "{ mqtt: [\"other/#\"] }")
        InboxBench.put(whole, of: "other", in: ground)
        let bench = try await InboxBench(ground, broker, inbox: "{ mqtt: [\"home/cmd\"] }", topics: 2)
        let outside = try await OutsideClient(ground, broker.port, topics: [])
        bench.bridge.daemon.killForGood()
        InboxBench.put("{ exec: \n", of: "other", in: ground)
        outside.publish("other/one", "kept")
        outside.publish("home/cmd", "light")
        try await outside.settle()
        try bench.bridge.daemon.start()
        let words = "messages wait at the broker from one under other/one"
        let isTold = try await wait(60) { bench.bridge.log.contains(words) }
        #expect(isTold && bench.heard(by: "other").isEmpty, "\(bench.bridge.log)")
        InboxBench.put(whole, of: "other", in: ground)
        let hasCome = try await wait(90) {
            bench.heard(by: "other") == ["other/one kept"] && bench.heard == ["home/cmd light"]
        }
        #expect(hasCome, "\(bench.heard(by: "other")) \(bench.heard)\n\(bench.bridge.log)")
    }

    @Test("a topic that no manifest names any more is unsubscribed, also one that went while no daemon ran")
    func unsubscribes() async throws {
        let broker = try Broker(ground)
        try await broker.start()
        let topics = "{ mqtt: [\"one\", \"two\", \"three\"] }"
        let bench = try await InboxBench(ground, broker, inbox: topics, topics: 3)
        func ended(_ count: Int) async throws -> Bool {
            try await wait(60) {
                lines(of: broker.log).count { $0.contains("Sending UNSUBACK to wakebridge-pi-inbox") } >= count
            }
        }
        InboxBench.put(InboxBench.manifest(ground, "{ mqtt: [\"one\", \"two\"] }"), of: "box", in: ground)
        #expect(try await ended(1), "\(bench.bridge.log)")
        bench.bridge.daemon.killForGood()
        InboxBench.put(InboxBench.manifest(ground, "{ mqtt: [\"one\"] }"), of: "box", in: ground)
        try bench.bridge.daemon.start()
        #expect(try await ended(2), "\(bench.bridge.log)")
        let outside = try await OutsideClient(ground, broker.port, topics: [])
        outside.publish("two", "no")
        outside.publish("one", "yes")
        let hasCome = try await wait(60) { !bench.heard.isEmpty }
        #expect(hasCome && bench.heard == ["one yes"], "\(bench.heard)\n\(bench.bridge.log)")
    }

    @Test("every message is delivered, though the broker is killed five times meanwhile, and the daemon five times")
    func survives() async throws { try await InboxKillRun(ground: ground).torture(kills: 10, burst: 40) }
}
