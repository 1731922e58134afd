// The verbs that talk to a daemon, against a real control server that answers as a daemon would.
import Glibc
import TestBench
import Testing
import WakeControl
import WakeModel
import WakeSystem

@testable import WakeAPI
@testable import wakebridge

@Suite("Against a control server", .serialized) struct DaemonVerbTests {
    private static var strap: HandlerReport {
        var status = HandlerReport(id: "strap", state: "suspended", why: "asleep: no event waits", process: 4242)
        status.events = 61
        status.wakes = 60
        status.awake = .milliseconds(1_830)
        status.work = work
        return status
    }

    private static var work: WorkReport {
        var work = WorkReport()
        work.useful = 52
        work.nothing = 8
        work.unsaid = 1
        work.judgedWakes = 60
        work.usefulWakes = 45
        work.awakeRatio = 0.000_244
        work.processorTime = .microseconds(41_930)
        work.acknowledgedByProcess = 61
        return work
    }

    private static var broken: HandlerReport {
        var status = HandlerReport(
            id: "broken", state: "held", why: "held for 1 min 4 s more after overrun; start lifts it")
        status.heldFor = .seconds(64)
        status.queued = 3
        status.lastExit = "killed by signal 9"
        return status
    }

    private static var device: DeviceStatus {
        DeviceStatus(
            device: Device(
                uri: "/bluetooth/C0:F1:F2:F3:F4:01", alias: "chest-strap", profile: "heart-rate-monitor",
                kind: .bluetoothCentral), link: "connected")
    }

    private static var waiting: DeviceStatus {
        DeviceStatus(
            device: Device(
                uri: "/bluetooth/C0:F1:F2:F3:F4:02", alias: "scale", profile: "scale", kind: .bluetoothCentral),
            link: "disconnected", why: "its adapter carries 5 links and refuses another")
    }

    private static let adapters = [
        AdapterStatus(
            address: "00:1A:7D:DA:71:13", isPowered: true, links: 5, mostLinks: 5, waiting: ["scale", "b\u{1b}"]),
        AdapterStatus(address: "00:1A:7D:DA:71:14", isPowered: false, links: 0),
    ]

    private static func status(_ writer: inout JSONWriter) {
        let bridge = BridgeStatus(
            version: "0.1.0", process: 77, journal: "j7", uptime: .seconds(7_500), suspension: .weak,
            journalHealth: "ok",
            residentBytes: 10_276_045)
        WholeStatus(bridge: bridge, handlers: [strap, broken], devices: [device, waiting], adapters: adapters).write(
            into: &writer)
    }

    private func fixture(_ perform: @escaping (ControlRequest) -> ControlResponse) throws -> Fixture {
        try Fixture.answering(perform)
    }

