// The user's switch of a peripheral's session, from the tool to a scripted bluetoothd and to the handler that is told.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("The switch of a session", .serialized) struct SessionTests {
    private static let source = "/bluetooth/C0:DE:00:00:00:01"
    private let bus: PrivateBus
    private let bluez: ScriptedBluez
    private let daemon: RunningDaemon

    /// One strap that is connected and heard by one handler.
    init() throws {
        bus = try PrivateBus()
        bluez = try ScriptedBluez(on: bus)
        daemon = try RunningDaemon.withStrap()
        for command in ["adapter hci0", "peripheral 1 hci0", "live"] { try bluez.tell(command) }
        daemon.busAddress = bus.address
        try daemon.stepTime(beside: bus, bluez)
        try daemon.drop("strap", manifest(daemon.folder + "/diary.py"))
        try daemon.start()
        #expect(try daemon.wait { try bluez.tell("say 60") == "1" && told.contains("data") }, "\(daemon.log)")
    }

    /// What the handler was told of the device; what the bridge says of itself is left out.
    private var told: [String] { diary.compactMap { $0.split(separator: " ").first.map(String.init) } }
    private var diary: [String] {
        daemon.diary("strap").filter { line in
            ["connected", "disconnected", "data", "gap"].contains { line.hasPrefix($0 + " ") }
        }
    }

    private func session() throws -> String? {
        try daemon.json("status")["devices"]?.array?.first { $0["source"]?.string == Self.source }?["session"]?.string
    }

    private func devices() throws -> String {
        let words = [
            "env", "DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)", Built.tool, "--runtime", daemon.runtime, "devices",
        ]
        return try Child(words).finish().output
    }

    private func pauseSession() throws {
        let outcome = try daemon.tool("session", "pause", "Strap 1")
        #expect(outcome.exit == 0, "\(outcome.talk)")
        #expect(outcome.output.hasPrefix("the session of Strap 1 is paused"))
        #expect(daemon.wait { told.last == "disconnected" }, "\(told)")
        #expect(diary.last?.contains(#""reason": "session-paused""#) == true)
    }

    @Test("paused, its handler is told so and nothing more, also after a restart; open, it is heard after a gap")
    func pauses() throws {
        #expect(try session() == "open")
        try pauseSession()
        let count = told.count
        let paused = daemon.wall
        #expect(try daemon.wait { try bluez.tell("say 61") == "" })
        #expect(try bluez.tell("calls Disconnect") == "0")
        try daemon.stop()
        try daemon.start()
        #expect(try daemon.wait { try devices().contains("connected, session paused") })
        #expect(try session() == "paused")
        #expect(try daemon.tool("status").output.contains(", session paused"))
        try daemon.advance(by: .seconds(60))
        #expect(try bluez.tell("say 62") == "")
        #expect(told.count == count, "\(told)")
        #expect(try daemon.tool("session", "open", Self.source).exit == 0)
        #expect(try daemon.wait { try bluez.tell("say 63") == "1" && told.last == "data" }, "\(told)")
        #expect(try session() == "open")
        #expect(Set(told[count...]) == ["connected", "gap", "data"], "\(told)")
        // What was said between the pause and the daemon's end was heard by nobody either.
        let gap = diary.last { $0.hasPrefix("gap ") }?.split(separator: #""from": ""#).last?.prefix { $0 != "\"" }
        let from = try #require(WallTime(rfc3339: gap ?? ""))
        #expect(from < paused, "\(diary)")
    }

    @Test("closed, the link is given up and not brought back, also by a new daemon; open, it comes back")
    func closes() throws {
        #expect(try daemon.tool("session", "close", "C0:DE:00:00:00:01").exit == 0)
        #expect(daemon.wait { told.last == "disconnected" }, "\(told)")
        #expect(diary.last?.contains(#""reason": "session-closed""#) == true)
        try daemon.stop()
        try daemon.start()
        #expect(try daemon.wait { try session() == "closed" })
        #expect(try daemon.wait { try daemon.tool("session", "open", "Strap 1").exit == 0 }, "\(daemon.log)")
        #expect(try daemon.wait { try bluez.tell("say 64") == "1" && told.last == "data" }, "\(told)")
        // Its profile alone would not bring it back, nor does anybody scan here.
        #expect(try bluez.tell("calls Connect") == "1")
    }

    @Test("stop closes devices that no other handler watches, and start opens them again, also after a restart")
    func stopCloses() throws {
        #expect(try daemon.tool("stop", "strap").exit == 0)
        #expect(try daemon.wait { try session() == "closed" && bluez.tell("trusted 1") == "no" })
        try daemon.stop()
        try daemon.start()
        #expect(try daemon.wait { try session() == "closed" && devices().contains("session closed") })
        #expect(try daemon.tool("start", "strap").exit == 0)
        #expect(
            try daemon.wait { try session() == "open" && bluez.tell("say 65") == "1" && told.last == "data" }, "\(told)"
        )
    }

    @Test("stop leaves a session open that is kept, that another handler needs, or that was closed by hand")
    func stopKeeps() throws {
        #expect(try daemon.tool("stop", "--keep-sessions", "strap").exit == 0)
        #expect(try session() == "open")
        #expect(try daemon.tool("start", "strap").exit == 0)
        try daemon.drop("second", manifest(daemon.folder + "/diary.py"))
        #expect(try daemon.wait { try daemon.tool("why", "second").exit == 0 })
        #expect(try daemon.tool("stop", "strap").exit == 0)
        #expect(try session() == "open")
        #expect(try daemon.tool("session", "close", "Strap 1").exit == 0)
        #expect(try daemon.tool("start", "strap").exit == 0)
        #expect(try session() == "closed")
    }

    @Test("what has no session is refused with what to do; what bluetoothd does not know now is switched")
    func refuses() throws {
        let unknown = try daemon.tool("session", "pause", "Strop 1")
        #expect(unknown.exit == 5 && unknown.talk.contains("Did you mean 'Strap 1'?"), "\(unknown.talk)")
        try bluez.tell("die")
        #expect(daemon.wait { told.last == "disconnected" })
        #expect(try daemon.tool("session", "pause", "Strap 1").exit == 0)
        #expect(try session() == "paused")
        let replaying = try RunningDaemon.withStrap()
        try replaying.start("--replay", replaying.folder + "/strap.trace")
        #expect(try replaying.wait { try replaying.json("status")["devices"]?.array?.count == 1 })
        let played = try replaying.tool("session", "pause", "strap")
        #expect(played.exit == 5 && played.talk.contains("has no session"), "\(played.talk)")
    }
}
