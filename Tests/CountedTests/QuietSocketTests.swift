// A handler with eight open sockets that are silent: they wake the daemon not once.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite(
    "Sockets that are silent", .tags(.measures, .unhurried), .serialized, .timeLimit(.minutes(4)),
    .enabled(if: Machine.freezes, "SKIPPED: no cgroup of version 2 can be had, so that no handler is frozen"))
struct QuietSocketTests {
    @Test("eight open sockets of a frozen handler wake the daemon not once in a minute")
    func sleeps() async throws {
        let folder = makeDirectory("/tmp/wakebridge-quiet-XXXXXX")
        defer { Directory.removeTree(folder) }
        for name in ["config", "config/handlers.d"] { try Directory.create("\(folder)/\(name)") }
        let door = try NetworkSocket.listen(at: .anyPort)
        let port = try #require(NetworkSocket.ownEnd(of: door.raw)?.port)
        let outgoing = (0..<4).map { "{ name: \"out\($0)\", connect: \"tcp:127.0.0.1:\(port)\", keepalive: \"10m\" }" }
        let incoming = (0..<4).map { "{ name: \"in\($0)\", listen: \"unix:\(folder)/in\($0)\" }" }
        let user = geteuid() == 0 ? "user: \"root\", " : ""
        put(
            """
            { exec: ["\(Built.fixture)", "--log", "\(folder)/heard"], \(user)
              sockets: [\((outgoing + incoming).joined(separator: ", "))] }
            """, at: "\(folder)/config/handlers.d/quiet.json5")
        let daemon = try Child([
            "sh", "-c",
            "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent exec '\(Built.daemon)' --no-bluetooth --config \(folder)/config"
                + " --state \(folder)/state --runtime \(folder)/run 2>>\(folder)/log",
        ])
        defer {
            kill(daemon.process, SIGTERM)
            _ = daemon.finish(within: 20)
        }
        try #require(
            try await wait(30) { lines(of: "\(folder)/heard").count { $0.contains("socket.opened") } == 8 },
            "\(text(of: "\(folder)/log")) \(text(of: "\(folder)/heard"))")
        try await pause(5)
        let before = wakeUps(of: daemon.process)
        try await pause(60)
        let found = wakeUps(of: daemon.process) - before
        print("in 60 s a daemon with eight silent sockets wakes \(found) times")
        #expect(found == 0 || (!SystemClock.isSynchronized && found <= 2), "\(text(of: "\(folder)/log"))")
    }

    private func wakeUps(of process: pid_t) -> Int {
        names(in: "/proc/\(process)/task").reduce(0) { sum, task in
            let status = lines(of: "/proc/\(process)/task/\(task)/status")
            let line = status.first { $0.hasPrefix("voluntary_ctxt_switches") }
            return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
        }
    }
}
