// What a wake asks of the kernel, call by call: most of its processor time is the kernel's.
import BenchmarkProbe
import Glibc
import TestBench
import Testing
import WakeSystem

@Suite(
    "System calls a wake", .tags(.measures),
    .enabled(if: Machine.freezes, "SKIPPED: no cgroup of version 2 can be had, so that no handler is frozen"))
struct CallTests {
    /// Few beats and many, so that what is done once drops out; how many calls each takes may be one or two more than were counted
    /// when this was written. Fewer than the least it cannot take: then they were not counted.
    struct Beats {
        let what: String
        /// As a trace writes it, in seconds.
        let spacing: String
        let numbers: (few: Int, many: Int)
        let calls: ClosedRange<Int>

        /// Further apart than a handler lingers.
        static let apart = Beats(
            what: "a wake", spacing: "+0.050000", numbers: (10, 50), calls: 10...32)
        static let close = Beats(
            what: "an event beside others", spacing: "+0.002000", numbers: (50, 250), calls: 5...10)
    }

    @Test("to wake a handler, hear its answer and freeze it takes no more system calls than it did")
    func wake() async throws { try await expectFew(.apart) }

    @Test("an event for a handler that is awake takes no more system calls than it did")
    func awake() async throws { try await expectFew(.close) }

    private func expectFew(_ beats: Beats) async throws {
        var counted: [Int] = []
        // Where others have the processor a freeze comes late, and is looked for again.
        while counted.count < 3, !counted.contains(where: beats.calls.contains) {
            let (few, many) = beats.numbers
            guard let short = try await calls(few, of: beats), let long = try await calls(many, of: beats) else {
                return
            }
            counted.append((long - short) / (many - few))
        }
        print("\(beats.what) takes \(counted.last ?? 0) system calls")
        #expect(counted.contains { beats.calls.contains($0) }, "counted \(counted)")
    }

    /// Of a replay from before its first beat on, which comes when all is quiet, to its end.
    private func calls(_ events: Int, of beats: Beats) async throws -> Int? {
        let folder = makeDirectory("/tmp/wakebridge-calls-XXXXXX")
        defer { Directory.removeTree(folder) }
        let (trace, log) = ("\(folder)/trace", "\(folder)/log")
        let lines = (0..<events).map { "\($0 == 0 ? "+3.000000" : beats.spacing) 1 data 2a37 163cf803\n" }
        put(Self.header + lines.joined() + "end\n", at: trace)
        let replay = try Child([
            "env", "WAKEBRIDGE_DEVICES=\(packageFolder)/Devices", Built.tool, "replay", trace, "--", Built.fixture,
            "--log",
            log,
        ])
        try #require(try await wait(30) { TestBench.lines(of: log).count == 1 }, "the handler hears the connect")
        let tree = "\(Machine.cgroup ?? "")/wakebridge-replay-\(replay.process)"
        let isQuiet = Patience.wait {
            names(in: tree).contains { TestBench.lines(of: "\(tree)/\($0)/cgroup.events").contains("frozen 1") }
                && processState(replay.process) == "S"
        }
        try #require(isQuiet, "the handler is frozen")
        // It is waited for without a limit.
        let patience = try Child(["python3", "-c", "import os, time; time.sleep(60); os.kill(\(replay.process), 9)"])
        let count = benchmark_count_calls(replay.process)
        kill(patience.process, SIGKILL)
        guard count != -Int64(EPERM) else {
            kill(replay.process, SIGKILL)
            print("SKIPPED: this process may not trace another")
            return nil
        }
        try #require(count > 0, "\(String(cString: strerror(Int32(-count))))")
        let ended = replay.finish(within: 60)
        #expect(ended.exit == 0, "\(ended.talk)")
        #expect(TestBench.lines(of: log).count == events + 1, "each came, after the connect")
        return Int(count)
    }

    private static let header = """
        wakebridge-trace 1
        clock 2026-11-21T07:42:46.727125Z
        device 1 bluetooth C0:F1:F2:F3:F4:01 alias="chest-strap" service=180d
        +0.000000 1 connect

        """
}
