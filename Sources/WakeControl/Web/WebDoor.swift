// Admits clients over TCP: checks the bridge's names and the token, which decides the client's rights.
import WakeLoop
import WakeModel
import WakeSystem

/// The settings in `web` of wakebridge.json5, read.
public struct WebSettings: Hashable, Sendable {
    public var listen: NetworkAddress
    /// Where a proxy puts the bridge: begins and ends with a slash.
    public var prefix = "/"
    /// Names of the bridge, beside `localhost`.
    public var hosts: [String] = []
    /// Texts of PEM files; nil serves without TLS.
    public var identity: TLSIdentity?
    /// Whether `/metrics` needs no token.
    public var areMetricsOpen = false
    /// Addresses of proxies, whose last address in X-Forwarded-For counts for the limits of wrong tokens and
    /// connections.
    public var proxies: Set<[UInt8]> = []

    /// Nil where it follows from TLS, here or in front.
    public var secureCookie: Bool?

    public init(listen: NetworkAddress) { self.listen = listen }
}

/// A certificate and its key, as PEM.
public struct TLSIdentity: Hashable, Sendable {
    public var certificate: String
    public var key: String

    public init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }
}

/// Whose token it is.
public struct TokenHolder: Hashable, Sendable {
    public var name: String
    public var access: Access

    public init(name: String, _ access: Access) { (self.name, self.access) = (name, access) }
}

/// The client's proof of its identity.
public enum Proof: Hashable, Sendable {
    case token(String)
    /// The cookie that a browser keeps in a token's place: made from it, and good for nothing else.
    case cookie(String)
}

/// Knows the tokens.
public protocol TokenAuthority: AnyObject {
    /// Nil for a wrong one, in a time that does not depend on what is wrong with it.
    func holder(of proof: Proof) -> TokenHolder?
    /// The cookie that replaces a token; nil where none can be made.
    func cookie(for token: String) -> String?
}

public struct LoginAttempt: Hashable, Sendable {
    var token: String
    /// Nil on the control socket.
    var address: NetworkAddress?
    /// The origin of the page, as the browser sends it.
    var origin: String?

    package init(token: String, address: NetworkAddress?, origin: String?) {
        (self.token, self.address, self.origin) = (token, address, origin)
    }
}

public final class WebDoor {
    public let settings: WebSettings
    private let rules: HostRules
    private let authority: any TokenAuthority
    private var wrong = WrongTokens()
    private let log = Log("web")

    /// Browsers send a cookie to every port of a name, so that bridges on one machine differ by their ports.
    public var cookieName: String { "wakebridge-\(settings.listen.port)" }
    /// A year: revoking the token ends it earlier.
    private static let cookieSeconds = 365 * 86_400

    public init(_ settings: WebSettings, authority: any TokenAuthority) {
        self.settings = settings
        self.authority = authority
        rules = HostRules(names: settings.hosts)
    }

    var pathPrefix: [String] { settings.prefix.split(separator: "/").map(String.init) }

    /// Where relative addresses of the page begin, for a client that left the last slash away; nil for all others.
    func redirect(from address: String) -> ControlContent? {
        guard address + "/" == settings.prefix else { return nil }
        var content = ControlContent(type: "text/plain; charset=utf-8", [])
        content.status = 308
        content.headers = [.init("Location", settings.prefix)]
        return content
    }

    func admit(
        _ client: NetworkAddress?, at own: NetworkAddress?, _ head: RequestHead, to route: Route?
    ) -> Verdict {
        guard let client else { return .refused(.vanished) }
        if let refusal = rules.refusal(hosts: head.hosts, origins: head.origins, own: own) { return .refused(refusal) }
        // A method that no web hook has is refused as such, whatever the token.
        if let token = head.hookToken, route != nil { return admitHook(token, of: client) }
        let guest: Access? = settings.areMetricsOpen && route?.path == ["metrics"] ? .role(.read) : nil
        guard let proof = proof(in: head) else { return .admitted(guest, holder: nil) }
        if let holder = authority.holder(of: proof) { return .admitted(holder.access, holder: holder.name) }
        // A browser goes on sending a cookie that was revoked: it must get the page, and be able to log in again.
        if case .cookie = proof, guest != nil || route?.role == nil { return .admitted(guest, holder: nil) }
        return refuse(client)
    }

