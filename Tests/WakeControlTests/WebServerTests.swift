// The server over TCP as clients meet it: tokens, cookies, the page, event streams, slow senders and TLS.
import Glibc
import TestBench
import Testing
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeAPI
@testable import WakeControl

/// Knows three tokens.
private final class Authority: TokenAuthority {
    var holders = [
        "right": TokenHolder(name: "phone", .role(.operate)), "look": TokenHolder(name: "wall", .role(.read)),
        "send": TokenHolder(name: "forge", .inbox(of: "box")),
    ]

    func holder(of proof: Proof) -> TokenHolder? {
        switch proof {
        case .token(let token): holders[token]
        case .cookie(let value): holders[String(value.reversed())]
        }
    }

    func cookie(for token: String) -> String? { String(token.reversed()) }
}

private struct Files: PageFiles {
    func file(at path: String) -> PageFile? {
        guard path == "/" || path == "/app.js" else { return nil }
        return PageFile(
            type: "text/html; charset=utf-8", bytes: Array("plain \(path)".utf8), gzip: Array("zipped".utf8),
            entityTag: "\"7\"", cacheControl: "no-cache", policy: "default-src 'self'")
    }
}

/// A server on a free port of loopback, and on a Unix socket.
private final class Web {
    let loop: EventLoop
    let server: ControlServer
    let authority = Authority()
    let port: UInt16
    let directory = makeDirectory("/tmp/wakecontrol.XXXXXX")
    var streams: [ControlStream] = []
    private let scheme: String

    init(_ adapt: (inout WebSettings) -> Void = { _ in }) throws {
        loop = try EventLoop()
        port = try freePort()
        var settings = WebSettings(listen: try #require(NetworkAddress("127.0.0.1:\(port)")))
        adapt(&settings)
        scheme = settings.identity == nil ? "http" : "https"
        let door = WebDoor(settings, authority: authority)
        let hall = Hall()
        server = try ControlServer(
            loop: loop, socketPath: directory + "/control.sock", page: Files(), routes: API.routes
        ) {
            hall.answer($0, at: door)
        }
        try server.open(door)
        hall.web = self
    }

    deinit {
        server.close()
        Directory.removeTree(directory)
    }

    func curl(_ path: String, _ words: String...) throws -> (output: String, talk: String) {
        let child = try Child(
            ["curl", "-sS", "-k", "--max-time", "20", "\(scheme)://127.0.0.1:\(port)\(path)"] + words)
        while !child.isOver { try loop.runOnce(timeout: .milliseconds(1)) }
        return (child.output, child.talk)
    }

    func status(_ path: String, _ words: String...) throws -> String {
        let child = try Child(
            ["curl", "-sS", "-k", "-o", "/dev/null", "-w", "%{http_code}", "\(scheme)://127.0.0.1:\(port)\(path)"]
                + words)
        while !child.isOver { try loop.runOnce(timeout: .milliseconds(1)) }
        return child.output
    }

    func send(_ request: String, _ header: String, from client: Int32) throws {
        let head = "\(request) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(header)\r\n\r\n"
        let bytes = Array(head.utf8)
        try #require(write(client, bytes, bytes.count) == bytes.count)
    }

    /// What its cookie is called.
    var cookie: String { "wakebridge-\(port)" }

    static let token = ["-H", "Authorization: Bearer right"]
}

private final class Hall {
    weak var web: Web?

    func answer(_ request: ControlRequest, at door: WebDoor) -> ControlResponse {
        do throws(ControlRefusal) { _ = try API.read(request) } catch { return .refusal(error) }
        return switch request.path.last {
        case "login": door.login(LoginAttempt(request))
        case "logout": door.logout()
        case "me": .text(status: 200, request.access?.role?.rawValue ?? "none")
        case "events": .stream(contentType: "application/x-ndjson") { self.web?.streams.append($0) }
        case "conditions": work()
        default: .done
        }
    }

