// Power and under-voltage as conditions, with supplies and a sensor that are made up for real udev.
import TestBench
import Testing
import WakeAgenda
import WakeLoop
import WakeSystem

@testable import WakeEngine

/// The kernel tells of a changed host name just as of a changed sensor, and it can be changed here.
@Suite("Under-voltage as the kernel tells of it", .enabled(if: Machine.makesNamespaces, "needs root and namespaces"))
struct VoltageConditionTests {
    private func set(_ alarm: String) throws {
        try #require(try Child(["hostname", alarm]).finish().exit == 0)
    }

    @Test("each change of the alarm is told, without a look in between")
    func alarm() throws {
        let namespace = try OwnNamespace(.hostName)
        defer { namespace.leave() }
        try set("0")
        let loop = try EventLoop()
        var told: [Bool] = []
        let sensor = UnderVoltage(owning: try File.open("/proc/sys/kernel/hostname", for: .read))
        let watch = try VoltageWatch(on: loop, sensor: sensor)
        watch.add(.agenda) { told.append($0) }
        #expect(told == [true])
        for alarm in ["1", "0", "1"] {
            try set(alarm)
            #expect(try loop.turn(for: .seconds(30)) { told.last == (alarm == "0") })
        }
        #expect(told == [true, false, true, false])
        withExtendedLifetime(watch) {}
    }
}

@Suite(
    "Power as a condition", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: MadeUpDevices.arePossible, MadeUpDevices.areMissing))
struct PowerConditionTests {
    /// What the kernel does: the attribute has another value, and a uevent says that there is one.
    private func change(_ supply: String, _ attribute: String, _ value: String) -> String {
        "write /sys/devices/\(supply) \(attribute) \(value)\nevent /sys/devices/\(supply) change\n"
    }

    @Test("power goes with the mains and comes back with it, as udev tells, and a full battery counts as mains")
    func supplies() throws {
        let played = try MadeUpDevices.play(
            """
            device power_supply AC - a:type=Mains a:online=1
            device power_supply BAT0 - a:type=Battery a:status=Charging a:scope=System
            listen
            expect power true
            expect steady true
            write /sys/devices/BAT0 status Discharging
            \(change("AC", "online", "0"))expect power false
            \(change("AC", "online", "1"))expect power true
            \(change("AC", "online", "0"))expect power false
            \(change("BAT0", "status", "Full"))expect power true
            """, to: "\(Built.folder)/ConditionProbe")
        #expect(played.exit == 0, "\(played)")
        let power = played.output.split(separator: "\n").filter { $0.hasPrefix("power") }
        #expect(power == ["power true", "power false", "power true", "power false", "power true"], "\(played)")
    }

    @Test("a Raspberry Pi whose supply sags is not steady", arguments: [("0", "true"), ("1", "false")])
    func voltage(alarm: String, isSteady: String) throws {
        let played = try MadeUpDevices.play(
            """
            device hwmon hwmon0 - a:name=cpu_thermal
            device hwmon hwmon1 - a:name=rpi_volt a:in0_lcrit_alarm=\(alarm)
            listen
            expect steady \(isSteady)
            """, to: "\(Built.folder)/ConditionProbe")
        #expect(played.exit == 0, "\(played)")
    }
}
