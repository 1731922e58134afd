// A battery pack that is asked and answers in pieces, from a scripted bluetoothd through the daemon to its handler.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("A battery pack that is asked", .serialized, .timeLimit(.minutes(2)))
struct PackTests {
    private let bus: PrivateBus
    private let bluez: ScriptedBluez
    private let daemon: RunningDaemon

    /// `dd`, the length of what follows, hundredths of a volt, and the sum of all that.
    private static let profile = """
        { name: "pack", title: "Pack", mode: "bluetooth-central", match: { services: ["180d"], name_prefix: "Strap" },
          include: ["battery", "device-information"], notify: ["2a37"],
          characteristics: { "2a37": {
            name: "frames", framing: { kind: "length-prefix", size: 1, start: "dd" }, check: "sum8",
            fields: [{ name: "head", type: "uint16", hidden: true },
                     { name: "voltage_v", type: "uint16", scale: 0.01, decimals: 2 }] } },
          ask: { start: [{ to: "fff2", bytes: "00" }, { to: "fff2", bytes: "01" }],
                 poll: [{ to: "fff2", bytes: "a5", every: "200ms" }] } }
        """

    /// One pack that answers its first two questions, and is heard by one handler.
    init() throws {
        bus = try PrivateBus()
        bluez = try ScriptedBluez(on: bus)
        daemon = try RunningDaemon.withStrap()
        for command in [
            "adapter hci0", "peripheral 1 hci0", "pack 1", "teach 1 00 dd031000f0", "teach 1 01 dd03 200000", "live",
        ] { try bluez.tell(command) }
        daemon.busAddress = bus.address
        try daemon.stepTime(beside: bus, bluez)
        try daemon.write(Self.profile, to: "config/Devices/pack/profile.json5")
        try daemon.drop(
            "diary",
            """
            { exec: ["/usr/bin/env", "python3", "-u", "\(daemon.folder)/diary.py"], user: "\(me)",
              modes: ["bluetooth-central"], timers: { linger: "1s" }, watch: [{ profile: "pack" }] }
            """)
        try daemon.start()
        #expect(daemon.wait { told("connected").count == 1 }, "\(daemon.log)")
    }

    /// What the handler was told of one kind, in full.
    private func told(_ kind: String) -> [String] { daemon.diary("diary").filter { $0.hasPrefix(kind + " ") } }
    private func hears(_ words: String...) -> Bool {
        daemon.wait { told("data").contains { line in words.allSatisfy(line.contains) } }
    }

    /// What was written to the pack, until nothing more is for longer than it is polled.
    private func questions() throws -> [String] {
        var (asked, more): ([String], [String]) = ([], [])
        repeat {
            try daemon.advance(by: .milliseconds(700))
            more = try bluez.tell("asked 1").split(separator: " ").map(String.init)
            asked += more
        } while !more.isEmpty
        return asked
    }

    @Test("its start is asked in order by commands, and polls follow while its handler is awake, and not after")
    func asks() throws {
        #expect(hears(#""raw": "dd031000f0""#))
        // The handler is awake for what was told, so the polls begin; to none of them there is an answer.
        let asked = try questions()
        #expect(asked.starts(with: ["00/command", "01/command"]), "\(asked)")
        #expect(asked.dropFirst(2).allSatisfy { $0 == "a5/command" }, "\(asked)")
        #expect(asked.count { !$0.hasPrefix("a5") } == 2, "\(asked)")
        #expect(try daemon.wait { try daemon.state(of: "diary") == "suspended" }, "\(daemon.log)")
        // What was asked until it slept.
        try bluez.tell("asked 1")
        try bluez.tell("teach 1 a5 dd0310 27 17")
        #expect(try questions() == [], "its handler sleeps")
        // It wakes by what the pack says, and the pack is asked at once.
        #expect(try bluez.tell("notify 1 dd03200000") == "yes")
        #expect(hears(#""voltage_v": 100"#, #""raw": "dd03102717""#), "\(told("data"))")
    }

    @Test(
        "an answer in pieces is one event; a wrong check comes as raw, with why; what it lacks of a service is no word")
    func frames() throws {
        #expect(try bluez.tell("notify 1 17dd 03 1027 17dd03102718") == "yes")
        #expect(hears(#""voltage_v": 100"#, #""raw": "dd03102717""#), "\(told("data"))")
        #expect(hears(#""raw": "dd03102718""#, #""undecodable": "#))
        #expect(!told("data").contains { $0.contains("dd03102718") && $0.contains("voltage_v") })
        #expect(told("data").allSatisfy { !$0.contains(#""raw": "1027""#) }, "a piece is no event")
        #expect(told("attention").allSatisfy { !$0.contains("not heard") }, "\(told("attention"))")
        #expect(!daemon.log.contains("2a19") && !daemon.log.contains("2a29"), "\(daemon.log)")
    }

    @Test(
        "half a frame at a link's end is told as cut short before the end; on the next link it is asked from the start")
    func cutsShort() throws {
        #expect(hears(#""raw": "dd031000f0""#))
        _ = try questions()
        #expect(try bluez.tell("notify 1 dd03 10") == "yes")
        try bluez.tell("down 1")
        #expect(daemon.wait { told("disconnected").count == 1 }, "\(daemon.log)")
        let order = daemon.diary("diary")
        let cut = order.firstIndex { $0.contains(#""fragment": "cut-short""#) }
        let end = order.firstIndex { $0.hasPrefix("disconnected ") }
        #expect(try #require(cut) < (try #require(end)), "\(order)")
        #expect(cut.map { order[$0].contains(#""raw": "dd0310""#) } == true, "\(order)")
        // The accept list brings it back.
        #expect(daemon.wait { told("connected").count == 2 })
        let asked = try questions()
        #expect(asked.filter { !$0.hasPrefix("a5") } == ["00/command", "01/command"], "\(asked)")
    }

    @Test("that it does not answer is logged once, and 'devices' says so until it answers; it is asked all the same")
    func staysSilent() throws {
        let sentence = "it does not answer what its profile asks"
        func why() throws -> String? { try daemon.json("status")["devices"]?.array?.first?["why"]?.string }
        #expect(try daemon.wait { try why() == sentence }, "\(daemon.log)")
        _ = try questions()
        #expect(daemon.log.split(separator: "\n").count { $0.contains(sentence) } == 1, "\(daemon.log)")
        try bluez.tell("teach 1 a5 dd03 102717")
        #expect(try bluez.tell("notify 1 dd031000f0") == "yes")
        #expect(try daemon.wait { try why() == nil }, "\(daemon.log)")
    }
}
