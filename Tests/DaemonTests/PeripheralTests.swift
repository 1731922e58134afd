// The peripheral of a handler, by way of a real daemon and a scripted bluetoothd: centrals write, read and subscribe.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("A handler as a peripheral", .serialized, .timeLimit(.minutes(4)))
struct PeripheralTests {
    private let bus: PrivateBus
    private let bluez: ScriptedBluez
    private let daemon: RunningDaemon

    /// Writes each event down, answers reads with the number of the request's last digit, and serves what it is sent.
    private static let handler = """
        import json, os, sys
        book = open(os.environ["WAKEBRIDGE_STATE_DIR"] + "/diary", "a")
        for line in sys.stdin:
            event = json.loads(line)
            data, kind = event.get("data", {}), event["type"].replace("wakebridge.", "")
            if kind == "restored" and "peripheral" in data:
                book.write("restored %s\\n" % json.dumps(data["peripheral"], sort_keys=True))
                book.flush()
            if "seq" not in event:
                continue
            book.write(" ".join([kind] + [str(data[key]) for key in ("characteristic", "central", "hex", "reason") if key in data]
                + ["authenticated" if event.get("authenticated") else "unproved"]) + "\\n")
            book.flush()
            if kind == "peripheral.read":
                os.write(3, b'{"serve":{"request":%d,"hex":"2a2b2c"}}\\n' % data["request"])
            if kind == "peripheral.written" and data["characteristic"] == "2a39":
                os.write(3, b'{"serve":{"characteristic":"2a37","hex":"%s"}}\\n' % data["hex"].encode())
            os.write(3, b'{"ack":%d}\\n' % event["seq"])

        """

    private static let peripheral = """
        peripheral: { name: "Pulse", services: [{ uuid: "180d", characteristics: [
          { uuid: "2a37", properties: ["notify", "indicate"] },
          { uuid: "2a39", properties: ["write"] },
          { uuid: "2a38", properties: ["read"], value: "01" },
          { uuid: "2a3a", properties: ["read"], dynamic: true },
          { uuid: "2a3b", properties: ["read", "write"], require: "bonded" },
        ]}]}
        """

    init() throws {
        bus = try PrivateBus()
        bluez = try ScriptedBluez(on: bus)
        daemon = try RunningDaemon()
        try daemon.write(Self.handler, to: "pulse.py")
        daemon.busAddress = bus.address
        try daemon.stepTime(beside: bus, bluez)
        try daemon.drop("pulse", manifest(Self.peripheral))
    }

    private func manifest(_ peripheral: String) -> String {
        "{ exec: [\"/usr/bin/env\", \"python3\", \"-u\", \"\(daemon.folder)/pulse.py\"], user: \"\(me)\", \(peripheral) }"
    }

    private func start() throws {
        for command in ["adapter hci0", "central 1 hci0", "live"] { try bluez.tell(command) }
        try daemon.start()
        #expect(try daemon.wait { try bluez.tell("advertised") == "-/1000/180d" }, "\(daemon.log)")
    }

