// The handlers of 'wakebridge new handler --template': each is played the recorded strap, and its outcome is counted.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Templates of handlers") final class HandlerTemplateTests {
    private let folder = makeDirectory("/tmp/waketemplate.XXXXXX")
    private let expected = "\(packageFolder)/Devices/heart-rate-monitor/expected.ndjson"
    private var server: Child?

    deinit { Directory.removeTree(folder) }

    private func tool(_ words: [String]) throws -> (exit: Int32, output: String, talk: String) {
        try Child(["env", "-C", folder, Built.tool] + words).finish()
    }

    /// Writes a handler, and what a person sets in its manifest.
    private func make(_ template: String, _ changes: [(String, String)] = []) throws -> String {
        let words = ["new", "handler", "hr", "-p", "heart-rate-monitor", "--directory", folder, "--template", template]
        let made = try tool(words)
        #expect(made.exit == 0 && made.output.hasPrefix("wrote \(folder)/hr.py\nwrote \(folder)/hr.json5\n"), "\(made)")
        #expect(try tool(["check", "hr.json5"]).exit == 0)
        var manifest = text(of: folder + "/hr.json5")
        // Where Python compiles the module would be in the checkout.
        let places = "env: { PYTHONDONTWRITEBYTECODE: \"1\", PATH: \"\(Built.folder):/usr/bin:/bin\", "
        for (old, new) in changes + [("env: { ", places)] {
            #expect(manifest.contains(old), "\(old) in \(manifest)")
            manifest = manifest.replacing(old, with: new)
        }
        put(manifest, at: folder + "/hr.json5")
        return made.output
    }

    /// Plays the strap. The state folder of the handler stays.
    private func play() throws -> (output: String, talk: String, state: String) {
        let trace = "\(packageFolder)/Devices/heart-rate-monitor/recording.trace"
        let user = Machine.isRoot ? ["--user", "root"] : []
        let words = ["replay", trace, "--speed", "max", "--manifest", "hr.json5", "--keep", "kept"] + user
        let played = try tool(words)
        #expect(played.exit == 0 && played.talk.contains("96 events, 96 acknowledged"), "\(played)")
        let state = "\(folder)/kept/handlers/hr"
        #expect(played.talk.hasSuffix("the handler's files are kept in \(state)\n"), "\(played.talk)")
        return (played.output, played.talk, state)
    }

    /// Gives the same events to the program a second time, as after a power cut.
    private func repeatEvents(_ state: String) throws {
        let words = [
            "env", "-C", state, "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=\(packageFolder)/Packages/python", "sh", "-c",
            "exec /usr/bin/python3 '\(folder)/hr.py' <'\(expected)' 3>/dev/null",
        ]
        #expect(try Child(words).finish().exit == 0)
    }

    /// The numbers, texts and flags in the values of the recording, and how many events have them.
    private func recorded() throws -> (parts: Int, events: Int) {
        func parts(_ value: JSONValue) -> Int {
            if case .object(let members) = value { return members.map { parts($0.value) }.reduce(0, +) }
            return value.array?.map(parts).reduce(0, +) ?? 1
        }
        let values = try lines(of: expected).compactMap { line in
            try JSONValue(parsing: Array(line.utf8))["data"]?["value"]
        }
        return (values.map(parts).reduce(0, +), values.count)
    }

    @Test("the template csv writes each value of the strap as a row, with time and event, and none twice")
    func csv() throws {
        #expect(try make("csv").contains("wakebridge check"))
        let state = try play().state
        let rows = lines(of: state + "/hr.csv")
        let recorded = try recorded()
        #expect(rows.first == "time,id,device,name,value" && rows.count == recorded.parts + 1)
        #expect(
            Set(rows.dropFirst().compactMap { $0.split(separator: ",").dropFirst().first }).count == recorded.events)
        #expect(rows.contains { $0.hasSuffix("+00:00,replay-4,chest-strap,bpm,62") }, "\(rows.prefix(8))")
        #expect(rows.count { $0.contains(",bpm,") } == 91)
        try repeatEvents(state)
        #expect(lines(of: state + "/hr.csv") == rows)
    }

    @Test("the template sqlite writes each value of the strap into a table, with time and event, and none twice")
    func sqlite() throws {
        _ = try make("sqlite")
        let state = try play().state
        let recorded = try recorded()
        let query = "SELECT count(*), count(DISTINCT id), sum(name = 'bpm' AND value > 100) FROM readings"
        func count() throws -> String {
            let program = "import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone())"
            return try Child(["/usr/bin/python3", "-c", program, state + "/hr.db", query]).finish().output
        }
        let fast = try lines(of: expected).count { line in
            (try JSONValue(parsing: Array(line.utf8))["data"]?["value"]?["bpm"]?.integer ?? 0) > 100
        }
        #expect(fast > 0)
        #expect(try count() == "\(recorded.parts) \(recorded.events) \(fast)\n")
        try repeatEvents(state)
        #expect(try count() == "\(recorded.parts) \(recorded.events) \(fast)\n")
    }

    /// Serves HTTP on a port of its own, which it writes into `port`; each post goes into `posts`.
    private static let receiver = """
        import http.server, sys
        class Receiver(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                text = self.rfile.read(int(self.headers["Content-Length"])).decode()
                with open(sys.argv[1] + "/posts", "a") as posts:
                    posts.write(self.path + " " + text.replace("\\n", "|") + "\\n")
                self.send_response(200)
                self.end_headers()
            def log_message(self, *words): pass
        server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
        with open(sys.argv[1] + "/port.new", "w") as port: port.write(str(server.server_port))
        import os
        os.rename(sys.argv[1] + "/port.new", sys.argv[1] + "/port")
        server.serve_forever()
        """

    private func startReceiver() throws -> String {
        server = try Child(["/usr/bin/python3", "-c", Self.receiver, folder])
        #expect(try Patience.wait { File.exists(folder + "/port") })
        return "http://127.0.0.1:\(text(of: folder + "/port"))"
    }

    @Test("the template alert sends one alert when the rate is above a limit, and the next after it was below another")
    func alert() throws {
        let address = try startReceiver()
        let output = try make(
            "alert",
            [
                ("https://ntfy.sh/my-topic", address + "/topic"), ("ABOVE: \"100\"", "ABOVE: \"64\""),
                ("BELOW: \"95\"", "BELOW: \"60\""), ("enabled: false,", ""),
            ])
        #expect(output.contains("# set TO, FIELD, ABOVE, BELOW, and remove enabled: false"), "\(output)")
        let played = try play()
        let posts = lines(of: folder + "/posts")
        // The rate is above 64 at 65 beats, then below 60 at 59, above at 65, below without contact, and above at 129.
        let texts = [65, 65, 129].map { "/topic chest-strap: bpm is \($0)" }
        #expect(posts == texts, "\(posts) \(played.output) \(played.talk)")
    }

    @Test("the template http hands the values over as transfers of a set number of events, and the rest at the end")
    func http() throws {
        let output = try make(
            "http", [("https://example.org/readings", "http://127.0.0.1:9/readings"), ("enabled: false,", "")])
        #expect(output.contains("# set URL, and remove enabled: false"), "\(output)")
        let state = try play().state
        let files = names(in: state).filter { $0.hasSuffix(".jsonl") }
        let counts = files.map { lines(of: "\(state)/\($0)").count }.sorted()
        // 94 events have values: four files of 20, and one of the 14 that were left as the strap went away.
        #expect(counts == [14, 20, 20, 20, 20] && !files.contains("next.jsonl"), "\(files)")
    }

    @Test("the templates of senders are disabled until a person has set the address, and a template is Python only")
    func refusals() throws {
        let alert = ["new", "handler", "a", "-p", "gps-receiver", "--directory", folder, "--template", "alert"]
        #expect(try tool(alert).exit == 0)
        #expect(text(of: folder + "/a.json5").contains("enabled: false"))
        let csv = try tool(["new", "handler", "csv", "-p", "gps-receiver", "--template", "csv"])
        #expect(csv.exit == 2 && csv.talk.contains("'csv' is a module of Python that the program uses"), "\(csv)")
        for (words, sentence) in [
            (["--template", "cvs"], "none of csv, sqlite, alert, http. Did you mean 'csv'?"),
            (["--template", "csv", "-l", "shell"], "--template goes with --language python, and not with 'shell'"),
        ] {
            let refused = try tool(["new", "handler", "b", "-p", "gps-receiver"] + words)
            #expect(refused.exit == 2 && refused.talk.contains(sentence), "\(refused)")
        }
    }
}
