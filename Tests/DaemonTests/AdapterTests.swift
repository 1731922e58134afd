// What an operator is told of an adapter that takes no more links, from a scripted bluetoothd to the tool.
import Glibc
import TestBench
import Testing
import WakeModel

@Suite("Adapters", .serialized) struct AdapterTests {
    @Test("an adapter that refused a link, and the peripheral that waits for room, are in status, devices and doctor")
    func isFull() throws {
        let bus = try PrivateBus()
        let bluez = try ScriptedBluez(on: bus)
        let daemon = try RunningDaemon.withStrap()
        for command in ["adapter hci0", "peripheral 1 hci0", "peripheral 2 hci0", "live"] { try bluez.tell(command) }
        daemon.busAddress = bus.address
        try daemon.stepTime(beside: bus, bluez)
        try daemon.start()
        func adapter() throws -> JSONValue? { try daemon.json("status")["adapters"]?.array?.first }
        #expect(try daemon.wait { try adapter()?["links"]?.integer == 2 }, "\(daemon.log)")
        #expect(try adapter()?["powered"]?.boolean == true && adapter()?["most_links"] == .null)
        for command in ["fault Connect full", "quiet", "down 2", "advertise 2"] { try bluez.tell(command) }
        #expect(try daemon.wait { try adapter()?["most_links"]?.integer == 1 }, "\(daemon.log)")
        #expect(try adapter()?["waiting"]?.array?.compactMap(\.string) == ["Strap 2"])
        let why = "adapter 00:AA:00:00:00:01 carries 1 link and refuses another; it waits until one ends"
        let status = try daemon.tool("status").output
        #expect(status.contains("00:AA:00:00:00:01  on         1           1  Strap 2\n"), "\(status)")
        #expect(status.contains("  Strap 2: \(why)\n"))
        func beside(_ words: String...) throws -> String {
            let words = [Built.tool, "--runtime", daemon.runtime] + words
            return try Child(["env", "DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)"] + words).finish().output
        }
        #expect(try beside("devices").contains("  Strap 2  \(why)\n"))
        let devices = try JSONValue(parsing: Array(beside("devices", "--json").utf8))["devices"]?.array ?? []
        #expect(devices.map { $0["why"]?.string } == [nil, why])
        #expect(try beside("doctor").contains("has 1 link, and refused another\n"))
    }

    @Test("without Bluetooth no adapter is told of, and no device has anything in its way")
    func isOff() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.start("--replay", daemon.folder + "/strap.trace")
        #expect(try daemon.wait { try daemon.json("status")["devices"]?.array?.count == 1 })
        let status = try daemon.json("status")
        #expect(status["adapters"] == .null && status["devices"]?.array?.first?["why"] == .null)
        #expect(try !daemon.tool("status").output.contains("ADAPTER"))
    }
}
