// The publications to a broker, and the commands that are taken from it.
import WakeMQTT
import WakeModel
import WakeProfiles

public struct MQTTSettings: Hashable, Sendable {
    public var broker: BrokerSettings
    /// The bridge's level in topics; nil for the machine's name.
    public var bridge: String?
    /// The beginning of Home Assistant's topics of discovery; nil for no discovery.
    public var discovery: String? = "homeassistant"
    public var allowed = CommandAllowance()
    /// By `DEVICE.FIELD`.
    public var fields: [String: FieldRule] = [:]
    /// Bytes.
    public var outbox = 4 << 20

    static let keys = BrokerSettings.keys + ["bridge", "discovery", "allow", "fields", "outbox"]
    private static let ruleKeys = ["deadband", "least_interval"]
    private static let longestInterval = TimeSpan.seconds(86_400)

    public init(_ broker: BrokerSettings) { self.broker = broker }

    init?(_ object: ConfigurationObject) {
        guard let broker = BrokerSettings(object) else { return nil }
        self.init(broker)
        bridge = object.text("bridge")
        if object.any("discovery") == .boolean(false) {
            discovery = nil
        } else {
            discovery = object.topic("discovery") ?? discovery
        }
        readAllowed(object)
        outbox = object.size("outbox", in: Outbox.leastCapacity...(1 << 30)) ?? outbox
        readFields(object)
    }

    private mutating func readAllowed(_ object: ConfigurationObject) {
        for text in object.texts("allow") ?? [] {
            guard let entry = CommandAllowance.Entry(text) else {
                object.refuse("allow", expected: CommandAllowance.Entry.form)
                continue
            }
            allowed.entries.insert(entry)
        }
    }

    private mutating func readFields(_ object: ConfigurationObject) {
        guard let found = object.object("fields", keys: nil) else { return }
        for name in found.keys {
            guard let rule = found.object(name, keys: Self.ruleKeys) else { continue }
            guard name.dropFirst().dropLast().contains(".") else {
                found.refuse(name, expected: "a name such as \"chest-strap.bpm\"")
                continue
            }
            let standard = FieldRule()
            fields[name] = FieldRule(
                deadband: rule.number("deadband", in: 0...1e12) ?? standard.deadband,
                leastInterval: rule.span("least_interval", in: .zero...Self.longestInterval)
                    ?? standard.leastInterval)
        }
    }

    /// The rules of one device, by the name of the field.
    public func rules(of alias: String) -> [String: FieldRule] {
        let prefix = alias + "."
        let own = fields.filter { $0.key.hasPrefix(prefix) }
        return Dictionary(uniqueKeysWithValues: own.map { (String($0.key.dropFirst(prefix.count)), $0.value) })
    }
}

extension MQTTSettings {
    /// The values of ``keys``; none where nothing is published.
    static func listed(_ settings: MQTTSettings?) -> [String?] {
        guard let settings else { return keys.map { _ in nil } }
        let broker = settings.broker
        return [
            broker.address.text, broker.user, broker.passwordFile, broker.certificateAuthority, broker.certificate,
            broker.key, broker.base, settings.bridge, settings.discovery ?? "false",
            listed(settings.allowed.entries.map(\.text)), listed(settings.fields.keys), byteCountText(settings.outbox),
        ]
    }

    private static func listed(_ words: some Collection<String>) -> String? {
        words.isEmpty ? nil : words.sorted().joined(separator: ", ")
    }
}