    /// A token with a role is no address: addresses appear in the logs of proxies and senders.
    private func admitHook(_ token: String, of client: NetworkAddress) -> Verdict {
        guard let holder = authority.holder(of: .token(token)), holder.access.inbox != nil else {
            return refuse(client)
        }
        return .admitted(holder.access, holder: holder.name)
    }

    private func refuse(_ client: NetworkAddress) -> Verdict {
        refusesLater(client) ? .slowed(.wrongToken) : .refused(.wrongToken)
    }

    /// Gives a browser a cookie for the token.
    public func login(_ attempt: LoginAttempt) -> ControlResponse {
        guard let holder = authority.holder(of: .token(attempt.token)),
            let value = authority.cookie(for: attempt.token)
        else {
            return refusesLater(attempt.address) ? .slowly(.wrongToken) : .refusal(.wrongToken)
        }
        guard let role = holder.access.role else { return .refusal(.sendsOnly) }
        var content = ControlContent.json { $0.field("role", role.rawValue) }
        content.headers.append(.init("Set-Cookie", cookie(value, seconds: Self.cookieSeconds, from: attempt.origin)))
        return .content(content)
    }

    public func logout() -> ControlResponse {
        var content = ControlContent.json { $0.field("done", true) }
        content.headers.append(.init("Set-Cookie", cookie("", seconds: 0, from: nil)))
        return .content(content)
    }

    /// A page that a proxy served by https has an https origin, though the bridge itself offers no TLS.
    private func cookie(_ value: String, seconds: Int, from origin: String?) -> String {
        let isSecure = settings.secureCookie ?? (settings.identity != nil || origin?.hasPrefix("https://") ?? false)
        return "\(cookieName)=\(value); Path=\(settings.prefix); Max-Age=\(seconds); HttpOnly; SameSite=Strict"
            + (isSecure ? "; Secure" : "")
    }

    private func refusesLater(_ address: NetworkAddress?) -> Bool {
        switch wrong.count(from: address, at: SystemClock.monotonic()) {
        case .refuseNow: return false
        case .refuseLater: return true
        case .refuseLaterAndLog:
            log.warning(
                "\(address?.host ?? "a client") sent \(WrongTokens.free) wrong tokens within a minute; "
                    + "further ones are answered a second later")
            return true
        }
    }

    private func proof(in head: RequestHead) -> Proof? {
        if let authorization = head.authorization {
            let words = authorization.split(separator: " ", maxSplits: 1)
            return .token(words.count == 2 && words[0].lowercased() == "bearer" ? String(words[1]) : "")
        }
        for pair in head.cookies.flatMap({ $0.split(separator: ";") }) {
            let sides = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if sides.count == 2, sides[0] == cookieName, !sides[1].isEmpty { return .cookie(String(sides[1])) }
        }
        return nil
    }
}

extension ControlRefusal {
    /// The same whatever is wrong with it.
    static let wrongToken = ControlRefusal(
        .unauthorized, code: "wrong-token", message: "this bridge does not know that token",
        advice: "make one with: sudo wakebridge web --token NAME")

    /// Refuses a message of a token that has sent as many as the handler's manifest accepts.
    public static func tooMany(
        _ rate: String, to handler: String, token: String, after delay: TimeSpan
    ) -> ControlRefusal {
        var refusal = ControlRefusal(
            .tooMany, code: "too-many",
            message: "the token '\(token)' has sent all of the \(rate) messages that '\(handler)' accepts",
            advice: "send it again later, or raise inbox.accept in the manifest")
        refusal.retryAfter = delay
        return refusal
    }

    fileprivate static let sendsOnly = ControlRefusal(
        .forbidden, code: "role-too-low", message: "this token sends messages to one inbox, and shows nothing",
        advice: "make a token with: sudo wakebridge web --token NAME --role read")

    fileprivate static let vanished = ControlRefusal(
        .forbidden, code: "forbidden", message: "the kernel would not name the client", advice: "connect again")
}
