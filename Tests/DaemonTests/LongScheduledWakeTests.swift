// Scheduled wakes that are given back, and rest for thirty seconds: WakeAgendaTests prove the same without a clock.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Scheduled wakes that are given back", .serialized, .tags(.fullScale), .timeLimit(.minutes(4)))
struct LongScheduledWakeTests {
    /// A daemon with one handler that is started with it.
    private func employed(_ agenda: String) throws -> Planner {
        let planner = try Planner()
        try planner.employ("one", agenda, linger: "1h", more: "autostart: true")
        try planner.start()
        return planner
    }

    @Test("an alarm that its handler gives back comes again when the condition that it names is true, and not at once")
    func handedBackAlarm() throws {
        let planner = try employed("alarms: []")
        try planner.say("one", "{\"alarm\":{\"id\":\"tea\",\"in_s\":0.1}}")
        let first = try #require(try planner.await(1, "alarm.fired", of: "one")[0].sequence)
        let place = planner.daemon.folder + "/nowhere"
        try planner.say("one", "{\"nack\":\(first),\"until\":[\"unlocked:\(place)\"]}")
        let waiting = try planner.pending("one").first
        #expect(
            waiting?["waits_for"]?.array?.compactMap(\.string).contains("unlocked:\(place)") == true,
            "\(waiting ?? .null)")
        sleep(2)
        #expect(planner.heard("one", "alarm.fired").count == 1)
        try planner.daemon.write("", to: "nowhere")
        let second = try planner.await(2, "alarm.fired", of: "one", within: 60)[1]
        #expect(second.name == "tea" && second.sequence != first)
        try planner.say("one", "{\"ack\":\(second.sequence ?? 0)}")
        #expect(planner.daemon.wait { (try? planner.pending("one").isEmpty) == true })
    }

    @Test("a job that is given back rests for thirty seconds at least, keeps its deadline, and names what it waits for")
    func handedBackJob() throws {
        let planner = try employed("jobs: [{ id: \"sync\", kind: \"processing\" }]")
        try planner.say("one", "{\"submit\":{\"job\":\"sync\",\"deadline_s\":7200}}")
        let due = try planner.await(1, "job.due", of: "one")[0]
        try planner.say("one", "{\"nack\":\(due.sequence ?? 0),\"until\":[\"mount:/proc\"]}")
        #expect(planner.daemon.wait { (try? planner.daemon.handler("one")["open"]?.integer) == 0 })
        let waiting = try #require(try planner.pending("one").first)
        let deadline = try #require(milliseconds(due.data["deadline"]))
        #expect(waiting["state"]?.string == "waiting" && abs((milliseconds(waiting["deadline"]) ?? 0) - deadline) <= 50)
        #expect(waiting["waits_for"]?.array?.compactMap(\.string).contains("time") == true)
        let second = try planner.await(2, "job.due", of: "one", within: 60)[1]
        #expect(second.at - due.at >= 30 && abs((milliseconds(second.data["deadline"]) ?? 0) - deadline) <= 50)
    }
}