    private func answers(_ count: Int, of central: Int = 1) throws -> [Substring] {
        var found: [Substring] = []
        #expect(
            try daemon.wait {
                found = try bluez.tell("answers \(central)").split(separator: " ")
                return found.count >= count
            }, "\(found) \(daemon.log)")
        return found
    }

    private func diary(_ word: String) -> [String] { daemon.diary("pulse").filter { $0.hasPrefix(word) } }

    @Test("bluetoothd serves the manifest's characteristics, each with what its security demands")
    func tree() throws {
        try start()
        #expect(
            try bluez.tell("served")
                == "2a37:indicate,notify 2a38:read 2a39:write 2a3a:read 2a3b:encrypt-read,encrypt-write")
    }

    @Test("100 writes with response to a handler that is frozen between them come once each, in order")
    func writes() throws {
        try start()
        try bluez.tell("central_writes 1 2a39 1")
        #expect(try answers(1) == ["ok"])
        #expect(try daemon.wait { try daemon.state(of: "pulse") == "suspended" }, "\(daemon.log)")
        try bluez.tell("central_writes 1 2a39 2 99")
        #expect(try answers(100).allSatisfy { $0 == "ok" })
        let wanted = (1...100).map { number in
            let digits = String(number, radix: 16)
            return "peripheral.written 2a39 D0:DE:00:00:00:01 "
                + String(repeating: "0", count: 4 - digits.count) + "\(digits) authenticated"
        }
        #expect(daemon.wait { diary("peripheral.written").count >= 100 }, "\(daemon.log)")
        #expect(diary("peripheral.written") == wanted)
        #expect(try daemon.wait { try daemon.state(of: "pulse") == "suspended" })
    }

    @Test("reads get the manifest's value at once, or the handler's answer, and a central without a bond is refused")
    func reads() throws {
        try start()
        try bluez.tell("central 2 hci0 stranger")
        for command in ["central_reads 1 2a38", "central_reads 1 2a38 2"] { try bluez.tell(command) }
        #expect(try answers(2) == ["01", "InvalidOffset"])
        try bluez.tell("central_reads 1 2a3a")
        #expect(try answers(3).last == "2a2b2c")
        try bluez.tell("central_reads 1 2a3a 2")
        #expect(try answers(4).last == "2c")
        for command in ["central_reads 2 2a3b", "central_writes 2 2a3b 1", "central_writes 2 2a39 7"] {
            try bluez.tell(command)
        }
        #expect(try answers(3, of: 2) == ["NotAuthorized", "NotAuthorized", "ok"])
        #expect(daemon.wait { diary("peripheral.written").count == 1 })
        #expect(diary("peripheral.written") == ["peripheral.written 2a39 D0:DE:00:00:00:02 0007 unproved"])
    }

    @Test("a handler that answers no read has the last value given in its place before bluetoothd gives up")
    func lateRead() throws {
        try daemon.write("import sys\nfor line in sys.stdin: pass\n", to: "pulse.py")
        try start()
        try bluez.tell("central_reads 1 2a3a")
        #expect(try answers(1) == ["empty"])
    }

    @Test("each of two subscribers gets what is served, and a confirmation and an end are events")
    func subscribers() throws {
        try start()
        try bluez.tell("central 2 hci0 stranger")
        for number in [1, 2] { try bluez.tell("central_subscribes \(number) 2a37") }
        #expect(daemon.wait { diary("peripheral.subscribed").count == 2 }, "\(daemon.log)")
        try bluez.tell("central_writes 1 2a39 513")
        for number in [1, 2] {
            #expect(try daemon.wait { try bluez.tell("received \(number) 2a37") == "0201" }, "\(number)")
        }
        try bluez.tell("central_confirms 1 2a37")
        #expect(daemon.wait { diary("peripheral.confirmed").count == 1 }, "\(daemon.log)")
        try bluez.tell("central_unsubscribes 2 2a37")
        #expect(daemon.wait { diary("peripheral.unsubscribed").count == 1 }, "\(daemon.log)")
        #expect(diary("peripheral.unsubscribed") == ["peripheral.unsubscribed 2a37 D0:DE:00:00:00:02 central unproved"])
    }

    @Test("a subscription outlives bluetoothd and the daemon: whoever is back in time was never away for the handler")
    func keptSubscription() throws {
        try start()
        try bluez.tell("central_subscribes 1 2a37")
        #expect(daemon.wait { diary("peripheral.subscribed").count == 1 }, "\(daemon.log)")
        try bluez.tell("die")
        for command in ["adapter hci0", "central 1 hci0", "live"] { try bluez.tell(command) }
        #expect(try daemon.wait { try bluez.tell("advertised") == "-/1000/180d" }, "\(daemon.log)")
        try bluez.tell("central_subscribes 1 2a37")
        try bluez.tell("central_writes 1 2a39 258")
        #expect(try daemon.wait { try bluez.tell("received 1 2a37") == "0102" }, "\(daemon.log)")
        #expect(try daemon.stop() == 0)
        try daemon.start()
        #expect(try daemon.wait { try bluez.tell("advertised") == "-/1000/180d" }, "\(daemon.log)")
        try bluez.tell("central_subscribes 1 2a37")
        try bluez.tell("central_writes 1 2a39 259")
        #expect(try daemon.wait { try bluez.tell("received 1 2a37") == "0103" }, "\(daemon.log)")
        #expect(diary("peripheral.subscribed").count == 1 && diary("peripheral.unsubscribed").isEmpty)
    }

    @Test("an advertisement that a controller drops at the end of a link is made anew, and so is one that is released")
    func advertisingLost() throws {
        try start()
        try bluez.tell("silence")
        try bluez.tell("leave 1")
        #expect(try daemon.wait { try bluez.tell("advertised") == "-/1000/180d" }, "\(daemon.log)")
        try bluez.tell("release_advertisements")
        #expect(try daemon.wait { try bluez.tell("advertised") == "-/1000/180d" }, "\(daemon.log)")
    }

    @Test(
        "a refusal is tried again until it works, and pending names it meanwhile",
        arguments: [
            ("RegisterApplication failed", "bluetoothd"), ("RegisterAdvertisement notpermitted", "advertising-slot"),
            ("RegisterAdvertisement failed", "bluetoothd"),
        ])
    func refused(fault: String, word: String) throws {
        for command in ["adapter hci0", "fault \(fault) 2", "live"] { try bluez.tell(command) }
        try daemon.start()
        var words: [String] = []
        #expect(
            try daemon.wait {
                let entry = try daemon.json("pending", "pulse")["pending"]?.array?.first
                words += (entry?["waits_for"]?.array ?? []).compactMap { $0["condition"]?.string ?? $0.string }
                return try bluez.tell("advertised") == "-/1000/180d"
            }, "\(daemon.log)")
        let why = try daemon.json("pending", "pulse")
        #expect(why["pending"]?.array?.first?["source"]?.string == "peripheral", "\(why) \(words) \(word)")
    }

    @Test(
        "what bluetoothd has already is taken as done, and its death amid a registration begins another",
        arguments: [
            "RegisterApplication exists", "RegisterAdvertisement exists", "RegisterApplication never",
            "RegisterAdvertisement never",
        ])
    func lives(fault: String) throws {
        for command in ["adapter hci0", "fault \(fault) 1", "live"] { try bluez.tell(command) }
        try daemon.start()
        let member = String(fault.prefix { $0 != " " })
        #expect(try daemon.wait { try bluez.tell("calls \(member)") != "0" }, "\(daemon.log)")
        for command in ["die", "adapter hci0", "live"] { try bluez.tell(command) }
        #expect(try daemon.wait { try bluez.tell("advertised") == "-/1000/180d" }, "\(daemon.log)")
    }

    @Test("a central that goes before its long write comes leaves nothing, and the next write is one event")
    func goneAmidLongWrite() throws {
        try start()
        try bluez.tell("central_prepares 1 2a39")
        #expect(try answers(1) == ["prepared"])
        for command in ["leave 1", "central 2 hci0", "central_writes 2 2a39 5 1 18"] { try bluez.tell(command) }
        #expect(try answers(1, of: 2) == ["ok"])
        #expect(daemon.wait { diary("peripheral.written").count == 1 }, "\(daemon.log)")
    }

    @Test(
        "a changed manifest is registered anew, a second that serves the same service is refused, and without any nothing is left"
    )
    func manifests() throws {
        try start()
        try daemon.drop("second", manifest(Self.peripheral))
        let said = try daemon.tool("reload")
        #expect(
            (said.output + said.talk).contains(
                "peripheral has the service 180d, which handler pulse serves on the same adapter"), "\(said)")
        try daemon.drop("pulse", manifest(Self.peripheral.replacing("180d", with: "180f")))
        try daemon.tool("reload")
        #expect(try daemon.wait { try bluez.tell("advertised") == "-/1000/180d -/1000/180f" }, "\(daemon.log)")
        for name in ["pulse", "second"] { unlink("\(daemon.manifests)/\(name).json5") }
        try daemon.tool("reload")
        #expect(try daemon.wait { try bluez.tell("served") == "" && bluez.tell("advertised") == "" }, "\(daemon.log)")
    }
}
