// What a notification costs on the processor of this machine: a handler of ours that is frozen, and bleak's callback in
// a program that never sleeps, are told by one and the same signal of a scripted bluetoothd.
import BenchmarkReport
import Glibc
import WakeModel
import WakeSystem

struct BluetoothFigures {
    let rounds: Int

    func measure() throws -> Suite.Findings {
        var (fast, slow) = (Duel(.milliseconds(20), wakes: 50), Duel(.milliseconds(200), wakes: 10))
        // The bus tells those first who came first: each is that in half of the rounds.
        for isOursFirst in [true, false] {
            let pair = try BluetoothPair(isOursFirst: isOursFirst)
            defer { pair.end() }
            try pair.warmUp()
            for _ in 0..<(rounds + 1) / 2 {
                try fast.play(pair)
                try slow.play(pair)
            }
        }
        return Suite.Findings(sections: [fast.section, slow.section])
    }
}

/// All rounds of one pace.
private struct Duel {
    private let spacing: TimeSpan
    private let wakes: Int
    private var rounds: [BluetoothPair.Round] = []

    init(_ spacing: TimeSpan, wakes: Int) { (self.spacing, self.wakes) = (spacing, wakes) }

    mutating func play(_ pair: BluetoothPair) throws {
        rounds.append(try pair.round(wakes: wakes, spacing: spacing))
    }

    var section: Section {
        let (ours, theirs) = (rounds.map(\.ours), rounds.map(\.theirs))
        let frozen = rounds.reduce(0) { $0 + $1.frozen }
        let note = "the handler was frozen before \(frozen) of \(rounds.count * wakes) notifications"
        let method = """
            from just before a scripted bluetoothd sends a signal to the handler's read and to bleak's callback, both \
            told by that one signal; \(rounds.count) rounds of \(wakes), half of them with each of the two first on \
            the bus; ratios by round
            """
        return Section(
            "bluetooth: notifications beside bleak, \(spacing.wholeMilliseconds) ms apart", method: method,
            [
                .sampled("wakebridged to a frozen handler", .microseconds, ours.map(\.latencies), note: note),
                .sampled("bleak's callback, always awake", .microseconds, theirs.map(\.latencies)),
                .ratio(
                    "ours / bleak", of: ours.map(\.latencies), to: theirs.map(\.latencies), goal: .atMost(0.75)),
                .ratio(
                    "ours / bleak, p99 to p99", of: ours.map(\.latencies), to: theirs.map(\.latencies), at: .p99),
                .valued("processor time a notification, wakebridged", .microseconds, ours.map(\.cost)),
                .valued("processor time a notification, bleak", .microseconds, theirs.map(\.cost)),
                .ratio(
                    "processor time, ours / bleak", of: ours.map { [$0.cost] }, to: theirs.map { [$0.cost] },
                    goal: .atMost(0.25)),
            ])
    }
}

/// Ours and bleak, listening to one strap.
private final class BluetoothPair {
    /// One of the two in one round, in microseconds.
    struct Half {
        var latencies: [Double] = []
        /// Processor time a notification.
        var cost = 0.0
    }

    struct Round {
        var ours = Half()
        var theirs = Half()
        var frozen = 0
    }

    private let stage: BluetoothStage
    private let folder: DaemonFolder
    private var daemon: RunningDaemon?
    private var bleak: Listener?
    private let board: Board
    private var number = 0

    init(isOursFirst: Bool) throws {
        stage = try BluetoothStage()
        let watch = #"{ profile: "heart-rate-monitor" }"#
        folder = try DaemonFolder(watching: [watch], timers: #"timers: { linger: "0ms" }"#)
        board = try Board(at: folder.board(1))
        do {
            if !isOursFirst { try startBleak(1) }
            daemon = try RunningDaemon(folder, environment: stage.environment)
            try stage.await("listeners", isOursFirst ? 1 : 2)
            if isOursFirst { try startBleak(2) }
        } catch {
            end()
            throw error
        }
    }

    private func startBleak(_ count: Int64) throws {
        bleak = try stage.invite("bleak_client.py", [BluetoothStage.strap.address, BluetoothStage.strap.path])
        try stage.await("listeners", count)
    }

    /// The handler is launched with the first of them.
    func warmUp() throws {
        _ = try round(wakes: 20, spacing: .milliseconds(20), patience: .seconds(20))
        _ = try round(wakes: 5, spacing: .milliseconds(200))
    }

    func round(wakes: Int, spacing: TimeSpan, patience: TimeSpan = .seconds(10)) throws -> Round {
        guard let bleak, let daemon else { return Round() }
        var round = Round()
        let before = (Program.processorTime(of: daemon.pid), Program.processorTime(of: bleak.pid))
        for _ in 0..<wakes { try wake(bleak.board, &round, spacing, patience) }
        // The last freeze belongs to it.
        RealTime.pass(.milliseconds(20))
        let after = (Program.processorTime(of: daemon.pid), Program.processorTime(of: bleak.pid))
        round.ours.cost = Double((after.0 - before.0).nanoseconds) / 1000 / Double(wakes)
        round.theirs.cost = Double((after.1 - before.1).nanoseconds) / 1000 / Double(wakes)
        return round
    }

    private func wake(_ theirs: Board, _ round: inout Round, _ spacing: TimeSpan, _ patience: TimeSpan) throws {
        let (reads, resumed, calls) = (board.reads, board.resumed, theirs.reads)
        number = number % 0xffff + 1
        let start = Instant(nanoseconds: try stage.tell("beat \(number)"))
        RealTime.reach(start + spacing)
        let isTold = RealTime.wait(patience, every: .microseconds(500)) { board.reads > reads && theirs.reads > calls }
        guard isTold else {
            let who = board.reads == reads ? "our handler" : "bleak's callback"
            throw Failure("\(who) has not had a notification within \(patience.seconds) s")
        }
        round.ours.latencies.append(Double(board.readAt - start.nanoseconds) / 1000)
        round.theirs.latencies.append(Double(theirs.readAt - start.nanoseconds) / 1000)
        if board.resumed > resumed { round.frozen += 1 }
    }

    func end() {
        daemon?.end()
        stage.end()
        folder.remove()
    }
}
