// A service of a peripheral as a manifest declares it, and its characteristics.
import WakeModel

public struct PeripheralService: Hashable, Sendable {
    public var uuid: BluetoothUUID
    /// A central can find the peripheral by it.
    public var isAdvertised = true
    public var characteristics: [PeripheralCharacteristic]

    private static let keys = ["uuid", "advertised", "characteristics"]
    static let manifestKeys =
        keys.filter { $0 != "characteristics" } + PeripheralCharacteristic.keys.map { "characteristics[].\($0)" }
    private static let example =
        "{\"uuid\":\"180d\",\"characteristics\":[{\"uuid\":\"2a37\",\"properties\":[\"notify\"]}]}"
    /// Generic Access and Generic Attribute, which bluetoothd serves itself.
    private static let reserved: Set<BluetoothUUID> = [BluetoothUUID(short: 0x1800), BluetoothUUID(short: 0x1801)]

    init(_ value: JSONValue) throws(ProtocolFault) {
        let object = try RuleObject(
            value, owner: "a service of \"peripheral\"", keys: Self.keys, example: Self.example)
        uuid = try object.attributeUUID(example: Self.example)
        guard !Self.reserved.contains(uuid) else {
            throw ProtocolFault(
                .conflict,
                "The service \(uuid) of \"peripheral\" belongs to bluetoothd, which serves it to every central.",
                advice: "Leave it out; \"name\" of \"peripheral\" is for the name.")
        }
        isAdvertised = object.flag("advertised") ?? true
        try object.conclude()
        guard let list = object["characteristics"] else {
            throw .malformed(
                "The service \(uuid) of \"peripheral\" lacks \"characteristics\".", advice: "Write \(Self.example).")
        }
        guard let values = list.array, !values.isEmpty else {
            throw object.fault(
                "characteristics", takes: "a list with a characteristic", list, advice: "Write \(Self.example).")
        }
        var characteristics: [PeripheralCharacteristic] = []
        for value in values { characteristics.append(try PeripheralCharacteristic(value)) }
        self.characteristics = characteristics
    }
}

public struct PeripheralCharacteristic: Hashable, Sendable {
    public enum Property: String, Hashable, Sendable, CaseIterable {
        case read, write, notify, indicate
        case writeWithoutResponse = "write-without-response"
        case reliableWrite = "reliable-write"
    }

    /// The demands on a central for every access.
    public enum Security: String, Hashable, Sendable, CaseIterable {
        case none, encrypted
        /// Encrypted with a key against a man in the middle.
        case authenticated
        /// Encrypted, and bluetoothd keeps its key.
        case bonded
    }

    public var uuid: BluetoothUUID
    public var properties: Set<Property>
    /// Before its handler serves one.
    public var value: [UInt8] = []
    /// Each read asks its handler.
    public var isDynamic = false
    public var security = Security.none

    /// The limit of an attribute (Core Specification, Vol 3, Part F, 3.2.9).
    public static let longestValue = 512
    fileprivate static let keys = ["uuid", "properties", "value", "dynamic", "require"]
    private static let example = "{\"uuid\":\"2a37\",\"properties\":[\"read\",\"notify\"],\"value\":\"0048\"}"

    public var isReadable: Bool { properties.contains(.read) }
    public var isWritable: Bool { properties.contains(.write) || properties.contains(.writeWithoutResponse) }
    public var isNotified: Bool { properties.contains(.notify) || properties.contains(.indicate) }
    /// The bridge answers its writes. Bluetoothd itself answers at once where writes without a response are possible.
    public var confirmsWrites: Bool { !properties.contains(.writeWithoutResponse) }

    init(_ value: JSONValue) throws(ProtocolFault) {
        let object = try RuleObject(
            value, owner: "a characteristic of \"peripheral\"", keys: Self.keys, example: Self.example)
        uuid = try object.attributeUUID(example: Self.example)
        properties = try Self.properties(in: object, of: uuid)
        isDynamic = object.flag("dynamic") ?? false
        security = object.word("require") ?? .none
        if let value = object["value"] {
            self.value = try [UInt8](value, "value", of: "the characteristic \(uuid) of \"peripheral\"")
        }
        try object.conclude()
        try refuseContradictions(hasValue: object["value"] != nil)
    }

