// A call of the control API, as one value that the daemon switches over, and its parsing from a request.
import WakeModel

public enum ControlCall: Hashable, Sendable {
    case status
    case handlers
    case handler(String)
    case why(handler: String)
    /// What is scheduled for one handler, or for all.
    case pending(handler: String?)
    /// Has an entry of what is scheduled raised now.
    case raise(ScheduledEntry, handler: String)
    /// Takes back what is pending of a job, and ends its run.
    case cancelJob(String, handler: String)
    case conditions
    case play(ConditionPlay)
    /// All of them, or the one that is meant.
    case devices(named: String?)
    /// What a handler could ask of a device, asked by an operator.
    case request(DeviceRequest)
    case setSession(device: String, LinkSession)
    case nameAccessory(AccessoryOrder)
    case forgetAccessory(device: String)
    case start(handler: String)
    case stop(handler: String, keepsSessions: Bool)
    case restart(handler: String)
    /// Keeps the handler awake for as long as the stream is open.
    case attach(handler: String)
    case reload
    case simulate(Simulation)
    case deadLetters
    case replayDeadLetters(DeadLetterChoice)
    case dropDeadLetters(DeadLetterChoice)
    /// Event lines as they come; of every device where none is named.
    case events(device: String?)
    /// All that a trace can hold, as it comes.
    case day
    case logs(LogQuestion)
    /// In the format that the client accepts.
    case metrics(accept: String)
}

/// What a person can have raised: a job or an alarm by its id, or the poll.
public enum ScheduledEntry: Hashable, Sendable {
    case job(String)
    case alarm(String)
    case poll
}

/// What a condition is played as, in place of what is true.
public struct ConditionPlay: Hashable, Sendable {
    public enum Value: String, Hashable, Sendable, CaseIterable { case on, off, real }

    /// As it was sent: `power`, `mount:/data`.
    public var word: String
    public var value: Value

    package init(word: String, value: Value) { (self.word, self.value) = (word, value) }
}

/// Something that is simulated for a test.
public enum Simulation: Hashable, Sendable {
    public enum MemoryLevel: String, Hashable, Sendable, CaseIterable { case low, critical }

    case wake(handler: String)
    case expire(handler: String)
    case memory(MemoryLevel)
    case kill(handler: String)
    case disconnect(device: String)
    case sleep(isOn: Bool)
    case heat(isOn: Bool)
    case battery(isOn: Bool)

    static let names = ["wake", "expire", "memory", "kill", "disconnect", "sleep", "heat", "battery"]
}

public enum DeadLetterChoice: Hashable, Sendable {
    case sequence(Sequence)
    case handler(String)
    case all
}

public struct LogQuestion: Hashable, Sendable {
    /// Nil for every handler.
    public var handler: String?
    /// True for a stream that goes on with new lines.
    public var follows = false
    /// How many of the latest lines to send first, 0 to 10,000.
    public var lines = 100
}

extension ControlCall {
    /// Reads a request. A refusal says what is wrong with it and which address, method or key is nearest.
    public init(_ request: ControlRequest) throws(ControlRefusal) {
        let here = Endpoint.all.filter { $0.captures(in: request.path) != nil }
        guard !here.isEmpty else { throw .unknownPath(request.path) }
        guard let endpoint = here.first(where: { $0.method == request.method }) else {
            throw .wrongMethod(request, allowed: here.map(\.method))
        }
        self = try endpoint.read(endpoint.captures(in: request.path) ?? Endpoint.Captures(), request)
    }

    /// The server's `handle`: performs the call, or returns the refusal.
    public static func answer(_ request: ControlRequest, _ perform: (ControlCall) -> ControlResponse) -> ControlResponse
    {
        do { return perform(try ControlCall(request)) } catch { return .refusal(error) }
    }
}

/// One address of the API. Its free components are written in capitals: the handler's `ID`, and what is named below that.
struct Endpoint {
    /// What stands in the free components.
    struct Captures {
        /// At `ID`, or the only one there is.
        var first = ""
        var second = ""
    }

    let method: String
    let path: [String]
    let read: @Sendable (Captures, ControlRequest) throws(ControlRefusal) -> ControlCall

    init(
        _ method: String, _ path: String,
        _ read: @escaping @Sendable (Captures, ControlRequest) throws(ControlRefusal) -> ControlCall
    ) {
        self.method = method
        self.path = path.split(separator: "/").map(String.init)
        self.read = read
    }

