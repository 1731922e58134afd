// What accessories are called, over restarts of a real daemon and beside others that go by the same name.
import TestBench
import Testing

@Suite(
    "Names of accessories", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: MadeUpDevices.arePossible, MadeUpDevices.areMissing))
struct AccessoryNameTests {
    /// Its daemon ended in order, and another one there.
    private let restart = "signal TERM wakebridged\nDAEMON\nuntil exit%200 TOOL status\n"

    @Test("what devices lists of an accessory that is away since before the start is how it is forgotten")
    func nameless() throws {
        let said = try Workshop().play(
            """
            \(running)\(plug("1-4", line: 0))until /dev/ttyACM0 TOOL devices
            \(unplug("1-4", line: 0))until not%20attached TOOL devices
            \(restart)run TOOL devices
            run TOOL session close scale-usb-usb-4
            run TOOL forget scale-usb-usb-4
            """)
        #expect(said.contains("\nscale-usb-usb-4  /accessory/1a86:7523:@usb-usb-4:00  scale"), "\(said)")
        #expect(said.contains("\nforgot scale-usb-usb-4 (/accessory/1a86:7523:@usb-usb-4:00"), "\(said)")
    }

    @Test("the name of a forgotten accessory is free, and means the next device that gets it, also after a restart")
    func freed() throws {
        let said = try Workshop().play(
            """
            \(running)\(plug("1-4", line: 0))until /dev/ttyACM0 TOOL devices
            run TOOL pair /dev/ttyACM0 --alias kitchen
            \(unplug("1-4", line: 0))until not%20attached TOOL devices
            run TOOL forget kitchen
            \(plug("1-5", line: 1))until /dev/ttyACM1 TOOL devices
            run TOOL pair /dev/ttyACM1 --alias kitchen
            run TOOL session pause kitchen
            \(restart)run TOOL session close kitchen
            run TOOL devices
            """)
        let end = said.split(separator: "\n").suffix(4).joined(separator: "\n")
        #expect(end.contains("kitchen  /dev/ttyACM1  scale ") && end.contains("session closed"), "\(said)")
    }
}
