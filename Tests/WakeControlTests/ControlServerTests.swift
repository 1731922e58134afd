// The server as clients meet it: curl, strangers, slow readers and nonsense.
import Glibc
import TestBench
import Testing
import WakeAPI
import WakeControl
import WakeModel
import WakeSystem

@Suite("The control socket", .serialized) struct ControlServerTests {
    private func answering(
        _ calls: @escaping (ControlRequest) -> ControlResponse
    ) -> (ControlRequest) -> ControlResponse {
        { request in
            do throws(ControlRefusal) { _ = try API.read(request) } catch { return .refusal(error) }
            return calls(request)
        }
    }

    private func simple() throws -> Fixture { try Fixture(routes: API.routes, handle: answering { _ in .done }) }

    @Test("curl gets JSON from a known address")
    func json() throws {
        let fixture = try simple()
        let outcome = try fixture.curl("-w", "%{http_code} %{content_type}", "http://wakebridge/v1/status")
        #expect(outcome.output == "{\"done\":true}\n200 application/json")
    }

    @Test("an answer that comes later reaches its client, and others are answered meanwhile; the end answers too")
    func later() throws {
        var respond: ((ControlResponse) -> Void)?
        let fixture = try Fixture(
            handle: answering { call in call.line == "GET /v1/status" ? .later { respond = $0 } : .done })
        let words = ["curl", "-s", "--unix-socket", fixture.path]
        for end in [true, false] {
            let child = try Child(words + ["http://w/v1/status"])
            #expect(try fixture.turn { respond != nil })
            #expect(try fixture.curl("http://w/v1/handlers").output == "{\"done\":true}\n")
            #expect(!child.isOver)
            if end { respond?(.json { $0.object { $0.field("late", true) } }) } else { fixture.server.close() }
            #expect(try fixture.turn { child.isOver })
            #expect(child.output.contains(end ? "{\"late\":true}" : "the daemon ends before the answer came"))
            respond?(.done)
            respond = nil
        }
    }

    @Test("path, query, body and user of a request arrive decoded")
    func request() throws {
        var seen: ControlRequest?
        let fixture = try Fixture { request in
            seen = request
            return .text(status: 200, "ok")
        }
        _ = try fixture.curl("-d", "{\"x\":1}", "http://w/v1/a%20b/c?device=chest%20strap&follow&lines=3")
        let request = try #require(seen)
        #expect(request.method == "POST")
        #expect(request.path == ["v1", "a b", "c"])
        #expect(request.query == [.init("device", "chest strap"), .init("follow", ""), .init("lines", "3")])
        #expect(request.body == Array("{\"x\":1}".utf8))
        #expect(request.user == geteuid())
    }

    @Test("an unknown address is answered 404 with the nearest ones")
    func unknownPath() throws {
        let fixture = try simple()
        let outcome = try fixture.curl("-w", "%{http_code}", "http://w/v1/statsu")
        #expect(outcome.output.hasSuffix("404"))
        #expect(outcome.output.contains("\"code\":\"unknown-path\""))
        #expect(outcome.output.contains("the nearest addresses are /v1/status"))
    }

    @Test("a wrong method is answered 405 with the right one in Allow")
    func wrongMethod() throws {
        let fixture = try simple()
        let outcome = try fixture.curl("-i", "http://w/v1/reload")
        #expect(outcome.output.hasPrefix("HTTP/1.1 405"))
        #expect(outcome.output.contains("Allow: POST"))
        #expect(outcome.output.contains("/v1/reload does not take GET"))
    }

    @Test("a body of 64 KiB is taken, one byte more is answered 413")
    func bodyLimit() throws {
        var sizes: [Int] = []
        let fixture = try Fixture { request in
            sizes.append(request.body.count)
            return .text(status: 200, "taken")
        }
        let file = fixture.directory + "/body"
        defer { unlink(file) }
        _ = try fixture.run(["sh", "-c", "head -c 65536 /dev/zero > \(file)"])
        #expect(try fixture.curl("--data-binary", "@\(file)", "http://w/v1/x").output == "taken")
        _ = try fixture.run(["sh", "-c", "head -c 65537 /dev/zero > \(file)"])
        let refused = try fixture.curl("-w", "%{http_code}", "--data-binary", "@\(file)", "http://w/v1/x")
        #expect(refused.output.contains("a body of 65537 bytes is too large"))
        #expect(refused.output.hasSuffix("413"))
        #expect(sizes == [65536])
    }

