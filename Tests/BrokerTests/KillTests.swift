// The broker and the daemon killed amid events, and an outbox that is too small for an absent broker.
import TestBench
import Testing

@Suite("Kills amid events", .serialized, .tags(.outside), .enabled(unless: MQTTBench.hindrance))
struct KillTests {
    private let ground = Ground("mqtt")

    @Test("a broker that is killed four times, and a daemon four times: each event once, twice marked, or in one gap")
    func survivesKills() async throws {
        try await KillRun(ground: ground).torture(events: 1_000, every: 0.015, brokers: 4, daemons: 4, outbox: "4MiB")
    }

    @Test("an outbox that is too small for an absent broker tells one gap")
    func tellsOneGap() async throws {
        let broker = try Broker(ground)
        let tap = try await Tap(ground, to: broker.port)
        let trace = TraceText.beats(800, every: 0.002)
        let bridge = PublishedBridge(
            ground, trace: ground.write(trace.text, to: "short.trace"),
            settings: "broker: \"mqtt://127.0.0.1:\(tap.port)\", outbox: \"64KiB\"")
        try bridge.daemon.start()
        let isPlayed = try await wait(60) { bridge.daemon.hasPlayed }
        try #require(isPlayed)
        try await broker.start()
        // The gap passes before the acknowledgements of what came just before it.
        let isOut = try await wait(60, every: 0.2) {
            let record = tap.record
            return record.publishes.last?.lost?.upperBound == 801 && record.complaints.isEmpty
        }
        let record = tap.record
        #expect(isOut && record.complaints == [], "\(record.complaints.prefix(5))")
        #expect(record.publishes.compactMap(\.lost).count == 1)
    }
}
