// Requests read as calls, and every way in which they can make no sense.
import TestBench
import Testing
import WakeModel

@testable import WakeControl

@Suite("A request") struct ControlCallTests {
    private func call(_ line: String, _ body: String = "") throws -> ControlCall {
        let words = line.split(separator: " ").map(String.init)
        let halves = words[1].split(separator: "?", maxSplits: 1).map(String.init)
        let query = halves.dropFirst().flatMap { $0.split(separator: "&") }.map { pair in
            let sides = pair.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            return ControlRequest.Parameter(sides[0], sides.count > 1 ? sides[1] : "")
        }
        return try ControlCall(
            ControlRequest(
                method: words[0], path: halves[0].split(separator: "/").map(String.init), query: query,
                body: Array(body.utf8), access: .role(.pair)))
    }

    private func refusal(_ line: String, _ body: String = "") -> ControlRefusal? {
        do { _ = try call(line, body) } catch { return error as? ControlRefusal }
        return nil
    }

    @Test("docs/reference/http-api.md has every address that is answered, and no other")
    func documentation() throws {
        let rows = try Document("docs/reference/http-api.md").text.split(separator: "\n")
        let documented = rows.filter { $0.hasPrefix("| `GET ") || $0.hasPrefix("| `POST ") }
            .compactMap { $0.split(separator: "`").dropFirst().first?.split(separator: "?").first.map(String.init) }
        let answered = Endpoint.all.map { "\($0.method) /\($0.path.joined(separator: "/"))" }
        #expect(documented.sorted() == answered.sorted())
    }

    @Test("reads as the call it is")
    func calls() throws {
        #expect(try call("GET /v1/status") == .status)
        #expect(try call("HEAD /v1/status") == .status)
        #expect(try call("GET /v1/handlers/strap") == .handler("strap"))
        #expect(try call("GET /v1/handlers/why") == .handler("why"))
        #expect(try call("POST /v1/handlers/strap/stop") == .stop(handler: "strap", keepsSessions: false))
        #expect(
            try call("POST /v1/handlers/strap/stop", #"{"keep_sessions":true}"#)
                == .stop(handler: "strap", keepsSessions: true))
        #expect(try call("POST /v1/simulate", #"{"what":"memory"}"#) == .simulate(.memory(.critical)))
        #expect(try call("POST /v1/simulate", #"{"what":"sleep","state":"on"}"#) == .simulate(.sleep(isOn: true)))
        #expect(try call("POST /v1/simulate", #"{"what":"heat","state":"off"}"#) == .simulate(.heat(isOn: false)))
        #expect(try call("POST /v1/simulate", #"{"what":"battery","state":"on"}"#) == .simulate(.battery(isOn: true)))
        #expect(
            try call("POST /v1/devices/session", #"{"device":"/bluetooth/C0:F1:F2:F3:F4:01","session":"paused"}"#)
                == .setSession(device: "/bluetooth/C0:F1:F2:F3:F4:01", .paused))
        #expect(
            try call("POST /v1/devices/name", #"{"device":"/dev/ttyACM0","name":"scale","as":"new"}"#)
                == .nameAccessory(AccessoryOrder(device: "/dev/ttyACM0", name: "scale", identity: .new)))
        #expect(
            try call("POST /v1/devices/name", #"{"device":"scale","as":"left"}"#)
                == .nameAccessory(AccessoryOrder(device: "scale", identity: .known("left"))))
        #expect(try call("POST /v1/devices/forget", #"{"device":"scale"}"#) == .forgetAccessory(device: "scale"))
        #expect(try call("POST /v1/dead-letters/drop", #"{"seq":42}"#) == .dropDeadLetters(.sequence(Sequence(42))))
        #expect(
            try call("POST /v1/devices/session", #"{"device":"strap","session":"close"}"#)
                == .setSession(device: "strap", .closed))
        let level = DeviceAddress(device: "strap", channel: .characteristic(BluetoothUUID(short: 0x2a19)))
        #expect(
            try call("POST /v1/devices/read", #"{"device":"strap","characteristic":"2a19"}"#) == .request(.read(level)))
        #expect(
            try call("POST /v1/devices/write", #"{"device":"strap","characteristic":"2a19","hex":"01ff"}"#)
                == .request(.write(level, bytes: [1, 255])))
        #expect(try call("POST /v1/handlers/strap/restart") == .restart(handler: "strap"))
        #expect(try call("GET /v1/pending") == .pending(handler: nil))
        #expect(try call("GET /v1/handlers/strap/pending") == .pending(handler: "strap"))
        #expect(try call("POST /v1/handlers/strap/jobs/backup/run") == .raise(.job("backup"), handler: "strap"))
        #expect(try call("POST /v1/handlers/strap/jobs/a/run/run") == .raise(.job("a/run"), handler: "strap"))
        #expect(try call("POST /v1/handlers/strap/jobs/a/run/cancel") == .cancelJob("a/run", handler: "strap"))
        let transfer = ControlCall.cancelTransfer("photos/17", handler: "strap")
        #expect(try call("POST /v1/handlers/strap/transfers/photos/17/cancel") == transfer)
        #expect(try call("POST /v1/handlers/strap/alarms/pill/fire") == .raise(.alarm("pill"), handler: "strap"))
        #expect(try call("POST /v1/handlers/strap/poll/run") == .raise(.poll, handler: "strap"))
        #expect(try call("GET /v1/conditions") == .conditions)
        #expect(
            try call("POST /v1/conditions/power", #"{"value":"off"}"#)
                == .play(ConditionPlay(word: "power", value: .off)))
        #expect(
            try call("POST /v1/conditions/mount:/data/a", #"{"value":"real"}"#)
                == .play(ConditionPlay(word: "mount:/data/a", value: .real)))
        #expect(try call("GET /v1/devices/history?device=a&span=7d") == .watching(.history(device: "a", .week)))
        #expect(try call("GET /v1/handlers/a/timeline?span=24h") == .watching(.timeline(handler: "a", .day)))
        #expect(try call("GET /v1/devices") == .devices(named: nil))
        #expect(try call("GET /v1/devices?device=a%20b") == .devices(named: "a%20b"))
        #expect(try call("GET /v1/events") == .events(device: nil))
        #expect(try call("GET /v1/events?device=") == .events(device: nil))
        #expect(try call("GET /v1/events?device=a&device=b") == .events(device: "a"))
        #expect(try call("GET /v1/logs") == .logs(LogQuestion()))
        #expect(
            try call("GET /v1/logs?handler=a&follow&lines=0")
                == .logs(LogQuestion(handler: "a", follows: true, lines: 0)))
    }

