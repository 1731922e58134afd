// Flows in a real daemon: what keeps a handler awake while data flows, seen in its cgroup, and what two of one group are told.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

/// When a handler's leaf was found frozen, and when it was not, by the daemon's CLOCK_BOOTTIME in seconds.
private struct FreezeRecord {
    private(set) var frozen: [Double] = []
    private(set) var running: [Double] = []

    mutating func look(at leaf: String, _ now: Double) {
        let events = lines(of: "\(leaf)/cgroup.events")
        if events.contains("frozen 1") {
            frozen.append(now)
        } else if events.contains("frozen 0") {
            running.append(now)
        }
    }
}

@Suite("Flows", .serialized, .timeLimit(.minutes(4)))
struct FlowTests {
    /// Acknowledges what is no beginning of a flow, and notes each line with the instant of CLOCK_BOOTTIME, which is the second
    /// word of the page of a stepped time.
    private static func listener(_ page: String) -> String {
        """
        import json, os, sys
        book = open(os.environ["WAKEBRIDGE_STATE_DIR"] + "/diary", "a")
        page = os.open("\(page)", os.O_RDONLY)
        for line in sys.stdin:
            event = json.loads(line)
            now = int.from_bytes(os.pread(page, 8, 8), sys.byteorder) / 1e9
            book.write("%.9f %s %s\\n" % (now, event["type"][11:], json.dumps(event.get("data"))))
            book.flush()
            if "seq" in event and event["type"] != "wakebridge.flow.started":
                os.write(3, b'{"ack":%d}\\n' % event["seq"])

        """
    }

    private func leaf(of id: String, _ daemon: RunningDaemon) throws -> String? {
        guard let process = try daemon.handler(id)["pid"]?.integer else { return nil }
        let place = lines(of: "/proc/\(process)/cgroup").first { $0.hasPrefix("0::") }?.dropFirst(3)
        return place.map { "\(Machine.cgroup ?? "")\($0.split(separator: "/").suffix(2).reduce("") { $0 + "/" + $1 })" }
    }

    /// The instants at which the handler was told this.
    private func times(_ type: String, of id: String, _ daemon: RunningDaemon) -> [Double] {
        daemon.diary(id).map { $0.split(separator: " ") }.filter { $0.count > 1 && $0[1] == type }
            .compactMap { Double($0[0]) }
    }

    @Test(
        "a handler is not frozen while a strap's data flows, as another is between its beats, and is frozen when that is idle",
        .enabled(if: Machine.freezes))
    func staysAwake() throws {
        let beats = String(repeating: "+0.3 1 data 2a37 0048\n", count: 40)
        let daemon = try RunningDaemon.withStrap("+4 1 data 2a37 0047\n" + beats + "+30 1 data 2a37 0049\n")
        try daemon.stepTime()
        try daemon.write(Self.listener(try #require(daemon.time).path), to: "listener.py")
        let program = daemon.folder + "/listener.py"
        try daemon.drop("ecg", manifest(program, "flows: [{ name: \"ecg\", from: \"device:strap\", idle: \"2s\" }]"))
        try daemon.drop("other", manifest(program))
        try daemon.start("--replay", daemon.folder + "/strap.trace")
        let areConnected = daemon.wait {
            ["ecg", "other"].allSatisfy { !times("device.connected", of: $0, daemon).isEmpty }
        }
        try #require(areConnected, "\(daemon.log)")
        let (mine, others) = (try #require(try leaf(of: "ecg", daemon)), try #require(try leaf(of: "other", daemon)))
        try #require(daemon.wait { !times("flow.started", of: "ecg", daemon).isEmpty }, "\(daemon.log)")
        var (record, contrast) = (FreezeRecord(), FreezeRecord())
        for _ in 0..<600 where record.frozen.isEmpty {
            try daemon.advance(by: .milliseconds(50))
            record.look(at: mine, daemon.now)
            contrast.look(at: others, daemon.now)
        }
        let ended = try #require(times("flow.ended", of: "ecg", daemon).first, "\(daemon.diary("ecg"))\n\(daemon.log)")
        let last = try #require(times("device.data", of: "ecg", daemon).last { $0 < ended })
        let frozen = try #require(record.frozen.first, "never frozen\n\(daemon.log)")
        #expect(frozen >= last + 1 && frozen >= ended && ended >= last + 1)
        #expect(
            contrast.frozen.contains { $0 < last }, "the other one was seen awake at \(contrast.running.count) looks")
        #expect(record.running.count > 100)
        #expect(daemon.diary("ecg").contains { $0.contains("flow.ended") && $0.contains("\"idle\"") })
    }

    private static let audio = "flows: [{ name: \"rec\", from: \"self\", group: \"audio\", idle: \"60s\" }]"

    private func employed(_ more: String = "") throws -> Planner {
        let planner = try Planner(isStepped: true)
        for id in ["one", "two"] { try planner.employ(id, Self.audio, more: "autostart: true, \(more)") }
        try planner.start()
        return planner
    }

    private func open(_ id: String, _ planner: Planner) throws -> String? {
        try planner.ask(id, "{\"flow\":{\"name\":\"rec\",\"open\":true}}")["flow"]?.string
    }

    @Test("of two flows of one group one waits, why and pending say for which, and it begins when the other is closed")
    func group() throws {
        let planner = try employed()
        #expect(try open("one", planner) == "open")
        try planner.await(1, "flow.started", of: "one")
        #expect(try open("two", planner) == "waiting")
        let why = try planner.daemon.tool("why", "two").output
        #expect(why.contains("waits for the flow one/rec, which has the group audio"), "\(why)")
        let first = try planner.daemon.tool("why", "one").output
        #expect(first.contains("flow rec keeps it awake") && first.contains("flow rec flows"), "\(first)")
        #expect(try planner.daemon.handler("one")["flows"]?.array?.compactMap(\.string) == ["rec"])
        let entries = try planner.daemon.json("pending", "two")["pending"]?.array ?? []
        #expect(entries.first?["holder"]?.string == "one/rec" && entries.first?["source"]?.string == "flow")
        #expect(
            try planner.ask("one", "{\"flow\":{\"name\":\"rec\",\"open\":false}}")["flow"]?.string == "closed")
        try planner.await(1, "flow.started", of: "two")
        #expect(planner.heard("one", "flow.ended").isEmpty && planner.heard("one", "error").isEmpty)
    }

    @Test("a flow is open while events come and go: none of them waits for it, and none closes it")
    func delaysNothing() throws {
        let planner = try Planner(isStepped: true)
        try planner.employ(
            "one", "\(Self.audio), alarms: []", words: [], more: "autostart: true")
        try planner.start()
        #expect(try open("one", planner) == "open")
        try planner.await(1, "flow.started", of: "one")
        for count in 1...3 {
            _ = try planner.ask("one", "{\"alarm\":{\"id\":\"tick\",\"in_s\":1}}")
            let fired = try planner.await(count, "alarm.fired", of: "one")[count - 1]
            try planner.say("one", "{\"ack\":\(fired.sequence ?? 0)}")
        }
        #expect(
            try planner.pending("one").contains { $0["source"]?.string == "flow" && $0["state"]?.string == "running" })
    }

