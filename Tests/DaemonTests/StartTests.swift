// How a daemon starts, what it honours of its settings, whom it lets in, and why it does not start.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("A daemon's start and its settings", .serialized)
struct StartTests {
    @Test("without any configuration a daemon starts, makes its directories, and has no handler to wake")
    func bare() throws {
        let daemon = try RunningDaemon()
        _ = try Child(["rm", "-rf", daemon.configuration]).finish()
        try daemon.start()
        #expect(try daemon.json("status")["handlers"]?.array?.isEmpty == true)
        #expect(File.exists(daemon.manifests))
        #expect(try daemon.stop() == 0)
    }

    @Test("a second daemon on the same runtime or state directory is refused with a sentence, and changes nothing")
    func second() throws {
        let daemon = try RunningDaemon()
        try daemon.start()
        let same = try daemon.startInVain()
        #expect(same.exit == 1 && same.talk.isEmpty == false)
        #expect(daemon.log.contains("is the daemon running already?") && daemon.log.contains("\(daemon.process)"))
        let other = try daemon.startInVain("--runtime", "\(daemon.folder)/other")
        #expect(other.exit == 1 && other.talk.contains("\(daemon.state)/wakebridged.lock"), "\(other)")
        #expect(try daemon.startInVain("--sweep").exit == 1)
        #expect(try daemon.tool("status").exit == 0)
    }