    /// Nil where the path is another one. All but `ID` may have slashes in them, which come as more components.
    func captures(in components: [String]) -> Captures? {
        var found: [String] = []
        var rest = components[...]
        for (place, pattern) in path.enumerated() {
            guard let component = rest.first else { return nil }
            let isFree = pattern.allSatisfy(\.isUppercase)
            guard isFree || pattern == component else { return nil }
            let count = isFree && pattern != "ID" ? rest.count - (path.count - place - 1) : 1
            guard count > 0 else { return nil }
            if isFree { found.append(rest.prefix(count).joined(separator: "/")) }
            rest = rest.dropFirst(count)
        }
        guard rest.isEmpty else { return nil }
        return Captures(first: found.first ?? "", second: found.dropFirst().first ?? "")
    }

    static let all: [Endpoint] = [
        Endpoint("GET", "/v1/status") { _, _ in .status },
        Endpoint("GET", "/v1/handlers") { _, _ in .handlers },
        Endpoint("GET", "/v1/handlers/ID") { path, _ in .handler(path.first) },
        Endpoint("GET", "/v1/handlers/ID/why") { path, _ in .why(handler: path.first) },
        Endpoint("POST", "/v1/handlers/ID/start") { path, _ in .start(handler: path.first) },
        Endpoint("POST", "/v1/handlers/ID/stop") { path, request throws(ControlRefusal) in
            let body = try RequestBody(request, keys: ["keep_sessions"])
            return .stop(handler: path.first, keepsSessions: try body.flag("keep_sessions") ?? false)
        },
        Endpoint("POST", "/v1/handlers/ID/restart") { path, _ in .restart(handler: path.first) },
        Endpoint("POST", "/v1/handlers/ID/attach") { path, _ in .attach(handler: path.first) },
        Endpoint("GET", "/v1/pending") { _, _ in .pending(handler: nil) },
        Endpoint("GET", "/v1/handlers/ID/pending") { path, _ in .pending(handler: path.first) },
        Endpoint("POST", "/v1/handlers/ID/jobs/JOB/run") { path, _ in .raise(.job(path.second), handler: path.first) },
        Endpoint("POST", "/v1/handlers/ID/jobs/JOB/cancel") { path, _ in
            .cancelJob(path.second, handler: path.first)
        },
        Endpoint("POST", "/v1/handlers/ID/alarms/ALARM/fire") { path, _ in
            .raise(.alarm(path.second), handler: path.first)
        },
        Endpoint("POST", "/v1/handlers/ID/poll/run") { path, _ in .raise(.poll, handler: path.first) },
        Endpoint("GET", "/v1/conditions") { _, _ in .conditions },
        Endpoint("POST", "/v1/conditions/WORD") { path, request throws(ControlRefusal) in
            .play(ConditionPlay(word: path.first, value: try RequestBody(request, keys: ["value"]).played()))
        },
        Endpoint("GET", "/v1/devices") { _, request in .devices(named: request.named("device")) },
        Endpoint("POST", "/v1/devices/read") { _, request throws(ControlRefusal) in
            .request(
                try RequestBody.request(request) { json throws(ProtocolFault) in try DeviceRequest.read(from: json) })
        },
        Endpoint("POST", "/v1/devices/write") { _, request throws(ControlRefusal) in
            .request(
                try RequestBody.request(request) { json throws(ProtocolFault) in try DeviceRequest.write(from: json) })
        },
        Endpoint("POST", "/v1/devices/session") { _, request throws(ControlRefusal) in
            let body = try RequestBody(request, keys: ["device", "session"])
            return .setSession(device: try body.require("device"), try body.session())
        },
        Endpoint("POST", "/v1/devices/name") { _, request throws(ControlRefusal) in
            .nameAccessory(try AccessoryOrder(request))
        },
        Endpoint("POST", "/v1/devices/forget") { _, request throws(ControlRefusal) in
            .forgetAccessory(device: try RequestBody(request, keys: ["device"]).require("device"))
        },
        Endpoint("POST", "/v1/reload") { _, _ in .reload },
        Endpoint("POST", "/v1/simulate") { _, request throws(ControlRefusal) in .simulate(try Simulation(request)) },
        Endpoint("GET", "/v1/dead-letters") { _, _ in .deadLetters },
        Endpoint("POST", "/v1/dead-letters/replay") { _, request throws(ControlRefusal) in
            .replayDeadLetters(try DeadLetterChoice(request))
        },
        Endpoint("POST", "/v1/dead-letters/drop") { _, request throws(ControlRefusal) in
            .dropDeadLetters(try DeadLetterChoice(request))
        },
        Endpoint("GET", "/v1/day") { _, _ in .day },
        Endpoint("GET", "/v1/events") { _, request in .events(device: request.named("device")) },
        Endpoint("GET", "/metrics") { _, request in .metrics(accept: request.accept) },
        Endpoint("GET", "/v1/logs") { _, request throws(ControlRefusal) in .logs(try LogQuestion(request)) },
    ]
}

