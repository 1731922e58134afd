// What wakes when of what is scheduled: one test for each cause in the table of docs/reference/what-wakes-when.md that needs no
// world of its own.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Scheduled wakes", .serialized, .timeLimit(.minutes(4)))
struct ScheduledWakeTests {
    /// A daemon with one handler that is started with it.
    private func employed(
        _ agenda: String, words: String..., linger: String = "1h", more: String = "", isStepped: Bool = true
    ) throws -> Planner {
        let planner = try Planner(isStepped: isStepped)
        try planner.employ("one", agenda, words: words, linger: linger, more: "autostart: true, \(more)")
        try planner.start()
        return planner
    }

    /// Whether alarms of the calendar are let go: the clock is kept, or has been waited for.
    static var runsCalendar: Bool { SystemClock.isSynchronized || boottimeNow() > 600 }

    /// So many seconds from now by its wall clock, in the system's zone.
    private func timeOfDay(in seconds: Int, _ planner: Planner) -> String {
        var (now, local) = (Int(planner.daemon.wall.microseconds / 1_000_000) + seconds, tm())
        localtime_r(&now, &local)
        return [local.tm_hour, local.tm_min, local.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }

    // MARK: Alarms

    @Test(
        "an alarm by the calendar starts a handler that never ran, at its second, with what the manifest gives it",
        .enabled(if: Self.runsCalendar, "the clock of this machine is not kept, and it came up just now"))
    func byCalendar() throws {
        let planner = try Planner(isStepped: true)
        try planner.start()
        let due = planner.daemon.wall.microseconds / 1_000_000 + 8
        try planner.employ(
            "one", "alarms: [{ id: \"pill\", daily: [\"\(timeOfDay(in: 8, planner))\"], data: { dose: 2 } }]",
            words: ["ack"])
        #expect(planner.daemon.wait { (try? planner.daemon.state(of: "one")) == "idle" })
        let fired = try planner.await(1, "alarm.fired", of: "one")[0]
        #expect(fired.name == "pill" && fired.data["missed"]?.integer == 0 && fired.data["data"]?["dose"]?.integer == 2)
        #expect(fired.data["due"]?.string.flatMap { WallTime(rfc3339: $0) }?.microseconds == due * 1_000_000)
        #expect(
            planner.heard("one").first?.data["reason"]?.string == "alarm" && fired.line["budgetms"]?.integer == 10_000)
    }

