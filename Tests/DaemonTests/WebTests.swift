// A daemon that listens for browsers and scripts, its tokens, and the tool that makes and revokes them.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("The bridge over TCP", .serialized, .timeLimit(.minutes(2)))
struct WebTests {
    /// A daemon that listens at a free port, and that port.
    private func listening(_ more: String = "") throws -> (daemon: RunningDaemon, port: UInt16) {
        let port = try freePort()
        let daemon = try RunningDaemon.withStrap()
        try daemon.write("{ web: { listen: \"127.0.0.1:\(port)\", \(more) } }", to: "config/wakebridge.json5")
        try daemon.start()
        #expect(daemon.wait { daemon.log.contains("listens at http://127.0.0.1:\(port)/") }, "\(daemon.log)")
        return (daemon, port)
    }

    private func curl(_ port: UInt16, _ path: String, _ words: [String] = []) throws -> String {
        try Child(
            ["curl", "-sS", "-o", "-", "-w", "%{http_code}", "--max-time", "10", "http://127.0.0.1:\(port)\(path)"]
                + words
        ).finish().output
    }

    private func bearer(_ token: String) -> [String] { ["-H", "Authorization: Bearer \(token)"] }

    @Test("a token is shown once, is kept as a digest alone, and opens what its role allows until it is revoked")
    func token() throws {
        let (daemon, port) = try listening()
        let made = try daemon.json("web", "--token", "phone", "--role", "read")
        let token = try #require(made["token"]?.string)
        #expect(token.count == 32 && made["address"]?.string == "http://127.0.0.1:\(port)/")
        #expect(try curl(port, "/v1/status", bearer(token)).hasSuffix("200"))
        #expect(try curl(port, "/v1/reload", bearer(token) + ["-d", ""]).hasSuffix("403"))
        #expect(try curl(port, "/v1/me", bearer(token)).contains("\"role\":\"read\""))

        let kept = daemon.state + "/web-tokens.json"
        #expect(!text(of: kept).contains(token) && text(of: kept).contains("sha256"))
        #expect(File.mode(of: kept) == 0o600)
        let list = try daemon.tool("web").output
        #expect(list.contains("phone") && list.contains("read") && !list.contains(token))

        let stream = try Child(
            ["curl", "-sSN", "-v", "--max-time", "20", "http://127.0.0.1:\(port)/v1/events"] + bearer(token))
        #expect(daemon.wait { stream.talk.contains("200 OK") }, "\(stream.talk)")
        #expect(try daemon.tool("web", "--revoke", "phone").exit == 0)
        #expect(daemon.wait { stream.isOver })
        #expect(try curl(port, "/v1/status", bearer(token)).hasSuffix("401"))
    }

    @Test("a browser's cookie holds no token and is good as no token, and the daemon keeps neither")
    func cookie() throws {
        let (daemon, port) = try listening()
        let token = try #require(try daemon.json("web", "--token", "phone")["token"]?.string)
        let answer = try curl(port, "/v1/login", ["-i", "-d", "{\"token\":\"\(token)\"}"])
        let pair = try #require(
            answer.split(separator: "\r\n").first { $0.hasPrefix("Set-Cookie: wakebridge-\(port)=") }?
                .dropFirst("Set-Cookie: ".count).prefix { $0 != ";" })
        let value = String(pair.drop { $0 != "=" }.dropFirst())
        #expect(value.count == 64 && !answer.contains(token))
        #expect(try curl(port, "/v1/status", ["-b", String(pair)]).hasSuffix("200"))
        #expect(try curl(port, "/v1/status", bearer(value)).hasSuffix("401"))
        #expect(try curl(port, "/v1/status", ["-b", "wakebridge-\(port)=\(token)"]).hasSuffix("401"))
        #expect(!text(of: daemon.state + "/web-tokens.json").contains(value))
        #expect(try daemon.tool("web", "--revoke", "phone").exit == 0)
        #expect(try curl(port, "/v1/status", ["-b", String(pair)]).hasSuffix("401"))
        #expect(try curl(port, "/", ["-b", String(pair)]).hasSuffix("200"))
    }

    @Test("tokens survive the daemon, and the same name is not given twice")
    func restart() throws {
        let (daemon, port) = try listening()
        let token = try #require(try daemon.json("web", "--token", "script")["token"]?.string)
        let again = try daemon.tool("web", "--token", "script")
        #expect(again.exit == 5 && again.talk.contains("there is a token 'script' already"))
        try daemon.stop()
        try daemon.start()
        #expect(daemon.wait { (try? curl(port, "/v1/status", bearer(token)).hasSuffix("200")) == true })
    }

    @Test("enabling writes the settings and makes the first token, and the next start listens; disabling takes it back")
    func enable() throws {
        let port = try freePort()
        let daemon = try RunningDaemon.withStrap()
        try daemon.write("{\n  // mine\n  journal: { max_size: \"64MiB\" },\n}\n", to: "config/wakebridge.json5")
        try daemon.start()
        let words = ["--config", daemon.configuration, "--listen", "127.0.0.1:\(port)"]
        let enabled = try Child([Built.tool, "--runtime", daemon.runtime, "web", "--enable"] + words).finish()
        #expect(enabled.exit == 0 && enabled.output.contains("http://127.0.0.1:\(port)/#token="), "\(enabled)")
        #expect(enabled.output.contains("at the daemon's next start"))
        let file = daemon.configuration + "/wakebridge.json5"
        #expect(text(of: file).contains("// mine") && text(of: file).contains("web: { listen: \"127.0.0.1:\(port)\" }"))
        let token = try #require(enabled.output.split(separator: "\n").first { $0.hasPrefix("  ") }?.dropFirst(2))
        try daemon.stop()
        try daemon.start()
        #expect(daemon.wait { (try? curl(port, "/v1/status", bearer(String(token))).hasSuffix("200")) == true })
        #expect(try daemon.tool("web", "--disable", "--config", daemon.configuration).exit == 0)
        #expect(text(of: file) == "{\n  // mine\n  journal: { max_size: \"64MiB\" },\n}\n")
    }

    @Test("a port that another program has is told, and the control socket goes on")
    func taken() throws {
        let holder = try NetworkSocket.listen(at: try #require(NetworkAddress("127.0.0.1:\(try freePort())")))
        let port = try #require(NetworkSocket.ownEnd(of: holder.raw)).port
        let daemon = try RunningDaemon.withStrap()
        try daemon.write("{ web: { listen: \"127.0.0.1:\(port)\" } }", to: "config/wakebridge.json5")
        try daemon.start()
        #expect(daemon.log.contains("could not listen at 127.0.0.1:\(port)") || daemon.log.contains("EADDRINUSE"))
        #expect(daemon.log.contains("nothing is answered over TCP"))
        #expect(try daemon.tool("web").output.contains("the web page is off"))
    }

    @Test("the description names every address that is answered, and the daemon serves it without a token")
    func description() throws {
        let (daemon, port) = try listening()
        let text = try curl(port, "/v1/openapi.json")
        let document = try JSONValue(parsing: Array(text.dropLast(3).utf8))
        #expect(document["openapi"]?.string == "3.1.0")
        #expect(document["paths"]?["/v1/handlers/{id}/why"]?["get"]?["operationId"]?.string == "get_handlers_id_why")
        #expect(try daemon.stop() == 0)
    }
}
