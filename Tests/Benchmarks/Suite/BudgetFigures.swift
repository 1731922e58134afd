// How late a warning and a freeze come where 200 handlers run out of their budgets at once.
import BenchmarkProbe
import BenchmarkReport
import Glibc
import WakeModel
import WakeSystem

struct BudgetFigures {
    private static let handlers = 200
    private static let budget = TimeSpan.seconds(1)
    private static let warning = TimeSpan.milliseconds(300)
    private static let rounds = 3

    func measure() throws -> Suite.Findings {
        let rounds = try (0..<Self.rounds).map { _ in try round() }
        let method = """
            \(Self.handlers) handlers woken by one event acknowledge nothing; due is counted from the device's write; \
            seen by the handler's read, and by a process that watches cgroup.events
            """
        let section = Section(
            "budget: late by", method: method,
            [
                .sampled("expiring, read", .milliseconds, rounds.map(\.warnings), goal: .atMost(2, at: .p99)),
                .sampled("frozen", .milliseconds, rounds.map(\.freezes), goal: .atMost(2, at: .p99)),
            ])
        return Suite.Findings(sections: [section])
    }

    /// The first event is acknowledged, so that all are there and frozen; the second never.
    private func round() throws -> (warnings: [Double], freezes: [Double]) {
        let plan = BridgePlan(
            handlers: Self.handlers,
            timers: ", budget: \"\(Self.budget.wholeMilliseconds)ms\", warn: \"\(Self.warning.wholeMilliseconds)ms\", "
                + "grace: \"0s\"",
            answers: 1)
        let folder = try BridgeFolder(plan)
        let boards = try (0..<Self.handlers).map { try Board(at: folder.board($0)) }
        let subject = try Subject(
            "bridge", [try Program.own(), "bridge", folder.path], board: folder.board(0)
        ) { Directory.removeTree(folder.path) }
        defer { subject.end() }
        try subject.stimulate()
        try HandlerGroups.await(Self.handlers, frozenIn: folder.path + "/run")
        guard boards.allSatisfy({ $0.reads == 1 }) else { throw Failure("not every handler had the first event") }
        let start = try subject.stimulate()
        let frozen = try freezes(in: folder.path + "/run", after: start)
        return (
            try boards.map { board in
                guard let at = board.expiringAt else { throw Failure("not every handler was warned") }
                return (at - (start + (Self.budget - Self.warning))).seconds * 1000
            }, frozen.map { ($0 - (start + Self.budget)).seconds * 1000 }
        )
    }

    /// They are all awake before one looks.
    private func freezes(in runtimeDirectory: String, after start: Instant) throws -> [Instant] {
        sleep(until: start + TimeSpan(nanoseconds: Self.warning.nanoseconds / 2))
        let files = HandlerGroups(runtimeDirectory: runtimeDirectory).events.map { open($0, O_RDONLY | O_CLOEXEC) }
        defer { for file in files { close(file) } }
        var stamps = [Int64](repeating: 0, count: files.count)
        let seen = benchmark_watch_freezes(files, Int32(files.count), 5_000, &stamps)
        guard seen == Self.handlers else { throw Failure("\(seen) of \(Self.handlers) handlers were frozen in 5 s") }
        return stamps.filter { $0 > 0 }.map(Instant.init(nanoseconds:))
    }
}
