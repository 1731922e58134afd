// The peripheral that a manifest makes of its handler: its name, how it advertises, and its services.
import WakeModel

public struct PeripheralRule: Hashable, Sendable {
    /// When the peripheral can be found.
    public enum Advertising: String, Hashable, Sendable, CaseIterable { case always, attached, never }
    /// When its advertisement contains the name.
    public enum Naming: String, Hashable, Sendable, CaseIterable { case always, attached }

    public var name: String?
    public var naming = Naming.attached
    public var advertising = Advertising.always
    /// Nil for a short one while a person is attached, and a long one otherwise.
    public var interval: TimeSpan?
    /// The address or the name, such as `hci0`, of its adapter; nil for the first that is on.
    public var adapter: String?
    public var services: [PeripheralService]

    public static let mostServices = 8
    public static let mostCharacteristics = 16
    /// A scan response has 31 bytes, and the name's length and type take two of them.
    public static let longestName = 29
    /// A legacy advertisement (Core Specification, Vol 6, Part B, 2.3.1).
    public static let longestAdvertisement = 31
    private static let shortestInterval = TimeSpan.milliseconds(20)
    private static let longestInterval = TimeSpan.milliseconds(10_240)
    private static let example =
        "{\"name\":\"Pulse\",\"services\":[{\"uuid\":\"180d\",\"characteristics\":[{\"uuid\":\"2a37\",\"properties\":[\"notify\"]}]}]}"
    static let manifestExample = "\"peripheral\":\(example)"
    private static let keys = ["name", "show_name", "advertise", "adapter", "services"]
    private static let spans = ["interval"]
    /// The keys of the manifest's `peripheral`.
    package static let manifestKeys =
        keys.filter { $0 != "services" } + spans + PeripheralService.manifestKeys.map { "services[].\($0)" }

    public var characteristics: [PeripheralCharacteristic] { services.flatMap(\.characteristics) }

    public func characteristic(_ uuid: BluetoothUUID) -> PeripheralCharacteristic? {
        characteristics.first { $0.uuid == uuid }
    }

    public func service(of characteristic: BluetoothUUID) -> BluetoothUUID? {
        services.first { $0.characteristics.contains { $0.uuid == characteristic } }?.uuid
    }

    /// The service that both serve on what may be one adapter: a central could not choose between them.
    public func sharedService(with other: PeripheralRule) -> BluetoothUUID? {
        if let adapter, let theirs = other.adapter, adapter != theirs { return nil }
        let own = Set(services.map(\.uuid))
        return other.services.map(\.uuid).first(where: own.contains)
    }

    public init(_ value: JSONValue) throws(ProtocolFault) {
        let object = try RuleObject(
            value, owner: "\"peripheral\"", keys: Self.keys, spans: Self.spans, example: Self.example)
        services = try Self.services(in: object)
        name = try Self.name(in: object)
        naming = object.word("show_name") ?? .attached
        advertising = object.word("advertise") ?? .always
        interval = object.span("interval", from: Self.shortestInterval, to: Self.longestInterval)
        adapter = try Self.adapter(in: object)
        try object.conclude()
        try refuseContradictions(in: object)
    }

    private static func name(in object: RuleObject) throws(ProtocolFault) -> String? {
        guard let value = object["name"] else { return nil }
        let isPlain = { (text: String) in
            !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 }
        }
        guard let text = value.string, isPlain(text) else {
            throw object.fault(
                "name", takes: "a text without control characters", value, advice: "Write a short name in quotes.")
        }
        guard text.utf8.count <= longestName else {
            throw ProtocolFault(
                .tooLong,
                "\"name\" of \"peripheral\" has \(text.utf8.count) bytes, and \(longestName) fit into a scan response.",
                advice: "Write a shorter one.")
        }
        return text
    }

    private static func adapter(in object: RuleObject) throws(ProtocolFault) -> String? {
        guard let value = object["adapter"] else { return nil }
        let text = value.string ?? ""
        if text.hasPrefix("hci"), let number = UInt16(text.dropFirst(3)), text == "hci\(number)" { return text }
        guard RadioAddress(text) != nil else {
            throw object.fault(
                "adapter", takes: "an address or a name such as \"hci0\"", value,
                advice: "Write one that 'wakebridge doctor' lists, or leave it out for the first that is on.")
        }
        return text.uppercased()
    }

    private static func services(in object: RuleObject) throws(ProtocolFault) -> [PeripheralService] {
        guard let value = object["services"] else {
            throw .malformed("\"peripheral\" lacks \"services\".", advice: "Write \(example).")
        }
        guard let values = value.array, !values.isEmpty else {
            throw object.fault("services", takes: "a list with a service", value, advice: "Write \(example).")
        }
        guard values.count <= mostServices else {
            throw ProtocolFault(
                .tooMany, "\"services\" of \"peripheral\" holds \(values.count), and \(mostServices) are the most.",
                advice: "Leave some out, or give them to another handler.")
        }
        var services: [PeripheralService] = []
        for value in values {
            let service = try PeripheralService(value)
            guard !services.contains(where: { $0.uuid == service.uuid }) else {
                throw ProtocolFault(
                    .conflict, "Two services of \"peripheral\" have the UUID \(service.uuid).",
                    advice: "Put all their characteristics into one.")
            }
            services.append(service)
        }
        return services
    }

    private func refuseContradictions(in object: RuleObject) throws(ProtocolFault) {
        if name == nil, object["show_name"] != nil {
            throw ProtocolFault(
                .conflict, "\"peripheral\" has \"show_name\" and no \"name\".", advice: "Write both, or neither.")
        }
        if advertising == .never, interval != nil {
            throw ProtocolFault(
                .conflict, "\"peripheral\" has \"interval\", and never advertises.",
                advice: "Leave it out, or write \"advertise\":\"always\".")
        }
        try refuseDoubles()
        let length = advertisedLength
        guard advertising == .never || length <= Self.longestAdvertisement else {
            throw ProtocolFault(
                .tooLong,
                "The services of \"peripheral\" make an advertisement of \(length) bytes, and \(Self.longestAdvertisement) are the most.",
                advice: "Write \"advertised\":false in those that a central need not find.")
        }
    }

    private func refuseDoubles() throws(ProtocolFault) {
        let uuids = characteristics.map(\.uuid)
        guard uuids.count <= Self.mostCharacteristics else {
            throw ProtocolFault(
                .tooMany,
                "\"peripheral\" has \(uuids.count) characteristics, and \(Self.mostCharacteristics) are the most.",
                advice: "Leave some out, or give a service to another handler.")
        }
        guard let double = uuids.indices.first(where: { uuids[..<$0].contains(uuids[$0]) }) else { return }
        throw ProtocolFault(
            .conflict, "Two characteristics of \"peripheral\" have the UUID \(uuids[double]).",
            advice: "Keep one: events and orders name it by its UUID.")
    }

    /// Bytes: the flags, and a list of UUIDs of each length.
    private var advertisedLength: Int {
        let flags = 3
        let lengths = services.filter(\.isAdvertised).map(\.uuid.advertisedLength)
        return flags + Set(lengths).reduce(0) { sum, length in sum + 2 + length * lengths.count { $0 == length } }
    }
}

extension BluetoothUUID {
    /// How many bytes it takes in an advertisement.
    fileprivate var advertisedLength: Int { short.map { $0 > 0xffff ? 4 : 2 } ?? 16 }
}