    private static func properties(
        in object: RuleObject, of uuid: BluetoothUUID
    ) throws(ProtocolFault) -> Set<Property> {
        let known = Property.allCases.map(\.rawValue)
        guard let list = object["properties"] else {
            throw .malformed(
                "The characteristic \(uuid) of \"peripheral\" lacks \"properties\".", advice: "Write \(example).")
        }
        guard let values = list.array, !values.isEmpty else {
            throw object.fault("properties", takes: "a list of \(known.listed)", list, advice: "Write \(example).")
        }
        var properties: Set<Property> = []
        for value in values {
            guard let text = value.string, let property = Property(rawValue: text) else {
                throw ProtocolFault(
                    .unknownToken,
                    "\"properties\" of the characteristic \(uuid) knows no \(value.excerpt)\(nearest(to: value.string ?? "", in: known)).",
                    advice: "Write \(known.listed).")
            }
            guard properties.insert(property).inserted else {
                throw ProtocolFault(
                    .conflict, "\"properties\" of the characteristic \(uuid) holds \"\(text)\" twice.",
                    advice: "Keep one.")
            }
        }
        return properties
    }

    private func refuseContradictions(hasValue: Bool) throws(ProtocolFault) {
        func conflict(_ sentence: String, _ advice: String) -> ProtocolFault {
            ProtocolFault(.conflict, "The characteristic \(uuid) of \"peripheral\" \(sentence).", advice: advice)
        }
        if isDynamic, !isReadable {
            throw conflict("has \"dynamic\", and cannot be read", "Add \"read\" to its properties, or leave it out.")
        }
        if isDynamic, hasValue {
            throw conflict("has \"dynamic\" and \"value\"", "Keep one: its handler answers each read, or none.")
        }
        if hasValue, !isReadable {
            throw conflict("has \"value\", and cannot be read", "Add \"read\" to its properties, or leave it out.")
        }
        if properties.contains(.reliableWrite), !properties.contains(.write) {
            throw conflict("has \"reliable-write\" without \"write\"", "Add \"write\" to its properties.")
        }
        if security != .none, properties.contains(.writeWithoutResponse), !properties.contains(.write) {
            throw conflict(
                "has \"require\", which bluetoothd cannot demand for \"write-without-response\" alone",
                "Add \"write\" to its properties, or leave \"require\" out.")
        }
    }
}

extension RuleObject {
    /// Declarations and descriptors, which bluetoothd makes itself (Assigned Numbers, 3.5 and 3.7).
    private static let attributeTypes: [ClosedRange<UInt32>] = [0x2800...0x2803, 0x2900...0x2910]

    fileprivate func attributeUUID(example: String) throws(ProtocolFault) -> BluetoothUUID {
        guard let value = self["uuid"] else {
            throw .malformed("\(owner) lacks \"uuid\".", advice: "Write \(example).")
        }
        guard let uuid = value.string.flatMap({ BluetoothUUID($0) }) else {
            throw fault(
                "uuid", takes: "a UUID in quotes", value, advice: "Write 4 digits, such as \"180d\", or 36 characters.")
        }
        if let short = uuid.short, Self.attributeTypes.contains(where: { $0.contains(short) }) {
            throw ProtocolFault(
                .conflict, "\"uuid\" of \(owner) is \(uuid), which is a declaration or a descriptor.",
                advice: "Leave it out: bluetoothd makes these.")
        }
        if uuid.short == 0 || uuid.high == 0 && uuid.low == 0 {
            throw ProtocolFault(
                .conflict, "\"uuid\" of \(owner) is \(uuid), which names nothing.", advice: "Write another one.")
        }
        return uuid
    }
}

extension [UInt8] {
    /// A value of a characteristic, in hexadecimal.
    /// - Parameter owner: what it belongs to, for the sentence.
    init(_ value: JSONValue, _ key: String, of owner: String) throws(ProtocolFault) {
        guard let bytes = value.string.flatMap({ [UInt8](hexadecimal: $0) }) else {
            throw .malformed(
                "\"\(key)\" of \(owner) must be bytes in hexadecimal; got \(value.excerpt).",
                advice: "Write two digits for each byte, in quotes.")
        }
        guard bytes.count <= PeripheralCharacteristic.longestValue else {
            throw ProtocolFault(
                .tooLong,
                "\"\(key)\" of \(owner) has \(bytes.count) bytes, and \(PeripheralCharacteristic.longestValue) are the most.",
                advice: "Write a shorter value.")
        }
        self = bytes
    }
}
