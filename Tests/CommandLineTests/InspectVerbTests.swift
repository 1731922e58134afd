// The verb inspect, and the names of devices, beside a scripted bluetoothd and without a daemon.
import Glibc
import TestBench
import Testing
import WakeModel

@testable import wakebridge

@Suite("Looking into a peripheral without a daemon", .serialized) struct InspectVerbTests {
    private static let strap = """
        {"address": "C0:DE:00:00:00:10", "name": "Strap", "alias": "chest-left", "uuids": ["180d"], "bonded": true,
         "trusted": true, "connected": true, "battery": 77,
         "services": {"180d": {"2a37": ["notify"], "2a38": ["read"]}, "180f": {"2a19": ["read", "notify"]}}}
        """

    private func bluetooth(_ others: String = "") throws -> ScriptedBluetooth {
        try ScriptedBluetooth("{\"devices\": [\(Self.strap)\(others)]}")
    }

    @Test("inspect lists services and characteristics, what each can do and what the profile calls it")
    func services() throws {
        let bluetooth = try bluetooth()
        let seen = try bluetooth.tool("inspect", "chest")
        #expect(seen.exit == 0, "\(seen.talk)")
        #expect(
            seen.output.contains("alias    chest-left\n") && seen.output.contains("battery  77 %\n"), "\(seen.output)")
        #expect(
            seen.output.hasSuffix(
                """

                SERVICE  CHARACTERISTIC  PROPERTIES    NAME
                180d     2a37            notify        heart_rate_measurement
                         2a38            read          body_sensor_location
                180f     2a19            notify, read  battery_level

                """), "\(seen.output)")
        let json = try JSONValue(parsing: Array(try bluetooth.tool("inspect", "--json", "chest-left").output.utf8))
        #expect(json.list("services").map { $0.text("uuid") } == ["180d", "180f"])
        #expect(json["device"]?.text("alias") == "chest-left")
        let live = try bluetooth.tool("inspect", "--live", "chest")
        #expect(live.exit == 3 && live.talk.contains("cannot reach wakebridged"), "\(live)")
    }

    @Test("with --json each note on standard error is a JSON object on a line, and without it a sentence")
    func notes() throws {
        let bluetooth = try bluetooth()
        for words in [["inspect", "chest-left"], ["report"]] {
            let plain = try bluetooth.tool(words)
            #expect(plain.exit == 0 && plain.talk.hasPrefix("no accessories: cannot reach wakebridged"), "\(plain)")
            let json = try bluetooth.tool(words + ["--json"])
            let notes = try json.talk.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)).text("note") }
            #expect(json.exit == 0 && notes == plain.talk.split(separator: "\n").map(String.init), "\(json)")
        }
    }

    @Test("the beginning of an alias means a device where it fits one; where it fits two, both are named")
    func beginnings() throws {
        let other = #", {"address": "C0:DE:00:00:00:11", "alias": "chest-right", "uuids": ["180d"], "bonded": true}"#
        let bluetooth = try bluetooth(other)
        #expect(try bluetooth.tool("devices", "chest-r").output.contains("C0:DE:00:00:00:11"))
        #expect(try bluetooth.tool("devices", "c0:de:00:00:00:10").output.contains("chest-left"))
        let both = try bluetooth.tool("devices", "chest")
        #expect(both.exit == 5)
        #expect(
            both.talk.contains(
                "'chest' may be any of chest-left (C0:DE:00:00:00:10), chest-right (C0:DE:00:00:00:11); "),
            "\(both.talk)")
        // What undoes something wants the whole name.
        #expect(try bluetooth.tool("forget", "chest-r").exit == 5)
    }

    @Test("a time is shown on the machine's clock, always with its date and the offset of its zone")
    func times() {
        setenv("TZ", "UTC", 1)
        tzset()
        #expect(spokenTime("2026-11-21T07:42:46.727125Z") == "2026-11-21 07:42:46.727+00:00")
        #expect(spokenTime("2026-11-20T07:42:46Z") == "2026-11-20 07:42:46+00:00")
        #expect(spokenTime("never") == "never")
        setenv("TZ", "Asia/Kolkata", 1)
        tzset()
        #expect(spokenTime("2026-11-21T18:30:00.5Z") == "2026-11-22 00:00:00.5+05:30")
        #expect(spokenSecond("2026-11-21T18:29:59.9Z") == "2026-11-21 23:59:59+05:30")
        setenv("TZ", "America/New_York", 1)
        tzset()
        #expect(spokenTime("2026-11-21T18:30:00Z") == "2026-11-21 13:30:00-05:00")
        unsetenv("TZ")
        tzset()
    }

    @Test("an age is a span before now, and a clock that was set back makes none of less than nothing")
    func ages() throws {
        let now = try #require(WallTime(rfc3339: "2026-11-21T12:00:00Z"))
        #expect(spokenAge("2026-11-21T11:59:48Z", now: now) == "12.0 s ago")
        #expect(spokenAge("2026-11-21T12:00:05Z", now: now) == "0 ms ago")
        #expect(spokenAge("never", now: now) == "never")
    }
}