    private func work() -> ControlResponse {
        usleep(20_000)
        return .done
    }
}

extension LoginAttempt {
    fileprivate init(_ request: ControlRequest) {
        self.init(
            token: (try? JSONValue(parsing: request.body))?["token"]?.string ?? "", address: request.address,
            origin: request.headers.first { $0.name == "origin" }?.value)
    }
}

@Suite("The server over TCP", .serialized) struct WebServerTests {
    @Test("without a token nothing is answered but who you are, the API's description and the page")
    func withoutToken() throws {
        let web = try Web()
        #expect(try web.status("/v1/status") == "401" && web.status("/v1/handlers/a") == "401")
        #expect(try web.status("/v1/reload", "-d", "{}") == "401")
        #expect(try web.curl("/v1/me").output == "none")
        #expect(try web.status("/v1/openapi.json") == "200")
        #expect(try web.curl("/").output == "plain /" && web.status("/nothing") == "404")
        let refusal = try web.curl("/v1/status", "-i").output
        #expect(refusal.contains("WWW-Authenticate: Bearer") && refusal.contains("\"code\":\"no-token\""))
    }

    @Test("a server that ends while requests are not read yet, and would be answered later, ends all the same")
    func endsBesideWaiting() throws {
        let web = try Web()
        for _ in 0...WrongTokens.free { _ = try web.status("/v1/status", "-H", "Authorization: Bearer wrong") }
        let clients = try (0..<3).map { _ in try loopbackSocket(to: web.port) }
        // They are accepted meanwhile.
        #expect(try web.curl("/v1/me").output == "none")
        for client in clients { try web.send("GET /v1/status", "Authorization: Bearer wrong", from: client) }
        web.server.close()
        #expect(clients.allSatisfy { hasEnded($0) })
        for client in clients { Glibc.close(client) }
    }

