// The texts of alarms for people: a command and a topic of ntfy are told, unless a person is attached.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Alerts for people", .serialized)
struct AlertTests {
    /// Writes down what it was told; while `hold` is there it waits for `go`, and says how many wait with it.
    private static let teller = """
        #!/bin/sh
        cd "$1"
        cat > read
        echo "$WAKEBRIDGE_HANDLER $WAKEBRIDGE_ALARM $WAKEBRIDGE_TEXT|$2" >> told
        [ -e hold ] || exit 0
        touch "at-work.$$"
        ls at-work.* | wc -l >> crowds
        while [ ! -e go ]; do sleep 0.01; done
        rm "at-work.$$"

        """

    /// Serves HTTP on a port of its own, which it writes into `port`; each post goes into `posts`.
    private static let server = """
        import http.server, sys
        class Topic(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                text = self.rfile.read(int(self.headers["Content-Length"])).decode()
                with open(sys.argv[1] + "/posts", "a") as posts:
                    posts.write("|".join([self.path, self.headers["Title"], self.headers["Tags"], text]) + "\\n")
                self.send_response(403 if self.path == "/closed" else 200)
                self.end_headers()
            def log_message(self, *words): pass
        server = http.server.HTTPServer(("127.0.0.1", 0), Topic)
        with open(sys.argv[1] + "/port", "w") as port: port.write(str(server.server_port))
        server.serve_forever()

        """

    private func prepare(_ alarms: String) throws -> RunningDaemon {
        let daemon = try RunningDaemon.withStrap()
        try daemon.write(Self.teller, to: "tell")
        chmod(daemon.folder + "/tell", 0o755)
        try daemon.drop("log", manifest("\(daemon.folder)/diary.py", "alarms: [\(alarms)],"))
        return daemon
    }

    private static let pill = #"{ id: "pill", every: "1h", alert: "Take the pill" }"#

    private func told(_ daemon: RunningDaemon) -> [String] { lines(of: daemon.folder + "/told") }

    @Test("a command gets the text as its last argument and in its environment, and the handler gets the alarm too")
    func command() throws {
        let daemon = try prepare(Self.pill)
        try daemon.write(
            "{ alerts: { command: [\"\(daemon.folder)/tell\", \"\(daemon.folder)\"] } }", to: "config/wakebridge.json5")
        try daemon.start()
        try daemon.tool("simulate", "alarm", "log", "pill")
        #expect(daemon.wait { told(daemon) == ["log pill Take the pill|Take the pill"] }, "\(daemon.log)")
        #expect(daemon.wait { daemon.diary("log").contains { $0.contains(#""alert": "Take the pill""#) } })
    }

    @Test("a text that looks like an option or a file has a space before it as an argument, and nowhere else")
    func harmless() throws {
        let daemon = try prepare(#"{ id: "pill", every: "1h", alert: "-f/etc/shadow now" }"#)
        try daemon.write(
            "{ alerts: { command: [\"\(daemon.folder)/tell\", \"\(daemon.folder)\"] } }", to: "config/wakebridge.json5")
        try daemon.start()
        try daemon.tool("simulate", "alarm", "log", "pill")
        #expect(daemon.wait { told(daemon) == ["log pill -f/etc/shadow now| -f/etc/shadow now"] }, "\(daemon.log)")
        #expect(text(of: daemon.folder + "/read") == "-f/etc/shadow now\n")
    }

    @Test(
        "a command runs as the user that the settings name, and as no other where the machine lacks that one",
        .enabled(if: Machine.isRoot, "needs root"))
    func otherUser() throws {
        let daemon = try prepare(Self.pill)
        chmod(daemon.folder, 0o755)
        try Directory.create(daemon.folder + "/public", mode: 0o777)
        let command = "command: [\"/bin/sh\", \"-c\", \"id -un >'\(daemon.folder)/public/user'\"]"
        try daemon.write("{ alerts: { \(command), user: \"nobody\" } }", to: "config/wakebridge.json5")
        try daemon.start()
        try daemon.tool("simulate", "alarm", "log", "pill")
        let user = daemon.folder + "/public/user"
        #expect(daemon.wait { text(of: user) == "nobody\n" }, "\(daemon.log)")
        try daemon.stop()
        unlink(user)
        try daemon.write("{ alerts: { \(command), user: \"no-such-user\" } }", to: "config/wakebridge.json5")
        try daemon.start()
        #expect(daemon.wait { (try? daemon.tool("simulate", "alarm", "log", "pill").exit) == 0 })
        #expect(
            daemon.wait { daemon.log.contains("alarm pill of log is not told: could not look up") }, "\(daemon.log)")
        #expect(!File.exists(user))
    }