    @Test("a request line or headers of more than 16 KiB are answered 414 or 431, and the next request is served")
    func headLimit() throws {
        let fixture = try simple()
        let long = String(repeating: "x", count: 17 << 10)
        let statuses = try [["http://w/v1/\(long)"], ["-H", "X-Long: \(long)", "http://w/v1/status"]].map { words in
            try fixture.run(
                ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--unix-socket", fixture.path] + words)
        }
        #expect(statuses.map(\.output) == ["414", "431"], "\(statuses)")
        let short = String(repeating: "x", count: 8 << 10)
        #expect(try fixture.curl("-H", "X-Short: \(short)", "http://w/v1/status").output == "{\"done\":true}\n")
    }

    @Test("a body that announces more than 1 MiB is answered 413 before it is sent")
    func hugeBody() throws {
        let fixture = try simple()
        let client = try RawClient(fixture.path)
        client.send("POST /v1/reload HTTP/1.1\r\nHost: w\r\nContent-Length: 1048577\r\n\r\n")
        var text = ""
        #expect(
            try fixture.turn {
                text += client.receive() ?? ""
                return text.contains("413")
            })
    }

    @Test("a body that does not say its length is cut off past 1 MiB")
    func endlessBody() throws {
        let fixture = try simple()
        let curl = "curl -sS --max-time 10 --unix-socket \(fixture.path) -X POST -T - http://w/v1/reload"
        let outcome = try fixture.run(["sh", "-c", "head -c 5000000 /dev/zero | \(curl)"])
        #expect(outcome.exit != 0)
        #expect(try fixture.curl("http://w/v1/status").exit == 0)
    }

    private func mode(of path: String) -> (mode: mode_t, group: gid_t) {
        var status = stat()
        #expect(stat(path, &status) == 0)
        return (status.st_mode & 0o777, status.st_gid)
    }

    /// A user of that primary group, before a command.
    private func user(_ group: Int, _ further: String = "--clear-groups") -> [String] {
        ["setpriv", "--reuid=65534", "--regid=\(group)", further]
    }

    private let call = ["curl", "-sS", "-w", "%{http_code}", "http://w/v1/status", "--unix-socket"]

    @Test("without a group the socket is its owner's alone, with one it is that group's too")
    func modes() throws {
        let alone = try simple()
        #expect(mode(of: alone.path).mode == 0o600)
        let fixture = try Fixture(group: getegid(), handle: answering { _ in .done })
        #expect(mode(of: fixture.path) == (0o660, getegid()))
    }

    @Test(
        "another user cannot connect, and a member of the group is let in, whichever of the member's groups it is",
        .enabled(if: Machine.isRoot, "to become another user"))
    func strangers() throws {
        let fixture = try Fixture(group: 4242, handle: answering { _ in .done })
        let stranger = try fixture.run(user(65534) + call + [fixture.path])
        #expect(stranger.exit == 7 && stranger.output == "000", "\(stranger)")
        #expect(try fixture.run(user(65534, "--groups=4242") + call + [fixture.path]).output.hasSuffix("200"))
        #expect(try fixture.run(user(4242) + call + [fixture.path]).output.hasSuffix("200"))
    }

    @Test(
        "a socket that was opened wider still serves no other user: 403 and a sentence",
        .enabled(if: Machine.isRoot, "to become another user"))
    func openedWider() throws {
        let fixture = try Fixture(group: 4242, handle: answering { _ in .done })
        #expect(chmod(fixture.path, 0o666) == 0)
        let stranger = try fixture.run(user(65534) + call + [fixture.path])
        #expect(stranger.output.hasSuffix("403"))
        #expect(stranger.output.contains("user 65534 may not use this bridge's control socket"))
    }

