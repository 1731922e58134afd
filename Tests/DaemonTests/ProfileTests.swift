// Profiles dropped in, changed and broken under a daemon that runs: whom they are for, and who goes on with what he has.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Profiles under a running daemon", .serialized, .timeLimit(.minutes(2)))
struct ProfileTests {
    private func strap(_ field: String, named name: String = "strap") -> String {
        """
        { name: "\(name)", title: "Strap", mode: "bluetooth-central", match: { services: ["180d"], name_prefix: "Strap" },
          notify: ["2a37"], characteristics: { "2a37": { name: "heart", fields: [
            { name: "flags", type: "uint8" }, { name: "\(field)", type: "uint8" }] } } }
        """
    }

    private func watching(_ profile: String, in daemon: RunningDaemon) -> String {
        """
        { exec: ["/usr/bin/env", "python3", "-u", "\(daemon.folder)/diary.py"], user: "\(me)",
          modes: ["bluetooth-central"], watch: [{ profile: "\(profile)" }] }
        """
    }

    private func put(_ profile: String, _ text: String, in daemon: RunningDaemon) throws {
        try daemon.write(text, to: "config/Devices/\(profile)/profile.json5")
    }

    /// Of the events that are data, the latest.
    private func data(_ id: String, in daemon: RunningDaemon) -> String {
        daemon.diary(id).last { $0.hasPrefix("data ") } ?? ""
    }

