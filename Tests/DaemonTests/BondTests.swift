// A bonded and an unbonded peripheral of a scripted bluetoothd, and handlers that ask who a device is, through the daemon.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Bonds of devices", .serialized, .timeLimit(.minutes(3)))
struct BondTests {
    private let bus: PrivateBus
    private let bluez: ScriptedBluez
    private let daemon: RunningDaemon

    /// Two straps, of which the second has no bond; one handler hears whatever there is, the other requires bonds.
    init() throws {
        bus = try PrivateBus()
        bluez = try ScriptedBluez(on: bus)
        daemon = try RunningDaemon.withStrap()
        let commands = ["adapter hci0", "peripheral 1 hci0", "peripheral 2 hci0", "set 2 Paired no", "set 2 Bonded no"]
        for command in commands + ["live"] { try bluez.tell(command) }
        daemon.busAddress = bus.address
        try daemon.stepTime(beside: bus, bluez)
        try daemon.write(Self.clerk, to: "clerk.py")
        try daemon.drop("open", manifest(""))
        try daemon.drop("wary", manifest("require: [\"bonded\"],"))
        try daemon.start()
        #expect(try hears("60", "1 2"), "\(daemon.log)")
    }

    /// Notes what each event of a device says of it, and asks the second strap something at each `data`; what it notes of the
    /// answer is its code.
    private static let clerk = """
        import json, os, sys
        book = open("book", "a")
        for line in sys.stdin:
            event = json.loads(line)
            kind, data = event["type"].split(".")[-1], event.get("data") or {}
            if kind in ("error", "reply"):
                book.write(" ".join([kind, data.get("code", "-")]) + "\\n")
            if event["type"].startswith("wakebridge.device."):
                book.write(" ".join([kind, event["subject"], str(event["authenticated"])]) + "\\n")
            book.flush()
            if "seq" in event:
                if kind == "data":
                    os.write(3, b'{"read":{"device":"Strap 2","characteristic":"2a37"},"ref":1}\\n')
                os.write(3, b'{"ack":%d}\\n' % event["seq"])

        """

    private func manifest(_ keys: String) -> String {
        """
        { exec: ["/usr/bin/env", "python3", "-u", "\(daemon.folder)/clerk.py"], user: "\(me)", \(keys)
          modes: ["bluetooth-central"], watch: [{ profile: "heart-rate-monitor", durability: "run" }] }
        """
    }

    private func book(_ id: String) -> [String] { lines(of: "\(daemon.state)/handlers/\(id)/book") }

    private func hears(_ word: String, _ straps: String) throws -> Bool {
        try daemon.wait { try bluez.tell("say \(word)") == straps }
    }

    private func why(_ id: String) throws -> String { try daemon.json("why", id)["why"]?.string ?? "" }

    private func isBonded(_ alias: String) throws -> Bool? {
        try daemon.json("status")["devices"]?.array?.first { $0["alias"]?.string == alias }?["bonded"]?.boolean
    }

    @Test("a handler that requires bonds hears bonded devices alone and no gap; every event says which is which")
    func tellsApart() throws {
        #expect(daemon.wait { book("open").contains("data Strap 2 False") }, "\(book("open"))")
        #expect(daemon.wait { book("open").contains("data Strap 1 True") })
        #expect(daemon.wait { book("wary").contains("data Strap 1 True") })
        #expect(book("open").contains("connected Strap 2 False") && book("open").contains("connected Strap 1 True"))
        #expect(!book("wary").contains { $0.contains("Strap 2") || $0.contains("False") }, "\(book("wary"))")
        #expect(try isBonded("Strap 1") == true && isBonded("Strap 2") == false)
    }

