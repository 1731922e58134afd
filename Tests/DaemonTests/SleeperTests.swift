// Handlers that others may call while they are frozen: told once, refused where the manifest says so, and at no cost afterwards.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("What a sleeper holds", .serialized, .timeLimit(.minutes(2)))
struct SleeperTests {
    /// Opens what `sockets` says before it acknowledges its first event.
    private func program(_ sockets: String) -> String {
        """
        import json, os, socket, sys
        held = []
        def hold():
            \(sockets.replacing("\n", with: "\n    "))
        for line in sys.stdin:
            event = json.loads(line)
            if "seq" in event:
                if not held:
                    hold()
                os.write(3, b'{"ack":%d}\\n' % event["seq"])

        """
    }

    private func start(_ sockets: String, _ extra: String = "") throws -> RunningDaemon {
        let daemon = try RunningDaemon.withStrap()
        try daemon.stepTime()
        try daemon.write(program(sockets.replacing("FOLDER", with: daemon.folder)), to: "holder.py")
        try daemon.drop("holder", manifest("\(daemon.folder)/holder.py", extra))
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        return daemon
    }

    private let listeners = """
        held.append(socket.create_server(("127.0.0.1", 0)))
        held.append(socket.socket(socket.AF_UNIX))
        if os.path.exists("FOLDER/h.sock"):
            os.unlink("FOLDER/h.sock")
        held[1].bind("FOLDER/h.sock")
        held[1].listen()
        """

    private func reports(_ daemon: RunningDaemon) -> [String] {
        daemon.log.split(separator: "\n").map(String.init).filter { $0.contains("while it is frozen") }
    }

    /// Its process has acknowledged one more event, and is frozen again.
    private func wake(_ daemon: RunningDaemon) throws {
        let before = try daemon.handler("holder")["events"]?.integer ?? 0
        try daemon.tool("simulate", "disconnect", "strap")
        #expect(
            try daemon.wait {
                let now = try daemon.handler("holder")
                return now["state"]?.string == "suspended" && now["events"]?.integer ?? 0 > before
            }, "\(daemon.log)")
    }

    @Test("a handler that listens at TCP and at a Unix socket is told of once, with what to do, also by why and status")
    func listening() throws {
        let daemon = try start(listeners)
        try #require(daemon.wait { !reports(daemon).isEmpty }, "\(daemon.log)")
        for _ in 0..<3 {
            try daemon.advance(by: .milliseconds(1_100))
            try wake(daemon)
        }
        let told = reports(daemon)
        #expect(told.count == 1 && told[0].contains("a listening socket (tcp 127.0.0.1:"), "\(told)")
        #expect(told[0].contains("and 1 more") && told[0].contains("let the bridge hold it"), "\(told)")
        #expect(try daemon.tool("why", "holder").output.contains("it holds a listening socket (tcp 127.0.0.1:"))
        let warnings = try daemon.json("status")["bridge"]?["warnings"]?.array ?? []
        let sentence = "handler \"holder\" holds a listening socket"
        #expect(warnings.contains { $0["what"]?.string?.hasPrefix(sentence) ?? false }, "\(warnings)")
        #expect(try daemon.tool("logs", "holder").output.contains("holds a listening socket"))
        try daemon.tool("restart", "holder")
        // A process that held nothing at its first freeze is looked at again after a pause, at its next freeze.
        for _ in 0..<20 where reports(daemon).count < 2 {
            try daemon.advance(by: .milliseconds(1_100))
            try wake(daemon)
        }
        #expect(daemon.wait { reports(daemon).count == 2 }, "a new process is asked again: \(daemon.log)")
    }

    @Test("a handler that is connected to a message bus is told of once")
    func bus() throws {
        let bus = try PrivateBus()
        let path = bus.address.split(separator: ",")[0].split(separator: "=")[1]
        let daemon = try start("held.append(socket.socket(socket.AF_UNIX))\nheld[0].connect(\"\(path)\")")
        try #require(daemon.wait { !reports(daemon).isEmpty }, "\(daemon.log)")
        try daemon.advance(by: .milliseconds(1_100))
        try wake(daemon)
        let told = reports(daemon)
        #expect(told.count == 1 && told[0].contains("a connection to the message bus \(path)"), "\(told)")
    }

    @Test("where its manifest refuses them the process ends, and the handler waits for a changed program")
    func refusal() throws {
        let daemon = try start(listeners, "sleepers_listen: \"refuse\"")
        #expect(daemon.wait { (try? daemon.state(of: "holder")) == "quarantined" }, "\(daemon.log)")
        let why = try daemon.tool("why", "holder").output
        #expect(why.contains("sleepers_listen") && why.contains("a listening socket (tcp 127.0.0.1:"), "\(why)")
        #expect(try daemon.handler("holder")["last_exit"]?.string == "listens-asleep")
        try daemon.write(program("held.append(1)"), to: "holder.py")
        #expect(daemon.wait { (try? daemon.state(of: "holder")) != "quarantined" }, "it was mended: \(daemon.log)")
        try wake(daemon)
        try daemon.advance(by: .milliseconds(1_100))
        try wake(daemon)
        #expect(try daemon.state(of: "holder") == "suspended" && reports(daemon).count == 1)
    }

    @Test(
        "a handler without such a socket, and one whose manifest allows them, is not spoken of",
        arguments: [("held.append(socket.socketpair())", ""), ("", "sleepers_listen: \"allow\"")])
    func nothing(sockets: String, extra: String) throws {
        let daemon = try start(sockets.isEmpty ? listeners : sockets, extra)
        for _ in 0..<2 {
            #expect(daemon.wait { (try? daemon.state(of: "holder")) == "suspended" }, "\(daemon.log)")
            try daemon.advance(by: .milliseconds(1_100))
            try wake(daemon)
        }
        #expect(reports(daemon).isEmpty && !daemon.log.contains("cannot see which sockets"), "\(daemon.log)")
    }

    @Test("a frozen handler that was looked at wakes the daemon no more often than one that is not looked at")
    func costsNothing() throws {
        let looked = try start(listeners)
        let ignored = try start(listeners, "sleepers_listen: \"allow\"")
        try #require(looked.wait { !reports(looked).isEmpty }, "\(looked.log)")
        for daemon in [looked, ignored] { try daemon.advance(by: .seconds(60)) }
        // While the handler is frozen only a timer wakes it, and each is a move.
        let moves = (try looked.advance(by: .seconds(600)), try ignored.advance(by: .seconds(600)))
        #expect(moves.0 <= moves.1, "\(moves): \(looked.log)")
    }
}