    @Test("a new profile admits the manifest that was refused for want of it, and the peripheral that no profile knew")
    func isNew() throws {
        let bus = try PrivateBus()
        let bluez = try ScriptedBluez(on: bus)
        let daemon = try RunningDaemon.withStrap()
        daemon.busAddress = bus.address
        try daemon.stepTime(beside: bus, bluez)
        let own = "5f0f0001-1ab0-4c7a-9e33-000000000001"
        for command in ["adapter hci0", "peripheral 1 hci0", "offer 1 \(own)", "live"] { try bluez.tell(command) }
        try daemon.drop("log", watching("strap", in: daemon))
        try daemon.start()
        #expect(daemon.log.contains("which is no known profile"))
        #expect(try daemon.tool("reload").exit == 1)
        try put("strap", strap("bpm").replacing("\"180d\"", with: "\"\(own)\""), in: daemon)
        let reload = try daemon.tool("reload")
        #expect(reload.exit == 0, "\(reload)")
        #expect(daemon.log.contains("profile strap is taken up"))
        #expect(
            try daemon.wait {
                _ = try bluez.tell("say 61")
                return data("log", in: daemon).contains("\"bpm\"")
            }, "\(daemon.log)")
        #expect(try bluez.tell("calls RegisterApplication") == "2", "bluetoothd brings it back for its service")
    }

    @Test(
        "a changed profile is not for the peripheral that is connected, and is when it has come again",
        arguments: [false, true], [false, true])
    func changes(bySignal: Bool, hasDouble: Bool) throws {
        let bus = try PrivateBus()
        let bluez = try ScriptedBluez(on: bus)
        let daemon = try RunningDaemon.withStrap()
        daemon.busAddress = bus.address
        try daemon.stepTime(beside: bus, bluez)
        for command in ["adapter hci0", "peripheral 1 hci0"] { try bluez.tell(command) }
        // Another adapter knows it too, and has no link to it.
        if hasDouble { for command in ["adapter hci1", "double 1 hci1"] { try bluez.tell(command) } }
        try bluez.tell("live")
        try put("strap", strap("bpm"), in: daemon)
        try daemon.drop("log", watching("strap", in: daemon))
        try daemon.start()
        #expect(
            try daemon.wait {
                _ = try bluez.tell("say 61")
                return data("log", in: daemon).contains("\"bpm\"")
            }, "\(daemon.log)")
        try put("strap", strap("rate"), in: daemon)
        if bySignal { kill(daemon.process, SIGHUP) } else { #expect(try daemon.tool("reload").exit == 0) }
        #expect(daemon.wait { daemon.log.contains("profile strap is taken up") })
        // Bluetoothd tells of it, as it does in the middle of a link, and it is still the one that was let in.
        try bluez.tell("set 1 Alias StrapTwo")
        for _ in 0..<3 {
            let before = daemon.diary("log").count
            _ = try bluez.tell("say 62")
            #expect(daemon.wait { daemon.diary("log").count > before })
            #expect(data("log", in: daemon).contains("\"bpm\""), "\(daemon.diary("log"))")
        }
        try bluez.tell("down 1")
        #expect(daemon.wait { daemon.diary("log").contains { $0.hasPrefix("disconnected") } })
        #expect(
            try daemon.wait {
                _ = try bluez.tell("say 63")
                return data("log", in: daemon).contains("\"rate\"")
            }, "\(daemon.diary("log"))\n\(daemon.log)")
    }

    @Test("a profile that is broken now is named each time and changes nothing; mended it is taken up")
    func isBroken() throws {
        let daemon = try RunningDaemon.withStrap()
        try put("strap", strap("bpm"), in: daemon)
        try daemon.drop("log", watching("strap", in: daemon))
        try daemon.start()
        #expect(try daemon.state(of: "log") == "idle")
        try put("strap", "{ nmae: 1 }", in: daemon)
        for _ in 0..<2 {
            let reload = try daemon.tool("reload")
            #expect(reload.exit == 1 && reload.talk.contains("config/Devices/strap/profile.json5: "), "\(reload)")
        }
        // The name is still known.
        try daemon.drop("late", watching("strap", in: daemon))
        #expect(daemon.wait { (try? daemon.state(of: "late")) == "idle" }, "\(daemon.log)")
        try put("strap", strap("rate"), in: daemon)
        #expect(try daemon.tool("reload").exit == 0)
        try File.remove("\(daemon.configuration)/Devices/strap/profile.json5")
        let gone = try daemon.tool("reload")
        #expect(gone.exit == 1 && daemon.log.contains("profile strap is gone"), "\(gone)")
        for id in ["late", "log"] { #expect(gone.talk.contains(missing("strap", for: id, in: daemon)), "\(gone)") }
    }

    private func missing(_ profile: String, for id: String, in daemon: RunningDaemon) -> String {
        "\(daemon.manifests)/\(id).json5: line 2: watch[0].profile is \"\(profile)\", which is no known profile"
    }

    @Test("who watches a profile that goes is named by each reload, once, until it is back, and by a drop-in once")
    func goesUnderManifest() throws {
        let daemon = try RunningDaemon.withStrap()
        try put("strap", strap("bpm"), in: daemon)
        try daemon.drop("log", watching("strap", in: daemon))
        try daemon.start()
        let sentence = missing("strap", for: "log", in: daemon)
        let told = { (text: String) in text.split(separator: "\n").count { $0.contains(sentence) } }
        try File.remove("\(daemon.configuration)/Devices/strap/profile.json5")
        // Two that are dropped in: the first has the folder read again, the second finds nothing new.
        for (number, id) in ["first", "second"].enumerated() {
            try daemon.drop(id, manifest("\(daemon.folder)/diary.py"))
            #expect(daemon.wait { (try? daemon.state(of: id)) == "idle" }, "\(daemon.log)")
            #expect(told(daemon.log) == 1, "\(number): \(daemon.log)")
        }
        for count in 2...3 {
            let reload = try daemon.tool("reload")
            #expect(reload.exit == 1 && told(reload.talk) == 1 && told(daemon.log) == count, "\(reload)")
        }
        #expect(try daemon.state(of: "log") == "idle")
        // Refused for the same, it is told once.
        try daemon.drop("log", watching("strap", in: daemon) + "\n")
        let refused = try daemon.tool("reload")
        #expect(refused.exit == 1 && told(refused.talk) == 1, "\(refused)")
        try put("strap", strap("bpm"), in: daemon)
        #expect(try daemon.tool("reload").exit == 0)
    }

    @Test(
        "a folder of profiles that cannot be listed is named each time, keeps what it had, and holds up no other folder"
    )
    func isOutOfSight() throws {
        let daemon = try RunningDaemon.withStrap()
        daemon.wrapper = ["env", "WAKEBRIDGE_DEVICES=\(daemon.folder)/shipped"]
        try put("strap", strap("bpm"), in: daemon)
        try daemon.start()
        let devices = daemon.configuration + "/Devices"
        #expect(rename(devices, devices + ".away") == 0 && symlink("Devices", devices) == 0)
        try daemon.write(strap("bpm", named: "pod"), to: "shipped/pod/profile.json5")
        for _ in 0..<2 {
            let reload = try daemon.tool("reload")
            #expect(reload.exit == 1 && reload.talk.contains("could not list \(devices): "), "\(reload)")
        }
        #expect(daemon.log.contains("profile pod is taken up") && !daemon.log.contains("is gone"))
        for name in ["pod", "strap"] {
            try daemon.drop(name, watching(name, in: daemon))
            #expect(daemon.wait { (try? daemon.state(of: name)) == "idle" }, "\(daemon.log)")
        }
        #expect(unlink(devices) == 0 && rename(devices + ".away", devices) == 0)
        #expect(try daemon.tool("reload").exit == 0)
    }

    @Test("a profile that is dropped in with its manifest needs no word to the daemon")
    func comesWithManifest() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.start()
        try put("strap", strap("bpm"), in: daemon)
        try daemon.drop("log", watching("strap", in: daemon))
        #expect(daemon.wait { (try? daemon.state(of: "log")) == "idle" }, "\(daemon.log)")
    }
}

