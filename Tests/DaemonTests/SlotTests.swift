// The two slots of long jobs in a real daemon: what cannot run leaves them, whatever is the cause, over restarts too.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Slots of long jobs", .serialized, .timeLimit(.minutes(4)))
struct SlotTests {
    private static let jobs = "jobs: [{ id: \"j\", kind: \"processing\" }]"

    /// Handlers one and two have begun their jobs, which take both slots.
    private func busy(more: String = "") throws -> Planner {
        let planner = try Planner()
        for id in ["one", "two"] { try planner.employ(id, Self.jobs, more: "autostart: true, \(more)") }
        try planner.start()
        for id in ["one", "two"] { try begin(id, planner) }
        return planner
    }

    private func begin(_ id: String, _ planner: Planner) throws {
        try planner.say(id, "{\"submit\":{\"job\":\"j\"}}")
        try planner.await(1, "job.due", of: id)
    }

    /// What is pending of all handlers, or of one.
    private func pending(_ id: String? = nil, _ planner: Planner) throws -> [JSONValue] {
        let entries = try planner.daemon.json("pending")["pending"]?.array ?? []
        return entries.filter { id == nil || $0["handler"]?.string == id }
    }

    private func words(_ id: String, _ planner: Planner) throws -> [String] {
        try pending(id, planner).flatMap { $0["waits_for"]?.array ?? [] }.compactMap(\.string)
    }

    @Test("a handler whose manifest went while no daemon ran leaves its slot, and all that was pending of it")
    func gone() throws {
        let planner = try busy()
        try planner.daemon.stop(SIGKILL)
        for id in ["one", "two"] { unlink("\(planner.daemon.manifests)/\(id).json5") }
        try planner.employ("three", Self.jobs, more: "autostart: true")
        try planner.start()
        try begin("three", planner)
        let rows = try pending(nil, planner)
        #expect(Set(rows.compactMap { $0["handler"]?.string }) == ["three"])
    }

    @Test("a manifest that a typing error breaks while no daemon runs keeps what was ordered, and holds no slot")
    func broken() throws {
        let planner = try Planner()
        let agenda = "alarms: [], \(Self.jobs)"
        for id in ["one", "two"] { try planner.employ(id, agenda, more: "autostart: true") }
        try planner.start()
        #expect(try planner.ask("one", "{\"alarm\":{\"id\":\"tea\",\"in_s\":3600}}")["alarm"]?.string == "set")
        for id in ["one", "two"] { try begin(id, planner) }
        try planner.daemon.stop(SIGKILL)
        try planner.daemon.drop("one", "{ exec: ")
        try planner.employ("three", Self.jobs, more: "autostart: true")
        try planner.start()
        try begin("three", planner)
        let rows = try pending("one", planner)
        let alarm = rows.first { $0["id"]?.string == "tea" }
        #expect(alarm?["waits_for"]?.array?.compactMap(\.string).contains("manifest") == true, "\(rows)")
        try planner.employ("one", agenda, more: "autostart: true")
        let comesBack = planner.daemon.wait(20) {
            (try? pending("one", planner).contains { $0["id"]?.string == "tea" }) == true
                && (try? words("one", planner).contains("manifest")) == false
        }
        #expect(comesBack, "\(planner.daemon.log)")
    }

    @Test("a manifest that lost its jobs while no daemon ran cancels them, and its handler is told")
    func undeclared() throws {
        let planner = try busy()
        try planner.daemon.stop(SIGKILL)
        try planner.employ(
            "one", "modes: [\"bluetooth-central\"], watch: [{ profile: \"heart-rate-monitor\" }]",
            more: "autostart: true")
        try planner.start()
        let told = try planner.await(1, "error", of: "one")[0]
        #expect(told.data["code"]?.string == "not-registered", "\(told.data)")
    }

    @Test("a stopped handler whose events are kept leaves its slot, says that it is stopped, and goes on when started")
    func stopped() throws {
        let planner = try busy(more: "stop_events: \"keep\"")
        try planner.employ("three", Self.jobs, more: "autostart: true")
        try planner.say("three", "{\"submit\":{\"job\":\"j\"}}")
        #expect(planner.daemon.wait { (try? words("three", planner)) == ["slot"] })
        #expect(try planner.daemon.tool("stop", "one").exit == 0)
        try planner.await(1, "job.due", of: "three")
        #expect(planner.daemon.wait { (try? words("one", planner)) == ["stopped"] })
        try planner.say("three", "{\"ack\":\(planner.heard("three", "job.due")[0].sequence ?? 0)}")
        #expect(try planner.daemon.tool("start", "one").exit == 0)
        let again = try planner.await(2, "job.due", of: "one")[1]
        #expect(again.data["returned"]?.string == "stopped")
    }

    @Test("a job that its handler refused for an hour leaves its slot, and says that it waits for time")
    func refused() throws {
        let planner = try busy()
        for id in ["one", "two"] {
            let sequence = planner.heard(id, "job.due")[0].sequence ?? 0
            try planner.say(id, "{\"nack\":\(sequence),\"after_s\":3600}")
        }
        try planner.employ("three", Self.jobs, more: "autostart: true")
        try begin("three", planner)
        for id in ["one", "two"] {
            let entry = try #require(try pending(id, planner).first)
            #expect(entry["state"]?.string == "queued" && entry["next_chance"]?.string != nil, "\(entry)")
            #expect(try words(id, planner) == ["time"])
        }
        try planner.restart()
        #expect(try words("one", planner) == ["time"], "after a restart too")
    }

    @Test("an event that the journal has lost leaves its job free to run again")
    func lostByTheJournal() throws {
        let planner = try busy()
        try planner.daemon.stop(SIGKILL)
        let damage =
            "import sqlite3; c = sqlite3.connect('\(planner.daemon.state)/journal.sqlite'); "
            + "c.execute('update events set owner = owner + 12345'); c.commit()"
        #expect(try Child(["/usr/bin/env", "python3", "-c", damage]).finish().exit == 0)
        try planner.start()
        for id in ["one", "two"] {
            #expect(planner.daemon.wait { (try? pending(id, planner).isEmpty) == true })
            #expect(try planner.ask(id, "{\"submit\":{\"job\":\"j\"}}")["submit"]?.string == "submitted")
            try planner.await(2, "job.due", of: id)
        }
    }
}
