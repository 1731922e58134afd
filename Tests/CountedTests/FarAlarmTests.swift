// Twelve thousand eight hundred alarms that are far away: they wake nothing, and make a device's wake no dearer.
import BenchmarkProbe
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite(
    "Alarms that are far away", .tags(.measures), .serialized, .timeLimit(.minutes(10)),
    .enabled(if: Machine.freezes, "SKIPPED: no cgroup of version 2 can be had, so that no handler is frozen"))
struct FarAlarmTests {
    private static let (handlers, alarms) = (100, 128)

    /// A daemon with a hundred handlers, of which the first is woken by the strap.
    private final class Fleet {
        let folder = makeDirectory("/tmp/wakebridge-fleet-XXXXXX")
        private(set) var child: Child?
        var log: String { text(of: "\(folder)/log") }
        var heard: String { "\(folder)/heard" }

        /// - Parameter program: what runs as the daemon, below a shell.
        init(
            alarms: Int, beats: Int, first: String = "+4.000000", spacing: String = "+0.050000",
            program: String = "'\(Built.daemon)'"
        ) throws {
            for name in ["config", "config/handlers.d"] { try Directory.create("\(folder)/\(name)") }
            let lines = (0..<beats).map { "\($0 == 0 ? first : spacing) 1 data 2a37 163cf803\n" }
            put(Self.header + lines.joined() + "end\n", at: "\(folder)/trace")
            for number in 0..<FarAlarmTests.handlers { manifest(number, alarms) }
            let daemon =
                "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent WAKEBRIDGE_DEVICES='\(packageFolder)/Devices' exec \(program) --no-bluetooth"
                + " --config \(folder)/config --state \(folder)/state --runtime \(folder)/run"
            let replay = beats > 0 ? " --replay \(folder)/trace" : ""
            child = try Child(["sh", "-c", "\(daemon)\(replay) 2>>\(folder)/log"])
        }

        deinit {
            end(within: 20)
            Directory.removeTree(folder)
        }

        func end(within seconds: Int64) {
            guard let child else { return }
            kill(child.process, SIGTERM)
            _ = child.finish(within: seconds)
            self.child = nil
        }

        var process: pid_t { child?.process ?? -1 }

        /// Days and months away, some by the calendar and some by real time.
        private func manifest(_ number: Int, _ count: Int) {
            var now = time(nil) + 12 * 3_600
            var noon = tm()
            localtime_r(&now, &noon)
            let hour = noon.tm_hour < 10 ? "0\(noon.tm_hour)" : "\(noon.tm_hour)"
            let alarms = (0..<count).map { place in
                place % 2 == 0
                    ? "{ id: \"a\(place)\", daily: [\"\(hour):\(place < 60 ? 10 + place / 2 : 40)\"] }"
                    : "{ id: \"a\(place)\", every: \"\(30 + place)d\" }"
            }
            let watch = "modes: [\"bluetooth-central\"], watch: [{ profile: \"heart-rate-monitor\" }]"
            let user = geteuid() == 0 ? "user: \"root\", " : ""
            put(
                """
                { exec: ["\(Built.fixture)", "--log", "\(heard)"], \(user)\(number == 0 ? watch + "," : "")
                  alarms: [\(alarms.joined(separator: ", "))] }
                """, at: "\(folder)/config/handlers.d/h\(number).json5")
        }

        func awaitReady(within seconds: Double = 60) async throws {
            try #require(try await wait(seconds) { log.contains("ready: ") }, "\(log)")
        }

        private static let header = """
            wakebridge-trace 1
            clock 2026-11-21T07:42:46.727125Z
            device 1 bluetooth C0:F1:F2:F3:F4:01 alias="chest-strap" service=180d
            +0.000000 1 connect

            """

        /// How often its threads gave the processor back after they had been woken.
        var wakeUps: Int {
            names(in: "/proc/\(process)/task").reduce(0) { sum, task in
                let line = lines(of: "/proc/\(process)/task/\(task)/status").first {
                    $0.hasPrefix("voluntary_ctxt_switches")
                }
                return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
            }
        }
    }

