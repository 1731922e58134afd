// Messages through a real daemon: over HTTP and by the tool, to handlers that sleep, are stopped, or outlive a kill -9.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Messages to handlers of a running daemon", .serialized, .timeLimit(.minutes(4)))
struct InboxTests {
    private func planner(
        _ inbox: String, words: [String] = ["ack"], more: String = "", settings: String = "{}"
    ) throws -> Planner {
        let planner = try Planner()
        try planner.daemon.write(settings, to: "config/wakebridge.json5")
        try planner.employ("box", "inbox: \(inbox)", words: words, linger: "20ms", more: more)
        try planner.daemon.write(Self.poster, to: "post.py")
        try planner.start()
        return planner
    }

    /// The answers to so many messages, in order: status and body.
    private func post(
        _ count: Int, to planner: Planner, headers: [String] = [], body: String = ""
    ) throws -> [(status: Int64, body: JSONValue)] {
        let script = "\(planner.daemon.folder)/post.py"
        let socket = "\(planner.daemon.runtime)/control.sock"
        let talk = try Child(["python3", script, socket, "\(count)", body] + headers).finish()
        try #require(talk.exit == 0, "\(talk)")
        return try talk.output.split(separator: "\n").map { line in
            let parts = line.split(separator: " ", maxSplits: 1)
            return (Int64(parts[0]) ?? 0, try JSONValue(parsing: Array(parts[1].utf8)))
        }
    }

    @Test("a message wakes the handler, which gets what was sent, and the answer says that it is kept")
    func wakes() throws {
        let planner = try planner("{}")
        let answers = try post(
            1, to: planner, headers: ["TTL: 60", "Topic: cfg", "Urgency: high", "Content-Type: text/plain"],
            body: "grüße")
        #expect(answers[0].status == 201)
        #expect(answers[0].body["id"]?.string == "1" && answers[0].body["ttl_s"]?.integer == 60)
        #expect(answers[0].body["wakes_in_ms"]?.integer == 0)
        let line = try planner.await(1, "message.received", of: "box")[0]
        #expect(line.data["payload"]?.string == "grüße" && line.data["topic"]?.string == "cfg")
        #expect(line.data["urgency"]?.string == "high" && line.data["content_type"]?.string == "text/plain")
        #expect(line.line["source"]?.string == "/inbox/box" && line.line["subject"]?.string == "inbox")
        let restored = try planner.await(1, "restored", of: "box")[0]
        #expect(restored.data["reason"]?.string == "message")
    }

    @Test("a message that asks for a longer life than the inbox gives is told in the header TTL which one it has")
    func grantedLife() throws {
        let planner = try planner("{ ttl: \"1h\" }")
        let answer = try Child([
            "curl", "-sS", "-i", "--unix-socket", "\(planner.daemon.runtime)/control.sock", "-H", "TTL: 2419200",
            "--data-binary", "x", "http://localhost/v1/handlers/box/inbox",
        ]).finish().output
        #expect(answer.hasPrefix("HTTP/1.1 201") && answer.contains("\r\nTTL: 3600\r\n"), "\(answer)")
    }

    @Test("the tool sends a message, and says when the handler gets it")
    func tool() throws {
        let planner = try planner("{ rate: \"1/h\", burst: 1 }")
        let sent = try planner.daemon.tool("send-message", "box", "hello")
        #expect(sent.exit == 0 && sent.output == "message 1 is kept for 7 d, and on its way\n", "\(sent)")
        try planner.await(1, "message.received", of: "box")
        try #require(planner.daemon.wait { (try? planner.daemon.state(of: "box")) == "suspended" })
        let later = try planner.daemon.tool("send-message", "--ttl", "3600", "box", "later")
        #expect(later.output.hasPrefix("message 2 is kept for 1 h, and "), "\(later)")
        let low = try planner.daemon.tool("send-message", "--urgency", "low", "box", "whenever")
        #expect(low.output == "message 3 is kept for 7 d, and comes with the next wake\n", "\(low)")
        let why = try planner.daemon.tool("why", "box").output
        #expect(why.contains("the inbox, with 2 messages,"), "\(why)")
        #expect(try planner.daemon.handler("box")["messages"]?.integer == 2)
        let entry = try planner.daemon.json("pending", "box")["pending"]?.array?.first
        #expect(entry?["source"]?.string == "inbox" && entry?["messages"]?.integer == 2, "\(String(describing: entry))")
        try planner.daemon.tool("simulate", "wake", "box")
        #expect(try planner.await(3, "message.received", of: "box").map { $0.data["id"]?.string } == ["1", "2", "3"])
    }

