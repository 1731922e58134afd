// How many events a second reach one handler that is awake, and come back acknowledged; and how many a virtual replay plays.
import WakeDaemon
import WakeModel
import WakeProfiles
import WakeSystem
import WakeTrace

enum Throughput {
    static func measure(events: Int) throws {
        say("\nthroughput to one awake null handler, events a second, best and median of 5")
        say(Table.row(["", "best", "median"]))
        for durability in [Durability.run, .ram] {
            try measure(durability, "from a stream", bytesPerRead: 4_096, events)
            try measure(durability, "one message a read", bytesPerRead: BridgeUnderTest.frame.count, events)
        }
    }

    private static func measure(_ durability: Durability, _ how: String, bytesPerRead: Int, _ events: Int) throws {
        let bridge = try Latency.bridge(durability, linger: .seconds(10), bytesPerRead: bytesPerRead)
        defer { bridge.end() }
        try bridge.warmUp(wakes: 20, spacing: .milliseconds(5))
        let rates = try (0..<5).map { _ in Double(events) / (try bridge.flood(frames: events, burst: 256)).seconds }
        say(
            Table.row([
                "\(durability.rawValue), \(how)", Table.number(rates.max() ?? 0, 0),
                Table.number(Quantiles(rates).median, 0),
            ]))
    }

    /// Playing as fast as it goes, with a model handler and durability `ram`.
    static func measureReplay(events: Int) throws {
        let trace = Array(header.utf8) + Array(repeatElement(line.utf8, count: events).joined()) + Array("end\n".utf8)
        let (profiles, _) = ProfileFolder.load(ProfileFolder.shipped())
        let rates = try (0..<5).map { _ in
            var bytes = 0
            let replay = try VirtualReplay(TraceReader(bytes: trace), profiles: profiles)
            let start = SystemClock.monotonic()
            let outcome = try replay.play { bytes += $0.count }
            guard outcome.events == events + 1, bytes > events * 300 else { throw Failure("the replay lost events") }
            return Double(events) / (SystemClock.monotonic() - start).seconds
        }
        say("\nreplay --speed max without a handler, virtual events a second, \(events) events, best and median of 5")
        say(Table.row(["", "best", "median"]))
        say(Table.row(["replay", Table.number(rates.max() ?? 0, 0), Table.number(Quantiles(rates).median, 0)]))
    }

    private static let header = """
        wakebridge-trace 1
        clock 2026-11-21T07:42:46.727125Z
        device 1 bluetooth C0:F1:F2:F3:F4:01 alias="chest-strap" service=180d
        +0.000000 1 connect

        """
    private static let line = "+0.001000 1 data 2a37 163cf803\n"
}
