// What it costs to hear some of many broadcasters: wakebridged and a scanner of bleak's, told by the same signals of a
// scripted bluetoothd.
import BenchmarkReport
import Glibc
import WakeModel
import WakeSystem

struct BroadcastFigures {
    /// Of usually 20: half a second for each, three times.
    let rounds: Int

    private static let (sensors, named, repeats) = (200, 20, 3)

    private struct Period {
        /// Percent of one core.
        var ours = 0.0
        var theirs = 0.0
        /// Each a second.
        var heard = 0.0
        var events = 0.0
        var wakes = 0.0
        var calls = 0.0
    }

    func measure() throws -> Suite.Findings {
        let stage = try BluetoothStage(sensors: Self.sensors)
        defer { stage.end() }
        let folder = try DaemonFolder(watching: [Self.watches])
        defer { folder.remove() }
        let board = try Board(at: folder.board(1))
        board.countEvents()
        let daemon = try RunningDaemon(folder, environment: stage.environment)
        defer { daemon.end() }
        let bleak = try stage.invite("bleak_scanner.py", (0..<Self.named).map(Self.address))
        try stage.await("scanners", 2)
        try stage.tell("broadcast")
        try awaitAll(board, bleak)
        let periods = try (0..<Self.repeats).map { _ in try period(stage, daemon, board, bleak) }
        return Suite.Findings(sections: [section(periods)])
    }

    /// Even ones are RuuviTags and odd ones speak BTHome, as Peers/bluetoothd.py has them.
    private static var watches: String {
        (0..<named).map { number in
            let profile = number % 2 == 0 ? "ruuvitag" : "bthome-sensor"
            let device = "/bluetooth/\(address(number))"
            return #"{ profile: "\#(profile)", device: "\#(device)", policy: "latest", max_latency: "5s" }"#
        }.joined(separator: ", ")
    }

    private static func address(_ number: Int) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return "C0:AA:00:00:00:" + (digits.count < 2 ? "0" : "") + digits
    }

    /// All are known, and the handler has had what is told of those that it watches.
    private func awaitAll(_ board: Board, _ bleak: Listener) throws {
        let areHeard = RealTime.wait(every: .milliseconds(50)) {
            board.reads >= 3 && bleak.board.reads >= UInt64(Self.named) * 3
        }
        guard areHeard else {
            throw Failure(
                board.reads < 3
                    ? "wakebridged told of no broadcast in 30 s: it may hear a radio of this machine instead"
                    : "bleak's scanner heard nothing in 30 s")
        }
        RealTime.pass(.seconds(5))
    }

    private func period(
        _ stage: BluetoothStage, _ daemon: RunningDaemon, _ board: Board, _ bleak: Listener
    ) throws -> Period {
        func look() throws -> [Double] {
            [
                Program.processorTime(of: daemon.pid).seconds * 100, Program.processorTime(of: bleak.pid).seconds * 100,
                Double(try stage.tell("heard")), Double(board.events), Double(board.resumed),
                Double(bleak.board.reads),
            ]
        }
        let (begun, before) = (SystemClock.monotonic(), try look())
        RealTime.pass(.milliseconds(Int64(rounds) * 500))
        let (time, after) = ((SystemClock.monotonic() - begun).seconds, try look())
        let rates = zip(after, before).map { ($0 - $1) / time }
        return Period(
            ours: rates[0], theirs: rates[1], heard: rates[2], events: rates[3], wakes: rates[4], calls: rates[5])
    }

    private func section(_ periods: [Period]) -> Section {
        let method = """
            \(Self.sensors) sensors broadcast once a second each, all changing; \(Self.named) of them are watched, \
            `latest` with a max_latency of 5 s; told by the bus to both; \(Self.repeats) times \(Double(rounds) / 2) s
            """
        return Section(
            "broadcasts: some of many", method: method,
            [
                .valued("processor time, wakebridged", .percent, periods.map(\.ours), note: "of one core"),
                .valued("processor time, bleak's scanner", .percent, periods.map(\.theirs), note: "of one core"),
                .ratio(
                    "processor time, ours / bleak", of: periods.map { [$0.ours] }, to: periods.map { [$0.theirs] },
                    goal: .atMost(0.25)),
                .valued("advertisements that both were told of", .eventsPerSecond, periods.map(\.heard)),
                .valued("events to the handler", .eventsPerSecond, periods.map(\.events)),
                .valued("wakes of the handler", .wakesPerSecond, periods.map(\.wakes)),
                .valued("calls of bleak's callback for those watched", .eventsPerSecond, periods.map(\.calls)),
            ])
    }
}