    @Test("a reader who follows the page about messages sees what the page shows")
    func page() throws {
        let page = try Document("docs/how-to/push-messages.md")
        let daemon = try RunningDaemon()
        func block(_ language: String, with words: String) throws -> String {
            try #require(page.block(language, with: words)).text
                .replacing("/opt/my", with: daemon.folder).replacing("\"auto\"", with: "\"\(me)\"")
                .replacing("/run/wakebridge", with: daemon.runtime)
                .replacing("sudo wakebridge", with: "'\(Built.tool)' --runtime '\(daemon.runtime)'")
        }
        try daemon.write(try block("sh", with: "done"), to: "inbox.sh")
        try daemon.drop("letters", try block("json5", with: "inbox: {} }"))
        try daemon.start("--no-bluetooth", "--no-accessories")
        let commands = try block("sh", with: "send-message letters").split(separator: "\n").map(String.init)
        let sent = try Child(["sh", "-c", commands[0]]).finish().output
        #expect(sent == "message 1 is kept for 7 d, and on its way\n" && page.text.contains(sent))
        let isSaid = try daemon.wait {
            try Child(["sh", "-c", commands[1]]).finish().output.hasSuffix(" message: hello\n")
        }
        #expect(isSaid, "\(daemon.log)")
        let posted = try Child(["sh", "-c", try block("sh", with: "--unix-socket")]).finish().output
        #expect(posted == "{\"id\":\"2\",\"ttl_s\":3600,\"wakes_in_ms\":0}\n" && page.text.contains(posted))
    }

