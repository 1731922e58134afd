// A call of the control API, as one value that the daemon switches over, and its parsing from a request.
import WakeModel

public enum ControlCall: Hashable, Sendable {
    case status
    case handlers
    case handler(String)
    case why(handler: String)
    case devices
    case setSession(device: String, LinkSession)
    case nameAccessory(AccessoryOrder)
    case forgetAccessory(device: String)
    case start(handler: String)
    case stop(handler: String, keepsSessions: Bool)
    /// Keeps the handler awake for as long as the stream is open.
    case attach(handler: String)
    case reload
    case simulate(Simulation)
    case deadLetters
    case replayDeadLetters(DeadLetterChoice)
    case dropDeadLetters(DeadLetterChoice)
    /// Event lines as they come; of every device where none is named.
    case events(device: String?)
    case logs(LogQuestion)
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

    public init(handler: String? = nil, follows: Bool = false, lines: Int = 100) {
        self.handler = handler
        self.follows = follows
        self.lines = lines
    }
}

extension ControlCall {
    /// Reads a request. A refusal says what is wrong with it and which address, method or key is nearest.
    public init(_ request: ControlRequest) throws(ControlRefusal) {
        let here = Endpoint.all.filter { $0.captures(in: request.path) != nil }
        guard !here.isEmpty else { throw .unknownPath(request.path) }
        guard let endpoint = here.first(where: { $0.method == request.method }) else {
            throw .wrongMethod(request, allowed: here.map(\.method))
        }
        self = try endpoint.read(endpoint.captures(in: request.path) ?? "", request)
    }

    /// The server's `handle`: performs the call, or returns the refusal.
    public static func answer(_ request: ControlRequest, _ perform: (ControlCall) -> ControlResponse) -> ControlResponse
    {
        do { return perform(try ControlCall(request)) } catch { return .refusal(error) }
    }
}

/// One address of the API. At most one component of a path is free: the handler's id, written `ID`.
struct Endpoint {
    let method: String
    let path: [String]
    let read: @Sendable (String, ControlRequest) throws(ControlRefusal) -> ControlCall

    init(
        _ method: String, _ path: String,
        _ read: @escaping @Sendable (String, ControlRequest) throws(ControlRefusal) -> ControlCall
    ) {
        self.method = method
        self.path = path.split(separator: "/").map(String.init)
        self.read = read
    }

    /// The component at `ID`, empty where the path has none; nil where the path is another one.
    func captures(in components: [String]) -> String? {
        guard components.count == path.count else { return nil }
        var captured = ""
        for (pattern, component) in zip(path, components) {
            if pattern == "ID" { captured = component } else if pattern != component { return nil }
        }
        return captured
    }

    static let all: [Endpoint] = [
        Endpoint("GET", "/v1/status") { _, _ in .status },
        Endpoint("GET", "/v1/handlers") { _, _ in .handlers },
        Endpoint("GET", "/v1/handlers/ID") { id, _ in .handler(id) },
        Endpoint("GET", "/v1/handlers/ID/why") { id, _ in .why(handler: id) },
        Endpoint("POST", "/v1/handlers/ID/start") { id, _ in .start(handler: id) },
        Endpoint("POST", "/v1/handlers/ID/stop") { id, request throws(ControlRefusal) in
            let body = try RequestBody(request, keys: ["keep_sessions"])
            return .stop(handler: id, keepsSessions: try body.flag("keep_sessions") ?? false)
        },
        Endpoint("POST", "/v1/handlers/ID/attach") { id, _ in .attach(handler: id) },
        Endpoint("GET", "/v1/devices") { _, _ in .devices },
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
        Endpoint("GET", "/v1/events") { _, request in .events(device: request.named("device")) },
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
