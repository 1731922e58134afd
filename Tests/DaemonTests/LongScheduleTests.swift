// The schedule over a minute: a period, a poll, and the time in which a long job may make no progress. All of it is one test,
// for which the minute passes once.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Schedules of a minute", .serialized, .timeLimit(.minutes(5)))
struct LongScheduleTests {
    private let planner: Planner

    init() throws { planner = try Planner(isStepped: true) }

    /// Orders a floor for which a poll is due long after it may ride along; returns the floor in seconds, and by CLOCK_BOOTTIME when
    /// the poll is due.
    private func orderPoll(of id: String) throws -> (floor: Int, due: Double) {
        let base = planner.daemon.now
        let wall = planner.daemon.wall.microseconds / 1_000
        // The first poll counts from when its manifest was read, which is not known here to the second.
        _ = try planner.ask(id, "{\"poll\":\"never\"}")
        func due(_ floor: Int) throws -> Double {
            _ = try planner.ask(id, "{\"poll\":{\"min_interval_s\":\(floor)}}")
            let entry = try #require(try planner.pending(id).first)
            let due = try #require(milliseconds(entry["due"]))
            return base + Double(due - wall) / 1_000
        }
        let first = try due(60)
        // The least with which it is due a step of the grid later, so that nearly a whole step lies between.
        var floor = max(60, Int(first - base))
        while try due(floor) == first { floor += 1 }
        return (floor, try due(floor))
    }

    @Test(
        "an alarm comes each minute, a poll when it is due, another rides along with an earlier wake, a job that makes progress goes on, and one that makes none is ended"
    )
    func minute() throws {
        try planner.employ(
            "beat", "alarms: [{ id: \"beat\", every: \"1m\", phase: \"1s\" }]", words: ["ack"], linger: "20ms")
        try planner.employ("mail", "poll: { min_interval: \"1m\", require: [] }", words: ["ack"], linger: "20ms")
        try planner.employ("rider", "poll: { require: [] }, alarms: []", words: ["ack"], more: "autostart: true")
        let work = "jobs: [{ id: \"job\", kind: \"processing\" }]"
        for id in ["diligent", "stalled"] { try planner.employ(id, work, more: "autostart: true") }
        let begun = planner.daemon.now
        try planner.start()
        for id in ["diligent", "stalled"] { try planner.say(id, "{\"submit\":{\"job\":\"job\"}}") }
        let diligent = try planner.await(1, "job.due", of: "diligent")[0]
        let stalled = try planner.await(1, "job.due", of: "stalled")[0]
        let (floor, due) = try orderPoll(of: "rider")
        #expect(due - begun - Double(floor) >= 10, "\(floor) s and \(due - begun) s lie far apart")

        try advance(diligent)
        try expectEnd(of: stalled)
        try expectPeriod(since: begun)
        try expectPoll(since: begun)
        try expectRide(since: begun, floor: floor, due: due)
    }

    /// 35 s of work, which is longer than the 30 s of content.
    private func advance(_ job: HeardLine) throws {
        for done in 1...7 {
            try planner.daemon.advance(by: .seconds(5))
            try planner.say("diligent", "{\"progress\":\(job.sequence ?? 0),\"done\":\(done),\"total\":7}")
        }
        #expect(try planner.daemon.handler("diligent")["state"]?.string == "active")
        #expect(planner.heard("diligent", "expiring").isEmpty)
        try planner.say("diligent", "{\"ack\":\(job.sequence ?? 0)}")
        #expect(planner.daemon.wait { (try? planner.pending("diligent").isEmpty) == true })
        #expect(planner.heard("diligent", "job.due").count == 1)
    }

    private func expectEnd(of job: HeardLine) throws {
        let warning = try planner.await(1, "expiring", of: "stalled", within: 90)[0]
        #expect(warning.data["reason"]?.string == "stalled" && warning.at - job.at >= 55)
        let again = try planner.await(2, "job.due", of: "stalled", within: 60)[1]
        #expect(again.at - job.at >= 60 && again.sequence == job.sequence && again.attempt == 2)
        #expect(again.process != job.process, "its process was ended")
        try planner.say("stalled", "{\"ack\":\(again.sequence ?? 0)}")
    }

    private func expectPeriod(since begun: Double) throws {
        let fired = try planner.await(2, "alarm.fired", of: "beat", within: 90)
        let due = fired.compactMap { milliseconds($0.data["due"]) }
        #expect(due.count >= 2 && abs(due[1] - due[0] - 60_000) <= 50, "\(due)")
        #expect(fired.allSatisfy { $0.data["missed"]?.integer == 0 })
        #expect(fired[0].at - begun >= 1)
    }

    /// An interval after the manifest was read, and no more than the grid's 16 s later.
    private func expectPoll(since begun: Double) throws {
        let poll = try planner.await(1, "poll.due", of: "mail", within: 90)[0]
        #expect(
            poll.at - begun >= 60 && poll.data["interval_s"]?.integer == 60 && poll.line["budgetms"]?.integer == 30_000)
    }

    /// The floor counts from when the manifest was read, which is after `begun`; the rider is awake, so it need not wait until `due`.
    private func expectRide(since begun: Double, floor: Int, due: Double) throws {
        let poll = try planner.await(1, "poll.due", of: "rider", within: 90)[0]
        let after = poll.at - begun
        #expect(after >= Double(floor), "it came \(after) s after the start, before its floor of \(floor) s")
        #expect(poll.at < due, "it came \(due - poll.at) s before it would have woken its handler by itself")
    }
}
