// Devices that are there and that no handler gets: which of them are worth a word, and which word.
import Testing
import WakeModel
import WakeProfiles

@testable import WakeSources
@testable import WakeSystem

@Suite("Devices that no handler gets") struct UnwatchedDeviceTests {
    private let library: ProfileLibrary

    init() throws {
        let texts = [
            "uno": """
            { name: "uno", title: "U", mode: "external-accessory", node: "serial",
              match: { properties: { ID_VENDOR_ID: "2341", ID_MODEL_ID: "0043" } } }
            """,
            "plant": "{ name: \"plant\", title: \"P\", mode: \"bluetooth-central\", match: { services: [\"fff1\"] } }",
        ]
        let (library, errors) = ProfileLibrary.load(
            texts.map { .init(name: $0.key, file: $0.key, text: Array($0.value.utf8)) })
        try #require(errors.isEmpty, "\(errors)")
        self.library = library
    }

    private func node(_ properties: [String: String]) -> UnwatchedDevice {
        UnwatchedDevice(
            UdevRecord(
                action: .found, path: "/sys/devices/ttyACM0", subsystem: "tty", node: "/dev/ttyACM0", sequence: 0,
                properties: properties))
    }

    private func reason(_ device: UnwatchedDevice, for name: String) throws -> String? {
        device.reason(for: try #require(library.index(named: name)), in: library)?.sentence
    }

    @Test("a USB device whose product differs is named with both numbers, and one of another vendor is not")
    func accessories() throws {
        let near = node(["ID_VENDOR_ID": "2341", "ID_MODEL_ID": "0042"])
        let sentence = "the profile uno asks for ID_MODEL_ID 0043, and it has 0042"
        #expect(try reason(near, for: "uno") == "/dev/ttyACM0 is attached, and \(sentence)")
        #expect(near.reason(in: library) { _ in true } == "no profile fits it: \(sentence)")
        #expect(try reason(node(["ID_VENDOR_ID": "046d", "ID_MODEL_ID": "c52b"]), for: "uno") == nil)
        #expect(try reason(near, for: "plant") == nil, "a node is no peripheral")
    }

    @Test("a peripheral that fits and is not trusted, or keeps no bond under a private address, says so")
    func obstacles() throws {
        var peripheral = BluezPeripheral()
        (peripheral.address, peripheral.name, peripheral.isConnected) = ("C0:DE:00:00:00:01", "Plant", true)
        peripheral.services = [BluetoothUUID(short: 0xfff1)]
        let untrusted = try reason(UnwatchedDevice(peripheral), for: "plant")
        #expect(
            untrusted
                == "Plant is connected, fits the profile and is not trusted; adopt it with: wakebridge pair C0:DE:00:00:00:01, "
                + "with --no-bond if it keeps no bond")
        (peripheral.address, peripheral.isTrusted) = ("4A:DE:00:00:00:01", true)
        #expect(
            try reason(UnwatchedDevice(peripheral), for: "plant")?.contains("has a private address without a bond")
                == true)
        (peripheral.address, peripheral.isPaired) = ("C0:DE:00:00:00:01", true)
        #expect(try reason(UnwatchedDevice(peripheral), for: "plant") == nil, "nothing is in its way")
    }
}