    @Test("a daemon that died with a flow tells its handler that this has ended, and does not give its beginning again")
    func restart() throws {
        let planner = try employed()
        #expect(try open("one", planner) == "open")
        try planner.await(1, "flow.started", of: "one")
        try planner.restart(SIGKILL)
        let ended = try planner.await(1, "flow.ended", of: "one")[0]
        #expect(ended.data["reason"]?.string == "bridge-restart" && planner.heard("one", "flow.started").count == 1)
        try planner.say("one", "{\"ack\":\(ended.sequence ?? 0)}")
        #expect(try open("two", planner) == "open")
    }

    @Test("an operator's stop interrupts a flow: its group is free at once, and nothing of it comes after the start")
    func stop() throws {
        let planner = try employed("stop_events: \"keep\"")
        #expect(try open("one", planner) == "open")
        try planner.await(1, "flow.started", of: "one")
        #expect(try open("two", planner) == "waiting")
        #expect(try planner.daemon.tool("stop", "one").exit == 0)
        try planner.await(1, "flow.started", of: "two")
        let told = try planner.daemon.tool("pending", "one").output
        #expect(told.contains("interrupted: its handler cannot run (stopped)"), "\(told)")
        #expect(try planner.daemon.tool("start", "one").exit == 0)
        try planner.await(2, "restored", of: "one")
        #expect(planner.heard("one", "flow.started").count == 1)
    }

    @Test(
        "while its flow is open a handler's own cgroup has the share that the manifest says, and once that is over all there is",
        .enabled(if: Machine.limitsProcessor, "SKIPPED: the cgroup of these tests is lent no cpu controller"))
    func limited() throws {
        let planner = try Planner(isStepped: true)
        let flows = "flows: [{ name: \"rec\", from: \"self\", cpu: \"25%\", idle: \"60s\" }]"
        try planner.employ("one", flows, more: "autostart: true")
        try planner.start()
        try planner.await(1, "restored", of: "one")
        let limit = "\(try #require(try leaf(of: "one", planner.daemon)))/cpu.max"
        #expect(lines(of: limit) != ["25000 100000"])
        #expect(try open("one", planner) == "open")
        try planner.await(1, "flow.started", of: "one")
        #expect(planner.daemon.wait(60) { lines(of: limit) == ["25000 100000"] }, "\(planner.daemon.log)")
        _ = try planner.ask("one", "{\"flow\":{\"name\":\"rec\",\"open\":false}}")
        #expect(planner.daemon.wait(60) { lines(of: limit) == ["max 100000"] }, "\(planner.daemon.log)")
    }

    @Test("a share of the processor that cannot be kept is told by status, doctor's source, and the log once")
    func share() throws {
        let planner = try Planner(isStepped: true)
        let flows = "flows: [{ name: \"rec\", from: \"self\", cpu: \"25%\", idle: \"60s\" }]"
        try planner.employ("one", flows, more: "autostart: true")
        try planner.start()
        #expect(try open("one", planner) == "open")
        try planner.await(1, "flow.started", of: "one")
        let status = try planner.daemon.json("status")
        let warnings = (status["bridge"]?["warnings"]?.array ?? []).compactMap { $0["what"]?.string }
        let isKept = try leaf(of: "one", planner.daemon).map { lines(of: "\($0)/cpu.max") == ["25000 100000"] } ?? false
        #expect(isKept != warnings.contains { $0.contains("gives a flow a share of a processor") }, "\(warnings)")
        let why = try planner.daemon.tool("why", "one").output
        #expect(why.contains("its cpu limit is not kept") != isKept && why.contains("with 25 % of a processor at most"))
        let said = planner.daemon.log.split(separator: "\n").filter { $0.contains("share of a processor") }
        #expect(said.count == (isKept ? 0 : 1), "\(said)")
    }
}
