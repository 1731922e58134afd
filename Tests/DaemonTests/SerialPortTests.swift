// A serial port over Bluetooth, from a scripted bluetoothd through the daemon to its handler, and back.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("A serial port over Bluetooth", .serialized, .timeLimit(.minutes(2)))
struct SerialPortTests {
    private let bus: PrivateBus
    private let bluez: ScriptedBluez
    private let daemon: RunningDaemon

    /// One logger that is connected and heard by one handler.
    init() throws {
        bus = try PrivateBus()
        bluez = try ScriptedBluez(on: bus)
        daemon = try RunningDaemon.withStrap()
        for command in ["adapter hci0", "logger 1 hci0", "live"] { try bluez.tell(command) }
        daemon.busAddress = bus.address
        try Directory.create(daemon.configuration + "/Devices")
        try Directory.create(daemon.configuration + "/Devices/logger")
        put(
            """
            { name: "logger", title: "Logger", mode: "external-accessory", match: { name_prefix: "Logger" },
              node: "rfcomm", framing: { kind: "line" }, settle: "0s", replug_grace: "100ms" }
            """, at: daemon.configuration + "/Devices/logger/profile.json5")
        try daemon.drop(
            "diary",
            """
            { exec: ["/usr/bin/env", "python3", "-u", "\(daemon.folder)/diary.py"], user: "\(me)",
              modes: ["external-accessory"],
              watch: [{ profile: "logger" }] }
            """)
        try daemon.start()
        #expect(daemon.wait { told.contains("connected") }, "\(daemon.log)")
    }

    /// What the handler was told of the logger.
    private var diary: [String] {
        daemon.diary("diary").filter { line in
            ["connected", "disconnected", "data", "gap"].contains { line.hasPrefix($0 + " ") }
        }
    }
    private var told: [String] { diary.compactMap { $0.split(separator: " ").first.map(String.init) } }

    private func begin(_ words: [String]) throws -> Child {
        try Child(["env", "DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)", Built.tool, "--runtime", daemon.runtime] + words)
    }

    private func tool(_ words: String...) throws -> (exit: Int32, output: String, talk: String) {
        try begin(words).finish()
    }

    @Test("its lines are events of its handler; its session is closed and opened as that of a peripheral")
    func isHeard() throws {
        try bluez.tell("speak 1 hello")
        #expect(daemon.wait { told.contains("data") }, "\(daemon.log)")
        #expect(try tool("session", "close", "logger-0001").exit == 0)
        #expect(try daemon.wait { try bluez.tell("heard 1") == "." && told.contains("disconnected") })
        let closed = try tool("devices").output
        #expect(closed.contains("session closed"), "\(closed)")
        #expect(try bluez.tell("calls ConnectProfile") == "1")
        #expect(try tool("session", "open", "logger-0001").exit == 0)
        #expect(daemon.wait { told.count { $0 == "connected" } >= 2 }, "\(told)")
        #expect(diary.contains { $0.hasPrefix("disconnected") && $0.contains("session-closed") }, "\(diary)")
        try bluez.tell("set 1 Alias Boat")
        #expect(try daemon.wait { try daemon.tool("status").output.contains("Boat") })
    }

    @Test("a profile that changes leaves what is connected alone, though another adapter knows it without a link")
    func outlivesProfile() throws {
        for command in ["set 1 Connected yes", "adapter hci1", "logger 1 hci1"] { try bluez.tell(command) }
        let profile = daemon.configuration + "/Devices/logger/profile.json5"
        put(text(of: profile).replacing("title: \"Logger\"", with: "title: \"Logbook\""), at: profile)
        #expect(try daemon.tool("reload").exit == 0 && daemon.log.contains("profile logger is taken up"))
        // Bluetoothd tells of it as ever.
        try bluez.tell("rename hci0 1 Boat")
        #expect(try daemon.wait { try daemon.tool("status").output.contains("Boat") }, "\(daemon.log)")
        try bluez.tell("speak 1 still")
        #expect(daemon.wait { told.contains("data") }, "\(diary)")
        #expect(told == ["connected", "data"], "\(diary)")
        #expect(try bluez.tell("calls ConnectProfile") == "1")
    }

    @Test("a daemon that is killed calls it again in its next life, and tells what may be lost")
    func survivesDaemon() throws {
        try bluez.tell("speak 1 one")
        #expect(daemon.wait { told.contains("data") })
        _ = try daemon.stop(SIGKILL)
        try daemon.start()
        #expect(daemon.wait { told.contains("gap") && told.count { $0 == "connected" } >= 2 }, "\(diary)")
        #expect(try bluez.tell("calls RegisterProfile") == "2")
        try bluez.tell("speak 1 two")
        #expect(daemon.wait { told.last == "data" }, "\(diary)")
    }

    @Test("the end of the daemon shuts the channel, and its next life calls")
    func isLetGo() throws {
        try bluez.tell("speak 1 one")
        #expect(daemon.wait { told.contains("data") })
        try daemon.stop()
        #expect(try bluez.tell("heard 1") == ".")
        try daemon.start()
        #expect(daemon.wait { told.count { $0 == "connected" } >= 2 }, "\(diary)")
    }

    @Test("out of reach, it is listed with the reason")
    func isAbsent() throws {
        try bluez.tell("fault ConnectProfile absent 99")
        try bluez.tell("hangup 1")
        #expect(daemon.wait { told.contains("disconnected") }, "\(told)")
        var listed = ""
        #expect(
            try daemon.wait {
                listed = try tool("devices").output
                return listed.contains("page-timeout")
            }, "\(listed)")
    }

    @Test("it is recorded as an accessory, which its profile knows again")
    func isRecorded() throws {
        let trace = daemon.folder + "/it.trace"
        let record = try begin(["record", "logger-0001", "-o", trace])
        #expect(
            try daemon.wait {
                try bluez.tell("speak 1 word")
                return lines(of: trace).contains { $0.hasSuffix("data serial 776f7264") }
            }, "\(record.talk) \(lines(of: trace))")
        kill(record.process, SIGINT)
        _ = record.finish()
        let replay = try Child(
            [
                "env", "WAKEBRIDGE_DEVICES=\(daemon.configuration)/Devices", Built.tool, "replay", trace, "--speed",
                "max",
            ])
        let played = replay.finish().output
        #expect(played.contains(#""profile":"logger""#) && played.contains("/bluetooth/00:1D:FD:00:00:01"), "\(played)")
    }
}
