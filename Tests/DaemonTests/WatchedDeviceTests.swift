// What a page is answered by a daemon that plays a trace: histories, timelines, a recording, a replay and findings.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("What is watched of a daemon", .serialized) struct WatchedDeviceTests {
    private func stream(_ daemon: RunningDaemon, _ path: String, _ more: String...) throws -> Child {
        let child = try Child(
            ["curl", "-sSN", "--unix-socket", daemon.runtime + "/control.sock", "http://w" + path] + more)
        daemon.time?.peers.append(child)
        return child
    }

    private func ask(_ daemon: RunningDaemon, _ path: String, _ more: String...) throws -> JSONValue {
        let words = ["curl", "-sS", "--unix-socket", daemon.runtime + "/control.sock", "http://w" + path] + more
        return try JSONValue(parsing: Array(try Child(words).finish(within: 60).output.utf8))
    }

    private func playing(_ operations: String) throws -> RunningDaemon {
        let daemon = try RunningDaemon.withStrap(operations)
        try daemon.stepTime()
        try daemon.drop("strap", manifest("\(daemon.folder)/diary.py"))
        try daemon.start("--replay", daemon.folder + "/strap.trace")
        return daemon
    }

    private let beats = (0..<400).map { "+0.05 1 data 2a37 00\(String(40 + $0 % 40))\n" }.joined()

    @Test("a strap of a trace has a history of its values with their unit, at the time of this machine")
    func history() throws {
        let daemon = try playing("+1 1 data 2a37 0040\n" + beats)
        var points: [JSONValue] = []
        let isThere = try daemon.wait {
            let fields = try ask(daemon, "/v1/devices/history?device=strap")["fields"]?.array ?? []
            let bpm = fields.first { $0["name"]?.string == "bpm" }
            points = bpm?["points"]?.array ?? []
            return points.count >= 2 && bpm?["unit"]?.string == "bpm"
        }
        #expect(isThere)
        let point = try #require(points.last?.array)
        #expect(abs((point[0].number ?? 0) - Double(daemon.wall.microseconds) / 1e6) < 5)
        #expect((64...121).contains(point[1].number ?? 0))
        let day = try ask(daemon, "/v1/devices/history?device=strap&span=24h")
        #expect(day["step_s"]?.integer == 60)
        #expect(day["gaps"]?.array?.first?["cause"]?.string == "not-recorded")
        let week = try ask(daemon, "/v1/devices/history?device=strap&span=7d")
        #expect(week["step_s"]?.integer == 1800 && week["fields"]?.array?.isEmpty == false)
        #expect(try ask(daemon, "/v1/devices/history?device=strap&span=1y")["error"]?["code"]?.string == "bad-value")
        #expect(try ask(daemon, "/v1/devices/history")["error"]?["code"]?.string == "missing-parameter")
    }

    @Test("a disconnect of the strap is a gap in its history, with the reason of the link's end")
    func gap() throws {
        let daemon = try playing("+2 1 data 2a37 0040\n+0.5 1 disconnect reason=remote-user\n+600 1 connect\n")
        #expect(try ask(daemon, "/v1/devices/history?device=strap")["device"]?.string == "strap")
        var gap: JSONValue?
        let isTold = try daemon.wait {
            gap = try ask(daemon, "/v1/devices/history?device=strap")["gaps"]?.array?.last
            return gap?["cause"]?.string == "disconnected"
        }
        #expect(isTold && gap?["why"]?.string == "the link ended: remote-user")
    }

    @Test("a handler's timeline shows when it was awake and frozen, and the kill of an operator")
    func timeline() throws {
        let daemon = try playing("+1 1 data 2a37 0040\n" + beats)
        let path = "/v1/handlers/strap/timeline?span=15m"
        func states() throws -> Set<String> {
            Set((try ask(daemon, path)["spans"]?.array ?? []).compactMap { $0["state"]?.string })
        }
        #expect(try daemon.wait { try states().isSuperset(of: ["awake", "frozen"]) })
        try daemon.tool("simulate", "kill", "strap")
        #expect(
            try daemon.wait { try ask(daemon, path)["ends"]?.array?.first?["why"]?.string == "an operator killed it" })
        let answer = try ask(daemon, path)
        #expect(answer["budget_ms"]?.integer == 10_000 && (answer["awake_ms"]?.integer ?? 0) > 0)
        #expect((0...1).contains(answer["awake_ratio"]?.number ?? -1))
    }

    @Test("a recording is a trace from its first line on, and a client that has enough closes it")
    func recording() throws {
        let daemon = try playing("+1 1 data 2a37 0040\n" + beats)
        let recording = try stream(daemon, "/v1/recording?device=strap")
        #expect(daemon.wait { recording.output.contains("data 2a37 0050") }, "\(recording.output)")
        kill(recording.process, SIGKILL)
        #expect(daemon.wait { recording.isOver })
        let whole = recording.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        try daemon.write(whole.joined(separator: "\n") + "\nend\n", to: "recorded.trace")
        #expect(try daemon.tool("replay", daemon.folder + "/recorded.trace", "--speed", "max").exit == 0)
    }

    @Test("a trace is played to a process of its own of the handler's program, and what it says is streamed")
    func replay() throws {
        let daemon = try RunningDaemon.withStrap("+600 1 data 2a37 0040\n")
        try daemon.stepTime()
        let talker = """
            import json, os, sys
            for line in sys.stdin:
                event = json.loads(line)
                print("heard", event["type"].split(".")[-1], flush=True)
                if "seq" in event:
                    os.write(3, b'{"ack":%d}\\n' % event["seq"])

            """
        try daemon.write(talker, to: "talker.py")
        try daemon.drop("strap", manifest("\(daemon.folder)/talker.py"))
        try daemon.start("--replay", daemon.folder + "/strap.trace")
        var body = JSONWriter()
        body.beginObject()
        body.field("handler", "strap")
        body.field("trace", strapTrace("+1 1 data 2a37 0040\n+1 1 data 2a37 0041\n"))
        body.endObject()
        try daemon.write(body.bytes, to: "body.json")
        let before = try daemon.handler("strap")["events"]?.integer
        let outcome = try stream(daemon, "/v1/replay", "-d", "@\(daemon.folder)/body.json")
        #expect(daemon.wait { outcome.isOver }, "\(outcome.talk)")
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count { $0 == #"{"text":"heard data"}"# } == 2, "\(outcome.output)")
        #expect(lines.last?.contains("3 events, 3 acknowledged") == true, "\(outcome.output)")
        #expect(try daemon.handler("strap")["events"]?.integer == before)
        #expect(
            daemon.wait { (try? Directory.names(in: daemon.runtime))?.contains { $0.hasSuffix(".trace") } == false })
    }

    @Test("the doctor's findings come with their level and what to do, and are looked for once for two who ask")
    func findings() throws {
        let daemon = try playing("+600 1 data 2a37 0040\n")
        let first = try ask(daemon, "/v1/findings")
        let found = first["findings"]?.array ?? []
        let bus = try #require(found.first { $0["code"]?.string == "bus-absent" })
        #expect(
            bus["level"]?.string == "error" && bus["severity"]?.string == "error"
                && bus["fix"]?.string?.isEmpty == false)
        #expect(try ask(daemon, "/v1/findings")["checked"] == first["checked"])
    }
}