    @Test("an alarm ordered for an instant and one ordered in seconds thaw their handler then, and not before")
    func ordered() throws {
        let planner = try employed("alarms: []", words: "ack", linger: "20ms")
        // While a person is there it hears orders at any time.
        let attached = try planner.daemon.following("attach", "one")
        let at = WallTime(microseconds: (planner.daemon.wall.microseconds / 1_000_000 + 3) * 1_000_000)
        let orderedAt = planner.daemon.now
        #expect(
            try planner.ask("one", "{\"alarm\":{\"id\":\"tea\",\"in_s\":1.5,\"data\":{\"cups\":2}}}")["alarm"]?.string
                == "set")
        if Self.runsCalendar {
            #expect(
                try planner.ask("one", "{\"alarm\":{\"id\":\"x\",\"at\":\"\(at.rfc3339)\"}}")["alarm"]?.string == "set")
        }
        kill(attached.process, SIGTERM)
        let fired = try planner.await(Self.runsCalendar ? 2 : 1, "alarm.fired", of: "one")
        let tea = try #require(fired.first { $0.name == "tea" })
        #expect(tea.at - orderedAt >= 1.5 && tea.data["data"]?["cups"]?.integer == 2)
        if let x = fired.first(where: { $0.name == "x" }) {
            #expect(x.data["due"]?.string.flatMap { WallTime(rfc3339: $0) } == at)
        }
        #expect(Set(fired.map(\.process)).count == 1, "it was thawed, not started again")
    }

    /// The kernel has such clocks where there is a hardware clock.
    static var hasMachineAlarms: Bool {
        var now = timespec()
        return clock_gettime(CLOCK_BOOTTIME_ALARM, &now) == 0
    }

    @Test(
        "for an alarm that wakes the machine the kernel's own alarm is set to its instant, and cleared when it is cancelled",
        .enabled(if: Self.hasMachineAlarms, "SKIPPED: this machine has no hardware clock; the lab's has one"))
    func wakesMachine() throws {
        let planner = try employed("alarms: []", isStepped: false)
        #expect(try !planner.setsMachineAlarm())
        let order = try planner.ask("one", "{\"alarm\":{\"id\":\"tea\",\"in_s\":3600,\"wakes_machine\":true}}")
        #expect(order["alarm"]?.string == "set")
        #expect(planner.daemon.wait { (try? planner.setsMachineAlarm()) == true })
        _ = try planner.ask("one", "{\"cancel\":{\"alarm\":\"tea\"}}")
        #expect(planner.daemon.wait { (try? planner.setsMachineAlarm()) == false })
    }

    @Test("a trace of another day that is played to handlers lets no alarm of the calendar fire")
    func replayed() throws {
        let planner = try Planner(isStepped: true)
        try planner.daemon.write(
            """
            wakebridge-trace 1
            clock 2026-01-21T07:42:46.727125Z
            device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap" service=180d
            +0.000000 1 connect
            +0.500000 1 data 2a37 163cf803
            end
            """, to: "trace")
        try planner.employ(
            "one", "alarms: [{ id: \"pill\", daily: [\"\(timeOfDay(in: 43_200, planner))\"] }]", words: ["ack"],
            more: "modes: [\"bluetooth-central\"], watch: [{ profile: \"heart-rate-monitor\" }]")
        try planner.daemon.start("--no-bluetooth", "--replay", planner.daemon.folder + "/trace")
        try planner.await(1, "device.data", of: "one")
        let due = try #require(try planner.daemon.json("pending")["pending"]?.array?.first?["due"])
        let ahead = try #require(milliseconds(due)) - planner.daemon.wall.microseconds / 1_000
        #expect(ahead > 40_000_000 && ahead < 43_201_000, "the alarm waits for the machine's own clock")
        #expect(planner.heard("one", "alarm.fired").isEmpty)
    }

    @Test("a cancelled alarm does not fire, and a replaced one fires once, at its new time")
    func cancelled() throws {
        let planner = try employed("alarms: []", words: "ack")
        try planner.say("one", "{\"alarm\":{\"id\":\"gone\",\"in_s\":6}}")
        try planner.say("one", "{\"alarm\":{\"id\":\"moved\",\"in_s\":6}}")
        #expect(try planner.ask("one", "{\"cancel\":{\"alarm\":\"gone\"}}")["cancel"]?.string == "cancelled")
        let movedAt = planner.daemon.now
        #expect(try planner.ask("one", "{\"alarm\":{\"id\":\"moved\",\"in_s\":8}}")["alarm"]?.string == "replaced")
        let fired = try planner.await(1, "alarm.fired", of: "one")
        #expect(fired[0].name == "moved" && fired[0].at - movedAt >= 8)
        try planner.daemon.advance(by: .seconds(10))
        #expect(planner.heard("one", "alarm.fired").count == 1)
    }

    @Test(
        "a stopped handler gets nothing; what fell due meanwhile comes once when it is started, and says how late it is"
    )
    func stopped() throws {
        let planner = try employed("alarms: [], jobs: [{ id: \"j\", kind: \"refresh\" }]", words: "ack")
        #expect(try planner.ask("one", "{\"alarm\":{\"id\":\"tea\",\"in_s\":6}}")["alarm"]?.string == "set")
        #expect(
            try planner.ask("one", "{\"submit\":{\"job\":\"j\",\"not_before_s\":6}}")["submit"]?.string == "submitted")
        #expect(try planner.daemon.tool("stop", "one").exit == 0)
        try planner.daemon.advance(by: .seconds(8))
        #expect(planner.heard("one", "alarm.fired").isEmpty && planner.heard("one", "job.due").isEmpty)
        #expect(try planner.daemon.tool("start", "one").exit == 0)
        let fired = try planner.await(1, "alarm.fired", of: "one")[0]
        #expect(fired.name == "tea" && (fired.data["late_s"]?.integer ?? 0) >= 1)
        try planner.await(1, "job.due", of: "one")
        #expect(planner.daemon.wait { (try? planner.pending("one").isEmpty) == true })
    }

    // MARK: Jobs

    @Test("a refresh job has the budget of thirty seconds, and a second one is refused while the first is pending")
    func refresh() throws {
        let planner = try employed("jobs: [{ id: \"a\", kind: \"refresh\" }, { id: \"b\", kind: \"refresh\" }]")
        #expect(
            try planner.ask("one", "{\"submit\":{\"job\":\"a\",\"not_before_s\":3}}")["submit"]?.string == "submitted")
        #expect(try planner.ask("one", "{\"submit\":{\"job\":\"b\"}}")["code"]?.string == "too-many")
        #expect(try planner.ask("one", "{\"submit\":{\"job\":\"a\"}}")["submit"]?.string == "replaced")
        let due = try planner.await(1, "job.due", of: "one")[0]
        #expect(due.name == "a" && due.data["kind"]?.string == "refresh")
        #expect(due.line["budgetms"]?.integer == 30_000)
        #expect(try planner.ask("one", "{\"submit\":{\"job\":\"b\"}}")["submit"]?.string == "submitted")
        try planner.say("one", "{\"ack\":\(due.sequence ?? 0)}")
        #expect(try planner.await(2, "job.due", of: "one")[1].name == "b")
    }

    @Test(
        "O12: while a processing job runs, alarms come and are acknowledged beside it, and only its own number ends it")
    func processing() throws {
        let planner = try employed("alarms: [], jobs: [{ id: \"backup\", kind: \"processing\" }]")
        try planner.say("one", "{\"submit\":{\"job\":\"backup\"}}")
        let due = try planner.await(1, "job.due", of: "one")[0]
        let job = try #require(due.sequence)
        #expect(due.line["budgetms"]?.integer == 60_000)
        try planner.say("one", "{\"alarm\":{\"id\":\"tea\",\"in_s\":0.1}}")
        let alarm = try #require(try planner.await(1, "alarm.fired", of: "one")[0].sequence)
        #expect(alarm > job)
        try planner.say("one", "{\"ack\":\(alarm)}")
        #expect(
            planner.daemon.wait { (try? planner.daemon.handler("one")["open"]?.integer) == 1 }, "the job is open still")
        #expect(try planner.pending("one").map { $0["state"]?.string } == ["running"])
        try planner.say("one", "{\"ack\":\(job)}")
        #expect(planner.daemon.wait { (try? planner.daemon.handler("one")["open"]?.integer) == 0 })
        #expect(try planner.pending("one").isEmpty)
    }

    @Test("two processing jobs run at a time bridge-wide, and a third waits for a slot")
    func slots() throws {
        let planner = try employed(
            "jobs: [{ id: \"a\", kind: \"processing\" }, { id: \"b\", kind: \"processing\" }, { id: \"c\", kind: \"processing\" }]"
        )
        for job in ["a", "b", "c"] { try planner.say("one", "{\"submit\":{\"job\":\"\(job)\"}}") }
        let running = try planner.await(2, "job.due", of: "one")
        let third = try planner.pending("one").first { $0["id"]?.string == "c" }
        #expect(third?["waits_for"]?.array?.compactMap(\.string) == ["slot"])
        try planner.say("one", "{\"ack\":\(running[0].sequence ?? 0)}")
        #expect(try planner.await(3, "job.due", of: "one")[2].name == "c")
    }

    @Test("a continued job begins only while a person is attached, and strategy fail says what it would wait for")
    func continued() throws {
        let planner = try employed("jobs: [{ id: \"export\", kind: \"continued\" }]", words: "ack")
        let refusal = try planner.ask("one", "{\"submit\":{\"job\":\"export\",\"strategy\":\"fail\"}}")
        #expect(refusal["code"]?.string == "unavailable" && refusal["sentence"]?.string?.contains("attached") == true)
        #expect(try planner.ask("one", "{\"submit\":{\"job\":\"export\"}}")["submit"]?.string == "submitted")
        #expect(try planner.pending("one").first?["waits_for"]?.array?.compactMap(\.string) == ["attached"])
        let attached = try planner.daemon.following("attach", "one")
        #expect(try planner.await(1, "job.due", of: "one")[0].name == "export")
        kill(attached.process, SIGTERM)
    }

    @Test(
        "at its deadline a job begins without its soft conditions, and names those; a hard one holds it, and skip leaves it out"
    )
    func deadlines() throws {
        let planner = try employed(
            """
            jobs: [{ id: "soft", kind: "processing" }, { id: "hard", kind: "processing" },
                   { id: "skipped", kind: "processing", on_deadline: "skip" }]
            """, words: "ack")
        let begun = planner.daemon.now
        for (job, condition) in [("soft", "power"), ("hard", "mount:/nonexistent"), ("skipped", "power")] {
            let order = "{\"submit\":{\"job\":\"\(job)\",\"deadline_s\":3,\"require\":[\"\(condition)\"]}}"
            #expect(try planner.ask("one", order)["submit"]?.string == "submitted")
        }
        let due = try planner.await(1, "job.due", of: "one")[0]
        #expect(due.name == "soft" && due.data["waived"]?.array?.compactMap(\.string) == ["power"])
        #expect(due.at - begun >= 3)
        #expect(planner.daemon.wait { (try? planner.pending("one"))?.map { $0["id"]?.string } == ["hard"] })
        #expect(planner.heard("one", "job.due").count == 1)
        let left = try planner.pending("one")
        #expect(left.first?["waits_for"]?.array?.compactMap(\.string) == ["mount:/nonexistent"])
    }

    @Test("orders may be given before ready, and a job is registered once, and not after it")
    func beforeReady() throws {
        let planner = try employed("alarms: [], jobs: [{ id: \"j\", kind: \"refresh\" }]", more: "ready: \"explicit\"")
        #expect(try planner.ask("one", "{\"register\":\"j\"}")["register"]?.string == "registered")
        #expect(try planner.ask("one", "{\"register\":\"j\"}")["code"]?.string == "conflict")
        #expect(try planner.ask("one", "{\"alarm\":{\"id\":\"tea\",\"in_s\":0.1}}")["alarm"]?.string == "set")
        try planner.daemon.advance(by: .seconds(10))
        #expect(planner.heard("one", "alarm.fired").isEmpty, "events come after ready")
        try planner.say("one", "{\"ready\":true}")
        try planner.await(1, "alarm.fired", of: "one")
        #expect(try planner.ask("one", "{\"register\":\"j\"}")["code"]?.string == "too-late")
    }

    // MARK: Polls

    @Test("a poll is never made where the manifest leaves it to the handler, nor after the handler says never")
    func neverPolled() throws {
        let planner = try employed("poll: { require: [] }")
        #expect(try planner.pending("one").isEmpty)
        #expect(try planner.ask("one", "{\"poll\":{\"min_interval_s\":900}}")["poll"]?.string == "set")
        let entry = try #require(try planner.pending("one").first)
        #expect(entry["source"]?.string == "poll" && entry["waits_for"]?.array?.compactMap(\.string) == ["time"])
        #expect(try planner.ask("one", "{\"poll\":\"never\"}")["poll"]?.string == "never")
        #expect(try planner.pending("one").isEmpty)
    }

    // MARK: Given back

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
        try planner.daemon.advance(by: .seconds(2))
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
