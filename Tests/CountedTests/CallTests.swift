// What a wake asks of the kernel, call by call: most of its processor time is the kernel's.
import BenchmarkProbe
import Glibc
import TestBench
import Testing
import WakeSystem

@Suite(
    "System calls a wake",
    .enabled(if: Machine.freezes, "SKIPPED: no cgroup of version 2 can be had, so that nobody is frozen"))
struct CallTests {
    /// Two more than were counted when this was written.
    private static let most = 32
    /// Fewer it cannot be: then they were not counted.
    private static let least = 10

    @Test("to wake a handler, hear its answer and freeze it takes no more system calls than it did")
    func counted() async throws {
        var least = Int.max
        // Where others have the processor a freeze comes late, and is looked for again.
        for _ in 0..<3 where least > Self.most {
            guard let each = try await each() else { return }
            print("a wake takes \(each) system calls")
            least = min(least, each)
        }
        #expect((Self.least...Self.most).contains(least))
    }

    private func each() async throws -> Int? {
        let (few, many) = (10, 50)
        guard let short = try await calls(waking: few), let long = try await calls(waking: many) else { return nil }
        return (long - short) / (many - few)
    }

    /// Of a replay from before its first beat on, which comes when all is quiet, to its end.
    private func calls(waking events: Int) async throws -> Int? {
        let folder = makeDirectory("/tmp/wakebridge-calls-XXXXXX")
        defer { Directory.removeTree(folder) }
        let (trace, log) = ("\(folder)/trace", "\(folder)/log")
        let beats = (0..<events).map { "\($0 == 0 ? "+3.000000" : "+0.050000") 1 data 2a37 163cf803\n" }
        put(Self.header + beats.joined() + "end\n", at: trace)
        let replay = try Child([
            "env", "WAKEBRIDGE_DEVICES=\(packageFolder)/Devices", Built.tool, "replay", trace, "--", Built.fixture,
            "--log",
            log,
        ])
        try #require(try await wait(30) { TestBench.lines(of: log).count == 1 }, "the handler hears the connect")
        usleep(500_000)
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
