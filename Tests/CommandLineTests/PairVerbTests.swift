// pair and forget, against a scripted bluetoothd that pairs in every way.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Pairing from the command line") struct PairVerbTests {
    private func world(_ devices: String...) -> String { "{\"devices\": [\(devices.joined(separator: ", "))]}" }

    private func strap(_ more: String = "", address: String = "C0:DE:00:00:00:10", name: String = "Lab Strap") -> String
    {
        #"{"address": "\#(address)", "name": "\#(name)", "uuids": ["180d"]\#(more.isEmpty ? "" : ", " + more)}"#
    }

    @Test(
        "pair finds a peripheral by its name, waits for its services, bonds, trusts and names it, and says what is next"
    )
    func justWorks() async throws {
        let bluetooth = try ScriptedBluetooth(world(strap(#""breaks": 1"#)))
        let outcome = try await bluetooth.tool("pair", "Lab Strap")
        #expect(outcome.exit == 0, "\(outcome.talk)")
        let name = "heart-rate-monitor-0010"
        #expect(
            outcome.output
                == "paired \(name) (C0:DE:00:00:00:10, heart-rate-monitor): bonded and trusted; proof: none\n"
        )
        #expect(outcome.talk == "next: wakebridge watch \(name)\n")
        let path = "/org/bluez/hci0/dev_C0_DE_00_00_00_10"
        #expect(
            bluetooth.calls == [
                "SetDiscoveryFilter DuplicateData=0 Transport=le", "UUIDs", "StartDiscovery", "StopDiscovery",
                "RegisterAgent KeyboardDisplay", "Connect", "Connect",
                "Pair resolved", "Set \(path) Trusted 1", "Set \(path) Alias \(name)", "UnregisterAgent",
            ])
        let again = try await bluetooth.tool("pair", name, "--alias", "chest strap")
        #expect(again.output.contains("was bonded already, and the bond holds"))
        #expect(again.talk == "next: wakebridge watch 'chest strap'\n")
        #expect(bluetooth.calls.last { $0.hasPrefix("Set") } == "Set \(path) Alias chest strap")
    }

    @Test("a Pair that bluetoothd never answers is told done by the properties")
    func silent() async throws {
        let bluetooth = try ScriptedBluetooth(world(strap(#""silent": true"#)))
        #expect(try await bluetooth.tool("pair", "C0:DE:00:00:00:10", "--json").output.contains(#""bonded":true"#))
    }

    @Test("headless, options answer what the peripheral asks; without them it is refused with the option's name")
    func headless() async throws {
        let bluetooth = try ScriptedBluetooth(
            world(
                strap(#""pairing": "enter", "passkey": 42"#),
                strap(#""pairing": "compare""#, address: "C0:DE:00:00:00:11"),
                strap(#""pairing": "display""#, address: "C0:DE:00:00:00:12"),
                strap(#""pairing": "another""#, address: "C0:DE:00:00:00:13")))
        let mute = try await bluetooth.tool("pair", "C0:DE:00:00:00:10")
        #expect(mute.exit == 1)
        #expect(mute.talk.contains("give it with --passkey N"))
        #expect(bluetooth.calls.suffix(3).contains("CancelPairing"))
        let wrong = try await bluetooth.tool("pair", "C0:DE:00:00:00:10", "--passkey", "43")
        #expect(wrong.exit == 1)
        #expect(wrong.talk.contains("the passkey 000043 is not the one that Lab Strap shows"))
        let right = try await bluetooth.tool("pair", "C0:DE:00:00:00:10", "--passkey", "000042", "--json")
        #expect(right.output.contains(#""proof":"passkey""#), "\(right.talk)")
        #expect(try await bluetooth.tool("pair", "C0:DE:00:00:00:11").talk.contains("agree to it with --yes"))
        #expect(try await bluetooth.tool("pair", "C0:DE:00:00:00:11", "-y").talk.contains("agreed to 123456"))
        #expect(try await bluetooth.tool("pair", "C0:DE:00:00:00:12").talk.contains("type 123456 on Lab Strap"))
        // Another peripheral's question is refused, whatever the options say.
        #expect(try await bluetooth.tool("pair", "C0:DE:00:00:00:13", "-y").exit == 0)
        #expect(bluetooth.calls.contains { $0.hasPrefix("org.bluez.Error.Rejected") })
    }

    @Test("a peripheral that pairs without the passkey that was given is refused, and its bond removed")
    func unproved() async throws {
        let bluetooth = try ScriptedBluetooth(world(strap()))
        let outcome = try await bluetooth.tool("pair", "Lab Strap", "--passkey", "42")
        #expect(outcome.exit == 1)
        #expect(outcome.output == "")
        #expect(outcome.talk.contains("Lab Strap paired without asking for the passkey"))
        #expect(bluetooth.calls.contains("RemoveDevice /org/bluez/hci0/dev_C0_DE_00_00_00_10"))
        #expect(!bluetooth.calls.contains { $0.contains("Trusted") })
        #expect(try await bluetooth.tool("pair", "Lab Strap").output.contains("proof: none"))
    }

    @Test("a peripheral that wants to use this machine's services meanwhile is refused")
    func service() async throws {
        let bluetooth = try ScriptedBluetooth(world(strap(#""pairing": "service""#)))
        #expect(try await bluetooth.tool("pair", "Lab Strap").exit == 0)
        #expect(bluetooth.calls.contains { $0.hasPrefix("org.bluez.Error.Rejected") })
    }

    @Test("a slow choice pairs with what was shown, because the scan goes on until then")
    func slowChoice() async throws {
        let bluetooth = try ScriptedBluetooth(#"{"temporary": 2000, "devices": [\#(strap())]}"#)
        let seen = try await bluetooth.terminal([("pair with it? [y/n] ", "y\\n")], thinking: 3, "pair")
        #expect(seen.exit == 0, "\(seen.output)")
        let calls = bluetooth.calls
        let end = try #require(calls.lastIndex(of: "StopDiscovery"))
        #expect(calls.firstIndex(of: "Connect") ?? 0 > end)
    }

    @Test("a bluetoothd that dies while it is scanned with is named, and not the adapter")
    func deadScan() async throws {
        let bluetooth = try ScriptedBluetooth(#"{"adapters": [{"dies": 300}]}"#)
        let outcome = try await bluetooth.tool("pair", "Lab Strap")
        #expect(outcome.exit == 1)
        let look = InitSystem.ofThisMachine.command(.status, "bluetooth")
        #expect(outcome.talk.contains("bluetoothd ended; see '\(look)'"), "\(outcome.talk)")
    }

    @Test("on a terminal the operator chooses, types the passkey until it is one, and compares")
    func terminal() async throws {
        let bluetooth = try ScriptedBluetooth(
            world(
                strap(#""pairing": "enter", "signal": -40"#, name: "Typed"),
                strap(#""pairing": "compare""#, address: "C0:DE:00:00:00:11", name: "Compared")))
        let typed = try await bluetooth.terminal(
            [("[1-2] ", "1\\n"), ("Typed shows: ", "none\\n"), ("Typed shows: ", "123456\\n")], "pair")
        #expect(typed.exit == 0)
        #expect(typed.output.contains("a passkey is a number from 0 to 999999"))
        #expect(typed.output.contains("paired heart-rate-monitor-0010"))
        let differs = try await bluetooth.terminal([("[y/n] ", "n\\n")], "pair", "Compared")
        #expect(differs.exit == 1)
        #expect(differs.output.contains("the numbers differ"))
        let compared = try await bluetooth.terminal(
            [("pair with it? [y/n] ", "y\\n"), ("show 123456? [y/n] ", "y\\n")], "pair")
        #expect(compared.exit == 0, "\(compared.output)")
    }

    @Test("where only what is paired already is near by, that is said, with its name")
    func adopted() async throws {
        let bluetooth = try ScriptedBluetooth(world(strap(#""bonded": true, "alias": "chest""#)))
        let none = try await bluetooth.tool("pair", "--yes")
        #expect(none.talk.contains("only what is paired already is near by: chest"), "\(none.talk)")
    }

    @Test("Ctrl-C while a question is open cancels the pairing and takes down the link")
    func interrupted() async throws {
        let bluetooth = try ScriptedBluetooth(world(strap(#""pairing": "enter""#)))
        let seen = try await bluetooth.terminal([("shows: ", "\\u0003")], "pair", "Lab Strap")
        #expect(seen.exit == 1)
        #expect(seen.output.contains("was interrupted; nothing was kept"))
        #expect(bluetooth.calls.suffix(3) == ["CancelPairing", "Disconnect", "UnregisterAgent"])
    }

    @Test("without a DEVICE, --yes takes the only one that a profile knows, and does not guess between two")
    func choice() async throws {
        let one = try ScriptedBluetooth(
            world(strap(), #"{"address": "C0:DE:00:00:00:99", "name": "Lamp", "uuids": ["feaa"]}"#))
        #expect(try await one.tool("pair").talk.contains("name a DEVICE, or take the only one near by with --yes"))
        #expect(try await one.tool("pair", "--yes").output.hasPrefix("paired heart-rate-monitor-0010"))
        let two = try ScriptedBluetooth(world(strap(), strap(address: "C0:DE:00:00:00:11")))
        let refused = try await two.tool("pair", "--yes")
        #expect(refused.exit == 5)
        #expect(refused.talk.contains("there are several"))
        #expect(
            try await two.tool("pair", "Lab Strap").talk.contains("fits several: C0:DE:00:00:00:10, C0:DE:00:00:00:11"))
    }

    @Test("what pairs without keeping a bond is not trusted; --no-bond trusts it, unless its address is private")
    func noBond() async throws {
        let bluetooth = try ScriptedBluetooth(
            world(strap(#""bonds": false"#), strap(address: "41:DE:00:00:00:11", name: "Private")))
        let refused = try await bluetooth.tool("pair", "Lab Strap")
        #expect(refused.exit == 1)
        #expect(refused.talk.contains("keeps no bond"))
        #expect(!bluetooth.calls.contains { $0.contains("Trusted") })
        let trusted = try await bluetooth.tool("pair", "Lab Strap", "--no-bond", "--alias", "loose")
        #expect(
            trusted.output == "loose (C0:DE:00:00:00:10, heart-rate-monitor) is trusted and named, without a bond\n")
        let moving = try await bluetooth.tool("pair", "Private", "--no-bond")
        #expect(moving.exit == 1)
        #expect(moving.talk.contains("private address"))
    }

    @Test("what is trusted without a bond is connected first, so that bluetoothd keeps it when the scan is long over")
    func noBondLasts() async throws {
        let other = strap(address: "C0:DE:00:00:00:11", name: "Other Strap")
        let bluetooth = try ScriptedBluetooth(#"{"temporary": 2000, "devices": [\#(strap()), \#(other)]}"#)
        #expect(try await bluetooth.tool("pair", "Lab Strap", "--no-bond", "--alias", "loose").exit == 0)
        // It comes first of the two, and so would be dropped first.
        #expect(try await wait(60) { bluetooth.calls.contains { $0.hasPrefix("drop") && $0.hasSuffix("11") } })
        #expect(!bluetooth.calls.contains { $0.hasPrefix("drop") && $0.hasSuffix("10") })
        #expect(try await bluetooth.tool("devices").output.contains("loose   C0:DE:00:00:00:10"))
    }

    @Test("an older bluetoothd that does not report bonds is believed, and that is said")
    func old() async throws {
        let bluetooth = try ScriptedBluetooth(#"{"old": true, "devices": [\#(strap())]}"#)
        #expect(try await bluetooth.tool("pair", "Lab Strap").output.contains("older than 5.66"))
    }

    @Test("a bond that the peripheral forgot is reported with how to fix it, and so is one that refuses")
    func stale() async throws {
        let bluetooth = try ScriptedBluetooth(
            world(
                strap(#""bonded": true, "forgot": true"#),
                strap(#""pairing": "refused""#, address: "C0:DE:00:00:00:11", name: "Old")))
        let stale = try await bluetooth.tool("pair", "C0:DE:00:00:00:10")
        #expect(stale.exit == 1)
        #expect(stale.talk.contains("run 'wakebridge forget C0:DE:00:00:00:10'"))
        #expect(try await bluetooth.tool("pair", "Old").talk.contains("may still hold an old bond"))
    }

    @Test("a bluetoothd that dies of trying a bond is told, never taken for success")
    func deadly() async throws {
        let bluetooth = try ScriptedBluetooth(
            world(strap(#""bonded": true, "trusted": true, "alias": "chest", "kills": true"#)))
        let outcome = try await bluetooth.tool("pair", "chest")
        #expect(outcome.exit == 1)
        #expect(outcome.talk.contains("went away while the bond with chest was tried"))
    }

    @Test("an alias that another peripheral has is refused, and the given one gets a number where it is taken")
    func aliases() async throws {
        let mine = #"{"address": "C0:DE:00:00:00:77", "alias": "chest", "uuids": ["180d"], "bonded": true}"#
        let twin =
            #"{"address": "C0:DE:00:00:11:10", "alias": "heart-rate-monitor-0010", "uuids": ["180d"], "bonded": true}"#
        let bluetooth = try ScriptedBluetooth(world(strap(), mine, twin))
        let taken = try await bluetooth.tool("pair", "Lab Strap", "--alias", "chest")
        #expect(taken.exit == 5)
        #expect(taken.talk.contains("belongs to C0:DE:00:00:00:77"))
        #expect(
            try await bluetooth.tool("pair", "Lab Strap", "--alias", "Lab Strap").talk.contains("what it calls itself"))
        #expect(try await bluetooth.tool("pair", "Lab Strap").output.hasPrefix("paired heart-rate-monitor-0010-2 "))
    }

    @Test("forget removes it from its adapter and says what that undid; a second time there is nothing")
    func forget() async throws {
        let bluetooth = try ScriptedBluetooth(world(strap(#""bonded": true, "trusted": true, "alias": "chest""#)))
        let near = try await bluetooth.tool("forget", "chset")
        #expect(near.exit == 5)
        #expect(near.talk.contains("Did you mean 'chest'?"))
        let outcome = try await bluetooth.tool("forget", "chest")
        #expect(outcome.exit == 0)
        #expect(
            outcome.output.hasPrefix(
                "forgot chest (C0:DE:00:00:00:10) on adapter 00:1A:7D:DA:71:13: its bond, trust and name are gone; reset it"
            ))
        #expect(bluetooth.calls.last == "RemoveDevice /org/bluez/hci0/dev_C0_DE_00_00_00_10")
        #expect(try await bluetooth.tool("forget", "chest").exit == 5)
    }

    @Test("what is not found says that accessories were not looked at and why, where the daemon cannot be asked")
    func mayBeAccessory() async throws {
        let socket = "/nonexistent/control.sock"
        let reason = "cannot reach wakebridged at \(socket): there is no such socket; "
        let bluetooth = try ScriptedBluetooth(world(strap(#""bonded": true, "alias": "scole""#)))
        let forgotten = try await bluetooth.tool("forget", "scale", "--socket", socket)
        #expect(forgotten.exit == 5)
        let end = "Did you mean 'scole'? Nor could accessories be looked at: \(reason)"
        #expect(forgotten.talk.contains(end), "\(forgotten.talk)")
        let silent = try ScriptedBluetooth(nil)
        for words in [["forget", "scale"], ["pair", "scale"]] {
            let outcome = try await silent.tool(words[0], words[1], "--socket", socket)
            #expect(outcome.exit == 1 && outcome.talk.contains(InitSystem.ofThisMachine.command(.start, "bluetooth")))
            #expect(outcome.talk.contains(". Nor could accessories be looked at: \(reason)"), "\(outcome.talk)")
        }
        #expect(try await silent.tool("pair", "--yes", "--socket", socket).talk.contains("accessories") == false)
        let which = try await bluetooth.tool("pair", "scale", "--as", "new", "--socket", socket)
        #expect(which.exit == 3 && which.talk.hasPrefix("wakebridge pair: \(reason)"), "\(which.talk)")
    }

    @Test("forget forgets on every adapter and names them; of those not meant or off it says that they keep it")
    func forgetEverywhere() async throws {
        func bluetooth(_ third: String) throws -> ScriptedBluetooth {
            let adapters = (1...3).map {
                #"{"name": "hci\#($0)", "address": "00:00:00:00:00:0\#($0)"\#($0 == 3 ? third : "")}"#
            }
            let faces = (1...3).map {
                strap(#""bonded": true, "trusted": true, "alias": "chest", "adapter": "hci\#($0)""#)
            }
            return try ScriptedBluetooth(
                "{\"adapters\": [\(adapters.joined(separator: ", "))], \"devices\": [\(faces.joined(separator: ", "))]}"
            )
        }
        let one = try bluetooth("")
        let meant = try await one.tool("forget", "chest", "--adapter", "00:00:00:00:00:02")
        #expect(meant.output.contains(" on adapter 00:00:00:00:00:02: "))
        #expect(
            meant.talk == "adapter 00:00:00:00:00:01 still keeps it\nadapter 00:00:00:00:00:03 still keeps it\n")
        let all = try bluetooth(#", "powered": false"#)
        let outcome = try await all.tool("forget", "chest")
        #expect(outcome.output.contains(" on adapters 00:00:00:00:00:01 and 00:00:00:00:00:02: "))
        #expect(outcome.talk.contains("adapter 00:00:00:00:00:03 still keeps it, because it is off"))
        let path = "dev_C0_DE_00_00_00_10"
        #expect(
            all.calls.filter { $0.hasPrefix("RemoveDevice") } == [
                "RemoveDevice /org/bluez/hci1/\(path)", "RemoveDevice /org/bluez/hci2/\(path)",
            ])
    }

    @Test("an adapter is meant by its address, never by a name that moves")
    func adapter() async throws {
        let bluetooth = try ScriptedBluetooth(
            #"""
            {"adapters": [{"name": "hci1", "address": "00:00:00:00:00:01"}, {"name": "hci10", "address": "00:00:00:00:00:02"}],
             "devices": [{"adapter": "hci1", "address": "C0:DE:00:00:00:10", "name": "A", "uuids": ["180d"]},
                         {"adapter": "hci10", "address": "C0:DE:00:00:00:10", "name": "A", "uuids": ["180d"], "signal": -30}]}
            """#)
        #expect(try await bluetooth.tool("pair", "A", "--adapter", "hci1").exit == 2)
        #expect(
            try await bluetooth.tool("pair", "A", "--adapter", "00:00:00:00:00:03").talk.contains(
                "there is 00:00:00:00:00:01, 00"))
        let paired = try await bluetooth.tool("pair", "A", "--adapter", "00:00:00:00:00:01", "--json")
        #expect(paired.output.contains(#""adapter":"00:00:00:00:00:01""#), "\(paired.talk)")
    }
}
