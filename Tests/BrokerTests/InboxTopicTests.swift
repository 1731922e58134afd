// Messages under topics of a real broker, to a handler whose broker and daemon are killed meanwhile.
import TestBench
import Testing

@Suite("Messages from a broker", .serialized, .enabled(if: MQTTBench.isHere))
struct InboxTopicTests {
    private let ground = Ground("mqtt-inbox")

    @Test("a message under a topic of the manifest wakes the handler; a retained one and one of another topic do not")
    func topics() async throws {
        let broker = try Broker(ground)
        try await broker.start()
        let outside = try await OutsideClient(ground, broker.port, topics: [])
        outside.publish("home/cmd", "old", isRetained: true)
        let bench = try await InboxBench(ground, broker, inbox: "{ mqtt: [\"home/cmd\", \"door/+/bell\"] }")
        outside.publish("door/front/knock", "no")
        outside.publish("door/front/bell", "ring")
        outside.publish("home/cmd", "light")
        let hasCome = try await wait(15) { bench.heard.count >= 2 }
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
        let hasCome = try await wait(15) { bench.heard.count >= 20 }
        #expect(hasCome && bench.heard == (0..<20).map { "home/cmd \($0)" }, "\(bench.heard)\n\(bench.bridge.log)")
    }

    @Test("every message is delivered, though the broker is killed five times meanwhile, and the daemon five times")
    func survives() async throws { try await InboxKillRun(ground: ground).torture(kills: 10, burst: 40) }
}