    @Test("status tells bridge, handlers and devices with their reasons, adapters, and warns of weak suspension")
    func status() throws {
        let fixture = try fixture { $0.line == "GET /v1/status" ? .json(Self.status) : .text(status: 500, "") }
        let outcome = try fixture.tool("status")
        #expect(outcome.exit == 0)
        #expect(outcome.talk == "")
        for part in [
            "wakebridged 0.1.0, process 77, up 2 h 5 min, 9.7 MiB resident", "journal j7: ok", "suspends weakly",
            "asleep: no event waits",
            "held for 1 min 4 s more after overrun; start lifts it; last exit: killed by signal 9",
            "chest-strap  connected     -          heart-rate-monitor\n", "      61  1.8 s\n  asleep: no event waits",
            "\n\n  scale: its adapter carries 5 links and refuses another\n\n",
            "ADAPTER            POWER  LINKS  MOST LINKS  WAIT FOR ROOM\n",
            "00:1A:7D:DA:71:13  on         5           5  scale, b\u{fffd}\n",
            "00:1A:7D:DA:71:14  off        0           -  -\n",
        ] { #expect(outcome.output.contains(part), "\(part)") }
        #expect(!outcome.output.contains("\u{1b}"))
    }

    @Test("status fits a terminal of 80 columns, and names each handler once")
    func narrowStatus() throws {
        var writer = JSONWriter()
        Self.status(&writer)
        let text = StatusText(status: try JSONValue(parsing: writer.bytes), width: 80).text
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(text)")
        #expect(text.ranges(of: "broken").count == 1 && text.contains("broken   held"), "\(text)")
    }

    @Test(
        "handlers of one and why tell what it made of its wakes and what they cost, and nothing where it made nothing")
    func work() throws {
        let fixture = try fixture { call in
            switch call.line {
            case "GET /v1/handlers/strap": .json(Self.strap)
            case "GET /v1/handlers/broken": .json(Self.broken)
            default:
                .json { writer in
                    writer.beginObject()
                    writer.field("why", "asleep")
                    writer.field("work", shaped: Self.work)
                    writer.endObject()
                }
            }
        }
        let lines = """
              61 events acknowledged: 52 useful, 8 nothing, 1 unsaid
              45 of 60 judged wakes useful (75 %)
              awake under 0.1 % of the time, 0.7 ms of processor time an event

            """
        #expect(try fixture.tool("handlers", "strap").output.hasSuffix(lines))
        #expect(try fixture.tool("why", "strap").output == "asleep\n" + lines)
        #expect(try !fixture.tool("handlers", "broken").output.contains("acknowledged"))
        let json = try fixture.tool("handlers", "--json", "strap").output
        #expect(
            json.contains(
                #""work":{"useful":52,"nothing":8,"failed":0,"unsaid":1,"judged_wakes":60,"useful_wakes":45,"#
                    + #""awake_ratio":0.000244,"cpu_ms":41.93,"cpu_per_event_ms":0.687}"#))
        #expect(
            try fixture.tool("handlers", "--json", "broken").output.contains(#""cpu_ms":null,"cpu_per_event_ms":null"#))
    }

    @Test("why without a handler prints the sentence of each")
    func whyOfAll() throws {
        let fixture = try fixture { _ in
            .json { $0.object { $0.field("handlers", shaped: [Self.strap, Self.broken]) } }
        }
        let sentences = """
            strap   asleep: no event waits
            broken  held for 1 min 4 s more after overrun; start lifts it; last exit: killed by signal 9

            """
        #expect(try fixture.tool("why").output == sentences)
    }

    @Test("--json prints the daemon's bytes and nothing else")
    func json() throws {
        let fixture = try fixture { _ in .json(Self.status) }
        var writer = JSONWriter()
        Self.status(&writer)
        #expect(try fixture.tool("status", "--json").output == String(decoding: writer.bytes, as: UTF8.self) + "\n")
    }

    @Test("each verb asks for what it says")
    func calls() throws {
        var calls: [String] = []
        let fixture = try fixture { call in
            calls.append(call.line)
            return .done
        }
        let table: [([String], String)] = [
            (["handlers"], "GET /v1/handlers"), (["handlers", "a b"], "GET /v1/handlers/a b"),
            (["why", "x"], "GET /v1/handlers/x/why"), (["start", "x"], "POST /v1/handlers/x/start"),
            (["stop", "x"], "POST /v1/handlers/x/stop"),
            (["stop", "-k", "x"], #"POST /v1/handlers/x/stop {"keep_sessions":true}"#), (["reload"], "POST /v1/reload"),
            (["restart", "x"], "POST /v1/handlers/x/restart"),
            (["session", "paused", "d"], #"POST /v1/devices/session {"device":"d","session":"paused"}"#),
            (["session", "close", "d"], #"POST /v1/devices/session {"device":"d","session":"closed"}"#),
            (["simulate", "wake", "x"], #"POST /v1/simulate {"what":"wake","handler":"x"}"#),
            (["simulate", "expire", "x"], #"POST /v1/simulate {"what":"expire","handler":"x"}"#),
            (["simulate", "kill", "x"], #"POST /v1/simulate {"what":"kill","handler":"x"}"#),
            (["simulate", "memory"], #"POST /v1/simulate {"what":"memory","level":"critical"}"#),
            (["simulate", "memory", "--level", "low"], #"POST /v1/simulate {"what":"memory","level":"low"}"#),
            (["simulate", "sleep", "on"], #"POST /v1/simulate {"what":"sleep","state":"on"}"#),
            (["simulate", "heat", "off"], #"POST /v1/simulate {"what":"heat","state":"off"}"#),
            (["simulate", "battery", "on"], #"POST /v1/simulate {"what":"battery","state":"on"}"#),
            (["simulate", "disconnect", "d"], #"POST /v1/simulate {"what":"disconnect","device":"d"}"#),
            (["dead-letters"], "GET /v1/dead-letters"), (["pending"], "GET /v1/pending"),
            (["pending", "x"], "GET /v1/handlers/x/pending"),
            (["run-job", "x", "a b"], "POST /v1/handlers/x/jobs/a b/run"),
            (["cancel-job", "x", "a b"], "POST /v1/handlers/x/jobs/a b/cancel"),
            (["transfers", "--cancel", "photos/17", "x"], "POST /v1/handlers/x/transfers/photos/17/cancel"),
            (["transfers", "--cancel", "x", "photos/17"], "POST /v1/handlers/x/transfers/photos/17/cancel"),
            (["handlers", "list"], "GET /v1/handlers"), (["pending", "list"], "GET /v1/pending"),
            (["jobs", "x"], "GET /v1/handlers/x/pending"),
            (["simulate", "job", "x", "a/b"], "POST /v1/handlers/x/jobs/a/b/run"),
            (["simulate", "alarm", "x", "tea"], "POST /v1/handlers/x/alarms/tea/fire"),
            (["simulate", "poll", "x"], "POST /v1/handlers/x/poll/run"),
            (
                ["simulate", "condition", "mount:/data", "real"],
                #"POST /v1/conditions/mount:/data {"value":"real"}"#
            ),
            (["dead-letters", "list"], "GET /v1/dead-letters"),
            (["dead-letters", "replay", "7"], #"POST /v1/dead-letters/replay {"seq":7}"#),
            (["dead-letters", "drop", "--handler", "x"], #"POST /v1/dead-letters/drop {"handler":"x"}"#),
            (["dead-letters", "drop", "--all"], #"POST /v1/dead-letters/drop {"all":true}"#),
        ]
        for (words, call) in table {
            let outcome = try fixture.run([Built.tool, "--socket", fixture.path] + words)
            #expect(outcome.exit == 0, "\(words): \(outcome.talk)")
            #expect(calls.popLast() == call, "\(words)")
        }
    }

    @Test("what is not found is exit 5 with the verb, the daemon's sentence and its advice, also of a stream")
    func refusal() throws {
        let fixture = try fixture { _ in
            .refusal(
                ControlRefusal(
                    .notFound, code: "unknown-handler", message: "there is no handler 'x'",
                    advice: "see 'wakebridge handlers'"))
        }
        for verb in ["why", "attach", "logs", "watch"] {
            let outcome = try fixture.tool(verb, "x")
            #expect(outcome.exit == 5)
            #expect(outcome.output == "")
            #expect(outcome.talk == "wakebridge \(verb): there is no handler 'x'; see 'wakebridge handlers'\n")
            let json = try fixture.tool(verb, "x", "--json")
            #expect(json.exit == 5 && json.output == "")
            #expect(
                json.talk == #"{"error":{"code":"unknown-handler","message":"there is no handler 'x'","#
                    + #""advice":"see 'wakebridge handlers'"}}"# + "\n")
        }
    }

    private static let event =
        #"{"specversion":"1.0","id":"j7-42","source":"/bluetooth/C0:F1","type":"wakebridge.device.data","#
        + #""subject":"chest-strap","#
        + #""time":"2026-11-21T07:42:46.727125Z","seq":42,"#
        + #""data":{"profile":"hr","characteristic":"2a37","value":{"bpm":73,"rr_s":[0.832]},"raw":"10495403"}}"#

    @Test(
        "watch shows events decoded as they come, or their exact lines, and Ctrl-C ends it cleanly",
        arguments: [true, false])
    func watch(isJSON: Bool) throws {
        var streams: [ControlStream] = []
        var closed = 0
        let fixture = try fixture { call in
            #expect(call.line == "GET /v1/events?device=chest strap")
            return .stream(contentType: "application/x-ndjson") { stream in
                stream.onClose = { _ in closed += 1 }
                streams.append(stream)
            }
        }
        let child = try Child(
            ["env", "TZ=Asia/Kolkata", Built.tool, "watch", "--socket", fixture.path, "chest strap"]
                + (isJSON ? ["--json"] : []))
        #expect(try fixture.turn { !streams.isEmpty })
        for count in 1...2 {
            streams[0].send(Array((Self.event + "\n").utf8))
            #expect(try fixture.turn { child.output.split(separator: "\n").count == count })
        }
        let line = isJSON ? Self.event : "2026-11-21 13:12:46.727+05:30  chest-strap  data  2a37 bpm=73 rr_s=[0.832]"
        #expect(child.output == line + "\n" + line + "\n")
        kill(child.process, SIGINT)
        #expect(try fixture.turn { child.isOver && closed == 1 })
        #expect(child.exit == 0)
        #expect(child.talk == "")
    }

    @Test("attach keeps the handler awake for as long as the tool runs, even when it is killed")
    func attach() throws {
        var leases = 0
        let fixture = try fixture { call in
            #expect(call.line == "POST /v1/handlers/strap/attach")
            return .stream(contentType: "application/x-ndjson") { stream in
                leases += 1
                stream.onClose = { _ in leases -= 1 }
                stream.send(
                    Array(
                        #"{"time":"2026-11-21T07:42:46Z","handler":"strap","stream":"stdout","text":"beat \u001b[2J"}"#
                            .utf8) + [10])
            }
        }
        let child = try Child(["env", "TZ=UTC", Built.tool, "attach", "--socket", fixture.path, "strap"])
        #expect(try fixture.turn { leases == 1 && !child.output.isEmpty })
        #expect(child.output == "2026-11-21 07:42:46+00:00 beat \u{fffd}[2J\n")
        kill(child.process, SIGKILL)
        #expect(try fixture.turn { leases == 0 })
    }

    @Test("a stream that the daemon ends is exit 1 for watch, and exit 0 for logs that were not to be followed")
    func ended() throws {
        let fixture = try fixture { call in
            .stream(contentType: "application/x-ndjson") { stream in
                stream.send(
                    Array(#"{"time":"2026-11-21T07:42:46Z","handler":"a","stream":"stderr","text":"oh"}"#.utf8) + [10])
                stream.close()
            }
        }
        let logs = try fixture.tool("logs", "-n", "5")
        #expect(logs.exit == 0)
        #expect(logs.output == "2026-11-21 07:42:46+00:00 a: oh\n")
        let watch = try fixture.tool("watch")
        #expect(watch.exit == 1)
        #expect(watch.talk.contains("the daemon ended the stream"))
    }

    @Test("a daemon that dies in the middle of a stream is told, with exit 1")
    func daemonDies() throws {
        var isOpen = false
        let fixture = try fixture { _ in .stream(contentType: "application/x-ndjson") { _ in isOpen = true } }
        let child = try Child([Built.tool, "watch", "--socket", fixture.path])
        #expect(try fixture.turn { isOpen })
        fixture.server.close()
        #expect(try fixture.turn { child.isOver })
        #expect(child.exit == 1)
        #expect(child.talk.hasPrefix("wakebridge watch: "))
    }

    @Test("a setting that waits for the next start is no error of reload: it is named, and the exit status is 0")
    func reloadPostpones() throws {
        let answer = #"{"errors":[],"warnings":[],"applied":[],"postponed":["web.listen","suspend"]}"#
        let fixture = try fixture { _ in .json(status: 200, Array(answer.utf8)) }
        let outcome = try fixture.tool("reload")
        #expect(outcome.exit == 0 && outcome.talk == "", "\(outcome)")
        #expect(outcome.output == "take effect at the daemon's next start: web.listen, suspend\nreloaded\n")
    }

    @Test("reload tells each manifest's error and exits 1")
    func reload() throws {
        let fixture = try fixture { _ in
            .json(
                status: 200, Array(#"{"errors":["handlers.d/a.json5: unknown key 'exce'; did you mean 'exec'?"]}"#.utf8)
            )
        }
        let outcome = try fixture.tool("reload")
        #expect(outcome.exit == 1)
        #expect(outcome.talk == "wakebridge reload: handlers.d/a.json5: unknown key 'exce'; did you mean 'exec'?\n")
    }

    @Test(
        "a user without access is told which users and which group have it",
        .enabled(if: Machine.isRoot, "to become another user"), arguments: [nil, 4242])
    func stranger(group: UInt32?) throws {
        let fixture = try Fixture(group: group) { _ in .json(status: 200, []) }
        let copy = fixture.directory + "/wakebridge"
        defer { unlink(copy) }
        _ = try fixture.run(["cp", Built.tool, copy])
        let outcome = try fixture.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy, "--socket", fixture.path, "status"])
        let whose = group.map { "group \($0)" } ?? "the group that control_group in wakebridge.json5 names"
        let sentence =
            "user 65534 may not use this bridge's control socket; use sudo, or be user 0 or a member of \(whose)\n"
        #expect(outcome.exit == 4 && outcome.talk.hasSuffix(sentence), "\(outcome)")
    }
}