    @Test("why, status and doctor say which device it is not woken for, and what to do")
    func explains() throws {
        let why = try why("wary")
        #expect(why.contains("; its manifest requires bonded devices, and Strap 2 is not bonded; "), "\(why)")
        #expect(
            why.hasSuffix(
                "; bond it with: wakebridge pair 'Strap 2'; where it cannot bond, "
                    + "remove \"bonded\" from require in the manifest"), "\(why)")
        #expect(try daemon.tool("status").output.contains("Strap 2 is not bonded"))
        #expect(try !self.why("open").contains("bonded"))
        let findings = try daemon.json("doctor")["findings"]?.array ?? []
        let finding = findings.first { $0["code"]?.string == "handler-unbonded" }
        #expect(finding?["command"]?.string == "wakebridge pair 'Strap 2'", "\(findings)")
        let list = try Child(
            ["env", "DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)", Built.tool, "--runtime", daemon.runtime, "devices"]
        ).finish().output.split(separator: "\n")
        for (strap, state) in [("Strap 1", "bonded"), ("Strap 2", "not bonded")] {
            let row = list.first { $0.hasPrefix(strap) }
            #expect(row?.contains("  \(state), trusted, connected") == true, "\(list)")
        }
    }

    @Test("a device that is bonded while the daemon runs wakes it with its next event, and unbonded with none more")
    func follows() throws {
        try bluez.tell("set 2 Bonded yes")
        #expect(try daemon.wait { try isBonded("Strap 2") == true })
        #expect(try hears("61", "1 2"))
        #expect(daemon.wait { book("wary").contains("data Strap 2 True") }, "\(book("wary"))")
        #expect(try !why("wary").contains("bonded"))
        try bluez.tell("set 2 Bonded no")
        #expect(try daemon.wait { try isBonded("Strap 2") == false })
        #expect(
            try daemon.wait {
                let wary = try daemon.handler("wary")
                return wary["queued"]?.integer == 0 && wary["open"]?.integer == 0
            })
        let before = book("wary").count { $0.contains("Strap 2") }
        let heard = book("wary").count { $0.contains("data Strap 1") }
        #expect(try hears("62", "1 2"))
        #expect(daemon.wait { book("wary").count { $0.contains("data Strap 1") } > heard })
        #expect(book("wary").count { $0.contains("Strap 2") } == before, "\(book("wary"))")
        #expect(daemon.wait { book("open").contains("attention Strap 2 False") }, "\(book("open"))")
    }

    @Test("who requires bonds may not ask a device without one; who does not may")
    func refusesRequests() throws {
        #expect(daemon.wait { book("wary").contains("error not-bonded") }, "\(book("wary"))")
        #expect(daemon.wait { book("open").contains { $0.hasPrefix("reply") || $0 == "error device-failed" } })
        #expect(!book("open").contains("error not-bonded"))
        try bluez.tell("set 2 Bonded yes")
        #expect(try daemon.wait { try isBonded("Strap 2") == true })
        #expect(try hears("61", "1 2"))
        #expect(daemon.wait { book("wary").contains { $0.hasPrefix("reply") || $0 == "error device-failed" } })
    }

    @Test("a handler may not ask a device that its manifest does not watch")
    func refusesUnwatched() throws {
        try daemon.drop("narrow", manifest("").replacing("monitor\",", with: "monitor\", device: \"Strap 1\","))
        #expect(try daemon.wait { try daemon.tool("why", "narrow").exit == 0 })
        #expect(try hears("61", "1 2"))
        #expect(daemon.wait { book("narrow").contains("error not-permitted") }, "\(book("narrow"))")
        #expect(!book("narrow").contains { $0.contains("Strap 2") })
    }

    @Test("a handler that writes the beginning of an alias is told so, with the names of its own devices alone")
    func refusesBeginnings() throws {
        try daemon.write(
            """
            import json, os, sys
            for line in sys.stdin:
                event = json.loads(line)
                if event["type"] == "wakebridge.error":
                    open("book", "a").write(event["data"]["sentence"] + "\\n")
                if event["type"] == "wakebridge.device.data":
                    for name in "Strap", "Strop":
                        os.write(3, b'{"read":{"device":"%s","characteristic":"2a37"},"ref":1}\\n' % name.encode())
                if "seq" in event:
                    os.write(3, b'{"ack":%d}\\n' % event["seq"])

            """, to: "asker.py")
        let asker = manifest("").replacing("clerk.py", with: "asker.py")
        try daemon.drop("both", asker)
        try daemon.drop("one", asker.replacing("monitor\",", with: "monitor\", device: \"Strap 1\","))
        #expect(try daemon.wait { try daemon.tool("why", "both").exit == 0 && daemon.tool("why", "one").exit == 0 })
        #expect(try hears("61", "1 2"))
        let nothing = "read \"Strop\": the bridge knows no device of that name."
        for id in ["both", "one"] { #expect(daemon.wait { book(id).contains(nothing) }, "\(book(id))") }
        let beginning = "read \"Strap\": this is only the beginning of \"Strap 1\""
        #expect(Set(book("both")) == [nothing, beginning + " and \"Strap 2\"."])
        #expect(Set(book("one")) == [nothing, beginning + "."])
    }

    @Test("what a handler owes when the daemon is killed says in its next life what it said, though the bond is gone")
    func survives() throws {
        try daemon.write(
            """
            import json, os, sys
            for line in sys.stdin:
                event = json.loads(line)
                if event["type"] == "wakebridge.device.data":
                    open("late", "a").write("%s %d %s\\n" % (event["subject"], event["attempt"], event["authenticated"]))

            """, to: "clerk.py")
        for number in [1, 2] {
            let watched = "monitor\", device: \"Strap \(number)\","
            try daemon.drop("late\(number)", manifest("budget: \"1h\",").replacing("monitor\",", with: watched))
            #expect(try daemon.wait { try daemon.tool("why", "late\(number)").exit == 0 })
        }
        #expect(try hears("63", "1 2"))
        let late = { [1, 2].flatMap { lines(of: "\(daemon.state)/handlers/late\($0)/late") } }
        #expect(daemon.wait { late().count == 2 }, "\(late())")
        #expect(late() == ["Strap 1 1 True", "Strap 2 1 False"])
        try daemon.stop(SIGKILL)
        try bluez.tell("set 1 Bonded no")
        try bluez.tell("set 2 Bonded yes")
        try daemon.start()
        #expect(daemon.wait { late().count >= 4 }, "\(late())\n\(daemon.log)")
        #expect(late().contains("Strap 1 2 True") && late().contains("Strap 2 2 False"), "\(late())")
    }
}

@Suite("Bonds while a trace is played") struct PlayedBondTests {
    @Test("who requires bonds is given nothing of a trace, and why says that nothing in one is bonded")
    func explains() throws {
        let daemon = try RunningDaemon.withStrap()
        for (id, more) in [("open", ""), ("wary", "require: [\"bonded\"]")] {
            try daemon.drop(id, manifest(daemon.folder + "/diary.py", more))
        }
        try daemon.start("--replay", daemon.folder + "/strap.trace")
        #expect(daemon.wait { daemon.diary("open").contains { $0.hasPrefix("connected ") } }, "\(daemon.log)")
        let why = try daemon.json("why", "wary")["why"]?.string ?? ""
        #expect(why.hasSuffix("and strap is not bonded, as nothing in a trace is"), "\(why)")
        #expect(daemon.diary("wary") == [])
    }
}
