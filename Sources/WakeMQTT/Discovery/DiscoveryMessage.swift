// How a device is announced to Home Assistant: one message with all its entities, as its MQTT integration discovers them.
import WakeModel
import WakeProfiles

public struct DiscoveryMessage: Hashable, Sendable {
    /// The switches that pause a device, and that free it for a telephone.
    public enum SessionSwitches: Hashable, Sendable {
        /// The device has no session.
        case none
        case shown
        /// The settings do not allow them; they may have done so before.
        case removed
    }

    private let topics: BridgeTopics
    private let version: String
    private let prefix: String

    /// - Parameter prefix: of all topics of Home Assistant's discovery, `homeassistant`.
    public init(topics: BridgeTopics, prefix: String, version: String) {
        (self.topics, self.prefix, self.version) = (topics, prefix, version)
    }

    /// The topic that announces a device; an empty message removes it. A device that gets another name keeps its topic.
    public func topic(ofDevice uri: String) -> String {
        "\(prefix)/device/\(identifier(ofDevice: uri))/config"
    }

    /// Whether a bridge of this name would announce something at the topic, under any prefix.
    public static func announces(at topic: String, _ topics: BridgeTopics) -> Bool {
        let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
        let own = "wakebridge_\(identifier(topics.bridge))"
        guard levels.count >= 4, levels.last == "config" else { return false }
        let name = levels[levels.count - 2]
        return name == own || name.hasPrefix(own + "_")
    }

    public func topic(ofHandler id: String) -> String {
        "\(prefix)/button/\(bridgeIdentifier)_\(Self.identifier(id))/config"
    }

    public var topicOfBridge: String { "\(prefix)/binary_sensor/\(bridgeIdentifier)/config" }

    /// Home Assistant reports here that it has started.
    public var statusTopic: String { "\(prefix)/status" }

    // MARK: Messages

    /// A device with the fields that its profile shows, and those that its values had.
    public func device(
        _ device: Device, model: String?, fields: [ShownField], switches: SessionSwitches, expireAfter: TimeSpan
    ) -> [UInt8] {
        JSONWriter.object { writer in
            writer.object("device") { member in
                member.field("identifiers", [identifier(of: device)])
                member.field("name", device.alias)
                if let model { member.field("model", model) }
                member.field("via_device", bridgeIdentifier)
            }
            writeOrigin(into: &writer)
            writer.object("components") { components in
                for field in fields.prefix(StatePublication.mostFields) {
                    components.key(named: field.path.joined(separator: "."))
                    components.object { write(field, of: device, expireAfter, into: &$0) }
                }
                components.key(named: "event.time")
                components.object { writeTime(of: device, into: &$0) }
                write(switches, of: device, into: &components)
            }
        }
    }

    /// The button that wakes a handler.
    public func handler(_ id: String) -> [UInt8] {
        JSONWriter.object { writer in
            writeBridge(into: &writer)
            writeOrigin(into: &writer)
            writer.field("name", "Wake \(id)")
            writer.field("unique_id", "\(bridgeIdentifier)_wake_\(Self.identifier(id))")
            writer.field("command_topic", topics.command(.wake, of: id))
            writer.field("qos", 1)
            writeAvailability(nil, into: &writer)
        }
    }

    /// Whether the bridge itself runs.
    public func bridge() -> [UInt8] {
        JSONWriter.object { writer in
            writeBridge(into: &writer)
            writeOrigin(into: &writer)
            writer.field("name", "Running")
            writer.field("unique_id", "\(bridgeIdentifier)_running")
            writer.field("device_class", "running")
            writer.field("entity_category", "diagnostic")
            writer.field("state_topic", topics.status)
            writer.field("payload_on", "online")
            writer.field("payload_off", "offline")
        }
    }

    // MARK: Entities

    private func write(
        _ field: ShownField, of device: Device, _ expireAfter: TimeSpan, into writer: inout JSONWriter
    ) {
        let name = field.path.joined(separator: "_")
        writer.field("platform", field.kind == .flag ? "binary_sensor" : "sensor")
        writer.field("name", Self.title(field.path))
        writer.field("unique_id", "\(identifier(of: device))_\(Self.identifier(name))")
        writer.field("state_topic", topics.device(device.alias, .state))
        writeValue(of: field, called: name, into: &writer)
        if Self.isTechnical(name) {
            writer.field("entity_category", "diagnostic")
            writer.field("enabled_by_default", false)
        }
        writer.field("expire_after", max(1, expireAfter.wholeMilliseconds / 1000))
        writeAvailability(device, into: &writer)
    }

