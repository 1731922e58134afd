// How one device is announced to Home Assistant: what stays under another name, what is removed, and when something happened.
import Testing
import WakeModel
import WakeProfiles

@testable import WakeMQTT

@Suite("The discovery message of a device")
struct DiscoveryMessageTests {
    private let topics = BridgeTopics(base: "wakebridge", bridge: "pi")
    private var discovery: DiscoveryMessage {
        DiscoveryMessage(topics: topics, prefix: "homeassistant", version: "0.0.0")
    }

    private func strap(called alias: String) -> Device {
        Device(uri: "/bluetooth/C0:F1:F2:F3:F4:01", alias: alias, profile: nil, kind: .bluetoothCentral)
    }

    private func message(
        called alias: String = "strap", _ switches: DiscoveryMessage.SessionSwitches = .none
    ) throws -> JSONValue {
        let fields = [ShownField(path: ["bpm"], kind: .number)]
        return try JSONValue(
            parsing: discovery.device(
                strap(called: alias), model: nil, fields: fields, switches: switches, expireAfter: .seconds(60)))
    }

    @Test("a device that is renamed keeps its topic and its entities, which read from its new topics")
    func survivesRenaming() throws {
        let (before, after) = try (message(called: "strap"), message(called: "belt"))
        let topic = discovery.topic(ofDevice: strap(called: "strap").uri)
        #expect(topic == "homeassistant/device/wakebridge_pi__2fbluetooth_2fC0_3aF1_3aF2_3aF3_3aF4_3a01/config")
        let (old, new) = (before["components"]?["bpm"], after["components"]?["bpm"])
        #expect(
            old?["unique_id"] == new?["unique_id"]
                && before["device"]?["identifiers"] == after["device"]?["identifiers"])
        #expect(new?["state_topic"]?.string == "wakebridge/pi/devices/belt/state")
    }

    @Test("switches that are no longer allowed are removed by their platform alone")
    func removesSwitches() throws {
        let removed = JSONValue.object([.init(name: "platform", value: .string("switch"))])
        for name in ["session.pause", "session.free"] {
            #expect(try message(.removed)["components"]?[name] == removed)
            #expect(try message(.shown)["components"]?[name]?["command_topic"]?.string != nil)
            #expect(try message()["components"]?[name] == nil)
        }
    }

    @Test("an entity shows when the newest event happened, at the device and not at the broker")
    func showsTime() throws {
        let time = try message()["components"]?["event.time"]
        #expect(time?["device_class"]?.string == "timestamp")
        #expect(time?["value_template"]?.string == "{{ value_json.get('time') }}")
        #expect(time?["state_topic"]?.string == "wakebridge/pi/devices/strap/state")
    }

    @Test("only topics that a bridge of this name announces at are its own, under any prefix")
    func knowsOwnTopics() {
        for own in [
            discovery.topicOfBridge, discovery.topic(ofDevice: "/usb/1"), discovery.topic(ofHandler: "h"),
            "other/prefix/device/wakebridge_pi_x/config",
        ] { #expect(DiscoveryMessage.announces(at: own, topics), "\(own)") }
        for other in [
            "homeassistant/device/wakebridge_attic_x/config", "homeassistant/device/wakebridge_pi2/config",
            "homeassistant/device/wakebridge_pi_x/state", "wakebridge_pi/config", "",
        ] { #expect(!DiscoveryMessage.announces(at: other, topics), "\(other)") }
    }
}
