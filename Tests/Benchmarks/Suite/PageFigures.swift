// What open pages cost a wake: one daemon, a scripted strap, and pages that open and close again by turns.
import BenchmarkReport
import Glibc
import WakeModel
import WakeSystem

struct PageFigures {
    let rounds: Int

    private static let pages = 10

    func measure() throws -> Suite.Findings {
        let bench = try PageBench()
        defer { bench.end() }
        try bench.warmUp()
        var sections: [Section] = []
        for (spacing, wakes) in [(TimeSpan.milliseconds(20), 50), (.milliseconds(200), 10)] {
            sections.append(try compare(bench, spacing, wakes))
        }
        return Suite.Findings(sections: sections)
    }

    /// Of two rounds that belong together, each kind is the first as often.
    private func compare(_ bench: PageBench, _ spacing: TimeSpan, _ wakes: Int) throws -> Section {
        var (open, closed): ([[Double]], [[Double]]) = ([], [])
        for round in 0..<rounds {
            for isOpen in round % 2 == 0 ? [true, false] : [false, true] {
                let visitors = try isOpen ? bench.open(Self.pages) : nil
                let latencies = try bench.round(wakes: wakes, spacing: spacing)
                visitors?.leave()
                if isOpen { open.append(latencies) } else { closed.append(latencies) }
            }
        }
        return Section(
            "pages: notifications, \(spacing.wholeMilliseconds) ms apart",
            method: """
                from just before a scripted bluetoothd sends a signal to the read of a frozen handler; \(rounds) rounds of \
                \(wakes) with \(Self.pages) pages open, which get every event, and as many with none; ratios by round
                """,
            [
                .sampled("no page", .microseconds, closed),
                .sampled("\(Self.pages) pages", .microseconds, open),
                .ratio("\(Self.pages) pages / none", of: open, to: closed, goal: .atMost(1.1)),
            ])
    }
}

/// A daemon with a page, and a strap that speaks when it is told to.
private final class PageBench {
    private let stage: BluetoothStage
    private let folder: DaemonFolder
    private let board: Board
    private var daemon: RunningDaemon?
    private var number = 0
    private var site: PageSite?

    init() throws {
        stage = try BluetoothStage()
        let watch = #"{ profile: "heart-rate-monitor" }"#
        folder = try DaemonFolder(watching: [watch], timers: #"timers: { linger: "0ms" }"#)
        board = try Board(at: folder.board(1))
        do {
            try File.replace(folder.path + "/etc/wakebridge.json5", with: Array(PageSite.settings.utf8))
            daemon = try RunningDaemon(folder, environment: stage.environment)
            try stage.await("listeners", 1)
            site = try PageSite(of: folder)
        } catch {
            end()
            throw error
        }
    }

    func open(_ count: Int) throws -> PageVisitors? {
        try site.map { try PageVisitors(count, of: $0, in: folder.path) }
    }

    func warmUp() throws {
        _ = try round(wakes: 20, spacing: .milliseconds(20), patience: .seconds(20))
        _ = try round(wakes: 5, spacing: .milliseconds(200))
    }

    /// In microseconds.
    func round(wakes: Int, spacing: TimeSpan, patience: TimeSpan = .seconds(10)) throws -> [Double] {
        try (0..<wakes).map { _ in
            let reads = board.reads
            number = number % 0xffff + 1
            let start = Instant(nanoseconds: try stage.tell("beat \(number)"))
            RealTime.reach(start + spacing)
            guard RealTime.wait(patience, every: .microseconds(500), until: { board.reads > reads }) else {
                throw Failure("the handler has not had a notification within \(patience.seconds) s")
            }
            return Double(board.readAt - start.nanoseconds) / 1000
        }
    }

    func end() {
        daemon?.end()
        stage.end()
        folder.remove()
    }
}