    @Test(
        "that makes no sense is refused with a code and advice",
        arguments: [
            ("GET /", "", 404, "unknown-path"), ("GET /v2/status", "", 404, "unknown-path"),
            ("GET /v1/handlers/a/b", "", 404, "unknown-path"), ("GET /v1/status/x", "", 404, "unknown-path"),
            ("POST /v1/status", "", 405, "wrong-method"), ("GET /v1/handlers/a/start", "", 405, "wrong-method"),
            ("DELETE /v1/handlers/a", "", 405, "wrong-method"), ("HEAD /v1/reload", "", 405, "wrong-method"),
            ("POST /v1/reload", #"{"now":true}"#, 400, "unknown-key"),
            ("POST /v1/simulate", "", 400, "missing-key"), ("POST /v1/simulate", "{", 400, "bad-json"),
            ("POST /v1/simulate", "[]", 400, "bad-json"), ("POST /v1/simulate", "\u{0}", 400, "bad-json"),
            ("POST /v1/simulate", #"{"waht":"wake"}"#, 400, "unknown-key"),
            ("POST /v1/simulate", #"{"what":7}"#, 400, "bad-value"),
            ("POST /v1/simulate", #"{"what":""}"#, 400, "bad-value"),
            ("POST /v1/simulate", #"{"what":"weke"}"#, 400, "unknown-simulation"),
            ("POST /v1/simulate", #"{"what":"wake"}"#, 400, "missing-key"),
            ("POST /v1/simulate", #"{"what":"disconnect","handler":"a"}"#, 400, "missing-key"),
            ("POST /v1/simulate", #"{"what":"memory","level":"lots"}"#, 400, "bad-value"),
            ("POST /v1/simulate", #"{"what":"heat"}"#, 400, "missing-key"),
            ("POST /v1/simulate", #"{"what":"sleep","state":"maybe"}"#, 400, "bad-value"),
            ("POST /v1/simulate", #"{"what":"wake","what":"kill"}"#, 400, "bad-json"),
            ("POST /v1/devices/session", #"{"device":"a"}"#, 400, "missing-key"),
            ("POST /v1/devices/session", #"{"session":"open"}"#, 400, "missing-key"),
            ("POST /v1/devices/session", #"{"device":"a","session":"pasued"}"#, 400, "bad-value"),
            ("GET /v1/devices/session", "", 405, "wrong-method"),
            ("POST /v1/devices/read", #"{"characteristic":"2a19"}"#, 400, "malformed"),
            ("POST /v1/devices/read", #"{"device":"a","hex":"00"}"#, 400, "unknown-key"),
            ("POST /v1/devices/write", #"{"device":"a","hex":"0"}"#, 400, "malformed"),
            ("POST /v1/handlers/a/stop", #"{"keep_sessions":"yes"}"#, 400, "bad-value"),
            ("POST /v1/handlers/a/stop", #"{"keep_session":true}"#, 400, "unknown-key"),
            ("POST /v1/conditions/power", "", 400, "missing-key"),
            ("POST /v1/conditions/power", #"{"value":"maybe"}"#, 400, "bad-value"),
            ("POST /v1/conditions", "", 405, "wrong-method"), ("GET /v1/handlers/a/jobs/b", "", 404, "unknown-path"),
            ("GET /v1/handlers/a/poll/run", "", 405, "wrong-method"),
            ("POST /v1/handlers/a/jobs/run", "", 404, "unknown-path"),
            ("GET /v1/handlers/a/jobs/b/cancel", "", 405, "wrong-method"),
            ("POST /v1/dead-letters/drop", "", 400, "bad-choice"),
            ("POST /v1/dead-letters/drop", #"{"seq":1,"all":true}"#, 400, "bad-choice"),
            ("POST /v1/dead-letters/drop", #"{"all":false}"#, 400, "bad-choice"),
            ("POST /v1/devices/name", #"{"device":"a","name":"b\u0085"}"#, 400, "bad-value"),
            ("POST /v1/devices/name", #"{"device":"a","name":"b\u202ec"}"#, 400, "bad-value"),
            ("POST /v1/devices/name", #"{"device":"a","name":"new"}"#, 400, "bad-value"),
            ("POST /v1/dead-letters/drop", #"{"seq":0}"#, 400, "bad-value"),
            ("POST /v1/dead-letters/replay", #"{"seq":-1}"#, 400, "bad-value"),
            ("POST /v1/dead-letters/replay", #"{"seq":1.5}"#, 400, "bad-value"),
            ("GET /v1/logs?lines=10001", "", 400, "bad-value"), ("GET /v1/logs?lines=-1", "", 400, "bad-value"),
            ("GET /v1/devices/history?device=a&span=8d", "", 400, "bad-value"),
            ("GET /v1/handlers/a/timeline?span=7d", "", 400, "bad-value"),
            ("GET /v1/logs?lines=x", "", 400, "bad-value"), ("GET /v1/logs?follow=perhaps", "", 400, "bad-value"),
        ])
    func refusals(line: String, body: String, status: Int, code: String) {
        let refusal = self.refusal(line, body)
        #expect(refusal?.status.rawValue == status)
        #expect(refusal?.code == code)
        #expect(refusal?.message.isEmpty == false)
        #expect(refusal?.advice.isEmpty == false)
    }

    @Test("a refusal is JSON with code, message and advice, whatever the client wrote")
    func json() throws {
        let refusal = try #require(self.refusal("GET /v1/\"\u{1b}[2J"))
        let error = try JSONValue(parsing: refusal.json)["error"]
        #expect(error?["code"]?.string == "unknown-path")
        #expect(error?["message"]?.string?.contains("\"\u{1b}[2J") == true)
    }

    @Test("names are near that are a slip of the finger away, or begin alike")
    func nearest() {
        #expect(nearestNames(to: "statsu", among: ["start", "status", "stop"]) == ["status"])
        #expect(nearestNames(to: "STATUS", among: ["status"]) == ["status"])
        #expect(nearestNames(to: "dead", among: ["dead-letters", "devices"]) == ["dead-letters"])
        #expect(nearestNames(to: "x", among: ["status"]) == [])
        #expect(nearestNames(to: "", among: ["status"]) == [])
    }
}
