// Two daemons and a broker that is away for a minute.
import TestBench
import Testing

@Suite(
    "Two bridges and a broker that is away for long", .tags(.fullScale, .outside),
    .enabled(unless: RunningBroker.hindrance))
struct LongOutageTests {
    @Test("the broker is away for a minute: every beat comes, in order, and what came again is marked")
    func minuteAway() throws { try TwoBridges().outages(beats: 1_800, every: 0.05, away: 60) }
}
