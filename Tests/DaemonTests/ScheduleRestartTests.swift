// What is scheduled over the end of the daemon and of its process: what `restored` lists, what still comes, what was missed.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Schedules over a restart", .serialized, .timeLimit(.minutes(4)))
struct ScheduleRestartTests {
    /// - Parameter boots: the kernel's name for the boot is a file of the test's, so that the daemon can be made to boot anew.
    private func employed(_ agenda: String, words: [String] = [], boots: Bool = false) throws -> Planner {
        let planner = try Planner(isStepped: true)
        if boots {
            try name(boot: "11111111-0000-0000-0000-000000000001", of: planner)
            let boot = "mount --bind '\(planner.daemon.folder)/boot' /proc/sys/kernel/random/boot_id"
            planner.daemon.wrapper = ["unshare", "--mount", "sh", "-c", "\(boot) && exec \"$@\"", "sh"]
        }
        try planner.employ("one", agenda, words: words, more: "autostart: true")
        try planner.start()
        return planner
    }

    private func name(boot: String, of planner: Planner) throws { try planner.daemon.write(boot + "\n", to: "boot") }

    private func ids(_ entries: [JSONValue]) -> [String] { entries.compactMap { $0["id"]?.string }.sorted() }

    @Test("restored lists what is pending, each with its due time and what it waits for, after a kill -9 too")
    func restored() throws {
        let planner = try employed(
            """
            alarms: [{ id: "fixed", every: "1h" }], poll: { min_interval: "1h", require: [] },
            jobs: [{ id: "backup", kind: "processing" }, { id: "idle", kind: "processing" }]
            """)
        #expect(try planner.ask("one", "{\"alarm\":{\"id\":\"tea\",\"in_s\":3600}}")["alarm"]?.string == "set")
        let submit = "{\"submit\":{\"job\":\"backup\",\"require\":[\"mount:/nonexistent\"],\"deadline_s\":7200}}"
        #expect(try planner.ask("one", submit)["submit"]?.string == "submitted")
        let before = try planner.pending("one")
        try planner.restart()
        let restored = try planner.await(2, "restored", of: "one")[1]
        let pending = try #require(restored.data["pending"]?.array)
        #expect(ids(pending) == ["backup", "fixed", "tea"], "and the poll, which has no id")
        #expect(pending.count == 4 && Set(pending.compactMap { $0["source"]?.string }) == ["alarm", "job", "poll"])
        let job = pending.first { $0["id"]?.string == "backup" }
        #expect(job?["waits_for"]?.array?.compactMap(\.string) == ["mount:/nonexistent"])
        for entry in pending {
            #expect(entry["due"]?.string != nil && entry["waits_for"]?.array?.isEmpty == false, "\(entry)")
        }
        func dues(_ entries: [JSONValue]) -> [Int64] {
            entries.compactMap { $0["due"]?.string.flatMap { WallTime(rfc3339: $0) } }.map {
                ($0.microseconds + 500_000) / 1_000_000
            }
        }
        #expect(zip(dues(before), dues(pending)).allSatisfy { abs($0 - $1) <= 1 }, "\(dues(before)), \(dues(pending))")
    }

    @Test("what was ordered before a kill -9 comes after it, at the time for which it was ordered")
    func comesAfter() throws {
        let planner = try employed("alarms: [], jobs: [{ id: \"j\", kind: \"refresh\" }]", words: ["ack"])
        let orderedAt = planner.daemon.now
        #expect(try planner.ask("one", "{\"alarm\":{\"id\":\"tea\",\"in_s\":6}}")["alarm"]?.string == "set")
        #expect(
            try planner.ask("one", "{\"submit\":{\"job\":\"j\",\"not_before_s\":6}}")["submit"]?.string == "submitted")
        try planner.restart()
        let fired = try planner.await(1, "alarm.fired", of: "one")[0]
        let due = try planner.await(1, "job.due", of: "one")[0]
        for line in [fired, due] { #expect(line.at - orderedAt >= 6 && line.attempt == 1) }
        #expect(fired.data["missed"]?.integer == 0)
    }

    @Test("an alarm that fell due while no daemon ran comes once after the start, and says how late it is")
    func missed() throws {
        let planner = try employed("alarms: []", words: ["ack"])
        #expect(try planner.ask("one", "{\"alarm\":{\"id\":\"tea\",\"in_s\":5}}")["alarm"]?.string == "set")
        try planner.daemon.stop(SIGKILL)
        try planner.daemon.advance(by: .seconds(8))
        try planner.start()
        let fired = try planner.await(1, "alarm.fired", of: "one")[0]
        #expect(fired.name == "tea" && (fired.data["late_s"]?.integer ?? 0) >= 2 && fired.data["missed"]?.integer == 0)
        // Otherwise it would rightly come again.
        try #require(planner.daemon.wait { (try? planner.daemon.handler("one")["open"]?.integer) == 0 })
        try planner.restart()
        try planner.await(3, "restored", of: "one")
        try planner.daemon.advance(by: .seconds(2))
        #expect(planner.heard("one", "alarm.fired").count == 1, "it came once")
    }

    @Test("what was in flight at a kill -9 comes again with the same number, and says so")
    func inFlight() throws {
        let planner = try employed("alarms: [], jobs: [{ id: \"j\", kind: \"processing\" }]")
        // A job that is open holds nothing else back.
        try planner.say("one", "{\"submit\":{\"job\":\"j\"}}")
        let job = try planner.await(1, "job.due", of: "one")[0]
        try planner.say("one", "{\"alarm\":{\"id\":\"tea\",\"in_s\":0.1}}")
        let alarm = try planner.await(1, "alarm.fired", of: "one")[0]
        try planner.restart()
        for (first, type) in [(alarm, "alarm.fired"), (job, "job.due")] {
            let again = try planner.await(2, type, of: "one")[1]
            #expect(again.sequence == first.sequence && again.attempt == 2 && again.isRedelivered)
            try planner.say("one", "{\"ack\":\(again.sequence ?? 0)}")
        }
        #expect(planner.daemon.wait { (try? planner.pending("one").isEmpty) == true })
    }

    @Test(
        "after a boot what was missed comes within thirty seconds, not all at once, and counts what it missed",
        .enabled(if: Machine.makesNamespaces, "needs root and namespaces"))
    func spread() throws {
        let planner = try employed("alarms: []", words: ["ack"], boots: true)
        let count = 24
        for number in 0..<count { try planner.say("one", "{\"alarm\":{\"id\":\"a\(number)\",\"in_s\":5}}") }
        try planner.await(count, "reply", of: "one")
        try planner.daemon.stop(SIGKILL)
        try planner.daemon.advance(by: .seconds(6))
        // What fired before the end came already.
        let before = planner.heard("one", "alarm.fired").count
        try name(boot: "22222222-0000-0000-0000-000000000002", of: planner)
        let bootedAt = planner.daemon.now
        try planner.start()
        let startedAt = planner.daemon.now
        let fired = try planner.await(count, "alarm.fired", of: "one", within: 60).dropFirst(before)
        let late = fired.map { $0.at - bootedAt }
        #expect(late.allSatisfy { $0 <= 30 + (startedAt - bootedAt) + 5 }, "\(late)")
        #expect(Set(late.map { Int($0) }).count >= 4, "they are spread over seconds: \(late)")
        #expect(Set(planner.heard("one", "alarm.fired").compactMap(\.name)).count == count)
    }
}