    @Test("12,800 alarms that are days away wake the daemon not once in a minute")
    func sleeps() async throws {
        let (without, with) = (try Fleet(alarms: 0, beats: 0), try Fleet(alarms: Self.alarms, beats: 0))
        for fleet in [without, with] { try await fleet.awaitReady() }
        try await pause(5)
        let before = (without.wakeUps, with.wakeUps)
        try await pause(60)
        let (quiet, found) = (without.wakeUps - before.0, with.wakeUps - before.1)
        print(
            "in 60 s a daemon wakes \(quiet) times without alarms and \(found) times with \(Self.handlers * Self.alarms)"
        )
        // Where no program keeps the clock, that is looked for, with alarms and without.
        #expect(found == 0 || (!SystemClock.isSynchronized && found <= quiet + 1), "\(with.log)")
    }

    @Test("a device's wake takes no more system calls where 12,800 alarms are days away")
    func calls() async throws {
        // A freeze that comes late is looked for again, so the least counts.
        var least = (without: Double.infinity, with: Double.infinity)
        var tries = 0
        repeat {
            tries += 1
            guard let without = try await callsPerWake(alarms: 0),
                let with = try await callsPerWake(alarms: Self.alarms)
            else { return print("SKIPPED: this process may not trace another") }
            least = (min(least.without, without), min(least.with, with))
        } while tries < 8 && least.with > least.without * 1.05
        print(
            "a wake takes \(least.without) system calls without alarms and \(least.with) with \(Self.handlers * Self.alarms)"
        )
        #expect(least.with <= least.without * 1.05)
    }

    private func callsPerWake(alarms: Int) async throws -> Double? {
        guard let few = try await calls(alarms, beats: 20), let many = try await calls(alarms, beats: 100) else {
            return nil
        }
        return Double(many - few) / 80
    }

    /// From before the first beat to the daemon's end.
    private func calls(_ alarms: Int, beats: Int) async throws -> Int? {
        let fleet = try Fleet(alarms: alarms, beats: beats)
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

    @Test(
        "a device's wake takes no more than a twentieth more instructions where 12,800 alarms are days away",
        .enabled(if: EventCount.hindrance == nil, Comment(rawValue: EventCount.hindrance ?? "")))
    func instructions() async throws {
        // valgrind reads no debug information of this size.
        let folder = makeDirectory("/tmp/wakebridge-fleet-XXXXXX")
        defer { Directory.removeTree(folder) }
        let program = "\(folder)/wakebridged"
        try #require(try Child(["objcopy", "--strip-debug", Built.daemon, program]).finish().exit == 0)
        async let first = instructionsPerWake(of: program, alarms: 0, beats: 60)
        async let second = instructionsPerWake(of: program, alarms: Self.alarms, beats: 60)
        let (without, with) = (try await first, try await second)
        print(
            "a wake takes \(without) instructions without alarms and \(with) with \(Self.handlers * Self.alarms)")
        #expect(with * 100 <= without * 105)
    }

    /// From the connect, which comes before, to the last beat, counted by callgrind: a neighbour's load changes nothing of it.
    private func instructionsPerWake(of program: String, alarms: Int, beats: Int) async throws -> Int {
        let counts = "\(program).\(alarms)"
        let fleet = try Fleet(
            alarms: alarms, beats: beats, first: "+15", spacing: "+0.5",
            program: "valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=\(counts) \(program)")
        try await fleet.awaitReady(within: 300)
        try #require(try await wait(60) { lines(of: fleet.heard).count >= 1 }, "the handler hears the connect")
        try #require(try Child(["callgrind_control", "-i", "on", "\(fleet.process)"]).finish().exit == 0)
        try #require(try await wait(240) { lines(of: fleet.heard).count == beats + 1 }, "\(fleet.log)")
        try #require(try Child(["callgrind_control", "-i", "off", "\(fleet.process)"]).finish().exit == 0)
        fleet.end(within: 120)
        let totals = lines(of: counts).last { $0.hasPrefix("totals: ") }?.split(separator: " ").last
        let count = try #require(totals.flatMap { Int($0) }, "callgrind counted nothing: \(fleet.log)")
        return count / beats
    }
}
