// A connection to a real mosquitto that misbehaves: what it refuses, what it floods with, and what waits while it stands still.
import Glibc
import TestBench
import Testing
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeMQTT

@Suite("A connection to a broker", .serialized, .tags(.outside), .enabled(unless: MQTTBench.hindrance))
final class ConnectionTests {
    private let ground = Ground("mqtt")
    private let loop: EventLoop

    init() throws { loop = try EventLoop() }

    private func open(_ broker: Broker, _ change: (inout MQTTOptions) -> Void = { _ in }) throws -> MQTTConnection {
        var options = MQTTOptions(
            broker: try #require(BrokerAddress("mqtt://127.0.0.1:\(broker.port)")), clientIdentifier: "tested")
        change(&options)
        let connection = try MQTTConnection(on: loop, options)
        connection.open()
        return connection
    }

    /// Turns the loop until an event fits.
    private func event(of connection: MQTTConnection, where fits: (MQTTEvent) -> Bool) throws -> MQTTEvent? {
        let end = SystemClock.monotonic() + .seconds(60)
        while SystemClock.monotonic() < end {
            _ = try loop.runOnce(timeout: .milliseconds(20))
            while let event = connection.nextEvent() {
                if case .arrived(let arrived) = event { connection.acknowledge(arrived) }
                if fits(event) { return event }
            }
        }
        return nil
    }

    private func connect(_ connection: MQTTConnection) throws {
        let connected = try event(of: connection) { if case .connected = $0 { true } else { false } }
        try #require(connected != nil, "it never connected")
    }

    @Test("a subscription that the broker refuses is reported by its filter")
    func reportsRefusal() async throws {
        let plugin = "/usr/lib/\(machineTriple)/mosquitto_dynamic_security.so"
        guard File.exists(plugin) else { return print("SKIPPED: no refused subscription, as \(plugin) is not here") }
        let rules = ground.file("security.json")
        let (exit, _, talk) = try Child(["mosquitto_ctrl", "dynsec", "init", rules, "admin", "secret"]).finish()
        try #require(exit == 0, "\(talk)")
        // The user that is there may subscribe to everything, by its one role.
        let emptying = """
            import json; rules = json.load(open("\(rules)")); rules["roles"][0]["acls"] = []
            json.dump(rules, open("\(rules)", "w"))
            """
        try #require(try Child(["python3", "-c", emptying]).finish().exit == 0)
        let broker = try Broker(
            ground, lines: ["allow_anonymous false", "plugin \(plugin)", "plugin_opt_config_file \(rules)"])
        try await broker.start()
        let connection = try open(broker) { ($0.user, $0.password) = ("admin", "secret") }
        connection.subscribe("not/allowed/#")
        let refused = try event(of: connection) { if case .notSubscribed = $0 { true } else { false } }
        #expect(refused == .notSubscribed(filter: "not/allowed/#"), "\(broker.said.suffix(800))")
    }

    private var machineTriple: String {
        let name = (try? Child(["uname", "-m"]).finish().output.filter { !$0.isWhitespace }) ?? ""
        return "\(name)-linux-gnu"
    }

    @Test("of a message that is too long one byte too many arrives, and no more")
    func cutsLong() async throws {
        let broker = try Broker(ground)
        try await broker.start()
        let connection = try open(broker) { $0.longestMessage = 1_000 }
        connection.subscribe("long")
        try connect(connection)
        for count in [1_000, 1_001, 900_000, 3_000_000] {
            connection.publish(MQTTMessage("long", [UInt8](repeating: 1, count: count)))
            let arrived = try event(of: connection) { if case .arrived = $0 { true } else { false } }
            guard case .arrived(let message) = arrived else { throw Missing() }
            #expect(message.message.payload.count == min(count, 1_001) && message.isCut == (count == 3_000_000))
        }
    }

    private struct Missing: Error {}

    @Test("while the broker stands still, messages without an account are dropped beyond a bound, and others are not")
    func boundsOrders() async throws {
        let broker = try Broker(ground)
        try await broker.start()
        let outside = try await OutsideClient(ground, broker.port, topics: ["flood/#", "kept"])
        let connection = try open(broker)
        try connect(connection)
        // A client that reads late misses none of what the broker has.
        outside.kill(with: SIGSTOP)
        broker.kill(with: SIGSTOP)
        for number in 1...5_000 { connection.publish(MQTTMessage("flood/\(number)", [1])) }
        connection.publish(MQTTMessage("kept", [1]), tag: 7)
        broker.kill(with: SIGCONT)
        let delivered = try event(of: connection) { $0 == .delivered(7) }
        outside.kill(with: SIGCONT)
        #expect(delivered != nil)
        _ = try await outside.await("kept")
        let count = outside.messages.count { $0.topic.hasPrefix("flood/") }
        #expect((1_000..<1_500).contains(count), "\(count) of 5,000 came")
    }
}
