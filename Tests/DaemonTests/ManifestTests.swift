// Manifests dropped in, changed, removed and put back under a daemon that runs.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Manifests under a running daemon", .serialized)
struct ManifestTests {
    @Test("a manifest that is dropped in is woken for the next event, without any word to the daemon")
    func droppedIn() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        try daemon.drop("late", manifest("\(daemon.folder)/diary.py"))
        #expect(daemon.wait { (try? daemon.state(of: "late")) == "idle" })
        try daemon.tool("simulate", "disconnect", "strap")
        #expect(daemon.wait { daemon.diary("late").contains { $0.hasPrefix("disconnected") } }, "\(daemon.log)")
    }

    @Test("a manifest that is linked in is found, and so is one in a folder that took the place of handlers.d")
    func linkedIn() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.stepTime()
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        try daemon.write(manifest("\(daemon.folder)/diary.py"), to: "linked.json5")
        #expect(try Child(["ln", "-s", "\(daemon.folder)/linked.json5", daemon.manifests]).finish().exit == 0)
        #expect(daemon.wait { (try? daemon.state(of: "linked")) == "idle" }, "\(daemon.log)")
        for number in 1...2 {
            #expect(try Child(["mv", daemon.manifests, "\(daemon.folder)/old\(number)"]).finish().exit == 0)
            try daemon.advance(by: .seconds(10))
            let last = number == 1 ? "linked" : "next1"
            #expect(try daemon.state(of: last) != "none", "nobody is removed with the folder")
            try Directory.create(daemon.manifests)
            #expect(daemon.wait { (try? daemon.state(of: last)) == "none" }, "\(daemon.log)")
            try daemon.advance(by: .seconds(10))
            try daemon.drop("next\(number)", manifest("\(daemon.folder)/diary.py"))
            #expect(daemon.wait { (try? daemon.state(of: "next\(number)")) == "idle" }, "\(daemon.log)")
        }
    }

    @Test("other settings keep the process alive, another program ends it, and its successor gets the next event")
    func changed() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.drop("log", manifest("\(daemon.folder)/diary.py"))
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        try #require(daemon.wait { (try? daemon.state(of: "log")) == "suspended" }, "\(daemon.log)")
        let pid = try daemon.handler("log")["pid"]
        try daemon.drop("log", manifest("\(daemon.folder)/diary.py", "budget: \"20s\", idle_exit: \"1h\""))
        try #require(daemon.wait { daemon.log.split(separator: "\n").count { $0.contains("log is configured") } == 2 })
        try daemon.tool("simulate", "disconnect", "strap")
        #expect(daemon.wait { daemon.diary("log").contains { $0.hasPrefix("disconnected") } })
        #expect(try daemon.handler("log")["pid"] == pid)

        try daemon.drop("log", manifest("\(daemon.folder)/diary.py", "env: { COLOUR: \"blue\" }"))
        #expect(daemon.wait { (try? daemon.state(of: "log")) == "idle" }, "\(daemon.log)")
        let before = daemon.diary("log").count
        try daemon.tool("simulate", "disconnect", "strap")
        #expect(daemon.wait { daemon.diary("log").count == before + 2 }, "\(daemon.diary("log"))")
        #expect(try daemon.handler("log")["pid"] != pid)
    }

    @Test(
        "a removed handler's open and queued events wait for it: each comes once, in order, also over a restart of the daemon",
        arguments: [false, true])
    func removedAndBack(restarts: Bool) throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.drop("log", manifest("\(daemon.folder)/puppet.py", "max_batch: 1, budget: \"1h\""))
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        try #require(daemon.wait { daemon.diary("log").count == 2 })
        for _ in 0..<3 { try daemon.tool("simulate", "disconnect", "strap") }
        #expect(try daemon.handler("log")["queued"]?.integer == 3)

        try File.remove(daemon.manifests + "/log.json5")
        #expect(daemon.wait { (try? daemon.json("handlers")["handlers"]?.array?.count) == 0 })
        try daemon.tool("simulate", "disconnect", "strap")
        try File.remove("\(daemon.state)/handlers/log/diary")
        if restarts {
            #expect(try daemon.stop() == 0)
            try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        }
        try daemon.drop("log", manifest("\(daemon.folder)/diary.py"))
        #expect(daemon.wait { events(daemon).count >= 4 }, "\(daemon.diary("log"))\n\(daemon.log)")
        #expect(events(daemon).prefix(4) == ["connected 1", "disconnected 2", "disconnected 3", "disconnected 4"])
        #expect(daemon.wait { (try? daemon.handler("log")["queued"]?.integer) == 0 })
        #expect(Set(events(daemon)).count == events(daemon).count, "\(events(daemon))")
        #expect(try daemon.handler("log")["open"]?.integer == 0)
    }

    @Test(
        "over the journal's cap a handler without a manifest loses its oldest data too, and is told when it comes back",
        arguments: [false, true])
    func absentOverCap(restarts: Bool) throws {
        let daemon = try RunningDaemon.withStrap()
        let large = "+0 1 data 2a37 0648" + String(repeating: "00", count: 500) + "\n"
        try daemon.write(strapTrace(String(repeating: large, count: 4_000)), to: "large.trace")
        try daemon.drop("log", manifest("\(daemon.folder)/diary.py", watch: "wake: false"))
        try daemon.start("--replay", "\(daemon.folder)/large.trace", "--speed", "max")
        try #require(daemon.wait { (try? daemon.handler("log")["queued"]?.integer) == 4_001 }, "\(daemon.log)")
        try daemon.stop()

        try File.remove(daemon.manifests + "/log.json5")
        try daemon.write("{ journal: { max_size: \"3MiB\" } }", to: "config/wakebridge.json5")
        try daemon.drop("busy", manifest("\(daemon.folder)/diary.py"))
        // The journal is looked at after 1,024 commits: a beat and its acknowledgement are two, and on a busy machine fewer.
        let beats = strapTrace(String(repeating: "+0.003 1 data 2a37 0648\n", count: 2_000))
        try daemon.write(beats, to: "beats.trace")
        try daemon.start("--replay", "\(daemon.folder)/beats.trace")
        try #require(daemon.wait { daemon.log.contains("over journal.max_size") }, "\(daemon.log.suffix(2000))")
        if restarts {
            try daemon.stop()
            try daemon.start()
        }
        try daemon.drop("log", manifest("\(daemon.folder)/diary.py"))
        let isOver = daemon.wait {
            let log = try? daemon.handler("log")
            return !daemon.diary("log").isEmpty && log?["queued"]?.integer == 0 && log?["open"]?.integer == 0
        }
        #expect(isOver, "\(daemon.log.suffix(2000))")
        let lost = daemon.diary("log").filter { $0.contains("\"overflow\"") }.compactMap { line in
            line.split(separator: "\"count\": ").last.flatMap { Int($0.prefix { $0.isNumber }) }
        }
        let kept = daemon.diary("log").filter { $0.hasPrefix("data") && $0.contains("0648" + "0000") }
        #expect(lost.count == 1 && (1_000..<4_000).contains(lost[0]), "\(lost)")
        #expect(lost.reduce(0, +) + kept.count == 4_000)
        #expect(daemon.diary("log").contains { $0.hasPrefix("connected 1 ") }, "a link event is never let go")
    }

    private func events(_ daemon: RunningDaemon) -> [String] {
        daemon.diary("log").filter { !$0.hasPrefix("restored") && !$0.hasPrefix("resumed") }
            .map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
    }

    @Test("restored tells how often it was launched, what it acknowledged, and what waits for it")
    func counters() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.drop("log", manifest("\(daemon.folder)/diary.py"))
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        try #require(daemon.wait { (try? daemon.state(of: "log")) == "suspended" })
        try daemon.tool("simulate", "kill", "log")
        try #require(daemon.wait { (try? daemon.state(of: "log")) == "idle" })
        try daemon.tool("simulate", "disconnect", "strap")
        #expect(daemon.wait { daemon.diary("log").count { $0.hasPrefix("restored") } == 2 })
        let last = try #require(daemon.diary("log").last { $0.hasPrefix("restored") })
        for count in ["launches\": 2", "acknowledged\": 1", "useful\": 0", "queued\": 1", "dead_letters\": 0"] {
            #expect(last.contains("\"\(count)"), "\(last)")
        }
    }

    @Test(
        "a program beside its manifest is found there, starts in its own folder, and may write to it as another user",
        .enabled(if: me == "root"))
    func otherUser() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.write(
            "#!/bin/sh\npwd > where\nid -un >> where\nread line\necho '{\"ack\":1}' >&3\ncat > /dev/null\n",
            to: "config/handlers.d/run.sh")
        _ = try Child(["chmod", "755", daemon.manifests + "/run.sh"]).finish()
        try daemon.drop(
            "other",
            "{ exec: [\"./run.sh\"], user: \"nobody\", modes: [\"bluetooth-central\"], watch: [{ profile: \"heart-rate-monitor\" }] }"
        )
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        let place = "\(daemon.state)/handlers/other"
        #expect(daemon.wait { (try? File.text(at: place + "/where")) == "\(place)\nnobody\n" }, "\(daemon.log)")
    }

    @Test(
        "root's manifest without a user, and another's user in the manifest of an ordinary user's daemon, are refused")
    func users() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.drop("anybody", "{ exec: [\"/bin/cat\"], modes: [], watch: [] }")
        try daemon.drop("stranger", "{ exec: [\"/bin/cat\"], user: \"daemon\", modes: [], watch: [] }")
        try daemon.start()
        if me == "root" {
            #expect(daemon.log.contains("anybody.json5: user is missing; the bridge runs as root"))
        } else {
            #expect(
                daemon.log.contains("stranger.json5: line 1: user is \"daemon\", and only root can run a handler"))
        }
    }

    @Test(
        "reload names the line of each fault, and warns of a program that is not there and of a device that is not known"
    )
    func reloadTells() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        try #require(daemon.wait { (try? daemon.json("status")["devices"]?.array?.count) == 1 }, "\(daemon.log)")
        let watch = "user: \"\(me)\", modes: [\"bluetooth-central\"],\n watch: [{ profile: \"heart-rate-monitor\""
        try daemon.drop("gone", "{ exec: [\"./gone.sh\"],\n \(watch), device: \"starp\" }] }")
        try daemon.drop("wrong", "{ exec: [\"/bin/cat\"],\n \(watch), polcy: \"all\" }],\n timers: { budget: 1 } }")
        let told = try daemon.tool("reload")
        #expect(told.exit == 1)
        for sentence in [
            "wrong.json5: line 3: unknown key \"polcy\" in watch[0]; did you mean \"policy\"?",
            "wrong.json5: line 4: timers.budget must be a duration",
            "handler \"gone\" cannot start: there is no \(daemon.manifests)/gone.sh (exec in line 1 of "
                + "\(daemon.manifests)/gone.json5); put it there, or correct exec",
            "handler \"gone\" watches a device \"starp\": no device is called that; known: strap; did you mean \"strap\"?",
        ] { #expect(told.talk.contains(sentence), "\(told.talk)") }
        try daemon.write("#!/bin/sh\n", to: "config/handlers.d/gone.sh")
        _ = try Child(["chmod", "755", daemon.manifests + "/gone.sh"]).finish()
        try daemon.drop("gone", "{ exec: [\"./gone.sh\"],\n \(watch), device: \"strap\" }] }")
        try File.remove("\(daemon.manifests)/wrong.json5")
        let sound = try daemon.tool("reload")
        #expect(
            sound.exit == 0 && !sound.talk.contains("cannot start") && !sound.talk.contains("no device"), "\(sound)")
    }

    @Test("a manifest that cannot be read is reported, and removes no handler")
    func unreadable() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.drop("log", manifest("\(daemon.folder)/diary.py"))
        try Directory.create(daemon.manifests + "/folder.json5")
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        #expect(daemon.log.contains("folder.json5"))
        #expect(try daemon.state(of: "log") != "none")
        #expect(try daemon.tool("reload").talk.contains("folder.json5"))
    }
}
