// A supply of power whose reports cannot be read without its report descriptor, which the daemon reads when it is plugged in.
import TestBench
import Testing
import WakeModel

@Suite(
    "Supplies of power", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: MadeUpDevices.arePossible, MadeUpDevices.areMissing))
struct PowerSupplyTests {
    /// Report 12 is the charge in percent, and the seconds for which it lasts.
    private static let descriptor =
        "05840904a1010924a100850c0585096675089501150026640081020968751027ffff0000550066011081020585c0c0"

    @Test("a supply's reports are read by the report descriptor that it has, live and from a recording of it")
    func readsReports() throws {
        let workshop = try Workshop()
        put(
            """
            { name: "knob", title: "Supply", match: { properties: { ID_VENDOR_ID: "1a86", ID_MODEL_ID: "e008" } },
              mode: "external-accessory", settle: "0s", replug_grace: "0s",
              streams: { "report-12": { name: "power", decoder: "hid-power" } } }
            """, at: workshop.devices + "/knob/profile.json5")
        workshop.employ("guard", for: "knob")
        _ = try workshop.play(
            """
            \(running)\(plugKnob(describedAs: Self.descriptor))until connected cat NOTES/guard
            run TOOL pair /dev/hidraw0 --alias supply
            beside TOOL record supply -o FOLDER/supply.trace
            greet /dev/hidraw0 %0cd 0c640a FOLDER/supply.trace
            say /dev/hidraw0 %0cdx
            until 0c64780a cat FOLDER/supply.trace
            until 0c64780a cat NOTES/guard
            signal INT record
            """)
        let live = try #require(workshop.notes("guard").last { $0.hasPrefix("data ") })
        let value = "{\"remaining_capacity_percent\": 100, \"run_time_to_empty_s\": 2680}"
        #expect(live.contains(value), "\(live)")
        let replayed = try workshop.replay(workshop.folder + "/supply.trace")
        #expect(replayed.last { $0.hasPrefix("data ") } == live, "\(replayed)")
    }
}
