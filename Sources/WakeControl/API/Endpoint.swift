// An address of the API: its callers, its body, its answer, and how a request to it becomes a call.
import WakeModel

/// Its free components are written in capitals: the handler's `ID`, and what is named below that.
struct Endpoint: Sendable {
    struct Parameter: Hashable, Sendable {
        var name: String
        var summary: String
        var schema: Schema

        init(_ name: String, _ summary: String, _ schema: Schema = .text) {
            (self.name, self.summary, self.schema) = (name, summary, schema)
        }
    }

    enum Answer: Hashable, Sendable {
        case json(Schema)
        /// A stream of JSON objects, one a line, each of this schema, until either side closes it.
        case stream(Schema)
        /// Text of this media type.
        case text(String)
        /// Text of this media type, until either side closes it.
        case textStream(String)

        static let done = Answer.json(.named(.done))
    }

    let method: String
    let path: [String]
    /// Nil where no token is needed.
    let role: AccessRole?
    /// Whether only clients of the control socket may call it: what makes tokens, so that a stolen one makes no other.
    let isLocal: Bool
    let summary: String
    let parameters: [Parameter]
    /// The keys of the body; others are refused. A GET has no body.
    let body: [Schema.Key]
    let bodyLimit: Int
    /// Its body is taken as it is, whatever it is, and is no JSON.
    let takesBytes: Bool
    /// The status of the answer to a request that succeeded.
    let status: Int
    let answer: Answer
    let read: @Sendable (Asked) throws(ControlRefusal) -> ControlCall

    static let usualBodyLimit = 64 << 10

    init(
        _ method: String, _ path: String, _ role: AccessRole?, _ summary: String, parameters: [Parameter] = [],
        body: [Schema.Key] = [], bodyLimit: Int = usualBodyLimit, takesBytes: Bool = false, status: Int = 200,
        answer: Answer = .done, isLocal: Bool = false,
        _ read: @escaping @Sendable (Asked) throws(ControlRefusal) -> ControlCall
    ) {
        self.method = method
        self.path = path.split(separator: "/").map(String.init)
        (self.role, self.summary, self.parameters, self.body) = (role, summary, parameters, body)
        (self.bodyLimit, self.takesBytes, self.status) = (bodyLimit, takesBytes, status)
        (self.answer, self.isLocal, self.read) = (answer, isLocal, read)
    }

    var address: String { "/" + path.joined(separator: "/") }

    /// The endpoint that a request is for. HEAD is a GET whose body stays away.
    static func find(_ request: ControlRequest) throws(ControlRefusal) -> Endpoint {
        let here = all.filter { $0.captures(in: request.path) != nil }
        guard !here.isEmpty else { throw .unknownPath(request.path) }
        let method = request.method == "HEAD" ? "GET" : request.method
        if let endpoint = here.first(where: { $0.method == method }) { return endpoint }
        throw .wrongMethod(request, allowed: here.map(\.method))
    }

    /// Why the client may not call it; its body is not needed for that.
    func refusal(of request: ControlRequest) -> ControlRefusal? {
        guard isOpen(to: request) else { return .notAllowed(request, needed: role) }
        return isLocal && request.address != nil ? .onlyLocal(address) : nil
    }

    private func isOpen(to request: ControlRequest) -> Bool {
        guard let role else { return true }
        switch request.access {
        case .role(let own)?: return own >= role
        case .inbox(let handler, _)?:
            return address == Self.inboxAddress && captures(in: request.path)?.first == handler
        case nil: return false
        }
    }

    func call(_ request: ControlRequest) throws(ControlRefusal) -> ControlCall {
        if let refusal = refusal(of: request) { throw refusal }
        let isSent = method != "GET" && !takesBytes
        let body = try RequestBody(isSent ? request.body : [], to: request.path, keys: body.map(\.name))
        return try read(Asked(request: request, captures: captures(in: request.path) ?? Captures(), body: body))
    }

    /// The text of the path's free components.
    struct Captures {
        /// At `ID`, or the only one there is.
        var first = ""
        var second = ""
    }

    /// Nil where the path is another one. All but `ID` may have slashes in them, which come as more components.
    func captures(in components: [String]) -> Captures? {
        var found: [String] = []
        var rest = components[...]
        for (place, pattern) in path.enumerated() {
            guard let component = rest.first else { return nil }
            let isFree = Self.isFree(pattern)
            guard isFree || pattern == component else { return nil }
            let count = isFree && pattern != "ID" ? rest.count - (path.count - place - 1) : 1
            guard count > 0 else { return nil }
            if isFree { found.append(rest.prefix(count).joined(separator: "/")) }
            rest = rest.dropFirst(count)
        }
        guard rest.isEmpty else { return nil }
        return Captures(first: found.first ?? "", second: found.dropFirst().first ?? "")
    }

    static func isFree(_ component: String) -> Bool { component.allSatisfy(\.isUppercase) }
}

/// A request at its endpoint, with what it names and its body, whose keys are all known.
struct Asked {
    let request: ControlRequest
    let captures: Endpoint.Captures
    let body: RequestBody

    /// The text of the first free component of the path, and of the second.
    var first: String { captures.first }
    var second: String { captures.second }

    func named(_ parameter: String) -> String? { request.named(parameter) }
}

extension ControlRefusal {
    static func unknownPath(_ components: [String]) -> ControlRefusal {
        let path = "/" + components.joined(separator: "/")
        let known = Set(Endpoint.all.map(\.address)).sorted()
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

    fileprivate static func onlyLocal(_ path: String) -> ControlRefusal {
        ControlRefusal(
            .forbidden, code: "only-local", message: "\(path) is there on the control socket alone",
            advice: "use 'sudo wakebridge web' on the machine of the bridge")
    }

    fileprivate static func notAllowed(_ request: ControlRequest, needed: AccessRole?) -> ControlRefusal {
        let path = "/" + request.path.joined(separator: "/")
        guard let access = request.access, let needed else {
            return ControlRefusal(
                .unauthorized, code: "no-token", message: "\(path) needs a token",
                advice: "make one with: sudo wakebridge web --token NAME")
        }
        let reason =
            switch access {
            case .role(let role): "the role '\(role.rawValue)' may not use \(path), which needs '\(needed.rawValue)'"
            case .inbox(let handler, _): "a token for the inbox of '\(handler)' may not use \(path)"
            }
        return ControlRefusal(
            .forbidden, code: "role-too-low", message: reason,
            advice: "make a token with: sudo wakebridge web --token NAME --role \(needed.rawValue)")
    }
}
