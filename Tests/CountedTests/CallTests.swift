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
    /// Of each a tenth more than were counted when this was written.
    private static let most = 32

    @Test("to wake a handler, hear its answer and freeze it takes no more system calls than it did")
    func counted() throws {
        let (few, many) = (10, 50)
        guard let short = try calls(waking: few), let long = try calls(waking: many) else { return }
        let each = (long - short) / (many - few)
        print("a wake takes \(each) system calls")
        #expect(each <= Self.most)
    }

    /// Of a replay from before its first event on, which comes when all is quiet, to its end.
    private func calls(waking events: Int) throws -> Int? {
        let folder = makeDirectory("/tmp/wakebridge-calls-XXXXXX")
        defer { Directory.removeTree(folder) }
        let lines = (0..<events).map { "\($0 == 0 ? "+2.000000" : "+0.050000") 1 data 2a37 163cf803\n" }
        put(Self.header + lines.joined() + "end\n", at: "\(folder)/trace")
        let replay = try Child([
            "env", "WAKEBRIDGE_DEVICES=\(packageFolder)/Devices", Built.tool, "replay", "\(folder)/trace", "--",
            Built.fixture, "--log", "\(folder)/log",
        ])
        usleep(1_000_000)
        let count = benchmark_count_calls(replay.process)
        guard count != -Int64(EPERM) else {
            kill(replay.process, SIGKILL)
            print("SKIPPED: this process may not trace another")
            return nil
        }
        let ended = replay.finish(within: 60)
        #expect(ended.exit == 0, "\(ended.talk)")
        #expect(TestBench.lines(of: "\(folder)/log").count == events + 1, "each came, after the connect")
        return Int(count)
    }

    private static let header = """
        wakebridge-trace 1
        clock 2026-11-21T07:42:46.727125Z
        device 1 bluetooth C0:F1:F2:F3:F4:01 alias="chest-strap" service=180d
        +0.000000 1 connect

        """
}
