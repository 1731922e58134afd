// What alarms that are far away add to the system calls of a device's wake: none.
import BenchmarkProbe
import Glibc
import TestBench
import Testing
import WakeSystem

@Suite(
    "System calls of a wake, beside alarms that are far away", .tags(.measures), .timeLimit(.minutes(15)),
    .enabled(if: Machine.freezes, "SKIPPED: no cgroup of version 2 can be had, so that no handler is frozen"))
struct FarAlarmCallTests {
    /// The least that a few beats and many were seen to take: a freeze that comes late is looked for again.
    private struct Least {
        var few = Int.max
        var many = Int.max
        var perWake: Double { Double(many - few) / 40 }
    }

    @Test("a device's wake takes no more system calls where 12,800 alarms are days away")
    func calls() async throws {
        var (without, with) = (Least(), Least())
        var tries = 0
        repeat {
            tries += 1
            guard try await count(0, &without), try await count(AlarmFleet.alarms, &with) else {
                return print("SKIPPED: this process may not trace another")
            }
        } while tries < 8 && with.perWake > without.perWake * 1.05
        print(
            "a wake takes \(without.perWake) system calls without alarms and \(with.perWake) with \(AlarmFleet.allAlarms)"
        )
        #expect(with.perWake <= without.perWake * 1.05)
    }

    private func count(_ alarms: Int, _ least: inout Least) async throws -> Bool {
        guard let few = try await calls(alarms, beats: 10), let many = try await calls(alarms, beats: 50) else {
            return false
        }
        least = Least(few: min(least.few, few), many: min(least.many, many))
        return true
    }

    /// From before the first beat to the daemon's end.
    private func calls(_ alarms: Int, beats: Int) async throws -> Int? {
        let fleet = try AlarmFleet(alarms: alarms, beats: beats)
        try await fleet.awaitReady()
        try #require(try await wait(30) { lines(of: fleet.heard).count >= 1 }, "the handler hears the connect")
        let ender = try Child([
            "sh", "-c",
            "for i in $(seq 600); do grep -q 'is played' \(fleet.folder)/log && break; sleep 0.1; done; sleep 1; kill \(fleet.process)",
        ])
        let count = benchmark_count_calls(fleet.process)
        _ = ender.finish(within: 5)
        guard count != -Int64(EPERM) else { return nil }
        try #require(count > 0, "\(String(cString: strerror(Int32(-count))))")
        #expect(lines(of: fleet.heard).count == beats + 1, "each came, after the connect")
        return Int(count)
    }
}
