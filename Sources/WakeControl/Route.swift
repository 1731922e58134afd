// An address as HTTP sees it, before a request is read: its method and path, who may call it, and how long its body may be.
import WakeModel

/// Its free components are written in capitals: the handler's `ID`, and what is named below that.
package struct Route: Sendable {
    package let method: String
    package let path: [String]
    /// Nil where no token is needed.
    package let role: AccessRole?
    /// Whether only clients of the control socket may call it: what makes tokens, so that a stolen one makes no other.
    package let isLocal: Bool
    /// Whether a token for the inbox of the handler `ID` opens it.
    package let takesInboxTokens: Bool
    package let bodyLimit: Int

    package static let usualBodyLimit = 64 << 10
    /// In addresses whose last component is a token: senders of web hooks can often set no header.
    package static let hooks = "hooks"

    private init(
        _ method: String, _ path: String, _ role: AccessRole?, isLocal: Bool, takesInboxTokens: Bool = false,
        bodyLimit: Int = usualBodyLimit
    ) {
        self.method = method
        self.path = path.split(separator: "/").map(String.init)
        (self.role, self.isLocal) = (role, isLocal)
        (self.takesInboxTokens, self.bodyLimit) = (takesInboxTokens, bodyLimit)
    }

    package static func get(_ path: String, _ role: AccessRole?, isLocal: Bool = false) -> Route {
        Route("GET", path, role, isLocal: isLocal)
    }

    package static func post(
        _ path: String, _ role: AccessRole?, isLocal: Bool = false, takesInboxTokens: Bool = false,
        bodyLimit: Int = usualBodyLimit
    ) -> Route {
        Route("POST", path, role, isLocal: isLocal, takesInboxTokens: takesInboxTokens, bodyLimit: bodyLimit)
    }

    package var address: String { "/" + path.joined(separator: "/") }

    /// Why the client may not call it; its body is not needed for that.
    package func refusal(of request: ControlRequest) -> ControlRefusal? {
        guard isOpen(to: request) else { return .notAllowed(request, needed: role) }
        return isLocal && request.address != nil ? .onlyLocal(address) : nil
    }

    private func isOpen(to request: ControlRequest) -> Bool {
        guard let role else { return true }
        switch request.access {
        case .role(let own)?: return own >= role
        case .inbox(let handler, _)?: return takesInboxTokens && captures(in: request.path)?.first == handler
        case nil: return false
        }
    }

    /// The text of the path's free components.
    package struct Captures {
        /// At `ID`, or the only one there is.
        package var first = ""
        package var second = ""

        package init() {}
    }

    /// Nil where the path is another one. All but `ID` may have slashes in them, which come as more components.
    package func captures(in components: [String]) -> Captures? {
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
        var captures = Captures()
        (captures.first, captures.second) = (found.first ?? "", found.dropFirst().first ?? "")
        return captures
    }

    package static func isFree(_ component: String) -> Bool { component.allSatisfy(\.isUppercase) }
}

/// All addresses of an API.
package struct Routes: Sendable {
    package let all: [Route]

    package init(_ all: [Route] = []) { self.all = all }

    /// The place of the route that a request is for. HEAD is a GET whose body stays away.
    package func place(of request: ControlRequest) throws(ControlRefusal) -> Int {
        let here = all.indices.filter { all[$0].captures(in: request.path) != nil }
        guard !here.isEmpty else { throw .unknownPath(request.path, among: all) }
        let method = request.method == "HEAD" ? "GET" : request.method
        if let place = here.first(where: { all[$0].method == method }) { return place }
        throw .wrongMethod(request, allowed: here.map { all[$0].method })
    }
}

extension ControlRefusal {
    fileprivate static func unknownPath(_ components: [String], among routes: [Route]) -> ControlRefusal {
        let path = "/" + components.joined(separator: "/")
        let known = Set(routes.map(\.address)).sorted()
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
