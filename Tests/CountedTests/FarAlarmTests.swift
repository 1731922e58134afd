// Twelve thousand eight hundred alarms that are far away: they wake nothing, and make a device's wake no dearer.
import Glibc
import TestBench
import Testing
import WakeSystem

@Suite(
    "Alarms that are far away", .serialized, .tags(.fullScale), .timeLimit(.minutes(15)),
    .enabled(if: Machine.freezes, "SKIPPED: no cgroup of version 2 can be had, so that no handler is frozen"))
struct FarAlarmTests {
    @Test("12,800 alarms that are days away wake the daemon no more often in a minute than none do")
    func sleeps() async throws {
        // The one that reads the alarms starts first, however long that takes: the later a start, the more often the clock is looked at.
        let with = try AlarmFleet(alarms: AlarmFleet.alarms, beats: 0)
        try await with.awaitReady()
        let without = try AlarmFleet(alarms: 0, beats: 0)
        try await without.awaitReady()
        try await RealTime.pass(5)
        let before = (without.wakeUps, with.wakeUps)
        try await RealTime.pass(60)
        let (quiet, found) = (without.wakeUps - before.0, with.wakeUps - before.1)
        print(
            "in 60 s a daemon wakes \(quiet) times without alarms and \(found) times with \(AlarmFleet.allAlarms)"
        )
        // Where no program keeps the clock, that is looked for, with alarms and without.
        #expect(found <= quiet + 1, "\(with.log)")
    }

    @Test(
        "a device's wake takes no more than a twentieth more instructions where 12,800 alarms are days away",
        .enabled(unless: EventCount.hindrance))
    func instructions() async throws {
        // valgrind reads no debug information of this size.
        let folder = makeDirectory("/tmp/wakebridge-fleet-XXXXXX")
        defer { Directory.removeTree(folder) }
        let program = "\(folder)/wakebridged"
        try #require(try Child(["objcopy", "--strip-debug", Built.daemon, program]).finish().exit == 0)
        async let first = instructionsPerWake(of: program, alarms: 0, beats: 30)
        async let second = instructionsPerWake(of: program, alarms: AlarmFleet.alarms, beats: 30)
        let (without, with) = (try await first, try await second)
        print(
            "a wake takes \(without) instructions without alarms and \(with) with \(AlarmFleet.allAlarms)")
        #expect(with * 100 <= without * 105)
    }

    /// From the connect, which comes before, to the last beat, counted by callgrind. Beats are so far apart that each is a wake of
    /// its own on a busy machine too. Below valgrind the daemon can start no process in a cgroup, and looks for a handler's in
    /// all of /proc: that is left out.
    private func instructionsPerWake(of program: String, alarms: Int, beats: Int) async throws -> Int {
        let counts = "\(program).\(alarms)"
        let fleet = try AlarmFleet(
            alarms: alarms, beats: beats, first: "+60", spacing: "+2",
            program: "valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=\(counts)"
                + " --toggle-collect='*12ProcessGroupC9processes*' \(program)")
        try await fleet.awaitReady(within: 300)
        try #require(try await wait(60) { lines(of: fleet.heard).count >= 1 }, "the handler hears the connect")
        try #require(try Child(["callgrind_control", "-i", "on", "\(fleet.process)"]).finish().exit == 0)
        try #require(lines(of: fleet.heard).count == 1, "it counts from before the first beat")
        try #require(try await wait(300) { lines(of: fleet.heard).count == beats + 1 }, "\(fleet.log)")
        try #require(try Child(["callgrind_control", "-i", "off", "\(fleet.process)"]).finish().exit == 0)
        fleet.end(within: 120)
        let totals = lines(of: counts).last { $0.hasPrefix("totals: ") }?.split(separator: " ").last
        let count = try #require(totals.flatMap { Int($0) }, "callgrind counted nothing: \(fleet.log)")
        return count / beats
    }
}
