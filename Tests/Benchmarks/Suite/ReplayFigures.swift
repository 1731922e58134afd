// Replays: how fast one plays as fast as it goes, and how exactly one keeps the times of its trace.
import BenchmarkReport
import WakeDaemon
import WakeEngine
import WakeModel
import WakeProfiles
import WakeSystem
import WakeTrace

struct ReplayFigures {
    let events: Int
    private static let rounds = 5
    private static let timed = 1_000

    func measure() throws -> Suite.Findings {
        let rates = try (0..<Self.rounds).map { _ in try rate() }
        let section = Section(
            "replay", method: "without a handler, of \(events) events; at 1x through wakebridged to a handler's read",
            [
                .valued("replay --speed max, ram", .eventsPerSecond, rates, goal: .atLeast(1_000_000)),
                .sampled("timing error at 1x", .milliseconds, [try errors()], goal: .atMost(1, at: .p99)),
            ])
        return Suite.Findings(sections: [section])
    }

    /// With a model handler and durability `ram`.
    private func rate() throws -> Double {
        let line = "+0.001000 1 data 2a37 163cf803\n"
        let trace =
            Array(Self.header.utf8) + Array(repeatElement(line.utf8, count: events).joined()) + Array("end\n".utf8)
        let (profiles, _) = ProfileFolder.load(ProfileFolder.shipped())
        var bytes = 0
        let replay = try VirtualReplay(TraceReader(bytes: trace), profiles: profiles)
        let start = SystemClock.monotonic()
        let outcome = try replay.play { bytes += $0.count }
        guard outcome.events == events + 1, bytes > events * 300 else { throw Failure("the replay lost events") }
        return Double(events) / (SystemClock.monotonic() - start).seconds
    }

    /// How much later than the earliest of all each event came, against the trace's times.
    private func errors() throws -> [Double] {
        let folder = try DaemonFolder(profiles: 1, handlers: 1)
        defer { folder.remove() }
        let (trace, offsets) = Self.timedTrace()
        try File.replace(folder.trace, with: Array(trace.utf8))
        let board = try Board(at: folder.board(1))
        let daemon = try RunningDaemon(folder, words: ["--replay", folder.trace])
        defer { daemon.end() }
        let last = try Self.last(of: Self.timed, on: board)
        let delays = offsets.enumerated().map { place, offset in
            board.stamp(last - UInt64(offsets.count - 1 - place)) - Instant(nanoseconds: offset.nanoseconds)
        }
        let least = delays.min() ?? .zero
        return delays.map { ($0 - least).seconds * 1000 }
    }

    /// The connect and all data; the numbers of a new journal begin at 1.
    private static func last(of count: Int, on board: Board) throws -> UInt64 {
        guard RealTime.wait(.seconds(60), every: .milliseconds(100), until: { board.sequence > UInt64(count) }) else {
            throw Failure("the trace was not played in 60 s")
        }
        return board.sequence
    }

    /// Times that fall into no step: 3 to 7 ms apart, after a second in which the handler is launched.
    private static func timedTrace() -> (text: String, offsets: [TimeSpan]) {
        var (text, offset) = (header, TimeSpan.zero)
        let offsets = (0..<timed).map { number in
            let step = number == 0 ? 1_000_000 : 3_000 + Int64(number * 2_711 % 4_001)
            let digits = String(1_000_000 + step % 1_000_000).dropFirst()
            text += "+\(step / 1_000_000).\(digits) 1 data 2a37 163cf803\n"
            offset = offset + .microseconds(step)
            return offset
        }
        return (text + "end\n", offsets)
    }

    private static let header = """
        wakebridge-trace 1
        clock 2026-11-21T07:42:46.727125Z
        device 1 bluetooth C0:F1:F2:F3:F4:01 alias="chest-strap" service=180d
        +0.000000 1 connect

        """
}
