// The machine's power as udev tells of it, and the handler that can wait for it: the daemon's own look, with nothing simulated.
import TestBench
import Testing
import WakeModel

@Suite(
    "Power that udev tells of", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: MadeUpDevices.arePossible, MadeUpDevices.areMissing))
struct PowerStoryTests {
    /// A laptop's two supplies, as long as it runs on its battery.
    private static let supplies = """
        device power_supply AC - a:type=Mains a:online=0
        device power_supply BAT0 - a:type=Battery a:status=Discharging a:scope=System

        """

    /// What the kernel does: the attribute has another value, and a uevent says that there is one.
    private func change(_ supply: String, _ attribute: String, _ value: String) -> String {
        "write /sys/devices/\(supply) \(attribute) \(value)\nevent /sys/devices/\(supply) change\n"
    }

    @Test("who requires power sleeps on battery, while others wake; the mains brings him what waited, each time again")
    func waits() throws {
        let workshop = try Workshop()
        workshop.employ("eager", for: "scale")
        workshop.employ("patient", for: "scale", requires: "power")
        let scale = "line /dev/ttyACM0\n\(plug("1-4", line: 0))"
        let onBattery = "until runs%20on%20battery TOOL why patient\n"
        let said = try workshop.play(
            """
            \(hub)\(Self.supplies)DAEMON
            until exit%200 TOOL status
            \(scale)until connected cat NOTES/eager
            say /dev/ttyACM0 one
            until one cat NOTES/eager
            \(onBattery)run wc -l NOTES/patient
            \(change("AC", "online", "1"))until one cat NOTES/patient
            say /dev/ttyACM0 two
            until two cat NOTES/patient
            \(change("AC", "online", "0"))\(onBattery)say /dev/ttyACM0 three
            until three cat NOTES/eager
            \(onBattery)run wc -l NOTES/patient
            \(change("BAT0", "status", "Full"))until three cat NOTES/patient
            """)
        #expect(said.contains("\nexit 1\n"), "on battery from the start, he was not even started: \(said)")
        #expect(
            said.contains("\n3 \(workshop.folder)/patient\n"),
            "the connect, one and two, and no third line yet: \(said)")
        #expect(workshop.notes("patient") == workshop.notes("eager"), "nothing is lost for having waited")
    }
}
