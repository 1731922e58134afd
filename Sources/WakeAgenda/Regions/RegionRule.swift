// A region as a manifest declares it: a name, and the beacons that it is made of.
import WakeModel

public struct RegionRule: Hashable, Sendable {
    public var id: String
    public var beacon: BeaconPattern

    public init(id: String, beacon: BeaconPattern) { (self.id, self.beacon) = (id, beacon) }

    /// The most regions of one handler.
    public static let limit = 20
    private static let example = "{\"id\":\"home\",\"beacon\":{\"ibeacon\":\"f7826da6-4fa2-4e98-8024-bc5b71e0893e\"}}"
    static let manifestExample = "\"regions\":[\(example)]"
    private static let keys = ["id", "beacon"]
    /// The keys of the manifest's `regions`.
    package static let manifestKeys = keys + BeaconPattern.keys.map { "beacon.\($0)" }

    /// The manifest's `regions`.
    public static func list(_ value: JSONValue) throws(ProtocolFault) -> [RegionRule] {
        let count = value.array?.count ?? 0
        guard count <= limit else {
            throw ProtocolFault(
                .tooMany, "\"regions\" holds \(count), and \(limit) are the most.",
                advice: "Leave some out: a region without \"minor\" or \"instance\" takes many beacons.")
        }
        return try value.rules(of: "regions", advice: "Write [\(example)].") {
            (value, others: [RegionRule]) throws(ProtocolFault) in
            let rule = try RegionRule(value)
            guard !others.contains(where: { $0.id == rule.id }) else {
                throw ProtocolFault(
                    .conflict, "Two regions have the id \"\(rule.id)\".", advice: "Give each an id of its own.")
            }
            return rule
        }
    }

    init(_ value: JSONValue) throws(ProtocolFault) {
        let object = try RuleObject(value, owner: "a region", keys: Self.keys, example: Self.example)
        id = try object.identifier("id")
        guard let beacon = object["beacon"] else {
            throw .malformed("The region \"\(id)\" lacks \"beacon\".", advice: "Write \(Self.example).")
        }
        self.beacon = try BeaconPattern(beacon, of: id)
    }
}

extension BeaconPattern {
    private static let forms = [
        ("ibeacon", ["major", "minor"]), ("altbeacon", ["major", "minor"]), ("eddystone", ["instance"]),
    ]

    fileprivate static var keys: [String] {
        let all = forms.flatMap { [$0.0] + $0.1 }
        return all.indices.filter { all.firstIndex(of: all[$0]) == $0 }.map { all[$0] }
    }

    init(_ value: JSONValue, of id: String) throws(ProtocolFault) {
        let owner = "\"beacon\" of the region \"\(id)\""
        let advice = "Write {\"ibeacon\":\"f7826da6-4fa2-4e98-8024-bc5b71e0893e\",\"major\":1,\"minor\":2}."
        let named = Self.forms.filter { value[$0.0] != nil }
        guard named.count == 1, let form = named.first else {
            throw .malformed(
                "\(owner) must have one of \(Self.forms.map { "\"\($0.0)\"" }.listed); got \(value.excerpt).",
                advice: advice)
        }
        let object = try RuleObject(value, owner: owner, keys: [form.0] + form.1, example: advice)
        switch form.0 {
        case "eddystone":
            let namespace = try Self.bytes("eddystone", 10, of: object) ?? []
            self = .eddystone(namespace: namespace, instance: try Self.bytes("instance", 6, of: object))
        default:
            guard let text = value[form.0]?.string, text.utf8.count == 36, let uuid = BluetoothUUID(text) else {
                throw object.fault(form.0, takes: "a UUID of 36 characters", value[form.0] ?? .null, advice: advice)
            }
            let (major, minor) = (try Self.number("major", of: object), try Self.number("minor", of: object))
            guard major != nil || minor == nil else {
                throw ProtocolFault(
                    .conflict, "\(owner) has \"minor\" and no \"major\".", advice: "Write both, or \"major\" alone.")
            }
            self =
                form.0 == "ibeacon"
                ? .iBeacon(uuid: uuid, major: major, minor: minor) : .altBeacon(uuid: uuid, major: major, minor: minor)
        }
    }

    private static func number(_ key: String, of object: RuleObject) throws(ProtocolFault) -> UInt16? {
        guard let value = object[key] else { return nil }
        guard let number = value.integer.flatMap({ UInt16(exactly: $0) }) else {
            throw object.fault(key, takes: "a number from 0 to 65535", value, advice: "Write the number alone.")
        }
        return number
    }

    private static func bytes(_ key: String, _ count: Int, of object: RuleObject) throws(ProtocolFault) -> [UInt8]? {
        guard let value = object[key] else { return nil }
        guard let bytes = value.string.flatMap({ [UInt8](hexadecimal: $0) }), bytes.count == count else {
            throw object.fault(
                key, takes: "\(count) bytes in hexadecimal", value, advice: "Write \(2 * count) digits in quotes.")
        }
        return bytes
    }

    /// The name of a pattern, which identifies a stored state as this one's.
    var word: String {
        switch self {
        case .iBeacon(let uuid, let major, let minor): Self.word("ibeacon", uuid, major, minor)
        case .altBeacon(let uuid, let major, let minor): Self.word("altbeacon", uuid, major, minor)
        case .eddystone(let namespace, let instance):
            "eddystone \(namespace.hexadecimal) \(instance?.hexadecimal ?? "*")"
        }
    }

    private static func word(_ form: String, _ uuid: BluetoothUUID, _ major: UInt16?, _ minor: UInt16?) -> String {
        "\(form) \(uuid) \(major.map(String.init) ?? "*") \(minor.map(String.init) ?? "*")"
    }
}