    @Test("a client cannot pass descriptors, which the daemon would have to close", .enabled(if: refusesDescriptors))
    func descriptorsRefused() throws {
        let fixture = try simple()
        let script = """
            import socket, sys
            s = socket.socket(socket.AF_UNIX)
            s.connect(sys.argv[1])
            try: socket.send_fds(s, [b"GET /v1/status HTTP/1.1\\r\\n"], [0])
            except OSError as error: print(error.strerror)
            s.send(b"GET /v1/status HTTP/1.1\\r\\nHost: w\\r\\n\\r\\n")
            print(s.recv(12).decode())
            """
        let outcome = try fixture.run(["python3", "-c", script, fixture.path])
        #expect(outcome.output == "Operation not permitted\nHTTP/1.1 200\n", "\(outcome)")
    }

    @Test("past sixty-four connections the one that has owed its request for longest makes room for the next")
    func fullHouse() throws {
        let fixture = try simple()
        var held: [RawClient] = []
        for _ in 0..<64 {
            held.append(try RawClient(fixture.path))
            try fixture.loop.runOnce(timeout: .milliseconds(1))
        }
        for client in held { #expect(client.receive() == "") }
        let next = try RawClient(fixture.path)
        next.send("GET /v1/status HTTP/1.1\r\nHost: w\r\n\r\n")
        #expect(try fixture.turn { (next.receive() ?? "").contains("200 OK") })
        #expect(try fixture.turn { held[0].receive() == nil })
        for client in held.dropFirst() { #expect(client.receive() == "") }
    }

    @Test("a thousand requests one after another leave the number of descriptors as it was")
    func descriptors() throws {
        let fixture = try simple()
        func ask() throws {
            let client = try RawClient(fixture.path)
            client.send("GET /v1/status HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n")
            var text = ""
            var ended = false
            _ = try fixture.turn {
                if let more = client.receive() { text += more } else { ended = true }
                return ended
            }
            #expect(text.contains("200 OK"))
        }
        try ask()
        let before = openDescriptors()
        for _ in 0..<1000 { try ask() }
        #expect(openDescriptors() <= before)
    }

    @Test(
        "nonsense on the socket is refused or dropped, and the next client is served",
        arguments: Nonsense.all)
    func isRefused(nonsense: Nonsense) throws {
        let fixture = try simple()
        let client = try RawClient(fixture.path)
        client.send(nonsense.text)
        for _ in 0..<50 { try fixture.loop.runOnce(timeout: .milliseconds(1)) }
        #expect(try fixture.curl("http://w/v1/status").output.contains("done"))
    }

    @Test("every cut of a request, left hanging or closed, leaves the server serving")
    func cuts() throws {
        let fixture = try simple()
        let whole = Array("POST /v1/reload HTTP/1.1\r\nHost: w\r\nContent-Length: 4\r\n\r\n{}  ".utf8)
        for length in 0...whole.count {
            let client = try RawClient(fixture.path)
            client.send(Array(whole[..<length]))
            for _ in 0..<3 { try fixture.loop.runOnce(timeout: .zero) }
        }
        #expect(try fixture.curl("http://w/v1/status").output.contains("done"))
    }
}

/// SO_PASSRIGHTS came with Linux 6.16.
private let refusesDescriptors: Bool = {
    let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var (value, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    return getsockopt(socket, SOL_SOCKET, 83, &value, &size) == 0
}()

/// What is no request, named by how it begins: some is as long as a book.
struct Nonsense: Sendable, CustomTestStringConvertible {
    let text: String
    var testDescription: String { String(text.prefix(60)).debugDescription }

    static let all = [
        "\0\0\0\0", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "POST /v1/reload HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST /v1/reload HTTP/1.1\r\nHost: w\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "🫀 /v1/status HTTP/1.1\r\n\r\n", "GET /%00%ff%zz HTTP/1.1\r\nHost: w\r\n\r\n",
        "GET /" + String(repeating: "a", count: 70_000) + " HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: w\r\n" + String(repeating: "X: y\r\n", count: 9_000) + "\r\n",
        "POST /v1/reload HTTP/1.1\r\nHost: w\r\nTransfer-Encoding: chunked\r\n\r\nzzzz\r\n",
    ].map(Nonsense.init)
}
