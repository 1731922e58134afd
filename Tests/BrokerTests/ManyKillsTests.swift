// Ten thousand events, and ten thousand messages, under a hundred kills.
import TestBench
import Testing

@Suite("Many kills amid events", .serialized, .tags(.outside), .enabled(unless: MQTTBench.hindrance))
struct ManyKillsTests {
    private let ground = Ground("mqtt")

    @Test(
        "50 brokers and 50 daemons killed amid 10,000 events: each once, twice marked, or in one gap",
        .tags(.fullScale))
    func survivesManyKills() async throws {
        try await KillRun(ground: ground).torture(
            events: 10_000, every: 0.02, brokers: 50, daemons: 50, outbox: "4MiB")
    }

    @Test(
        "50 brokers and 50 daemons killed amid 10,000 messages to a handler: every one is delivered",
        .tags(.fullScale))
    func deliversMessages() async throws {
        try await InboxKillRun(ground: Ground("mqtt-inbox")).torture(kills: 100, burst: 100)
    }
}