    @Test("while a person is attached no command runs, and the handler alone gets the text")
    func attached() throws {
        let daemon = try prepare(Self.pill)
        try daemon.write(
            "{ alerts: { command: [\"\(daemon.folder)/tell\", \"\(daemon.folder)\"] } }", to: "config/wakebridge.json5")
        try daemon.start()
        let attached = try daemon.following("attach", "log")
        try #require(daemon.wait { (try? daemon.json("why", "log")["why"]?.string) == "attached" })
        try daemon.tool("simulate", "alarm", "log", "pill")
        try #require(daemon.wait { daemon.diary("log").contains { $0.contains(#""alert": "Take the pill""#) } })
        kill(attached.process, SIGINT)
        try #require(daemon.wait { (try? daemon.json("why", "log")["why"]?.string) != "attached" })
        // What the first alarm told would have come before what the second one tells.
        try #require(daemon.wait { (try? daemon.tool("simulate", "alarm", "log", "pill").exit) == 0 })
        try #require(daemon.wait { !told(daemon).isEmpty })
        #expect(told(daemon).count == 1)
    }

    @Test("a topic of ntfy gets the text with the handler's name as its title, and what it refuses is in the log")
    func ntfy() throws {
        let daemon = try prepare(Self.pill)
        try daemon.write(Self.server, to: "server.py")
        let server = try Child(["python3", daemon.folder + "/server.py", daemon.folder])
        defer { kill(server.process, SIGKILL) }
        try #require(daemon.wait { !text(of: daemon.folder + "/port").isEmpty })
        let address = "http://127.0.0.1:\(text(of: daemon.folder + "/port"))"
        try daemon.write("{ alerts: { ntfy: \"\(address)/pills\" } }", to: "config/wakebridge.json5")
        try daemon.start()
        try daemon.tool("simulate", "alarm", "log", "pill")
        let posts = { lines(of: daemon.folder + "/posts") }
        #expect(daemon.wait { posts() == ["/pills|log|alarm_clock|Take the pill"] }, "\(daemon.log)")
        try daemon.stop()
        try daemon.write("{ alerts: { ntfy: \"\(address)/closed\" } }", to: "config/wakebridge.json5")
        try daemon.start()
        #expect(daemon.wait { (try? daemon.tool("simulate", "alarm", "log", "pill").exit) == 0 })
        #expect(daemon.wait { daemon.log.contains("alarm pill of log may not have been told") }, "\(daemon.log)")
        #expect(daemon.log.contains("refuses the text with status 403"))
        #expect(!daemon.log.contains("/closed"), "who knows a topic can read it")
    }

    @Test("a command that is not there is told in the log with what to do, and the alarm comes all the same")
    func missing() throws {
        let daemon = try prepare(Self.pill)
        try daemon.write("{ alerts: { command: [\"/nonexistent/tell\"] } }", to: "config/wakebridge.json5")
        try daemon.start()
        try daemon.tool("simulate", "alarm", "log", "pill")
        #expect(
            daemon.wait { daemon.log.contains("may not have been told: could not execute /nonexistent/tell") },
            "\(daemon.log)")
        #expect(daemon.log.contains("try by hand what alerts.command in wakebridge.json5 names"))
        #expect(daemon.wait { daemon.diary("log").contains { $0.hasPrefix("fired ") } })
    }

    @Test("four commands run at a time, the others follow, and none outlives the daemon")
    func crowd() throws {
        let ids = (1...6).map { "a\($0)" }
        let daemon = try prepare(ids.map { #"{ id: "\#($0)", every: "1h", alert: "\#($0)" }"# }.joined(separator: ", "))
        try daemon.write(
            "{ alerts: { command: [\"\(daemon.folder)/tell\", \"\(daemon.folder)\"] } }", to: "config/wakebridge.json5")
        try daemon.write("", to: "hold")
        try daemon.start()
        for id in ids { try daemon.tool("simulate", "alarm", "log", id) }
        try #require(daemon.wait { told(daemon).count == 4 }, "\(told(daemon))")
        try daemon.write("", to: "go")
        #expect(daemon.wait { told(daemon).count == 6 })
        let crowds = lines(of: daemon.folder + "/crowds").compactMap { Int($0.filter(\.isNumber)) }
        #expect(crowds.allSatisfy { $0 <= 4 })
        #expect(daemon.wait { names(in: daemon.folder).allSatisfy { !$0.hasPrefix("at-work.") } })
        unlink(daemon.folder + "/go")
        try #require(daemon.wait { (try? daemon.tool("simulate", "alarm", "log", "a1").exit) == 0 })
        try #require(daemon.wait { names(in: daemon.folder).contains { $0.hasPrefix("at-work.") } })
        let name = try #require(names(in: daemon.folder).first { $0.hasPrefix("at-work.") })
        let process = try #require(Int32(name.split(separator: ".").last ?? ""))
        try daemon.stop()
        #expect(daemon.wait { kill(process, 0) != 0 })
    }
}
