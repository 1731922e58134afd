// Requests at their endpoints, and every way in which they can make no sense.
import TestBench
import Testing
import WakeModel

@testable import WakeAPI
@testable import WakeControl

@Suite("A request") struct EndpointTests {
    private func request(_ line: String, _ body: String = "") -> ControlRequest {
        let words = line.split(separator: " ").map(String.init)
        let halves = words[1].split(separator: "?", maxSplits: 1).map(String.init)
        let query = halves.dropFirst().flatMap { $0.split(separator: "&") }.map { pair in
            let sides = pair.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            return ControlRequest.Parameter(sides[0], sides.count > 1 ? sides[1] : "")
        }
        return ControlRequest(
            method: words[0], path: halves[0].split(separator: "/").map(String.init), query: query,
            body: Array(body.utf8), access: .role(.pair))
    }

    private func refusal(_ line: String, _ body: String = "") -> ControlRefusal? {
        do throws(ControlRefusal) { _ = try API.read(request(line, body)) } catch { return error }
        return nil
    }

    @Test("docs/reference/http-api.md has every address that is answered, and no other")
    func documentation() throws {
        let rows = try Document("docs/reference/http-api.md").text.split(separator: "\n")
        let documented = rows.filter { $0.hasPrefix("| `GET ") || $0.hasPrefix("| `POST ") }
            .compactMap { $0.split(separator: "`").dropFirst().first?.split(separator: "?").first.map(String.init) }
        let answered = API.routes.all.map { "\($0.method) \($0.address)" }
        #expect(documented.sorted() == answered.sorted())
    }

    /// The address of the endpoint that answers, and what the request names there.
    private func place(_ line: String) throws -> String {
        let request = request(line)
        let route = API.routes.all[try API.routes.place(of: request)]
        let captures = try #require(route.captures(in: request.path))
        return ([route.address, captures.first, captures.second].filter { !$0.isEmpty }).joined(separator: " ")
    }

    @Test("goes to the endpoint of its address, whatever slashes a name has, and HEAD where GET goes")
    func places() throws {
        #expect(try place("GET /v1/status") == "/v1/status" && place("HEAD /v1/status") == "/v1/status")
        #expect(try place("GET /v1/handlers/strap") == "/v1/handlers/ID strap")
        #expect(try place("GET /v1/handlers/why") == "/v1/handlers/ID why")
        #expect(try place("POST /v1/handlers/strap/jobs/backup/run") == "/v1/handlers/ID/jobs/JOB/run strap backup")
        #expect(try place("POST /v1/handlers/strap/jobs/a/run/run") == "/v1/handlers/ID/jobs/JOB/run strap a/run")
        #expect(try place("POST /v1/handlers/s/jobs/a/run/cancel") == "/v1/handlers/ID/jobs/JOB/cancel s a/run")
        let transfer = "/v1/handlers/ID/transfers/TRANSFER/cancel strap photos/17"
        #expect(try place("POST /v1/handlers/strap/transfers/photos/17/cancel") == transfer)
        #expect(try place("POST /v1/handlers/strap/alarms/pill/fire") == "/v1/handlers/ID/alarms/ALARM/fire strap pill")
        #expect(try place("POST /v1/conditions/mount:/data/a") == "/v1/conditions/WORD mount:/data/a")
    }

    private func asked(_ line: String, _ body: String = "") throws -> Asked {
        let request = request(line, body)
        let endpoint = API.endpoints[try API.routes.place(of: request)]
        let body = try RequestBody(request.body, to: request.path, keys: endpoint.body.map(\.name))
        return Asked(request: request, captures: Route.Captures(), body: body)
    }

    @Test("has its body and its parameters read as the order that they are")
    func orders() throws {
        func simulation(_ body: String) throws -> Simulation { try Simulation(asked("POST /v1/simulate", body).body) }
        #expect(try simulation(#"{"what":"memory"}"#) == .memory(.critical))
        #expect(try simulation(#"{"what":"sleep","state":"on"}"#) == .sleep(isOn: true))
        #expect(try simulation(#"{"what":"heat","state":"off"}"#) == .heat(isOn: false))
        #expect(try simulation(#"{"what":"battery","state":"on"}"#) == .battery(isOn: true))
        func named(_ body: String) throws -> AccessoryOrder {
            try AccessoryOrder(asked("POST /v1/devices/name", body).body)
        }
        #expect(
            try named(#"{"device":"/dev/ttyACM0","name":"scale","as":"new"}"#)
                == AccessoryOrder(device: "/dev/ttyACM0", name: "scale", identity: .new))
        #expect(
            try named(#"{"device":"scale","as":"left"}"#)
                == AccessoryOrder(device: "scale", identity: .known("left")))
        let letter = try asked("POST /v1/dead-letters/drop", #"{"seq":42}"#)
        #expect(try DeadLetterChoice(letter.body) == .sequence(Sequence(42)))
        let session = try asked("POST /v1/devices/session", #"{"device":"strap","session":"close"}"#)
        #expect(try session.body.session() == .closed && session.body.require("device") == "strap")
        let value = try asked("POST /v1/conditions/power", #"{"value":"real"}"#)
        #expect(try value.body.played() == .real)
        #expect(try asked("GET /v1/events").named("device") == nil)
        #expect(try asked("GET /v1/events?device=").named("device") == nil)
        #expect(try asked("GET /v1/events?device=a&device=b").named("device") == "a")
        let history = try asked("GET /v1/devices/history?device=a&span=7d")
        #expect(try HistorySpan(history, of: "history", among: HistorySpan.allCases) == .week)
        let timeline = try asked("GET /v1/handlers/a/timeline?span=24h")
        #expect(try HistorySpan(timeline, of: "timeline", among: HistorySpan.ofTimelines) == .day)
        #expect(try LogQuestion(request("GET /v1/logs")) == LogQuestion())
        #expect(
            try LogQuestion(request("GET /v1/logs?handler=a&follow&lines=0"))
                == LogQuestion(handler: "a", follows: true, lines: 0))
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
