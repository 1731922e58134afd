// scan and devices, against a scripted bluetoothd.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Scanning") struct ScanVerbTests {
    private static let world = #"""
        {"devices": [
            {"address": "C0:DE:00:00:00:10", "name": "Lab Strap", "uuids": ["180d"], "signal": -60},
            {"address": "C0:DE:00:00:00:11", "name": "\u001b[2J\u202eevil\n", "uuids": ["180d"], "signal": 127},
            {"address": "C0:DE:00:00:00:12", "name": "Mine", "alias": "chest", "uuids": ["180d"], "signal": -40,
             "bonded": true, "trusted": true, "connected": true, "battery": 77},
            {"address": "41:DE:00:00:00:01", "name": "Tag", "uuids": ["feaa"], "maker": "0102", "signal": -70},
            {"address": "42:DE:00:00:00:02", "name": "Tag", "uuids": ["feaa"], "maker": "0102", "signal": -50},
            {"address": "43:DE:00:00:00:03", "name": "Tag", "uuids": ["feaa"], "maker": "0103", "company": 77},
            {"address": "C0:DE:00:00:00:13", "name": "Gone", "uuids": ["180d"], "known": true, "absent": true}
        ]}
        """#

    /// Scans Bluetooth only: accessories of the machine that runs the tests must not matter.
    static let scan = ["scan", "--adapter", "00:1A:7D:DA:71:13"]

    @Test("scan prints a line for each peripheral that a profile knows, counts the others, and ends what it began")
    func lines() async throws {
        let bluetooth = try ScriptedBluetooth(Self.world)
        let outcome = try await bluetooth.tool(Self.scan + ["--for", "2s"])
        #expect(outcome.exit == 0)
        #expect(
            Set(outcome.output.split(separator: "\n").map(String.init)) == [
                "chest  C0:DE:00:00:00:12  -40 dBm  heart-rate-monitor  bonded, trusted, connected",
                "Lab Strap  C0:DE:00:00:00:10  -60 dBm  heart-rate-monitor  new",
                "\u{fffd}[2J\u{fffd}evil\u{fffd}  C0:DE:00:00:00:11  -  heart-rate-monitor  new",
            ])
        #expect(outcome.talk == "2 peripherals that no profile knows; --all shows them\n")
        #expect(bluetooth.calls.contains("SetDiscoveryFilter DuplicateData=0 Transport=le"))
        #expect(bluetooth.calls.last == "StopDiscovery")
    }

    @Test("--all --json prints an object for each, and addresses that look the same are one with a count")
    func json() async throws {
        let bluetooth = try ScriptedBluetooth(Self.world)
        let outcome = try await bluetooth.tool(Self.scan + ["--all", "--json", "--for=2s"])
        #expect(outcome.talk == "")
        let rows = try outcome.output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)[...]) }
        let tags = rows.filter { $0["name"]?.string == "Tag" }
        #expect(tags.last { $0["count"]?.integer == 2 }?["address"]?.string == "42:DE:00:00:00:02")
        #expect(tags.contains { $0["address"]?.string == "43:DE:00:00:00:03" && $0["count"]?.integer == 1 })
        let strap = try #require(rows.first { $0["name"]?.string == "Lab Strap" })
        #expect(strap["signal"]?.integer == -60)
        #expect(strap["profile"]?.string == "heart-rate-monitor")
        #expect(strap["adapter"]?.string == "00:1A:7D:DA:71:13")
        #expect(rows.first { $0["address"]?.string == "C0:DE:00:00:00:11" }?["signal"] == .null)
    }

    @Test("a peripheral is one line, whatever its advertisements say next and however late its name comes")
    func restless() async throws {
        let bluetooth = try ScriptedBluetooth(
            #"""
            {"devices": [{"address": "41:DE:00:00:00:01", "uuids": ["180d"], "restless": true, "late": "Ta\tg"}]}
            """#)
        let lines = try await bluetooth.tool(Self.scan + ["--for", "1500ms"]).output.split(separator: "\n")
        #expect(lines.count == 1, "\(lines)")
        let objects = try await bluetooth.tool(Self.scan + ["--json", "--for", "1500ms"]).output.split(separator: "\n")
        // Its name is known by now.
        #expect(objects.count == 1, "\(objects)")
    }

    @Test("a tab in a name moves no cell")
    func tab() async throws {
        let bluetooth = try ScriptedBluetooth(
            #"{"devices": [{"address": "C0:DE:00:00:00:01", "name": "a\tb", "uuids": ["180d"]}]}"#)
        let outcome = try await bluetooth.tool(Self.scan + ["--for", "2s"])
        #expect(outcome.output == "a\u{fffd}b  C0:DE:00:00:00:01  -60 dBm  heart-rate-monitor  new\n")
    }

    @Test("a bluetoothd that dies during a scan is named, and not the adapter")
    func dead() async throws {
        let bluetooth = try ScriptedBluetooth(#"{"adapters": [{"dies": 300}]}"#)
        let outcome = try await bluetooth.tool(Self.scan)
        #expect(outcome.exit == 1)
        let look = InitSystem.ofThisMachine.command(.status, "bluetooth")
        #expect(outcome.talk.contains("bluetoothd ended; see '\(look)'"), "\(outcome.talk)")
    }

    @Test("--profile has bluetoothd listen for that profile's services only")
    func profile() async throws {
        let bluetooth = try ScriptedBluetooth(Self.world)
        let outcome = try await bluetooth.tool(Self.scan + ["-p", "heart-rate-monitor", "--for", "2s"])
        #expect(outcome.output.split(separator: "\n").count == 3)
        #expect(outcome.talk == "")
        #expect(bluetooth.calls.contains("UUIDs 180d"))
        let wrong = try await bluetooth.tool(Self.scan + ["-p", "heart-rate"])
        #expect(wrong.exit == 2)
        #expect(wrong.talk.contains("Did you mean 'heart-rate-cycling' or 'heart-rate-monitor'"))
    }

    @Test("a profile of serial ports over Bluetooth is refused with the program that looks for them")
    func classic() throws {
        let folder = makeDirectory("/tmp/wakescan.XXXXXX")
        defer { Directory.removeTree(folder) }
        try Directory.create(folder + "/logger")
        put(
            """
            { name: "logger", title: "Logger", mode: "external-accessory", match: { services: ["1101"] },
              node: "rfcomm", framing: { kind: "line" } }
            """, at: folder + "/logger/profile.json5")
        let scan = try Child(["env", "WAKEBRIDGE_DEVICES=\(folder)", Built.tool, "scan", "-p", "logger"]).finish()
        #expect(scan.exit == 1 && scan.talk.contains("bluetoothctl scan bredr"), "\(scan.talk)")
    }

    @Test(
        "where accessories are not announced one sentence says so, once, beside the results of Bluetooth",
        .enabled(if: Machine.makesNamespaces, "needs root and namespaces"))
    func withoutUdev() async throws {
        let bluetooth = try ScriptedBluetooth(Self.world)
        let container = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /run && exec \"$@\"", "sh"]
        let sentence = "udevd is not running, as in most containers; scan where it runs"
        let outcome = try await bluetooth.tool(["scan", "--json", "--for", "700ms"], below: container)
        #expect(
            outcome.exit == 0 && outcome.talk == "{\"note\":\"no accessories: \(sentence)\"}\n", "\(outcome.talk)")
        let rows = try outcome.output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
        #expect(rows.contains { $0["address"]?.string == "C0:DE:00:00:00:12" }, "\(rows)")
        let wanted = try await bluetooth.tool(["scan", "-p", "gps-receiver"], below: container)
        #expect(
            wanted.exit == 1 && wanted.talk == "wakebridge scan: no accessory can be seen: \(sentence)\n",
            "\(wanted.talk)")
        // A scan of Bluetooth alone misses nothing.
        let others = try await bluetooth.tool(["scan", "-p", "heart-rate-monitor", "--for", "300ms"], below: container)
        #expect(others.exit == 0 && others.talk == "", "\(others.talk)")
    }

    @Test("on a terminal the table is drawn over itself until Ctrl-C, which ends the scan")
    func live() async throws {
        let bluetooth = try ScriptedBluetooth(Self.world)
        let seen = try await bluetooth.terminal([("Lab Strap", "\\u0003")], Self.scan)
        #expect(seen.exit == 0)
        #expect(seen.output.contains("NAME"))
        #expect(seen.output.contains("A\r") && seen.output.contains("\u{1b}[K\r\n"))
        #expect(seen.output.contains("2 peripherals that no profile knows"))
        #expect(bluetooth.calls.last == "StopDiscovery")
    }

    @Test("a scan listens for all of its time, counted from where the adapter obeys, and tells what it waits for")
    func delayed() async throws {
        let bluetooth = try ScriptedBluetooth(
            #"{"adapters": [{"busy": 2}], "devices": [{"address": "C0:DE:00:00:00:10", "uuids": ["180d"]}]}"#)
        let outcome = try await bluetooth.tool(Self.scan + ["--for", "1s"])
        #expect(outcome.exit == 0)
        #expect(outcome.output == "C0:DE:00:00:00:10  C0:DE:00:00:00:10  -60 dBm  heart-rate-monitor  new\n")
        #expect(
            outcome.talk == "adapter 00:1A:7D:DA:71:13 does not scan yet: Operation already in progress "
                + "(org.bluez.Error.InProgress); it is asked again for a while\n")
    }

    @Test("devices tells what was adopted, without a daemon, and what to do where there is nothing")
    func devices() async throws {
        let bluetooth = try ScriptedBluetooth(Self.world)
        let outcome = try await bluetooth.tool("devices")
        #expect(outcome.exit == 0)
        #expect(
            outcome.output == """
                DEVICE  ADDRESS            PROFILE             STATE                       BATTERY  LAST DATA
                chest   C0:DE:00:00:00:12  heart-rate-monitor  bonded, trusted, connected     77 %  -

                """)
        let json = try JSONValue(parsing: Array(try await bluetooth.tool("devices", "--json").output.utf8)[...])
        #expect(json["devices"]?.array?.first?["battery"]?.integer == 77)
        #expect(try await ScriptedBluetooth("{}").tool("devices").output.contains("'wakebridge pair' adds one"))
    }

    @Test("devices that are watched without a daemon are those of bluetoothd, below since when it has not answered")
    func watchedDevices() async throws {
        let bluetooth = try ScriptedBluetooth(Self.world)
        let words = ["devices", "--watch=20ms", "--socket", "/nonexistent/control.sock"]
        let seen = try await bluetooth.terminal(
            [("has not answered since", ""), ("DEVICE", ""), ("DEVICE", "\\u0003")], words)
        #expect(seen.exit == 0 && seen.output.contains("chest   C0:DE:00:00:00:12"), "\(seen)")
    }

    @Test("devices says that accessories are missing and why, where the daemon cannot be asked")
    func withoutAccessories() throws {
        let bluetooth = try ScriptedBluetooth(Self.world)
        let outcome = try bluetooth.tool("devices", "--json", "--socket", "/nonexistent/control.sock")
        #expect(outcome.exit == 0 && outcome.output.contains("chest"))
        let talk =
            "{\"note\":\"no accessories: cannot reach wakebridged at /nonexistent/control.sock: there is no such socket; "
        #expect(outcome.talk.hasPrefix(talk), "\(outcome.talk)")
        let daemon = try Fixture { _ in
            .json(status: 503, Array(#"{"error":{"code":"x","message":"it is ending","advice":"wait"}}"#.utf8))
        }
        let child = try bluetooth.start("devices", "--socket", daemon.path)
        #expect(try daemon.turn { child.isOver })
        #expect(child.exit == 0 && child.talk == "no accessories: it is ending; wait\n", "\(child.talk)")
    }

    @Test("devices tells when the daemon heard them last and what is in their way, where one runs")
    func lastData() throws {
        let bluetooth = try ScriptedBluetooth(Self.world)
        let devices =
            #"{"devices":[{"source":"/bluetooth/C0:DE:00:00:00:12","last_data":"2026-11-21T07:42:46Z","#
            + #""why":"it waits\u001b"}]}"#
        let daemon = try Fixture { _ in .json(status: 200, Array(devices.utf8)) }
        let child = try bluetooth.start("devices", "--socket", daemon.path)
        #expect(try daemon.turn { child.isOver })
        #expect(child.output.hasSuffix("2026-11-21 07:42:46+00:00\n\n  chest  it waits\u{fffd}\n"), "\(child.output)")
    }

    @Test(
        "no bus, no bluetoothd, no adapter, one that is off, one that is blocked: a sentence each, with how to fix it",
        arguments: [scan, ["pair", "x"], ["forget", "x"]])
    func missing(words: [String]) throws {
        func talk(_ world: String?) throws -> String {
            let bluetooth = try ScriptedBluetooth(world)
            let child = try bluetooth.tool(words)
            #expect(child.exit == 1)
            #expect(child.output == "")
            return child.talk
        }
        #expect(try talk(nil).contains(InitSystem.ofThisMachine.command(.start, "bluetooth")))
        #expect(try talk(#"{"adapters": []}"#).contains("there is no Bluetooth adapter"))
        #expect(try talk(#"{"adapters": [{"powered": false}]}"#).contains("'bluetoothctl power on'"))
        let blocked = try talk(#"{"adapters": [{"powered": false, "powerState": "off-blocked"}]}"#)
        #expect(blocked.contains("'rfkill unblock bluetooth'"))
        let busless = try Child(
            ["env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent", Built.tool] + words
        ).finish()
        #expect(busless.talk.contains(InitSystem.ofThisMachine.command(.start, "dbus")))
        #expect(busless.exit == 1)
    }
}