    @Test("a client over TCP that makes the bridge work for 20 ms waits nine times as long for its next answer")
    func rests() throws {
        let web = try Web()
        let begun = monotonicNow()
        for _ in 0..<4 { #expect(try web.status("/v1/conditions", "-H", "Authorization: Bearer look") == "200") }
        #expect(monotonicNow() - begun >= 3 * 9 * 0.02)
    }

    @Test("a token's role decides, and a wrong token is refused whatever is wrong with it")
    func tokens() throws {
        let web = try Web()
        #expect(try web.status("/v1/reload", "-d", "", "-H", "Authorization: Bearer right") == "200")
        #expect(try web.status("/v1/status", "-H", "Authorization: bearer look") == "200")
        #expect(try web.status("/v1/reload", "-d", "", "-H", "Authorization: Bearer look") == "403")
        let answers = try ["righ", "right x", "", "rightt"].map {
            try web.curl("/v1/status", "-H", "Authorization: Bearer \($0)")
        }
        for answer in answers { #expect(answer.output == answers[0].output && answer.output.contains("wrong-token")) }
        #expect(try web.status("/v1/tokens", "-H", "Authorization: Bearer right") == "403")
    }

    @Test("a token for an inbox sends to that inbox, as a header or as an address, and opens nothing else")
    func inboxToken() throws {
        let web = try Web()
        let send = "Authorization: Bearer send"
        #expect(try web.status("/v1/handlers/box/inbox", "-d", "x", "-H", send) == "200")
        #expect(try web.status("/v1/hooks/send", "-d", "x") == "200")
        let refused = [
            ("/v1/handlers/other/inbox", "x"), ("/v1/handlers/box/start", ""), ("/v1/reload", ""),
            ("/v1/handlers/box/inbox/x", "x"),
        ]
        for (path, body) in refused { #expect(["403", "404"].contains(try web.status(path, "-d", body, "-H", send))) }
        for path in ["/v1/status", "/v1/handlers/box", "/v1/events", "/metrics"] {
            #expect(try web.status(path, "-H", send) == "403", "\(path)")
        }
        #expect(try web.curl("/v1/me", "-H", send).output == "none")
        #expect(try web.status("/v1/login", "-d", "{\"token\":\"send\"}") == "403")
    }

    @Test("a token with a role is no address of a web hook, and guessed ones get slow as elsewhere")
    func hooks() throws {
        let web = try Web()
        for token in ["right", "look", "sen", "send/x"] {
            let answer = try web.curl("/v1/hooks/\(token)", "-d", "x", "-H", "Authorization: Bearer right").output
            #expect(answer.contains(token == "send/x" ? "\"error\"" : "wrong-token"), "\(answer)")
        }
        for method in ["TRACE", "GET", "PUT"] { #expect(try web.status("/v1/hooks/guess", "-X", method) == "405") }
        for _ in 0...WrongTokens.free { _ = try web.status("/v1/hooks/guess", "-d", "x") }
        let begun = monotonicNow()
        #expect(try web.status("/v1/hooks/guess", "-d", "x") == "401")
        #expect(monotonicNow() - begun > 0.9)
        #expect(try web.status("/v1/hooks/send", "-d", "x") == "200")
    }

    @Test("a login gives a cookie that scripts of the page cannot read, and a logout takes it back")
    func login() throws {
        let web = try Web { $0.prefix = "/bridge/" }
        let answer = try web.curl("/bridge/v1/login", "-i", "-d", "{\"token\":\"right\"}").output
        #expect(answer.contains("{\"role\":\"operate\"}"))
        let cookie = try #require(answer.split(separator: "\r\n").first { $0.hasPrefix("Set-Cookie: ") })
        #expect(
            cookie
                == "Set-Cookie: \(web.cookie)=thgir; Path=/bridge/; Max-Age=31536000; HttpOnly; SameSite=Strict")
        #expect(try web.curl("/bridge/v1/me", "-b", "other=1; \(web.cookie)=thgir").output == "operate")
        #expect(
            try web.curl("/bridge/v1/logout", "-i", "-d", "").output
                .contains("\(web.cookie)=; Path=/bridge/; Max-Age=0;"))
        #expect(try web.status("/bridge/v1/login", "-d", "{\"token\":\"wrong\"}") == "401")
    }

    @Test("a token is no cookie, a cookie is no token, and the cookie of a bridge at another port is not looked at")
    func otherProofs() throws {
        let web = try Web()
        #expect(try web.status("/v1/status", "-b", "\(web.cookie)=thgir") == "200")
        #expect(try web.status("/v1/status", "-b", "\(web.cookie)=right") == "401")
        #expect(try web.status("/v1/status", "-H", "Authorization: Bearer thgir") == "401")
        let other = try web.curl("/v1/status", "-b", "wakebridge-1=thgir")
        #expect(other.output.contains("\"no-token\""))
    }

    @Test("a browser whose token was revoked gets the page, is told that it has no role, and can log in again")
    func revoked() throws {
        let web = try Web()
        let cookie = ["-b", "\(web.cookie)=nekover"]
        #expect(try web.curl("/", cookie[0], cookie[1]).output == "plain /")
        #expect(try web.status("/app.js", cookie[0], cookie[1]) == "200")
        #expect(try web.curl("/v1/me", cookie[0], cookie[1]).output == "none")
        #expect(try web.status("/v1/login", cookie[0], cookie[1], "-d", "{\"token\":\"right\"}") == "200")
        #expect(try web.curl("/v1/status", cookie[0], cookie[1]).output.contains("\"wrong-token\""))
        #expect(try web.status("/", "-H", "Authorization: Bearer revoked") == "401")
    }

    @Test("another host name and a foreign page are refused, with the right token too")
    func foreign() throws {
        let web = try Web { $0.hosts = ["pi.local"] }
        let right = "Authorization: Bearer right"
        #expect(try web.status("/v1/status", "-H", right, "-H", "Host: evil.example") == "403")
        #expect(try web.status("/", "-H", "Host: evil.example") == "403")
        #expect(try web.status("/v1/status", "-H", right, "-H", "Host: pi.local") == "200")
        #expect(try web.status("/v1/status", "-H", right, "-H", "Origin: http://evil.example") == "403")
        #expect(try web.status("/v1/status", "-H", right, "-H", "Origin: http://127.0.0.1:\(web.port)") == "200")
    }

    @Test("the page comes zipped where the client takes that, is not sent again, and says what it may load")
    func page() throws {
        let web = try Web()
        let plain = try web.curl("/app.js", "-i").output
        for header in [
            "Content-Security-Policy: default-src 'self'", "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY",
            "ETag: \"7\"", "Cache-Control: no-cache", "Referrer-Policy: no-referrer",
        ] { #expect(plain.contains(header), "\(header)") }
        #expect(plain.hasSuffix("plain /app.js"))
        #expect(try web.curl("/", "-H", "Accept-Encoding: gzip, br").output == "zipped")
        #expect(try web.status("/", "-H", "If-None-Match: \"7\"") == "304")
        #expect(try web.curl("/", "-I").output.contains("200 OK"))
    }

    @Test("below the prefix of a proxy everything is found, whether the proxy leaves the prefix or takes it away")
    func prefix() throws {
        let web = try Web { $0.prefix = "/house/bridge/" }
        for path in ["/house/bridge/v1/me", "/v1/me"] { #expect(try web.curl(path).output == "none") }
        for path in ["/house/bridge/", "/"] { #expect(try web.curl(path).output == "plain /") }
        let answer = try web.curl("/house/bridge", "-i").output
        #expect(answer.contains("308") && answer.contains("Location: /house/bridge/"))
    }

    @Test("a browser gets server-sent events, and the stream ends when its token is revoked")
    func events() throws {
        let web = try Web()
        let child = try Child([
            "curl", "-sSN", "--max-time", "20", "http://127.0.0.1:\(web.port)/v1/events", "-H",
            "Accept: text/event-stream", "-H", "Authorization: Bearer right",
        ])
        #expect(try web.loop.turn(for: .seconds(5)) { web.streams.count == 1 })
        web.streams[0].send(Array("{\"a\":1}\n{\"b\":2}\n".utf8))
        #expect(try web.loop.turn(for: .seconds(5)) { child.output.contains("b") })
        #expect(child.output == "retry: 2000\n\ndata: {\"a\":1}\n\ndata: {\"b\":2}\n\n")
        web.server.endStreams(of: "wall")
        #expect(try web.loop.turn(for: .milliseconds(50)) { child.isOver } == false)
        web.server.endStreams(of: "phone")
        #expect(try web.loop.turn(for: .seconds(5)) { child.isOver })
        #expect(!web.streams[0].isOpen)
    }

    @Test("a client that goes away in the middle of a stream is noticed though nothing is sent")
    func hangup() throws {
        let web = try Web()
        let child = try Child([
            "curl", "-sSN", "--max-time", "1", "http://127.0.0.1:\(web.port)/v1/events", "-H",
            "Authorization: Bearer right",
        ])
        #expect(try web.loop.turn(for: .seconds(5)) { web.streams.count == 1 })
        #expect(try web.loop.turn(for: .seconds(8)) { child.isOver && !web.streams[0].isOpen })
    }

    @Test("two hundred slow senders of one machine keep neither the next request of it nor the Unix socket waiting")
    func slowSenders() throws {
        let web = try Web()
        let slow = try (0..<200).map { _ in
            let client = try NetworkClient(web.port)
            #expect(try web.loop.turn(for: .seconds(8)) { client.isConnected })
            client.send("GET /v1/me HTTP/1.1\r\nHost: 127.0")
            return client
        }
        #expect(try web.curl("/v1/me").output == "none")
        let local = try Child(["curl", "-sS", "--unix-socket", web.directory + "/control.sock", "http://w/v1/me"])
        #expect(try web.loop.turn(for: .seconds(5)) { local.isOver })
        #expect(local.output == "pair")
        #expect(slow.filter { $0.isOpen }.count <= 64)
    }

    @Test("past ten wrong tokens of a machine each refusal takes a second, and the right token none")
    func guessing() throws {
        let web = try Web()
        for _ in 0..<10 { #expect(try web.status("/v1/status", "-H", "Authorization: Bearer wrong") == "401") }
        let start = SystemClock.monotonic()
        #expect(try web.status("/v1/status", "-H", "Authorization: Bearer wrong") == "401")
        #expect(SystemClock.monotonic() - start >= WrongTokens.delay)
        let child = try Child(["curl", "-s", "http://127.0.0.1:\(web.port)/v1/login", "-d", "{\"token\":\"wrong\"}"])
        #expect(try web.status("/v1/status", "-H", "Authorization: Bearer right") == "200")
        #expect(!child.isOver)
        #expect(try web.loop.turn(for: .seconds(5)) { child.isOver })
        #expect(child.output.contains("wrong-token"))
    }

    @Test("of sixty wrong tokens at once eight refusals wait, the others come at once and close, and the owner gets in")
    func crowd() throws {
        let web = try Web()
        for _ in 0..<WrongTokens.free { _ = try web.status("/v1/status", "-H", "Authorization: Bearer wrong") }
        let clients = try (0..<60).map { _ in try NetworkClient(web.port) }
        for client in clients { #expect(try web.loop.turn(for: .seconds(8)) { client.isConnected }) }
        for client in clients {
            client.send("GET /v1/status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\n\r\n")
        }
        for _ in 0..<20 { #expect(try web.status("/v1/status", "-H", "Authorization: Bearer right") == "200") }
        #expect(try web.loop.turn(for: .seconds(8)) { clients.count { $0.isRefusedAndClosed } == 60 - 8 })
        #expect(try web.loop.turn(for: .seconds(8)) { clients.allSatisfy(\.isRefused) })
    }

    @Test(
        "a head with two lengths, a length and an encoding, or a zero byte is refused, and nothing behind it is answered",
        arguments: [
            ("POST /v1/logout", "Content-Length: 0\r\nContent-Length: 45"),
            ("POST /v1/logout", "Content-Length: 45\r\nTransfer-Encoding: chunked"), ("GET /v1/me%00/x", "X: y"),
        ])
    func ambiguous(request: String, header: String) throws {
        let web = try Web()
        let client = try NetworkClient(web.port)
        #expect(try web.loop.turn(for: .seconds(8)) { client.isConnected })
        client.send("\(request) HTTP/1.1\r\nHost: localhost\r\n\(header)\r\n\r\n")
        client.send("GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(try web.loop.turn(for: .seconds(8)) { client.hasEnded })
        #expect(client.answer.contains(" 400 ") && client.answer.contains("bad-request"), "\(client.answer)")
        #expect(client.answer.split(separator: "HTTP/1.1").count == 1, "\(client.answer)")
    }

    @Test("the cookie is for TLS alone where the page came by https from a proxy, or where the settings want that")
    func secureCookie() throws {
        func cookie(_ isSecure: Bool?, _ scheme: String) throws -> Bool {
            let web = try Web { $0.secureCookie = isSecure }
            let answer = try web.curl(
                "/v1/login", "-i", "-d", "{\"token\":\"right\"}", "-H", "Origin: \(scheme)://localhost", "-H",
                "Host: localhost")
            #expect(answer.output.contains("SameSite=Strict"), "\(answer.output)")
            return answer.output.contains("; Secure")
        }
        #expect(try cookie(nil, "https") && !cookie(nil, "http"))
        #expect(try cookie(true, "http") && !cookie(false, "https"))
    }

    @Test("behind a named proxy each client has its own count of wrong tokens")
    func namedProxy() throws {
        let web = try Web { $0.proxies = [[127, 0, 0, 1]] }
        let (guesser, other) = ("X-Forwarded-For: 10.0.0.1, 192.0.2.1", "X-Forwarded-For: 192.0.2.2")
        let wrong = "Authorization: Bearer wrong"
        for _ in 0...WrongTokens.free { _ = try web.status("/v1/status", "-H", wrong, "-H", guesser) }
        let waiting = try Child(["curl", "-s", "http://127.0.0.1:\(web.port)/v1/status", "-H", wrong, "-H", guesser])
        #expect(try web.status("/v1/status", "-H", wrong, "-H", other) == "401")
        #expect(!waiting.isOver)
        #expect(try web.loop.turn(for: .seconds(5)) { waiting.isOver })
    }

    private func makeIdentity() throws -> TLSIdentity {
        let directory = makeDirectory("/tmp/wakecontrol.XXXXXX")
        defer { Directory.removeTree(directory) }
        let made = try Child([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=w", "-keyout", "\(directory)/key.pem", "-out", "\(directory)/cert.pem",
        ])
        try #require(made.finish().exit == 0, "openssl made no certificate")
        return TLSIdentity(certificate: text(of: "\(directory)/cert.pem"), key: text(of: "\(directory)/key.pem"))
    }

    @Test("of a hundred that connect to TLS and send no request at most twelve stay, and the next client is served")
    func handshakes() throws {
        let identity = try makeIdentity()
        let web = try Web { $0.identity = identity }
        let idle = try (0..<100).map { _ in try NetworkClient(web.port) }
        for client in idle { #expect(try web.loop.turn(for: .seconds(8)) { client.isConnected }) }
        #expect(try web.loop.turn(for: .seconds(8)) { idle.count(where: \.isOpen) <= 12 })
        #expect(try web.curl("/v1/me", "-H", "Authorization: Bearer look").output == "read")
    }

    @Test("with a certificate it speaks TLS, and its cookie is for TLS alone")
    func tls() throws {
        let identity = try makeIdentity()
        let web = try Web { $0.identity = identity }
        #expect(try web.curl("/v1/me", "-H", "Authorization: Bearer look").output == "read")
        #expect(
            try web.curl("/v1/login", "-i", "-d", "{\"token\":\"right\"}").output.contains("SameSite=Strict; Secure"))
    }

    @Test("a certificate that is none leaves the control socket as it is")
    func brokenIdentity() throws {
        let web = try Web { $0.identity = TLSIdentity(certificate: "none", key: "none") }
        let local = try Child(["curl", "-sS", "--unix-socket", web.directory + "/control.sock", "http://w/v1/me"])
        #expect(try web.loop.turn(for: .seconds(5)) { local.isOver })
        #expect(local.output == "pair")
    }

    @Test("while ten streams are open and nothing happens, the loop does not wake")
    func idle() throws {
        let web = try Web()
        let children = try (0..<10).map { _ in
            try Child([
                "curl", "-sSN", "--max-time", "30", "http://127.0.0.1:\(web.port)/v1/events", "-H",
                "Authorization: Bearer right",
            ])
        }
        defer { for child in children { kill(child.process, SIGKILL) } }
        #expect(try web.loop.turn(for: .seconds(5)) { web.streams.count == 10 })
        _ = try web.loop.turn(for: .milliseconds(300)) { false }
        #expect(try web.loop.runOnce(timeout: .seconds(3)) == false)
    }
}

/// Speaks in bytes.
private final class NetworkClient {
    private let descriptor: Int32

    /// Begins to connect. A full backlog is emptied by the loop of the same thread, so waiting here would wait for itself.
    init(_ port: UInt16) throws { descriptor = try loopbackSocket(to: port, waits: false) }

    deinit { close(descriptor) }

    func send(_ text: String) { _ = Glibc.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }

    var isConnected: Bool {
        var question = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&question, 1, 0) == 1 && question.revents & Int16(POLLOUT) != 0
    }

    private(set) var answer = ""
    private var isOver = false

    var hasEnded: Bool {
        read()
        return isOver
    }

    var isRefused: Bool {
        read()
        return answer.contains("wrong-token")
    }

    var isRefusedAndClosed: Bool { isRefused && hasEnded }

    private func read() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        var count = 1
        while count > 0 {
            count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            if count > 0 { answer += String(decoding: bytes[..<count], as: UTF8.self) }
        }
        if count == 0 || (count < 0 && errno != EAGAIN) { isOver = true }
    }

    var isOpen: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, 0) < 0 && errno == EAGAIN
    }
}

/// Whether the other end has closed it, perhaps after an answer.
private func hasEnded(_ client: Int32) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 4096)
    var count = 1
    while count > 0 { count = recv(client, &bytes, bytes.count, Int32(MSG_DONTWAIT)) }
    return count == 0 || errno != EAGAIN
}