    @Test(
        "directories that cannot be made stop the start with the path and the reason",
        arguments: ["--config", "--state", "--runtime"])
    func unwritable(option: String) throws {
        let daemon = try RunningDaemon()
        try daemon.write("no directory", to: "file")
        let refused = try daemon.startInVain(option, "\(daemon.folder)/file/below")
        #expect(refused.exit == 1)
        #expect(
            refused.talk.contains("\(daemon.folder)/file") && refused.talk.contains("cannot start"), "\(refused.talk)")
    }

    @Test(
        "broken settings, an unknown control group and a missing trace stop the start with their sentence",
        arguments: [
            ("{ strom: {} }", "unknown key \"strom\"; did you mean \"storm\"?"),
            ("{ control_group: \"no-such-group\" }", "no-such-group"),
            ("{ replay: { file: \"nowhere.trace\" } }", "config/nowhere.trace"),
        ])
    func refused(settings: String, words: String) throws {
        let daemon = try RunningDaemon()
        try daemon.write(settings, to: "config/wakebridge.json5")
        let outcome = try daemon.startInVain()
        #expect(outcome.exit == 1 && outcome.talk.contains(words), "\(outcome)")
        let name = "wakebridge" + daemon.runtime.split(separator: "/").map { "-\($0)" }.joined()
        let left = try Child(["find", "/sys/fs/cgroup", "-maxdepth", "6", "-type", "d", "-name", name]).finish()
        #expect(left.output.isEmpty, "a start in vain leaves no cgroup behind")
    }

    @Test(
        "reload names settings that changed under a running daemon: broken ones as errors, others as taken or as of the next start"
    )
    func changed() throws {
        let daemon = try RunningDaemon()
        try daemon.start()
        #expect(try daemon.tool("reload").exit == 0)
        try daemon.write("{ suspend: \"never\" }", to: "config/wakebridge.json5")
        #expect(try daemon.tool("reload").talk.contains("suspend must be"))
        try daemon.write("{ suspend: \"signal\" }", to: "config/wakebridge.json5")
        let later = try daemon.tool("reload", "--json")
        #expect(later.exit == 0 && later.talk == "", "\(later)")
        #expect(later.output.contains(#""errors":[],"warnings":[],"applied":[],"postponed":["suspend"]"#), "\(later)")
        try daemon.write("{ suspend: \"signal\", log: { burst: 9 } }", to: "config/wakebridge.json5")
        let reload = try daemon.tool("reload", "--config", daemon.configuration)
        let text = "took effect: log.burst\ntake effect at the daemon's next start: suspend\nreloaded\n"
        #expect(reload.exit == 0 && reload.output == text, "\(reload)")
        #expect(
            daemon.log.contains("suspend of \(daemon.configuration)/wakebridge.json5 takes effect at the next start"))
        let set = try daemon.tool("config", "set", "log.burst", "7", "--config", daemon.configuration)
        #expect(set.exit == 0 && set.output.contains("\nit has taken effect\n"), "\(set)")
        try daemon.stop()
        try daemon.start()
        #expect(try daemon.tool("reload").exit == 0)
        #expect(try daemon.json("status")["bridge"]?["suspend"]?.string == "weak")
    }

    @Test("a daemon is asked to read a configuration directory only if it uses that one, and otherwise that is printed")
    func otherDirectory() throws {
        let daemon = try RunningDaemon()
        try daemon.start()
        let other = daemon.folder + "/other"
        try Directory.create(other, mode: 0o755)
        // A daemon that was asked would take this too.
        try daemon.write("{ log: { burst: 8 } }", to: "config/wakebridge.json5")
        let set = try daemon.tool("config", "set", "log.burst", "7", "--config", other)
        let clause =
            "no running daemon uses \(other): the one at \(daemon.runtime)/control.sock uses \(daemon.configuration)"
        #expect(
            set.exit == 0 && set.output.hasSuffix("\n\(clause); it takes effect when a daemon starts with it\n"),
            "\(set)")
        let json = try daemon.tool("config", "set", "log.burst", "6", "--config", other, "--json")
        #expect(json.output.contains(#""in_force":false,"applied":[],"postponed":["log.burst"]"#), "\(json)")
        let refused = try daemon.tool("reload", "--config", other)
        #expect(refused.exit == 3 && refused.talk.contains("\(clause); reach another one with --runtime"), "\(refused)")
        let page = try daemon.tool("web", "--enable", "--config", other)
        #expect(page.exit == 5 && page.talk.contains("no token was made: \(clause)"), "\(page)")
        #expect(try daemon.tool("reload").output == "took effect: log.burst\nreloaded\n")
    }

    @Test("replay, log limits and timers of wakebridge.json5 hold")
    func settings() throws {
        let daemon = try RunningDaemon()
        let settings = """
            { replay: { file: "strap.trace", speed: "max" }, log: { longest_line: "256B", lines_per_second: 1, burst: 3 },
              timers: { budget: "700ms", grace: "100ms" } }
            """
        try daemon.write(settings, to: "config/wakebridge.json5")
        try daemon.write(strapTrace(), to: "config/strap.trace")
        try daemon.write("import sys\nfor n in range(50): print('x' * 300)\nsys.stdin.read()\n", to: "loud.py")
        try daemon.drop("loud", manifest("\(daemon.folder)/loud.py"))
        try daemon.start()
        #expect(
            daemon.wait { (try? daemon.handler("loud")["strikes"]?.integer ?? 0) ?? 0 >= 1 },
            "the budget of the settings\n\(daemon.log)")
        func printed() throws -> [JSONValue] {
            try daemon.tool("logs", "--json", "loud").output.split(separator: "\n")
                .map { try JSONValue(parsing: Array($0.utf8)) }.filter { $0["stream"]?.string == "stdout" }
        }
        try #require(daemon.wait { try !printed().isEmpty }, "\(daemon.log)")
        let lines = try printed()
        #expect((1...6).contains(lines.count), "\(lines.count)")
        #expect(lines.first?["text"]?.string?.utf8.count == 256)
    }

    @Test("the journal's retention holds for subscriptions that name none: what is older becomes a gap")
    func retention() throws {
        let daemon = try RunningDaemon()
        try daemon.stepTime()
        try daemon.write("{ journal: { retention: \"1s\" } }", to: "config/wakebridge.json5")
        try daemon.write(Script.diary, to: "diary.py")
        try daemon.write(strapTrace("+0 1 data 2a37 0648\n"), to: "strap.trace")
        try daemon.drop("log", manifest("\(daemon.folder)/diary.py", watch: "wake: false"))
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        try #require(daemon.wait { (try? daemon.handler("log")["queued"]?.integer) == 2 })
        try daemon.advance(by: .milliseconds(1_200))
        try daemon.tool("simulate", "wake", "log")
        #expect(
            daemon.wait { daemon.diary("log").contains { $0.hasPrefix("gap") && $0.contains("retention") } },
            "\(daemon.diary("log"))")
        #expect(!daemon.diary("log").contains { $0.hasPrefix("data") })
    }

    @Test("a device that flaps more often than the settings allow is folded, and its handler is told")
    func flips() throws {
        let daemon = try RunningDaemon()
        try daemon.write("{ flips: { count: 2, within: \"1h\" } }", to: "config/wakebridge.json5")
        try daemon.write(Script.diary, to: "diary.py")
        try daemon.write(strapTrace(), to: "strap.trace")
        try daemon.drop("log", manifest("\(daemon.folder)/diary.py"))
        // A first life makes the strap known; replays themselves are not limited.
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        try #require(daemon.wait { daemon.diary("log").count == 2 })
        try daemon.stop()
        try daemon.start()
        for _ in 0..<6 { try daemon.tool("simulate", "disconnect", "strap") }
        #expect(
            daemon.wait { daemon.diary("log").contains { $0.hasPrefix("attention") && $0.contains("flapping") } },
            "\(daemon.log)")
    }

    @Test("where a container's filter of system calls forbids clone3, handlers run by stop signals, and it is told")
    func filtered() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.write(
            """
            import ctypes, os, struct, sys
            # seccomp_data begins with the call's number: 435 is clone3, which gets ENOSYS (38); all others are allowed.
            rules = [(0x20, 0, 0, 0), (0x15, 0, 1, 435), (0x06, 0, 0, 0x00050000 | 38), (0x06, 0, 0, 0x7FFF0000)]
            code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
            program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rules), ctypes.addressof(code)))
            libc = ctypes.CDLL(None)
            assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program) == 0
            os.execvp(sys.argv[1], sys.argv[1:])

            """, to: "filter.py")
        daemon.wrapper = ["python3", "\(daemon.folder)/filter.py"]
        try daemon.drop("strap", manifest("\(daemon.folder)/diary.py"))
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        #expect(daemon.wait { (try? daemon.state(of: "strap")) == "suspended" }, "\(daemon.log)")
        #expect(daemon.log.contains("forbids clone3"), "\(daemon.log)")
        try daemon.tool("simulate", "disconnect", "strap")
        #expect(daemon.wait { daemon.diary("strap").contains { $0.hasPrefix("disconnected") } }, "\(daemon.log)")
    }

    @Test(
        "a stranger is told that it may not, with what to do, and a member of the control group is let in",
        .enabled(if: me == "root"))
    func peers() throws {
        let daemon = try RunningDaemon()
        try daemon.start()
        let stranger = try asNobody(daemon)
        #expect(stranger.exit == 4 && stranger.talk.contains("may not use this bridge's control socket"), "\(stranger)")
        try daemon.stop()
        try daemon.write("{ control_group: \"nogroup\" }", to: "config/wakebridge.json5")
        try daemon.start()
        #expect(try asNobody(daemon).exit == 0)
    }

    private func asNobody(_ daemon: RunningDaemon) throws -> (exit: Int32, output: String, talk: String) {
        // The checkout may lie where nobody may go.
        let copy = daemon.folder + "/wakebridge"
        _ = try Child(["cp", Built.tool, copy]).finish()
        return try Child([
            "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy, "--runtime", daemon.runtime, "status",
        ]).finish()
    }
}