extension ControlRefusal {
    fileprivate static func unknownPath(_ components: [String]) -> ControlRefusal {
        let path = "/" + components.joined(separator: "/")
        let known = Set(Endpoint.all.map { "/" + $0.path.joined(separator: "/") }).sorted()
        let near = nearestNames(to: path, among: known)
        let list = (near.isEmpty ? known : near).joined(separator: ", ")
        return ControlRefusal(
            .notFound, code: "unknown-path", message: "there is nothing at \(path)",
            advice: near.isEmpty ? "the addresses are \(list)" : "the nearest addresses are \(list)")
    }

    fileprivate static func wrongMethod(_ request: ControlRequest, allowed: [String]) -> ControlRefusal {
        let path = "/" + request.path.joined(separator: "/")
        return ControlRefusal(
            .wrongMethod, code: "wrong-method", message: "\(path) does not take \(request.method)",
            advice: "use \(allowed.joined(separator: " or "))", allowed: allowed)
    }
}

/// A JSON object whose keys are all known; an empty body is an empty object.
struct RequestBody {
    private let value: JSONValue
    private let path: String

    init(_ request: ControlRequest, keys: [String]) throws(ControlRefusal) {
        path = "/" + request.path.joined(separator: "/")
        do { value = request.body.isEmpty ? .object([]) : try JSONValue(parsing: request.body) } catch {
            throw .badRequest("bad-json", "the body sent to \(path) is not JSON: \(error)", "send one JSON object")
        }
        guard case .object(let members) = value else {
            throw .badRequest("bad-json", "the body sent to \(path) is not a JSON object", "send one JSON object")
        }
        for member in members where !keys.contains(member.name) {
            let known = nearestNames(to: member.name, among: keys)
            throw .badRequest(
                "unknown-key", "\(path) does not know the key '\(member.name)'",
                "use \((known.isEmpty ? keys : known).map { "'\($0)'" }.joined(separator: ", "))")
        }
    }

    /// A request as handlers write it, with the faults of a handler's line.
    static func request(
        _ request: ControlRequest, _ read: (JSONValue) throws(ProtocolFault) -> DeviceRequest
    ) throws(ControlRefusal) -> DeviceRequest {
        let body = try RequestBody(request, keys: ["device", "characteristic", "stream", "hex"])
        do throws(ProtocolFault) { return try read(body.value) } catch { throw ControlRefusal(error, .badRequest) }
    }

    func flag(_ key: String) throws(ControlRefusal) -> Bool? {
        guard let found = value[key] else { return nil }
        guard let flag = found.boolean else { throw wrongType(key, "true or false") }
        return flag
    }

    /// A text that is not empty.
    func text(_ key: String) throws(ControlRefusal) -> String? {
        guard let found = value[key] else { return nil }
        guard let text = found.string, !text.isEmpty else { throw wrongType(key, "a text that is not empty") }
        return text
    }

    func sequence(_ key: String) throws(ControlRefusal) -> Sequence? {
        guard let found = value[key] else { return nil }
        guard let number = found.integer, number > 0 else { throw wrongType(key, "a whole number from 1") }
        return Sequence(UInt64(number))
    }

    func require(_ key: String) throws(ControlRefusal) -> String {
        if let text = try text(key) { return text }
        throw .badRequest("missing-key", "\(path) needs the key '\(key)'", "add \"\(key)\": \"…\" to the body")
    }