    /// The field's template for the state, and its meaning.
    private func writeValue(of field: ShownField, called name: String, into writer: inout JSONWriter) {
        let value = "value_json" + field.path.dropLast().map { ".get('\($0)', {})" }.joined()
        let get = "{% set v = \(value).get('\(field.path.last ?? "")') %}"
        switch field.kind {
        case .flag: writer.field("value_template", get + "{{ none if v is none else 'ON' if v else 'OFF' }}")
        case .text: writer.field("value_template", get + "{{ v }}")
        case .words(let words):
            let known = Self.unique(words.map { $0.filter { $0 != "'" && $0 != "\\" } })
            let list = known.map { "'\($0)'" }.joined(separator: ", ")
            writer.field("value_template", get + "{{ v if v is none or v in [\(list)] else 'other' }}")
            writer.field("device_class", "enum")
            writer.field("options", Self.unique(known + ["other"]))
        case .number:
            let meaning = FieldMeaning(of: name)
            writer.field("value_template", get + "{{ v }}")
            writer.field("state_class", meaning.isTotal ? "total_increasing" : "measurement")
            if let unit = meaning.unit { writer.field("unit_of_measurement", unit) }
            if let deviceClass = meaning.deviceClass { writer.field("device_class", deviceClass) }
        }
    }

    /// When the newest event happened, by the clock of its bridge. It holds also while the device is away.
    private func writeTime(of device: Device, into writer: inout JSONWriter) {
        writer.field("platform", "sensor")
        writer.field("name", "Last event")
        writer.field("unique_id", "\(identifier(of: device))_event_time")
        writer.field("entity_category", "diagnostic")
        writer.field("device_class", "timestamp")
        writer.field("state_topic", topics.device(device.alias, .state))
        writer.field("value_template", "{{ value_json.get('time') }}")
        writeAvailability(nil, into: &writer)
    }

    private func write(_ switches: SessionSwitches, of device: Device, into components: inout JSONWriter) {
        guard switches != .none else { return }
        for control in SessionSwitch.allCases {
            components.key(named: "session.\(control.rawValue)")
            // Home Assistant removes a component that has only its platform.
            components.object { writer in
                writer.field("platform", "switch")
                if switches == .shown { write(control, of: device, into: &writer) }
            }
        }
    }

    private enum SessionSwitch: String, CaseIterable {
        case pause
        case free

        var title: String {
            switch self {
            case .pause: "Pause"
            case .free: "Free for phone"
            }
        }
        var state: LinkSession {
            switch self {
            case .pause: .paused
            case .free: .closed
            }
        }
    }

    /// There also while the device is away: else a device that was freed could not be had back.
    private func write(_ control: SessionSwitch, of device: Device, into writer: inout JSONWriter) {
        writer.field("name", control.title)
        writer.field("unique_id", "\(identifier(of: device))_session_\(control.rawValue)")
        writer.field("entity_category", "config")
        writer.field("state_topic", topics.device(device.alias, .session))
        writer.field("command_topic", topics.command(.session, of: device.alias))
        writer.field("value_template", "{{ 'ON' if value == '\(control.state.rawValue)' else 'OFF' }}")
        writer.field("state_on", "ON")
        writer.field("state_off", "OFF")
        writer.field("payload_on", control.state.rawValue)
        writer.field("payload_off", LinkSession.open.rawValue)
        writer.field("qos", 1)
        writeAvailability(nil, into: &writer)
    }

    // MARK: Parts

    private func writeAvailability(_ device: Device?, into writer: inout JSONWriter) {
        let all = [topics.status] + (device.map { [topics.device($0.alias, .availability)] } ?? [])
        writer.objects("availability", all) { $0.field("topic", $1) }
        writer.field("availability_mode", "all")
    }

    private func writeOrigin(into writer: inout JSONWriter) {
        writer.object("origin") { origin in
            origin.field("name", "WakeBridge")
            origin.field("sw_version", version)
        }
    }

    private func writeBridge(into writer: inout JSONWriter) {
        writer.object("device") { member in
            member.field("identifiers", [bridgeIdentifier])
            member.field("name", "WakeBridge \(topics.bridge)")
            member.field("sw_version", version)
        }
    }

    private var bridgeIdentifier: String { "wakebridge_\(Self.identifier(topics.bridge))" }

    private func identifier(of device: Device) -> String { identifier(ofDevice: device.uri) }

    /// By its source: a device that is named otherwise stays the same.
    private func identifier(ofDevice uri: String) -> String { "\(bridgeIdentifier)_\(Self.identifier(uri))" }

    /// In the characters that Home Assistant accepts; no two names have the same.
    static func identifier(_ name: String) -> String {
        var result: [UInt8] = []
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                result.append(byte)
            default: result.append(contentsOf: "_\(String(byte, radix: 16))".utf8)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// `battery_percent` of the group `power` is "Power battery percent".
    static func title(_ path: [String]) -> String {
        let words = path.flatMap { $0.split(separator: "_") }
        let text = words.joined(separator: " ")
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    private static func isTechnical(_ name: String) -> Bool {
        let words = name.split(separator: "_")
        return ["flags", "reserved", "unknown", "sequence", "crc", "counter", "rest", "head"].contains {
            words.contains(Substring($0))
        }
    }

    private static func unique(_ texts: [String]) -> [String] {
        var result: [String] = []
        for text in texts where !result.contains(text) { result.append(text) }
        return result
    }
}

extension JSONWriter {
    fileprivate static func object(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object(write)
        return writer.bytes
    }
}
