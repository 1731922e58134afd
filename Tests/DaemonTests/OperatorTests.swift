// The operator's verbs against a real daemon.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("The operator's verbs on a real daemon", .serialized)
struct OperatorTests {
    private func diary(_ extra: String = "", watch: String = "", in daemon: RunningDaemon) -> String {
        manifest("\(daemon.folder)/diary.py", extra, watch: watch)
    }

    private func begin(_ daemon: RunningDaemon) throws {
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
    }

    @Test(
        "stop holds over a restart of the daemon, and what came meanwhile is one gap, or all of it where it is kept",
        arguments: ["drop", "keep"])
    func stop(policy: String) throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.drop("log", diary("stop_events: \"\(policy)\"", in: daemon))
        try begin(daemon)
        try #require(daemon.wait { (try? daemon.state(of: "log")) == "suspended" }, "\(daemon.log)")
        #expect(try daemon.tool("stop", "log").exit == 0)
        #expect(daemon.wait { (try? daemon.state(of: "log")) == "stopped" })
        for _ in 0..<3 { try daemon.tool("simulate", "disconnect", "strap") }
        try daemon.stop()
        try begin(daemon)
        #expect(try daemon.state(of: "log") == "stopped")
        try daemon.tool("simulate", "disconnect", "strap")
        let refused = try daemon.tool("simulate", "wake", "log")
        #expect(refused.exit == 5 && refused.talk.contains("stopped and cannot be woken"), "\(refused)")
        let before = daemon.diary("log").count
        #expect(try daemon.tool("start", "log").exit == 0)
        #expect(daemon.wait { daemon.diary("log").count >= before + 2 }, "\(daemon.log)")
        #expect(daemon.wait { (try? daemon.state(of: "log")) == "suspended" })
        let came = daemon.diary("log").dropFirst(before).filter { !$0.hasPrefix("restored") }
        if policy == "keep" {
            #expect(came.count == 4 && came.allSatisfy { $0.hasPrefix("disconnected") }, "\(came)")
        } else {
            // One gap for each life of the bridge: what a new life finds is closed.
            let counts = [3, 1].map { "\"cause\": \"stopped\", \"count\": \($0)" }
            #expect(came.count == 2 && zip(came, counts).allSatisfy { $0.contains($1) }, "\(came)")
            let numbers = came.compactMap { Int($0.split(separator: " ")[1]) }
            #expect(numbers == [3, 7], "no number is given out twice")
        }
    }

    @Test("what a manifest has disabled is neither started nor woken nor attached to, and its manifest is named")
    func disabled() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.drop("log", diary("enabled: false", in: daemon))
        try begin(daemon)
        #expect(try daemon.state(of: "log") == "stopped")
        for (words, verb) in [(["start"], "started"), (["simulate", "wake"], "woken"), (["attach"], "woken")] {
            let refused = try Child([Built.tool, "--runtime", daemon.runtime] + words + ["log"]).finish()
            let sentence =
                "handler 'log' is disabled by its manifest and cannot be \(verb); take 'enabled: false' out of "
            #expect(
                refused.exit == 5 && refused.talk.contains(sentence + daemon.manifests + "/log.json5"), "\(refused)")
        }
        try daemon.drop("log", diary(in: daemon))
        #expect(daemon.wait { (try? daemon.state(of: "log")) != "stopped" })
        #expect(try daemon.tool("start", "log").exit == 0)
    }

    @Test("while attached no budget counts, and Ctrl-C of attach lets go")
    func attach() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.stepTime()
        try daemon.drop(
            "log", manifest("\(daemon.folder)/puppet.py", "budget: \"2s\", timers: { grace: \"100ms\" }"))
        try begin(daemon)
        let attached = try daemon.following("attach", "log")
        try #require(daemon.wait { (try? daemon.json("why", "log")["why"]?.string) == "attached" })
        try daemon.advance(by: .seconds(3))
        #expect(try daemon.handler("log")["strikes"]?.integer == 0)
        #expect(try daemon.state(of: "log") == "active")
        kill(attached.process, SIGINT)
        #expect(daemon.wait { attached.isOver } && attached.exit == 0, "\(attached.talk)")
        #expect(daemon.wait { (try? daemon.handler("log")["strikes"]?.integer ?? 0) ?? 0 >= 1 }, "\(daemon.log)")
    }

    @Test("two terminals may be attached; the handler is let go with the last, and stop lets both go")
    func attachTwice() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.stepTime()
        try daemon.drop("log", diary(in: daemon))
        try begin(daemon)
        let terminals = [try daemon.following("attach", "log"), try daemon.following("attach", "log")]
        try #require(daemon.wait { (try? daemon.json("why", "log")["why"]?.string) == "attached" })
        try daemon.settle()
        kill(terminals[0].process, SIGINT)
        try #require(daemon.wait { terminals[0].isOver })
        try daemon.advance(by: .seconds(1))
        #expect(try daemon.json("why", "log")["why"]?.string == "attached")
        try daemon.tool("stop", "log")
        #expect(daemon.wait { terminals[1].isOver } && terminals[1].exit == 1)
        #expect(terminals[1].talk.contains("detached log"), "\(terminals[1].talk)")
        let refused = try daemon.tool("attach", "log")
        #expect(refused.exit == 5 && refused.talk.contains("wakebridge start log"), "\(refused)")
    }

    @Test("simulate wakes, kills, expires and disconnects, and refuses what could not happen")
    func simulate() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.stepTime()
        try daemon.drop("log", diary(in: daemon))
        try daemon.drop(
            "slow",
            manifest(
                "\(daemon.folder)/puppet.py",
                "budget: \"1h\", timers: { warn: \"5s\", grace: \"1s\", failure_base: \"1h\", failure_cap: \"1h\" }"))
        try begin(daemon)
        try #require(daemon.wait { (try? daemon.state(of: "log")) == "suspended" })
        #expect(try daemon.tool("simulate", "wake", "log").exit == 0)
        #expect(daemon.wait { daemon.diary("log").contains { $0.hasPrefix("resumed") && $0.contains("operator") } })
        #expect(try daemon.tool("simulate", "kill", "log").exit == 0)
        #expect(daemon.wait { (try? daemon.handler("log")["last_exit"]?.string) == "operator" })
        let dead = try daemon.tool("simulate", "kill", "log")
        #expect(dead.exit == 5 && dead.talk.contains("no process to kill"), "\(dead)")
        #expect(try daemon.tool("simulate", "expire", "log").talk.contains("no deadline to bring forward"))
        #expect(try daemon.tool("simulate", "expire", "slow").exit == 0)
        #expect(daemon.wait { daemon.diary("slow").contains { $0.hasPrefix("expiring") } }, "\(daemon.log)")
        #expect(daemon.wait { (try? daemon.state(of: "slow")) == "held" }, "\(daemon.log)")
        let mistyped = try daemon.tool("simulate", "disconnect", "starp")
        #expect(mistyped.exit == 5 && mistyped.talk.contains("Did you mean 'strap'?"), "\(mistyped)")
    }

    @Test(
        "memory pressure lets the least recently used frozen handler go, without a notice, and the awake ones are told")
    func memory() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.drop("log", diary(in: daemon))
        try daemon.drop("slow", manifest("\(daemon.folder)/puppet.py", "budget: \"1h\""))
        try begin(daemon)
        try #require(daemon.wait { (try? daemon.state(of: "log")) == "suspended" && daemon.diary("slow").count == 2 })
        #expect(try daemon.tool("simulate", "memory").exit == 0)
        #expect(daemon.wait { (try? daemon.handler("log")["last_exit"]?.string) == "reclaimed" }, "\(daemon.log)")
        #expect(daemon.wait { daemon.diary("slow").contains { $0.hasPrefix("memory") } })
        #expect(!daemon.diary("log").contains { $0.hasPrefix("memory") || $0.hasPrefix("terminating") })
    }

    @Test("what a handler says of its work is counted and told, beside what it cost where that can be known")
    func work() throws {
        let daemon = try RunningDaemon.withStrap("+0 1 data 2a37 0648\n+0.5 1 data 2a37 0649\n")
        let script = """
            import json, os, sys
            for line in sys.stdin:
                event = json.loads(line)
                if "seq" in event:
                    word = b"useful" if event["type"].endswith("connected") else b"nothing"
                    os.write(3, b'{"ack":%d,"result":"%s"}\\n' % (event["seq"], word))

            """
        try daemon.write(script, to: "judge.py")
        try daemon.drop("judge", manifest("\(daemon.folder)/judge.py", "max_batch: 1"))
        try begin(daemon)
        func work() throws -> JSONValue { try daemon.handler("judge")["work"] ?? .null }
        #expect(daemon.wait { (try? work()["nothing"]?.integer) == 2 }, "\(daemon.log)")
        let work = try work()
        #expect(work["useful"]?.integer == 1 && work["failed"]?.integer == 0 && work["unsaid"]?.integer == 0)
        #expect(work["judged_wakes"]?.integer ?? 0 >= 1 && work["useful_wakes"]?.integer == 1)
        #expect((0.0...1).contains(work["awake_ratio"]?.number ?? -1))
        let isStrong = try daemon.json("status")["bridge"]?["suspend"]?.string == "strong"
        if isStrong {
            let cost = try #require(work["cpu_ms"]?.number)
            #expect(cost > 1 && abs((work["cpu_per_event_ms"]?.number ?? 0) - cost / 3) < 0.01)
        } else {
            #expect(work["cpu_ms"] == .null && work["cpu_per_event_ms"] == .null)
        }
        let why = try daemon.tool("why", "judge").output
        #expect(why.contains("3 events acknowledged: 1 useful, 2 nothing"), "\(why)")
    }

    @Test("why answers every wake that did not happen")
    func why() throws {
        let daemon = try RunningDaemon.withStrap("+0.5 1 data 2a37 0648\n")
        try daemon.stepTime()
        try daemon.drop("asleep", diary(watch: "wake: false", in: daemon))
        try daemon.drop("patient", diary(watch: "max_latency: \"1h\"", in: daemon))
        try daemon.drop("stopped", diary("stop_events: \"keep\"", in: daemon))
        try daemon.drop("lossy", diary(in: daemon))
        try daemon.drop(
            "broken",
            "{ exec: [\"/bin/false\"], user: \"\(me)\", modes: [\"bluetooth-central\"], watch: [{ profile: \"heart-rate-monitor\" }], timers: { failure_base: \"1ms\", failure_cap: \"1ms\" } }"
        )
        try daemon.start()
        for id in ["stopped", "lossy"] { try daemon.tool("stop", id) }
        try daemon.stop()
        try begin(daemon)
        func reasons(_ id: String) throws -> String {
            let answer = try daemon.json("why", id)
            return (answer["missed"]?.array ?? []).compactMap { $0["reason"]?.string }.joined(separator: "\n")
        }
        #expect(
            daemon.wait { (try? reasons("patient").contains("lets data wait for company")) == true }, "\(daemon.log)")
        #expect(try reasons("asleep").contains("2 events from 1 to"))
        #expect(try reasons("asleep").contains("did not wake it: its subscription says wake: false"))
        #expect(try reasons("stopped").contains("did not wake it: it was stopped; only start wakes it"))
        #expect(try reasons("lossy").contains("events are lost (stopped)"))
        #expect(daemon.wait { (try? daemon.state(of: "broken")) == "quarantined" }, "\(daemon.log)")
        #expect(try reasons("broken").contains("held after: exit-1"))
        #expect(try reasons("broken").contains("quarantined: crash-loop"))
        try daemon.tool("simulate", "disconnect", "strap")
        #expect(try reasons("broken").contains("did not wake it: it is quarantined"))
        #expect(try daemon.tool("why", "asleep").output.contains("what is queued does not wake it"))
    }

    /// A daemon whose one handler is that program.
    private func talking(_ program: String) throws -> RunningDaemon {
        let daemon = try RunningDaemon.withStrap()
        try daemon.write(program, to: "talk.py")
        try daemon.drop("talk", manifest("\(daemon.folder)/talk.py"))
        try begin(daemon)
        return daemon
    }

    @Test("logs tell whose words a line is, in order, and go on with -f until Ctrl-C")
    func logs() throws {
        let daemon = try talking(
            "import os, sys\nprint('out')\nprint('err', file=sys.stderr)\nos.write(3, b'nonsense\\n')\nsys.stdin.read()\n"
        )
        let following = try daemon.following("logs", "-f", "--json", "talk")
        #expect(daemon.wait { following.output.contains("is not JSON") }, "\(following.output)")
        let lines = try following.output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
        let words = lines.map {
            "\($0["handler"]?.string ?? "") \($0["stream"]?.string ?? "") \($0["text"]?.string ?? "")"
        }
        #expect(words.contains("talk stdout out") && words.contains("talk stderr err"), "\(words)")
        #expect(words.contains { $0.hasPrefix("talk bridge The line is not JSON") }, "\(words)")
        kill(following.process, SIGINT)
        #expect(daemon.wait { following.isOver } && following.exit == 0)
        let last = try daemon.tool("logs", "-n", "1", "--json")
        #expect(last.output.split(separator: "\n").count == 1)
    }

    @Test("of log lines that are too long together the latest are told, and how many are left out")
    func longLogs() throws {
        let daemon = try talking(
            "import sys\nfor number in range(60): print(str(number) + ' ' + 'x' * 8000)\nprint('last', flush=True)\nsys.stdin.read()\n"
        )
        #expect(daemon.wait { (try? daemon.tool("logs", "-n", "1", "talk").output.hasSuffix("last\n")) == true })
        let told = try daemon.tool("logs", "-n", "100", "--json", "talk")
        let lines = try told.output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
        let missing = try #require(lines.first?["gap"]?["lines"]?.integer)
        #expect(told.exit == 0 && missing + Int64(lines.count) == 62 && (20...28).contains(lines.count))
        #expect(lines.dropFirst().first?["text"]?.string?.hasPrefix("\(missing) ") == true)
        let following = try daemon.following("logs", "-f", "--json", "talk")
        #expect(daemon.wait { following.output.hasSuffix("\"last\"}\n") })
        #expect(!following.isOver)
    }

    @Test("watch gives the exact lines of handlers, and lines without a seq for events that no handler gets")
    func watch() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.stepTime()
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        let watching = try daemon.following("watch", "--json")
        // By then the watcher has subscribed, and waits for more.
        try daemon.settle()
        try daemon.tool("simulate", "disconnect", "strap")
        try #require(daemon.wait { watching.output.contains("\n") }, "\(watching.talk)")
        let unowed = try JSONValue(parsing: Array(watching.output.prefix { $0 != "\n" }.utf8))
        #expect(unowed["type"]?.string == "wakebridge.device.disconnected")
        #expect(unowed["seq"] == nil && unowed["attempt"] == nil && unowed["budgetms"] == nil, "\(watching.output)")
        #expect(unowed["id"]?.string?.isEmpty == false)

        let script = "import os, sys\nfor line in sys.stdin:\n  open('lines', 'a').write(line)\n"
        try daemon.write(script, to: "copy.py")
        try daemon.drop("copy", manifest("\(daemon.folder)/copy.py"))
        try #require(daemon.wait { (try? daemon.state(of: "copy")) == "idle" })
        try daemon.tool("simulate", "disconnect", "strap")
        func owed() -> String? {
            let whole = watching.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            return whole.last { $0.contains("\"seq\":") }.map(String.init)
        }
        try #require(daemon.wait { owed() != nil }, "\(watching.output)")
        let line = try #require(owed())
        #expect(
            daemon.wait { ((try? File.text(at: "\(daemon.state)/handlers/copy/lines")) ?? "").contains(line) },
            "\(line)")
        kill(watching.process, SIGINT)
        #expect(daemon.wait { watching.isOver } && watching.exit == 0)
    }

    @Test(
        "an event that kills its handler five times is a dead letter: listed, replayed to a mended handler, or dropped")
    func deadLetters() throws {
        let daemon = try RunningDaemon.withStrap("+0 1 data 2a37 0648\n+0 1 data 2a37 0649\n")
        let script = """
            import json, os, sys
            for line in sys.stdin:
                event = json.loads(line)
                os.write(3, b'{"remaining":true}\\n')
                if event["type"].endswith("data"):
                    os._exit(1)
                if "seq" in event:
                    os.write(3, b'{"ack":%d}\\n' % event["seq"])
            """
        try daemon.write(script, to: "crash.py")
        try daemon.drop(
            "crash", manifest("\(daemon.folder)/crash.py", "timers: { failure_base: \"1ms\", failure_cap: \"1ms\" }"))
        try begin(daemon)
        func letters() throws -> [JSONValue] { try daemon.json("dead-letters", "list")["dead_letters"]?.array ?? [] }
        try #require(daemon.wait(20) { (try? letters().count) == 2 }, "\(daemon.log)")
        let letter = try letters()[0]
        #expect(letter["handler"]?.string == "crash" && letter["device"]?.string == "strap")
        let first = try #require(letter["seq"]?.integer)
        #expect(try daemon.tool("dead-letters", "list").output.contains("strap"))
        try daemon.drop("crash", diary(in: daemon))
        try #require(
            daemon.wait { daemon.log.split(separator: "\n").count { $0.contains("crash is configured") } == 2 })
        #expect(try daemon.tool("dead-letters", "replay", "\(first)").exit == 0)
        #expect(
            daemon.wait { daemon.diary("crash").contains { $0.hasPrefix("data") && $0.contains("0648") } },
            "\(daemon.log)")
        #expect(try letters().count == 1)
        #expect(try daemon.tool("dead-letters", "drop", "--all").exit == 0)
        #expect(try letters().isEmpty)
        #expect(try daemon.tool("dead-letters", "drop", "--all").exit == 0, "all of none are dropped")
        #expect(try daemon.tool("dead-letters", "drop", "\(first)").exit == 5)
        // What was answered holds, whatever comes next.
        try daemon.stop(SIGKILL)
        try begin(daemon)
        #expect(try letters().isEmpty)
    }

    @Test("status and handlers are tables for people and one JSON value for programs")
    func tables() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.drop("log", diary(in: daemon))
        try begin(daemon)
        try #require(daemon.wait { (try? daemon.state(of: "log")) == "suspended" })
        let status = try daemon.tool("status").output
        #expect(status.contains("strap") && status.contains("log") && status.contains("suspended"), "\(status)")
        #expect(try daemon.tool("handlers").output.hasPrefix("HANDLER"))
        let json = try daemon.json("status")
        #expect(json["bridge"]?["pid"]?.integer == Int64(daemon.process))
        #expect(json["devices"]?.array?.first?["link"]?.string == "connected")
        #expect(json["handlers"]?.array?.first?["state"]?.string == "suspended")
    }
}
