// What people see and do of alarms, polls and jobs on a real daemon: pending, run-job, simulate, why, status, watch and reload.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Scheduled work in a person's hands", .serialized)
struct ScheduleTests {
    private static let schedule = """
        alarms: [{ id: "pill", every: "1h", data: { dose: 2 } }], poll: { min_interval: "1h", require: [] },
        jobs: [{ id: "backup", kind: "processing", require: ["power", "network"], deadline: "12h" },
               { id: "sync", kind: "refresh", require: ["mount:/nonexistent"] }],
        """

    /// A daemon whose handler `log` writes down what it gets.
    private func daemon(_ extra: String = ScheduleTests.schedule) throws -> RunningDaemon {
        let daemon = try RunningDaemon.withStrap()
        try daemon.drop("log", manifest("\(daemon.folder)/diary.py", extra))
        try daemon.start()
        return daemon
    }

    private func came(_ kind: String, to daemon: RunningDaemon) -> Bool {
        daemon.wait { daemon.diary("log").contains { $0.hasPrefix(kind + " ") } }
    }

    @Test("a job that a person starts runs at once, whatever it requires and a deadline would waive")
    func runJob() throws {
        let daemon = try daemon()
        for condition in ["power", "network"] { try daemon.tool("simulate", "condition", condition, "off") }
        let run = try daemon.tool("run-job", "log", "backup")
        #expect(run.exit == 0 && run.output.hasPrefix("job backup "), "\(run)")
        try #require(came("due", to: daemon), "\(daemon.log)")
        let line = try #require(daemon.diary("log").first { $0.hasPrefix("due ") })
        #expect(line.contains(#""job": "backup""#) && line.contains(#""waived": ["power", "network"]"#), "\(line)")
    }

    @Test("simulate fires an alarm and makes the poll due, and watch shows both with what they carry")
    func simulate() throws {
        let daemon = try daemon()
        let watch = try daemon.following("watch")
        #expect(try daemon.tool("simulate", "poll", "log").exit == 0)
        // It shows what comes once it is connected.
        let isShown = daemon.wait {
            _ = try? daemon.tool("simulate", "poll", "log")
            return watch.output.contains("  poll.due  ")
        }
        #expect(isShown, "\(watch.output)")
        #expect(try daemon.tool("simulate", "alarm", "log", "pill").exit == 0)
        #expect(daemon.wait { watch.output.contains("  alarm.fired  id=pill") })
        #expect(came("fired", to: daemon) && came("due", to: daemon), "\(daemon.log)")
        #expect(daemon.diary("log").contains { $0.hasPrefix("fired ") && $0.contains(#""data": {"dose": 2}"#) })
        kill(watch.process, SIGINT)
    }

    @Test("a job that a person cancels is gone, told in the log and in why; one that is not pending is a conflict")
    func cancelJob() throws {
        let daemon = try daemon()
        try daemon.tool("run-job", "log", "sync")
        let cancelled = try daemon.tool("cancel-job", "log", "sync")
        #expect(cancelled.exit == 0 && cancelled.output == "job sync is cancelled\n", "\(cancelled)")
        for verb in ["logs", "why"] {
            #expect(try daemon.tool(verb, "log").output.contains("job sync was cancelled by an operator"))
        }
        #expect(try daemon.json("pending", "log")["pending"]?.array?.count == 2)
        let again = try daemon.tool("cancel-job", "log", "sync")
        #expect(again.exit == 5 && again.talk.contains("nothing of it is pending"), "\(again)")
        let mistyped = try daemon.tool("cancel-job", "log", "bakcup")
        #expect(mistyped.exit == 5 && mistyped.talk.contains("Did you mean 'backup'?"), "\(mistyped)")
    }

    @Test("what never is waived a started job still waits for, and the answer says so")
    func hardCondition() throws {
        let daemon = try daemon()
        let run = try daemon.tool("run-job", "log", "sync")
        #expect(run.exit == 0 && run.output.hasPrefix("job sync waits for mount:/nonexistent since "), "\(run)")
        #expect(try daemon.tool("simulate", "condition", "mount:/nonexistent", "on").exit == 0)
        #expect(came("due", to: daemon), "\(daemon.log)")
    }