    /// The value of `state`, in the words of the command line.
    func isOn() throws(ControlRefusal) -> Bool {
        switch try require("state") {
        case "on": return true
        case "off": return false
        case let other: throw .badRequest("bad-value", "the state '\(other)' is neither on nor off", "use on or off")
        }
    }

    /// What a condition is to be.
    func played() throws(ControlRefusal) -> ConditionPlay.Value {
        let text = try require("value")
        if let value = ConditionPlay.Value(rawValue: text) { return value }
        throw .badRequest("bad-value", "a condition cannot be '\(text)'", "use on, off or real")
    }

    func session() throws(ControlRefusal) -> LinkSession {
        let text = try require("session")
        if let session = LinkSession(word: text) { return session }
        let known = LinkSession.allCases.map(\.rawValue)
        throw .badRequest(
            "bad-value", "'\(text)' is nothing that a session can be",
            "use one of \(known.joined(separator: ", ")).\(suggestion(for: text, among: known))")
    }

    private func wrongType(_ key: String, _ wanted: String) -> ControlRefusal {
        .badRequest("bad-value", "the key '\(key)' sent to \(path) is not \(wanted)", "give it \(wanted)")
    }
}

extension Simulation {
    init(_ request: ControlRequest) throws(ControlRefusal) {
        let body = try RequestBody(request, keys: ["what", "handler", "device", "level", "state"])
        switch try body.require("what") {
        case "wake": self = .wake(handler: try body.require("handler"))
        case "expire": self = .expire(handler: try body.require("handler"))
        case "kill": self = .kill(handler: try body.require("handler"))
        case "disconnect": self = .disconnect(device: try body.require("device"))
        case "memory": self = .memory(try MemoryLevel(body))
        case "sleep": self = .sleep(isOn: try body.isOn())
        case "heat": self = .heat(isOn: try body.isOn())
        case "battery": self = .battery(isOn: try body.isOn())
        case let other:
            throw .badRequest(
                "unknown-simulation", "'\(other)' cannot be simulated",
                "use one of \(Self.names.joined(separator: ", ")).\(suggestion(for: other, among: Self.names))")
        }
    }
}

extension Simulation.MemoryLevel {
    fileprivate init(_ body: RequestBody) throws(ControlRefusal) {
        let text = try body.text("level") ?? Self.critical.rawValue
        guard let level = Self(rawValue: text) else {
            let known = Self.allCases.map(\.rawValue).joined(separator: " or ")
            throw .badRequest("bad-value", "'\(text)' is no level of memory pressure", "use \(known)")
        }
        self = level
    }
}

extension DeadLetterChoice {
    init(_ request: ControlRequest) throws(ControlRefusal) {
        let body = try RequestBody(request, keys: ["seq", "handler", "all"])
        switch (try body.sequence("seq"), try body.text("handler"), try body.flag("all") ?? false) {
        case (let sequence?, nil, false): self = .sequence(sequence)
        case (nil, let handler?, false): self = .handler(handler)
        case (nil, nil, true): self = .all
        case (_, _, _):
            throw .badRequest(
                "bad-choice", "it is not clear which dead letters are meant",
                "give exactly one of seq, handler, all: true")
        }
    }
}

extension LogQuestion {
    init(_ request: ControlRequest) throws(ControlRefusal) {
        self.init(handler: request.named("handler"), follows: try request.flag("follow"))
        guard let text = request.parameter("lines") else { return }
        guard let count = Int(text), (0...10_000).contains(count) else {
            throw .badRequest("bad-value", "lines=\(text) is not a number from 0 to 10000", "ask for 0 to 10000 lines")
        }
        lines = count
    }
}

extension ControlRequest {
    /// A parameter that names something; nil also where it is empty.
    func named(_ name: String) -> String? { parameter(name).flatMap { $0.isEmpty ? nil : $0 } }

    /// `follow`, `follow=1` and `follow=true` are true.
    fileprivate func flag(_ name: String) throws(ControlRefusal) -> Bool {
        switch parameter(name) {
        case nil, "0", "false": return false
        case "", "1", "true": return true
        case let text?: throw .badRequest("bad-value", "\(name)=\(text) is neither true nor false", "use \(name)=true")
        }
    }
}

extension ControlRefusal {
    static func badRequest(_ code: String, _ message: String, _ advice: String) -> ControlRefusal {
        ControlRefusal(.badRequest, code: code, message: message, advice: advice)
    }
}
