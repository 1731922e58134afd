// A daemon that is killed and started again: what it says of the deliveries, waits and losses of the life before.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("A daemon that comes back", .serialized)
struct RestartTests {
    /// Gives the first strap's events back for three seconds, once each, and acknowledges only what comes again.
    private static func refusing(_ page: String) -> String {
        """
        import json, os, sys
        book = open(os.environ["WAKEBRIDGE_STATE_DIR"] + "/diary", "a")
        # CLOCK_BOOTTIME as the test moves it.
        page = os.open("\(page)", os.O_RDONLY)
        for line in sys.stdin:
            event = json.loads(line)
            if "seq" not in event:
                continue
            book.write("%s %d %d %s %.3f\\n" % (event["subject"], event["seq"], event["attempt"],
                event.get("redelivered", False), int.from_bytes(os.pread(page, 8, 8), sys.byteorder) / 1e9))
            book.flush()
            if event["subject"] == "first" and event["attempt"] == 1:
                os.write(3, b'{"nack":%d,"after_s":3}\\n' % event["seq"])
            if event["attempt"] == 2:
                os.write(3, b'{"ack":%d}\\n' % event["seq"])

        """
    }

    private static let straps = """
        wakebridge-trace 1
        clock 2026-11-21T07:00:00Z
        device 1 bluetooth C0:F1:F2:F3:F4:01 alias="first" service=180d
        device 2 bluetooth C0:F1:F2:F3:F4:02 alias="second" service=180d
        +0 1 connect
        +0 2 connect
        end

        """

    private struct Entry {
        let words: [String]
        let time: Double
        init(_ line: String) {
            let fields = line.split(separator: " ").map(String.init)
            words = Array(fields.prefix(4))
            time = fields.last.flatMap(Double.init) ?? 0
        }
    }