    @Test("an entry that is not there is 404 with those that are, and one of a stopped or gated handler is a conflict")
    func refusals() throws {
        let daemon = try daemon()
        let mistyped = try daemon.tool("run-job", "log", "bakcup")
        #expect(mistyped.exit == 5 && mistyped.talk.contains("handler 'log' has no job 'bakcup'"), "\(mistyped)")
        #expect(mistyped.talk.contains("it has backup or sync. Did you mean 'backup'?"), "\(mistyped)")
        let handler = try daemon.tool("run-job", "lgo", "backup")
        #expect(handler.exit == 5 && handler.talk.contains("there is no handler 'lgo'"), "\(handler)")
        try daemon.tool("stop", "log")
        let stopped = try daemon.tool("simulate", "alarm", "log", "pill")
        #expect(stopped.exit == 5 && stopped.talk.contains("while the handler is stopped; let it run"), "\(stopped)")
        try daemon.drop(
            "log", manifest("\(daemon.folder)/diary.py", #"after: ["mount:/nonexistent"],"# + Self.schedule))
        try daemon.tool("start", "log")
        #expect(
            daemon.wait {
                (try? daemon.tool("simulate", "poll", "log").talk.contains("before the handler's gates have opened"))
                    ?? false
            })
        #expect(try daemon.tool("why", "log").output.contains("its gates wait for mount:/nonexistent since "))
    }

    @Test("pending lists by the names of handlers, and of each what is due first")
    func order() throws {
        let daemon = try RunningDaemon.withStrap()
        let alarms = #"alarms: [{ id: "a-late", every: "2h" }, { id: "b-soon", every: "1h" }],"#
        for name in ["second", "first"] {
            try daemon.drop(name, manifest("\(daemon.folder)/diary.py", alarms))
            if name == "second" { try daemon.start() }
        }
        try daemon.tool("reload")
        let listed = try #require(try daemon.json("pending")["pending"]?.array)
        let names = listed.map { "\($0["handler"]?.string ?? "") \($0["id"]?.string ?? "")" }
        #expect(names == ["first b-soon", "first a-late", "second b-soon", "second a-late"])
    }

    @Test("pending and why name for each entry what it waits for and since when, and status counts them")
    func pending() throws {
        let daemon = try daemon()
        #expect(try daemon.json("pending")["pending"]?.array?.count == 2)
        for condition in ["power", "network"] { try daemon.tool("simulate", "condition", condition, "off") }
        let listed = try #require(try daemon.json("pending", "log")["pending"]?.array)
        #expect(listed.compactMap { $0["source"]?.string } == ["alarm", "poll"])
        #expect(listed.allSatisfy { $0["waits_for"] == .array([.string("time")]) })
        let table = try daemon.tool("pending", "log").output
        #expect(table.hasPrefix("HANDLER  SOURCE  ID") && table.contains("\nalarm pill:\n"), "\(table)")
        let why = try daemon.tool("why", "log").output
        #expect(why.contains("\n  alarm pill comes due ") && why.contains("\n  the poll comes due "), "\(why)")
        #expect(why.contains("it comes every 1 h, in slots of 2 min 8 s"), "\(why)")
        #expect(try daemon.tool("status").output.contains("2, next "))
        let jobs = try daemon.json("pending", "log")["jobs"]
        #expect(jobs == .array([.string("backup"), .string("sync")]))
    }

    @Test("conditions tell what is played and what waits for them, and a word that is none is refused with the nearest")
    func conditions() throws {
        let daemon = try daemon()
        try daemon.tool("run-job", "log", "sync")
        let address = "http://w/v1/conditions"
        let asked = try Child(["curl", "-s", "--unix-socket", "\(daemon.runtime)/control.sock", address]).finish()
        let all = try JSONValue(parsing: Array(asked.output.utf8))["conditions"]?.array ?? []
        let mount = try #require(all.first { $0["word"]?.string == "mount:/nonexistent" }, "\(asked)")
        #expect(mount["open"] == .boolean(true) && mount["raw"] == .boolean(false) && mount["played"] == .null)
        #expect(mount["waits"]?.array?.first?["id"]?.string == "sync")
        let odd = try daemon.tool("simulate", "condition", "powr", "on")
        #expect(odd.exit == 5 && odd.talk.contains(#"the nearest is "power""#), "\(odd)")
        let loose = try daemon.tool("simulate", "condition", "mount:data", "on")
        #expect(loose.exit == 5 && loose.talk.contains("absolute path"), "\(loose)")
    }

    @Test("a path or a time zone that is not there is a warning at reload, and the manifest is taken")
    func warnings() throws {
        let daemon = try daemon(
            """
            after: ["unlocked:/nonexistent/vault"],
            alarms: [{ id: "pill", daily: ["07:30"], zone: "Europe/Berlni" }],
            """)
        let reload = try daemon.tool("reload")
        #expect(reload.exit == 0 && reload.output == "reloaded\n", "\(reload)")
        #expect(reload.talk.contains(#"waits for "unlocked:/nonexistent/vault": there is no /nonexistent/vault"#))
        #expect(reload.talk.contains(#"has an alarm in the time zone "Europe/Berlni": there is no such zone"#))
        try daemon.drop("log", manifest("\(daemon.folder)/diary.py", #"jobs: [{ id: "a", kind: "refesh" }],"#))
        let broken = try daemon.tool("reload")
        #expect(broken.exit == 1 && broken.talk.contains("log.json5: line 2: jobs: "), "\(broken)")
    }
}
