// The Bluetooth part of the status as it is sent, byte for byte.
import Testing
import WakeModel

@testable import WakeAPI

@Suite("The status") struct StatusReportTests {
    private func status(_ devices: [DeviceStatus], _ adapters: [AdapterStatus]?) -> String {
        let bridge = BridgeStatus(
            version: "0.1.0", process: 77, journal: "j7", uptime: .seconds(1), suspension: .strong, journalHealth: "ok",
            residentBytes: 1)
        var writer = JSONWriter()
        WholeStatus(bridge: bridge, handlers: [], devices: devices, adapters: adapters).write(into: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("an adapter is reported with its links, what waits for one, and our scan; null is what is not known")
    func adapters() {
        let full = AdapterStatus(
            address: "00:1A:7D:DA:71:13", isPowered: true, links: 5, mostLinks: 5, waiting: ["sca\"le", "belt"])
        var off = AdapterStatus(address: "00:1A:7D:DA:71:14", isPowered: false, links: 0)
        off.isScanning = true
        let expected =
            #""adapters":[{"address":"00:1A:7D:DA:71:13","powered":true,"links":5,"most_links":5,"waiting":["sca\"le","belt"],"#
            + #""scanning":false},"#
            + #"{"address":"00:1A:7D:DA:71:14","powered":false,"links":0,"most_links":null,"waiting":[],"scanning":true}]}"#
        #expect(status([], [full, off]).hasSuffix(expected))
        #expect(status([], []).hasSuffix(#""adapters":[]}"#))
        #expect(status([], nil).hasSuffix(#""adapters":null}"#))
    }

    @Test("a device is told with what keeps it from being connected, and null where nothing does")
    func hindrance() {
        let device = Device(uri: "/bluetooth/C0", alias: "a", profile: nil, kind: .bluetoothCentral)
        let devices = [
            DeviceStatus(device: device, link: "disconnected", why: "its adapter is off or gone"),
            DeviceStatus(device: device, link: "connected"),
        ]
        let text = status(devices, nil)
        #expect(text.contains(#""link":"disconnected","why":"its adapter is off or gone","session":null"#))
        #expect(text.contains(#""source":"/bluetooth/C0","mode":"bluetooth-central","profile":null"#))
        #expect(text.contains(#""link":"connected","why":null,"session":null"#))
    }
}
