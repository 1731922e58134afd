// A real daemon in a real browser: the page lives, goes on after a restart, shows a gap, and costs nothing while it is hidden.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

/// The browser of Tests/Page, which Scripts/prepare-page.sh prepares.
private final class Watcher {
    private static let part = PreparedPart("page")
    private static let python = "\(part.folder)/venv/bin/python"
    static var hindrance: String? { part.hindrance(without: python, "\(part.folder)/venv/requirements.txt") }
    private let child: Child
    private let orders: FileDescriptor

    init(_ address: String, _ token: String) throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let theirs = FileDescriptor(owning: ends[0])
        orders = FileDescriptor(owning: ends[1])
        child = try Child([Self.python, "\(packageFolder)/Tests/Page/watch.py", address, token], input: theirs.raw)
    }

    /// Gives an order, and returns the line that answers it; the first line needs none.
    func answer(to order: String?, within seconds: Double) async throws -> String {
        let before = lines.count
        if let order { _ = try orders.write(Array("\(order)\n".utf8)) }
        _ = try await wait(seconds, every: 0.05) { self.lines.count > before || self.child.isOver }
        return lines.count > before ? lines[before] : "nothing: \(child.talk.suffix(2000))"
    }

    private var lines: [String] {
        _ = child.isOver
        return child.output.split(separator: "\n").map(String.init)
    }
}

@Suite(
    "The page of a real daemon", .serialized, .tags(.fullScale, .outside), .timeLimit(.minutes(10)),
    .enabled(unless: Watcher.hindrance))
struct BrowsedDaemonTests {
    private func serve() throws -> (daemon: RunningDaemon, address: String) {
        let port = try freePort()
        let daemon = try RunningDaemon.withStrap()
        try daemon.drop("hr", manifest("\(daemon.folder)/diary.py"))
        try daemon.write("{ web: { listen: \"127.0.0.1:\(port)\" } }", to: "config/wakebridge.json5")
        return (daemon, "http://127.0.0.1:\(port)/")
    }

    private func makeToken(_ daemon: RunningDaemon) throws -> String {
        try #require(try daemon.json("web", "--token", "page")["token"]?.string)
    }

    /// A strap of this hour, for a page shows what is 15 minutes old; it is out of reach once for two seconds.
    private func play(_ daemon: RunningDaemon) throws {
        let beats = (0..<600).map { beat in
            let away = beat == 20 ? "+0.1 1 disconnect reason=timeout\n+2 1 connect\n" : ""
            return "\(away)+1 1 data 2a37 00\(String(48 + beat % 40, radix: 16))\n"
        }
        let header = "wakebridge-trace 1\nclock \(SystemClock.wall().rfc3339)\n"
        let device = "device 1 bluetooth C0:F1:F2:F3:F4:01 alias=\"strap\" service=180d\n+0 1 connect\n"
        try daemon.write(header + device + beats.joined() + "end\n", to: "strap.trace")
        try daemon.start("--replay", daemon.folder + "/strap.trace")
    }

    @Test("a strap is seen beating for a minute, with the gap while it was away, and goes on after the daemon restarts")
    func lives() async throws {
        let (daemon, address) = try serve()
        try play(daemon)
        let watcher = try Watcher(address, try makeToken(daemon))
        let loaded = try await watcher.answer(to: nil, within: 60)
        print("page: \(loaded)")
        try #require(loaded.hasPrefix("loaded "), "\(loaded)")
        let live = try await watcher.answer(to: "live 60", within: 130)
        print("page: \(live)")
        #expect(live.hasPrefix("live 60 beats, each after the one before; it shows "), "\(live)")
        let gap = try await watcher.answer(to: "gap", within: 70)
        print("page: \(gap)")
        #expect(
            gap.hasPrefix("gap not connected for ") && gap.contains("timeout")
                && gap.hasSuffix("; each cause is shaded"))
        try daemon.stop()
        try play(daemon)
        let again = try await watcher.answer(to: "again", within: 70)
        #expect(again.hasPrefix("again "), "\(again)")
    }

    @Test(
        "a page that is hidden, and one that is closed, wakes the daemon not once in a minute",
        arguments: ["hide", "close"])
    func costsNothing(order: String) async throws {
        let (daemon, address) = try serve()
        try daemon.start()
        let watcher = try Watcher(address, try makeToken(daemon))
        _ = try await watcher.answer(to: nil, within: 60)
        #expect(try await watcher.answer(to: order, within: 30) == order)
        // Connections that a browser keeps for later end after half a minute.
        try await pause(45)
        var counts: [Int] = []
        // Where no program keeps the clock, that is looked for once a minute, with a page and without.
        let least = SystemClock.isSynchronized ? 0 : 1
        repeat {
            let before = wakeUps(of: daemon.process)
            try await pause(60)
            counts.append(wakeUps(of: daemon.process) - before)
            // The machine's other work may wake it: memory that runs short, and a wall clock that is set.
        } while counts.count < 3 && counts.last ?? .max > least
        print("in 60 s beside a page (\(order)) the daemon wakes \(counts) times")
        #expect(counts.last ?? .max <= least, "\(counts): \(daemon.log)")
    }

    /// How often its threads gave the processor back after they had been woken.
    private func wakeUps(of process: pid_t) -> Int {
        names(in: "/proc/\(process)/task").reduce(0) { sum, task in
            let line = lines(of: "/proc/\(process)/task/\(task)/status").first {
                $0.hasPrefix("voluntary_ctxt_switches")
            }
            return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
        }
    }
}