@Suite(
    "Profiles of accessories under a running daemon", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: MadeUpDevices.arePossible, MadeUpDevices.areMissing))
struct AccessoryProfileReloadTests {
    @Test(
        "an attached device keeps its profile until it is plugged in again, and an unknown one is watched at once"
    )
    func plugs() throws {
        let workshop = try Workshop()
        let text = { (field: String) in
            """
            { name: "scale", title: "Scale", match: { properties: { ID_VENDOR_ID: "1a86", ID_MODEL_ID: "7523" } },
              mode: "external-accessory", node: "serial", serial: { baud: 3000000 }, settle: "0s", replug_grace: "0s",
              framing: { kind: "line" }, streams: { serial: { name: "line", fields: [{ name: "\(field)", type: "utf8" }] } } }
            """
        }
        Directory.removeTree(workshop.devices + "/scale")
        try Directory.create(workshop.folder + "/drawer")
        put(text("text"), at: workshop.folder + "/drawer/first")
        put(text("words"), at: workshop.folder + "/drawer/second")
        workshop.employ("clerk", for: "scale")
        _ = try workshop.play(
            """
            \(running)line /dev/ttyACM0
            \(plug("1-4", line: 0))until exit%201 TOOL reload
            until exit%200 mkdir \(workshop.devices)/scale
            until exit%200 cp FOLDER/drawer/first \(workshop.devices)/scale/profile.json5
            until exit%200 TOOL reload
            until connected cat NOTES/clerk
            say /dev/ttyACM0 one
            until "text":%20"one" cat NOTES/clerk
            until exit%200 cp FOLDER/drawer/second \(workshop.devices)/scale/profile.json5
            until exit%200 TOOL reload
            say /dev/ttyACM0 two
            until "text":%20"two" cat NOTES/clerk
            \(unplug("1-4", line: 0))until unplugged cat NOTES/clerk
            line /dev/ttyACM0
            \(plug("1-4", line: 0))until 2 grep -c ^connected NOTES/clerk
            say /dev/ttyACM0 three
            until "words":%20"three" cat NOTES/clerk
            """)
    }

    @Test(
        "a new profile of another udev subsystem has its devices watched from then on, those that are attached too"
    )
    func listens() throws {
        let workshop = try Workshop()
        put(
            """
            { name: "battery", title: "Battery", mode: "external-accessory", node: "none", settle: "0s", replug_grace: "0s",
              match: { properties: { SUBSYSTEM: "power_supply" } } }
            """, at: workshop.folder + "/drawer")
        workshop.employ("clerk", for: "battery")
        _ = try workshop.play(
            """
            device power_supply BAT0 - POWER_SUPPLY_NAME=BAT0 a:type=Battery
            \(running)until exit%201 TOOL reload
            until exit%200 mkdir \(workshop.devices)/battery
            until exit%200 cp FOLDER/drawer \(workshop.devices)/battery/profile.json5
            until exit%200 TOOL reload
            until connected cat NOTES/clerk
            device power_supply BAT1 - POWER_SUPPLY_NAME=BAT1 a:type=Battery
            until 2 grep -c ^connected NOTES/clerk
            """)
    }
}