    @Test(
        "after kill -9 what was in flight is attempt 2 and redelivered, what a nack holds back waits its time out and is not",
        arguments: ["run", "disk"])
    func counts(durability: String) throws {
        let daemon = try RunningDaemon()
        try daemon.stepTime()
        try daemon.write(Self.refusing(try #require(daemon.time).path), to: "refusing.py")
        try daemon.write(Self.straps, to: "straps.trace")
        try daemon.drop(
            "log", manifest("\(daemon.folder)/refusing.py", "budget: \"1h\"", watch: "durability: \"\(durability)\""))
        let replay = ["--replay", "\(daemon.folder)/straps.trace"]
        try daemon.start(replay[0], replay[1])
        try #require(daemon.wait { daemon.diary("log").count == 2 }, "\(daemon.log)")
        // The nack is written after the line.
        let isBack = daemon.wait {
            guard let log = try? daemon.handler("log") else { return false }
            return log["open"]?.integer == 1 && log["queued"]?.integer == 1
        }
        try #require(isBack, "\(daemon.log)")
        try daemon.stop(SIGKILL)
        try daemon.start(replay[0], replay[1])
        #expect(daemon.wait { daemon.diary("log").count == 4 }, "\(daemon.diary("log"))\n\(daemon.log)")
        let diary = daemon.diary("log").map(Entry.init)
        #expect(diary.prefix(2).map(\.words) == [["first", "1", "1", "False"], ["second", "2", "1", "False"]])
        let second = try #require(diary.last { $0.words[0] == "second" })
        let first = try #require(diary.last { $0.words[0] == "first" })
        #expect(second.words == ["second", "2", "2", "True"])
        #expect(first.words == ["first", "1", "2", "False"])
        #expect((2.99...3.5).contains(first.time - diary[0].time), "\(daemon.diary("log"))")
    }

    @Test("what memory lost is told to who was there, and not to a handler that is new")
    func losses() throws {
        let daemon = try RunningDaemon.withStrap("+0 1 data 2a37 0648\n")
        let watch = "durability: \"ram\""
        try daemon.drop("old", manifest("\(daemon.folder)/puppet.py", "budget: \"1h\"", watch: watch))
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        try #require(daemon.wait { daemon.diary("old").contains { $0.hasPrefix("connected") } }, "\(daemon.log)")
        try daemon.stop(SIGKILL)
        try daemon.drop("new", manifest("\(daemon.folder)/diary.py", watch: watch))
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        #expect(daemon.wait { daemon.diary("old").contains { $0.hasPrefix("gap") } }, "\(daemon.log)")
        try daemon.tool("simulate", "disconnect", "strap")
        #expect(daemon.wait { daemon.diary("new").contains { $0.hasPrefix("disconnected") } }, "\(daemon.log)")
        #expect(!daemon.diary("new").contains { $0.hasPrefix("gap") }, "\(daemon.diary("new"))")
    }

    @Test("--no-bluetooth asks bluetoothd for nothing", arguments: [false, true])
    func withoutBluetooth(isOff: Bool) throws {
        let bus = try PrivateBus()
        let bluez = try ScriptedBluez(on: bus)
        for command in ["adapter hci0", "live"] { try bluez.tell(command) }
        let daemon = try RunningDaemon()
        daemon.busAddress = bus.address
        try daemon.stepTime(beside: bus, bluez)
        if isOff { try daemon.start("--no-bluetooth") } else { try daemon.start() }
        if isOff { try daemon.advance(by: .seconds(60)) }
        #expect(try daemon.wait { try (bluez.tell("calls GetManagedObjects") == "0") == isOff }, "\(daemon.log)")
    }

    @Test("reload takes a manifest whose user was made meanwhile", .enabled(if: geteuid() == 0))
    func userMadeMeanwhile() throws {
        let daemon = try RunningDaemon.withStrap()
        let users = daemon.folder + "/passwd"
        try daemon.write(text(of: "/etc/passwd"), to: "passwd")
        // In a mount namespace of the daemon's own, so that the machine gets no user.
        daemon.wrapper = ["unshare", "-m", "sh", "-c", "mount --bind '\(users)' /etc/passwd && exec \"$@\"", "sh"]
        let manifest = manifest("\(daemon.folder)/diary.py")
        try daemon.drop("late", manifest.replacing("user: \"\(me)\"", with: "user: \"waketest\""))
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        #expect(try daemon.tool("reload").exit == 1)
        let file = open(users, O_WRONLY | O_APPEND)
        let line = Array("waketest:x:65533:65534::/nonexistent:/bin/sh\n".utf8)
        #expect(write(file, line, line.count) == line.count)
        close(file)
        let outcome = try daemon.tool("reload")
        #expect(outcome.exit == 0, "\(outcome.talk)")
        #expect(try daemon.state(of: "late") != "none")
    }

    @Test("a user is looked up when manifests are read, and not at each launch", .enabled(if: geteuid() == 0))
    func userChangedMeanwhile() throws {
        let daemon = try RunningDaemon.withStrap()
        let users = daemon.folder + "/passwd"
        let others = text(of: "/etc/passwd")
        func setUser(to number: Int) { put(others + "waketest:x:\(number):65534::/nonexistent:/bin/sh\n", at: users) }
        setUser(to: 65533)
        daemon.wrapper = ["unshare", "-m", "sh", "-c", "mount --bind '\(users)' /etc/passwd && exec \"$@\"", "sh"]
        try daemon.drop(
            "log",
            """
            { exec: ["/bin/sh", "-c", "touch $WAKEBRIDGE_STATE_DIR/its-own; cat >/dev/null"], user: "waketest",
              modes: ["bluetooth-central"], ack: "delivery", watch: [{ profile: "heart-rate-monitor" }] }
            """)
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        func user() throws -> String? {
            guard let pid = try daemon.handler("log")["pid"]?.integer else { return nil }
            return try Child(["stat", "-c", "%u", "/proc/\(pid)"]).finish().output
        }
        // It may have been started again by the time that this looks.
        func launchAgain() throws {
            let ended = try daemon.handler("log")["pid"]?.integer
            try daemon.tool("simulate", "kill", "log")
            #expect(try daemon.wait { try daemon.handler("log")["pid"]?.integer != ended })
            try daemon.tool("simulate", "disconnect", "strap")
        }
        #expect(try daemon.wait { try user() == "65533\n" }, "\(daemon.log)")
        setUser(to: 65532)
        try launchAgain()
        #expect(try daemon.wait { try user() == "65533\n" }, "\(daemon.log)")
        #expect(try daemon.tool("reload").exit == 0)
        try launchAgain()
        #expect(try daemon.wait { try user() == "65532\n" }, "\(daemon.log)")
        #expect(daemon.log.contains("handlers/log was another user's, and the files in it still are"), "\(daemon.log)")
    }
}
