// Which of udev's devices a profile's accessory is, and what of udev is listened to.
import Testing
import WakeModel
import WakeProfiles

@testable import WakeDaemon
@testable import WakeEngine
@testable import WakeSources
@testable import WakeSystem

@Suite("Profiles of accessories")
struct AccessoryProfileTests {
    private func library(_ node: String, _ more: String = "") throws -> ProfileLibrary {
        let text = """
            { name: "it", title: "It", mode: "external-accessory", node: "\(node)",
              match: { properties: { ID_VENDOR_ID: "1a86"\(more) } } }
            """
        let (library, errors) = ProfileLibrary.load([.init(name: "it", file: "it.json5", text: Array(text.utf8))])
        try #require(errors.isEmpty, "\(errors)")
        return library
    }

    private func record(_ subsystem: String) -> UdevRecord {
        UdevRecord(
            action: .found, path: "/sys/it", subsystem: subsystem, node: nil, sequence: 0,
            properties: ["ID_VENDOR_ID": "1a86", "SUBSYSTEM": subsystem])
    }

    @Test("a device fits a profile by the node that it opens; where it opens none, a USB device does, not its battery")
    func fits() throws {
        let all = UdevRecord.accessorySubsystems
        for (node, subsystem) in [("serial", "tty"), ("hid", "hidraw"), ("input", "input"), ("none", "usb")] {
            let library = try library(node)
            #expect(all.filter { library.profile(of: record($0)) != nil } == [subsystem], "\(node)")
        }
        let sensors = try library("none", ", SUBSYSTEM: \"iio\"")
        #expect(all.filter { sensors.profile(of: record($0)) != nil } == ["iio"])
    }

    @Test(
        "a Bluetooth device that a peripheral's profile knows is that, and no serial port; one without a port is neither"
    )
    func ofBluetooth() throws {
        let texts = [
            ("port", #"mode: "external-accessory", node: "rfcomm", match: { name_prefix: "It" }"#),
            ("strap", #"mode: "bluetooth-central", match: { services: ["180d"] }"#),
        ]
        let (library, errors) = ProfileLibrary.load(
            texts.map { name, text in
                .init(name: name, file: name, text: Array("{ name: \"\(name)\", title: \"It\", \(text) }".utf8))
            })
        try #require(errors.isEmpty, "\(errors)")
        var device = BluezPeripheral()
        device.name = "It 1"
        #expect(library.profile(of: device) == nil)
        device.services = [SerialPeripherals.serialPort]
        #expect(library.profile(of: device)?.name == "port")
        device.services.insert(BluetoothUUID(short: 0x180d))
        #expect(library.profile(of: device)?.name == "strap")
    }

    @Test("batteries and sensors, which talk all the time, are listened to only where a profile names them")
    func listens() throws {
        #expect(try library("serial").subsystems == ["hidraw", "input", "tty", "usb"])
        #expect(ProfileLibrary().subsystems == ["hidraw", "input", "tty", "usb"])
        let sensors = try library("none", ", SUBSYSTEM: \"iio\"")
        #expect(sensors.subsystems == ["hidraw", "iio", "input", "tty", "usb"])
    }
}