    @Test("a web hook sends messages by an address alone, which opens nothing else, until its token is revoked")
    func webHook() throws {
        let port = try freePort()
        let planner = try planner("{}", settings: "{ web: { listen: \"127.0.0.1:\(port)\" } }")
        let daemon = planner.daemon
        let none = try daemon.tool("web", "--token", "forge", "--inbox", "boxes")
        #expect(none.exit != 0 && none.talk.contains("no handler 'boxes'"), "\(none)")
        let made = try daemon.tool("web", "--token", "forge", "--inbox", "box", "--urgent").output
        let address = try #require(
            made.split(separator: " ").last { $0.hasPrefix("http://") }?.split(separator: "\n").first)
        func curl(_ address: String, _ words: String...) throws -> String {
            try Child(["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", address] + words).finish().output
        }
        #expect(try curl(String(address), "--json", "{\"ref\":\"main\"}", "-H", "Urgency: high") == "201", "\(made)")
        let line = try planner.await(1, "message.received", of: "box")[0]
        #expect(line.data["payload"]?.string == "{\"ref\":\"main\"}" && line.data["urgency"]?.string == "high")
        #expect(line.data["content_type"]?.string == "application/json")
        #expect(try curl("http://127.0.0.1:\(port)/v1/hooks/" + String(repeating: "x", count: 32), "-d", "x") == "401")
        #expect(try daemon.tool("web").output.contains("the inbox of box"))
        try planner.restart()
        #expect(try curl(String(address), "-d", "again") == "201", "a token outlives the daemon")
        #expect(try daemon.tool("web", "--revoke", "forge").exit == 0)
        #expect(try curl(String(address), "-d", "x") == "401")
    }

    @Test("by a web hook an urgent message is a normal one, and past what the inbox accepts of a token it is refused")
    func limitedHook() throws {
        let port = try freePort()
        let planner = try planner("{ accept: \"2/d\" }", settings: "{ web: { listen: \"127.0.0.1:\(port)\" } }")
        let made = try planner.daemon.tool("web", "--token", "forge", "--inbox", "box").output
        let address = try #require(
            made.split(separator: " ").last { $0.hasPrefix("http://") }?.split(separator: "\n").first)
        func curl() throws -> String {
            let words = ["curl", "-sS", "-i", String(address), "-d", "x", "-H", "Urgency: high"]
            return try Child(words).finish().output
        }
        for _ in 0..<2 { #expect(try curl().contains("201 Created"), "\(made)") }
        let refused = try curl()
        #expect(refused.contains("429") && refused.contains("Retry-After: 43"), "\(refused)")
        #expect(refused.contains("\"code\":\"too-many\""))
        let lines = try planner.await(2, "message.received", of: "box")
        #expect(lines.allSatisfy { $0.data["urgency"] == nil })
    }

    @Test("five hundred messages to a stopped handler come as one gap and the newest hundred, over a kill -9 too")
    func stopped() throws {
        let planner = try planner("{ keep: 100 }")
        #expect(try planner.daemon.tool("stop", "box").exit == 0)
        let answers = try post(500, to: planner)
        #expect(answers.allSatisfy { $0.status == 201 && $0.body["wakes_in_ms"] == .null })
        try planner.restart()
        #expect(try planner.daemon.tool("start", "box").exit == 0)
        let messages = try planner.await(100, "message.received", of: "box")
        #expect(messages.compactMap { $0.data["payload"]?.string } == (401...500).map(String.init))
        let gaps = planner.heard("box", "device.gap")
        #expect(gaps.count == 1 && gaps.first?.data["count"]?.integer == 400, "\(gaps)")
        #expect(gaps.first?.data["cause"]?.string == "overflow")
        try #require(planner.daemon.wait { (try? planner.daemon.handler("box")["open"]?.integer) == 0 })
        #expect(try planner.daemon.handler("box")["messages"]?.integer == 0)
    }

    @Test("every message that was answered with 201 is delivered, however often the daemon is killed meanwhile")
    func survives() throws {
        let planner = try planner("{ rate: \"60/m\", burst: 100, keep: 1000 }")
        let answered = "\(planner.daemon.folder)/answered"
        let socket = "\(planner.daemon.runtime)/control.sock"
        var dice = Dice(28)
        for round in 0..<12 {
            let script = "\(planner.daemon.folder)/post.py"
            let before = lines(of: answered).count
            let poster = try Child(["python3", script, socket, "80", "\(round)-", "--book", answered])
            let count = before + dice.below(40)
            try #require(planner.daemon.wait { lines(of: answered).count > count }, "\(planner.daemon.log)")
            try planner.daemon.stop(SIGKILL)
            _ = poster.finish()
            try planner.start()
        }
        let promised = Set(lines(of: answered))
        #expect(promised.count >= 12 && promised.count <= 1_000, "\(promised.count) were answered")
        func delivered() -> Set<String> {
            Set(planner.heard("box", "message.received").compactMap { $0.data["payload"]?.string })
        }
        let isWhole = planner.daemon.wait(60) { promised.isSubset(of: delivered()) }
        #expect(isWhole, "\(promised.subtracting(delivered()).sorted().prefix(5)) are lost of \(promised.count)")
        #expect(planner.heard("box", "device.gap").isEmpty)
    }

    @Test("a handler without an inbox, and one that is not there, are refused with what to do")
    func refused() throws {
        let planner = try planner("{}")
        try planner.employ("mute", "alarms: []")
        try #require(planner.daemon.wait { (try? planner.daemon.handler("mute"))?["id"] != nil })
        let mute = try planner.daemon.tool("send-message", "mute", "x")
        #expect(mute.exit != 0 && mute.talk.contains("Handler \"mute\" has no inbox"), "\(mute)")
        let none = try planner.daemon.tool("send-message", "boxes", "x")
        #expect(none.exit != 0 && none.talk.contains("no handler"), "\(none)")
    }

    @Test("the table of bad messages has at least sixty rows")
    func isLongEnough() { #expect(Self.badMessages.count >= 60) }

    @Test("every bad header and body is answered with a sentence, keeps nothing, and the next message is taken")
    func badMessages() throws {
        let planner = try planner("{}")
        #expect(try planner.daemon.tool("stop", "box").exit == 0)
        for (headers, count, words) in Self.badMessages {
            let answer = try post(1, to: planner, headers: headers, body: String(repeating: "x", count: count))[0]
            let error = answer.body["error"]
            #expect([400, 413].contains(answer.status), "\(headers): \(answer)")
            #expect(error?["message"]?.string?.contains(words) == true, "\(headers): \(answer)")
            #expect(error?["advice"]?.string?.isEmpty == false && error?["code"]?.string?.isEmpty == false)
        }
        #expect(try post(1, to: planner)[0].body["id"]?.string == "1")
    }

    private static let badMessages: [(headers: [String], count: Int, words: String)] = {
        let lives = [
            "-1", "+1", "1.5", "1e3", "0x10", "1h", "60s", "six", "1 2", "60,60", "NaN", "inf", "1_000", "--", "0-1",
            "1;",
            "\"60\"", "'60'", "[60]", "{}", "60 s", "#", "٣",
        ]
        let topics = [
            "a b", "a/b", "a.b", "ä", "a+b", "a=", "a,b", "\"a\"", "a;b", "*", "a:b", "#", "+", "home/cmd", "a%20b",
            "(a)",
            "~", String(repeating: "x", count: 33), String(repeating: "x", count: 500),
        ]
        let urgencies = [
            "urgent", "very low", "normal,high", "1", "hi gh", "very_low", "lowest", "High!", "none", "\"high\"",
            "null",
            "low;high", "norm",
        ]
        let types = ["tëxt/plain", String(repeating: "x", count: 129)]
        let twice: [(headers: [String], count: Int, words: String)] = [
            (["TTL: 1", "TTL: 2"], 1, "TTL"), (["Topic: a", "Topic: a"], 1, "Topic"),
            (["Urgency: low", "Urgency: high"], 1, "Urgency"),
        ]
        let long: [(headers: [String], count: Int, words: String)] = [([], 4_097, "4097"), ([], 65_536, "65536")]
        let rows = [("TTL", lives), ("Topic", topics), ("Urgency", urgencies), ("Content-Type", types)]
        return rows.flatMap { name, values in values.map { (["\(name): \($0)"], 1, name) } } + twice + long
    }()

    /// Posts messages one after another, each with its number; stops without a word where the daemon ends. With `--book` each
    /// that was answered with 201 is written there before the next is sent.
    private static let poster = """
        import http.client, socket, sys
        path, count, body, *headers = sys.argv[1:]
        book = None
        if headers[:1] == ["--book"]:
            book, headers = open(headers[1], "a"), headers[2:]
        link = http.client.HTTPConnection("wakebridge")
        link.sock = socket.socket(socket.AF_UNIX)
        try:
            link.sock.connect(path)
            for number in range(1, int(count) + 1):
                text = body if body and not book else body + str(number)
                sent = text.encode()
                link.putrequest("POST", "/v1/handlers/box/inbox")
                link.putheader("Content-Length", str(len(sent)))
                for header in headers:
                    name, value = header.split(": ", 1)
                    link.putheader(name, value.encode())
                link.endheaders(sent)
                answer = link.getresponse()
                read = answer.read().decode().strip()
                if not book:
                    print(answer.status, read)
                elif answer.status == 201:
                    book.write(text + "\\n")
                    book.flush()
        except (OSError, http.client.HTTPException):
            if not book:
                raise

        """
}
