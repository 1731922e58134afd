// Every shipped profile's discovery message, read by Home Assistant's own schemas.
import TestBench
import Testing
import WakeMQTT
import WakeModel
import WakeProfiles
import WakeSystem

@Suite("Home Assistant's discovery", .enabled(unless: MQTTBench.hindrance))
struct HomeAssistantTests {
    private let topics = BridgeTopics(base: "wakebridge", bridge: "pi kitchen")
    private var discovery: DiscoveryMessage {
        DiscoveryMessage(topics: topics, prefix: "homeassistant", version: "0.0.0")
    }

    private func profiles() throws -> [Profile] {
        let names = try Directory.names(in: "Devices").sorted()
        let sources = names.filter { File.exists("Devices/\($0)/profile.json5") }.map { name in
            ProfileLibrary.Source(
                name: name, file: "Devices/\(name)/profile.json5", text: bytes(of: "Devices/\(name)/profile.json5"))
        }
        let shared = try Directory.names(in: "Devices/gatt").sorted().map { name in
            let file = "Devices/gatt/\(name)"
            return SharedDefinition(name: String(name.prefix { $0 != "." }), file: file, text: bytes(of: file))
        }
        let (library, errors) = ProfileLibrary.load(sources, shared: shared)
        #expect(errors.isEmpty)
        return library.all
    }

    /// A message for each profile, as lines of a topic and a payload.
    private func messages() throws -> [String] {
        let devices = try profiles().map { profile in
            let device = Device(
                uri: "/bluetooth/C0:F1:F2:F3:F4:01", alias: "my \(profile.name)", profile: profile.name,
                kind: profile.kind)
            return (
                discovery.topic(ofDevice: device.uri),
                discovery.device(
                    device, model: profile.title, fields: profile.shownFields, switches: .shown,
                    expireAfter: profile.expiry)
            )
        }
        let former = Device(uri: "/usb/1", alias: "no switches", profile: nil, kind: .externalAccessory)
        let others = [
            (
                discovery.topic(ofDevice: former.uri),
                discovery.device(former, model: nil, fields: [], switches: .removed, expireAfter: .seconds(60))
            ),
            (discovery.topic(ofHandler: "h/1"), discovery.handler("h/1")),
            (discovery.topicOfBridge, discovery.bridge()),
        ]
        return (devices + others).map { topic, payload in
            "{\"topic\":\"\(topic)\",\"payload\":\(String(decoding: payload, as: UTF8.self))}"
        }
    }

    @Test("what each profile's values hold is found without a message: a strap's beats, a thermometer's degrees")
    func findsFields() throws {
        let all = Dictionary(uniqueKeysWithValues: try profiles().map { ($0.name, $0.shownFields) })
        #expect(all["heart-rate-monitor"]?.first { $0.path == ["bpm"] }?.kind == .number)
        let withFields = all.values.count { !$0.isEmpty }
        print(
            "mqtt: \(withFields) of \(all.count) profiles have fields, \(all.values.map(\.count).reduce(0, +)) in all")
        #expect(withFields > 200)
    }

    @Test(
        "units and device classes come from the names of fields",
        arguments: [
            ("temperature_c", "°C", "temperature"), ("battery_percent", "%", "battery"), ("voltage_v", "V", "voltage"),
            ("energy_kwh", "kWh", "energy"), ("pm2_5_ug_m3", "µg/m³", "pm25"), ("co2_ppm", "ppm", "carbon_dioxide"),
            ("weight_kg", "kg", "weight"), ("bpm", "bpm", nil), ("load_percent", "%", nil), ("count", nil, nil),
        ])
    func knowsUnits(name: String, unit: String?, deviceClass: String?) {
        let meaning = FieldMeaning(of: name)
        #expect(meaning.unit == unit && meaning.deviceClass == deviceClass)
    }

    private static let part = PreparedPart("mqtt")
    private static let python = "\(part.folder)/venv/bin/python"
    private static var hindrance: String? { part.lack(of: [python, "\(part.folder)/venv/requirements.txt"]) }

    @Test(
        "Home Assistant's own schemas accept the message of every shipped profile",
        .enabled(unless: hindrance))
    func isAccepted() throws {
        let ground = Ground("discovery")
        let path = ground.write(try messages().joined(separator: "\n") + "\n", to: "messages")
        let (exit, output, talk) = try Child([
            Self.python, MQTTBench.file("check_discovery.py"), path,
        ]).finish()
        print(output.split(separator: "\n").last ?? "")
        #expect(exit == 0, "\(output.prefix(4_000))\(talk.suffix(1_000))")
    }
}
