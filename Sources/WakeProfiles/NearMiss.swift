// The nearest miss: which demand of a profile a device does not meet, and what the device has in its place.
import WakeModel

/// The facts about a present device that profiles ask for.
public struct DeviceFacts: Hashable, Sendable {
    public var kind: SourceKind
    public var services: Set<BluetoothUUID>
    public var name: String?
    /// Properties from udev.
    public var properties: [String: String]
    public var advertisement: [UInt8]

    public init(
        kind: SourceKind, services: Set<BluetoothUUID> = [], name: String? = nil, properties: [String: String] = [:],
        advertisement: [UInt8] = []
    ) {
        (self.kind, self.services, self.name) = (kind, services, name)
        (self.properties, self.advertisement) = (properties, advertisement)
    }
}

/// A characteristic that a device offers.
public struct OfferedCharacteristic: Hashable, Sendable {
    public var uuid: BluetoothUUID
    public var canNotify: Bool

    public init(_ uuid: BluetoothUUID, canNotify: Bool) { (self.uuid, self.canNotify) = (uuid, canNotify) }
}

/// A profile that a device does not fit, or that it fits without all that the profile listens to.
public struct NearMiss: Hashable, Sendable {
    public enum Demand: Hashable, Sendable {
        /// The most similar services that the device offers come first.
        case service(BluetoothUUID, offered: [BluetoothUUID])
        case name(beginsWith: [String], found: String?)
        case property(String, values: [String], found: String?)
        case broadcast(AdvertisementPart)
        /// The profile fits, and so does another one that asks for more.
        case rank(otherProfile: String)
        /// The most similar characteristics that the device offers come first.
        case characteristic(BluetoothUUID, offered: [OfferedCharacteristic])
    }

    public var profile: String
    /// Never empty; the first one is the most useful.
    public var unmet: [Demand]
    /// 1 where everything is met, 0 where nothing is even similar.
    public var similarity: Double

    /// Compares the profile's demand with the device; "it" is the device.
    public var sentence: String {
        let others =
            unmet.count > 1
            ? ", and \((unmet.count - 1).counted("other demand")) of it \(unmet.count == 2 ? "is" : "are") not met" : ""
        return "the profile \(profile) \(unmet[0].sentence)\(others)"
    }
}

extension NearMiss.Demand {
    fileprivate var sentence: String {
        switch self {
        case .service(let wanted, let offered):
            "asks for the service \(wanted), and it offers \(Self.list(offered.map(\.description), of: "service"))"
        case .name(let beginnings, let found):
            "asks for a name that begins with \(Self.alternatives(beginnings.map { "\"\($0)\"" })), and "
                + (found.map { "it is called \"\($0.plain(toBytes: 64))\"" } ?? "it has no name")
        case .property(let name, let values, let found):
            "asks for \(name) \(Self.alternatives(values)), and it has \(found.map { $0.plain(toBytes: 64) } ?? "none")"
        case .broadcast(let part): "asks for broadcasts with \(part.noun), and none of its broadcasts fits"
        case .rank(let other): "fits it too, and \(other) asks for more, so it has the profile \(other)"
        case .characteristic(let wanted, let offered):
            offered.contains { $0.uuid == wanted }
                ? "listens to the characteristic \(wanted), and it offers that without notifications"
                : "listens to the characteristic \(wanted), and it offers "
                    + Self.list(offered.map(\.uuid.description), of: "characteristic")
        }
    }

    private static let mostListed = 4

    private static func list(_ texts: [String], of noun: String) -> String {
        guard !texts.isEmpty else { return "no \(noun)" }
        let rest = texts.count - mostListed
        return texts.prefix(mostListed).joined(separator: ", ") + (rest > 0 ? " and \(rest.counted("other"))" : "")
    }

    private static func alternatives(_ texts: [String]) -> String {
        let rest = texts.count - mostListed
        return texts.prefix(mostListed).joined(separator: " or ") + (rest > 0 ? " or \(rest.counted("other"))" : "")
    }
}

extension AdvertisementPart {
    fileprivate var noun: String {
        switch self {
        case .serviceData(let uuid): "data of the service \(uuid)"
        case .manufacturerData(let company):
            "data of the manufacturer 0x\([UInt8(company >> 8), UInt8(company & 255)].hexadecimal)"
        case .anyManufacturerData: "data of a manufacturer"
        }
    }
}

// MARK: Comparing

extension ProfileLibrary {
    /// The demands of one profile that the device does not meet; nil where the device gets this profile, and where the profile
    /// is of devices of another kind.
    public func miss(of facts: DeviceFacts, by profile: ProfileIndex) -> NearMiss? {
        let head = head(profile)
        let isOfKind = head.kind == facts.kind || head.node == .rfcomm && facts.kind == .bluetoothCentral
        guard isOfKind else { return nil }
        if let miss = NearMiss(of: facts, by: head) { return miss }
        guard let taken = match(facts), taken != profile else { return nil }
        return NearMiss(profile: head.name, unmet: [.rank(otherProfile: name(taken))], similarity: 1)
    }

    /// The one of the profiles that misses by least; nil where the device gets a profile, or nothing is similar.
    public func nearestMiss(of facts: DeviceFacts, among isMeant: (ProfileHead) -> Bool) -> NearMiss? {
        guard match(facts) == nil else { return nil }
        let misses = heads.filter(isMeant).compactMap { index(named: $0.name) }.compactMap { miss(of: facts, by: $0) }
        // Between equals the first by name wins.
        return misses.filter { $0.similarity > 0 }.max {
            ($0.similarity, $1.profile) < ($1.similarity, $0.profile)
        }
    }

    /// The profile that the device gets.
    public func match(_ facts: DeviceFacts) -> ProfileIndex? {
        match(
            kind: facts.kind, services: Array(facts.services), name: facts.name,
            properties: facts.properties.map { ($0.key, $0.value) }, advertisement: facts.advertisement)
    }
}

extension NearMiss {
    /// Nil where the device meets every demand of the profile's match.
    fileprivate init?(of facts: DeviceFacts, by head: ProfileHead) {
        let demands = head.match.demands(on: facts)
        let unmet = demands.filter { $0.similarity < 1 }.sorted { $0.similarity > $1.similarity }
        guard !unmet.isEmpty else { return nil }
        self.init(
            profile: head.name, unmet: unmet.map(\.demand),
            similarity: demands.reduce(0) { $0 + $1.similarity } / Double(demands.count))
    }

    /// The first characteristic that a profile listens to and the device does not offer, or offers without notifications.
    public init?(profile: String, listensTo wanted: [BluetoothUUID], offered: [OfferedCharacteristic]) {
        let audible = Set(offered.filter(\.canNotify).map(\.uuid))
        let lacks = wanted.filter { !audible.contains($0) }
        guard !lacks.isEmpty else { return nil }
        let unmet = lacks.map { lack in
            Demand.characteristic(
                lack, offered: offered.sorted { $0.uuid.similarity(to: lack) > $1.uuid.similarity(to: lack) })
        }
        self.init(
            profile: profile, unmet: unmet, similarity: 1 - Double(lacks.count) / Double(wanted.count))
    }
}

extension Profile.Match {
    /// Each demand with how far it is met, from 0 to 1.
    fileprivate func demands(on facts: DeviceFacts) -> [(demand: NearMiss.Demand, similarity: Double)] {
        services.map { service(on: facts, $0) } + name(on: facts) + properties.map { property(on: facts, $0) }
            + broadcast(on: facts)
    }

    private func service(on facts: DeviceFacts, _ wanted: BluetoothUUID) -> (NearMiss.Demand, Double) {
        let offered = facts.services.filter { $0 == wanted || !Self.isOfEveryDevice($0) }
            .map { (uuid: $0, similarity: $0.similarity(to: wanted)) }
            .sorted { ($1.similarity, $0.uuid.description) < ($0.similarity, $1.uuid.description) }
        let best = offered.first?.similarity ?? 0
        // A service that is nearly the same is the one that was meant, and counts for more than a common name.
        let isMeant = best > 0.5
        let shown = isMeant ? Array(offered.prefix(1)) : offered
        return (.service(wanted, offered: shown.map(\.uuid)), best == 1 ? 1 : isMeant ? best * 0.9 : best / 2)
    }

    /// Generic access and generic attribute.
    private static func isOfEveryDevice(_ uuid: BluetoothUUID) -> Bool { uuid.short == 0x1800 || uuid.short == 0x1801 }

    private func name(on facts: DeviceFacts) -> [(NearMiss.Demand, Double)] {
        guard !namePrefixes.isEmpty else { return [] }
        let name = facts.name ?? ""
        let best = namePrefixes.map { wanted -> Double in
            if name.hasPrefix(wanted) { return 1 }
            let common = zip(name.lowercased(), wanted.lowercased()).prefix { $0 == $1 }.count
            return Double(common) / Double(wanted.count) / 2
        }
        return [(.name(beginsWith: namePrefixes, found: facts.name), best.max() ?? 0)]
    }

    private func property(on facts: DeviceFacts, _ wanted: Property) -> (NearMiss.Demand, Double) {
        let found = facts.properties[wanted.name]
        let isMet = found.map(wanted.values.contains) ?? false
        return (.property(wanted.name, values: wanted.values, found: found), isMet ? 1 : found == nil ? 0 : 0.1)
    }

    private func broadcast(on facts: DeviceFacts) -> [(NearMiss.Demand, Double)] {
        guard let first = broadcasts.first else { return [] }
        return [(.broadcast(first.part), fits(facts.advertisement) ? 1 : 0)]
    }
}

extension BluetoothUUID {
    /// The share of its digits that are the same; two short forms have four digits, and a short one is like no long one.
    fileprivate func similarity(to other: BluetoothUUID) -> Double {
        if self == other { return 1 }
        switch (short, other.short) {
        case (let own?, let other?): return Double(8 - Self.unlikeDigits(UInt64(own), UInt64(other)) - 4) / 4
        case (nil, nil):
            return Double(32 - Self.unlikeDigits(high, other.high) - Self.unlikeDigits(low, other.low)) / 32
        case (_?, nil), (nil, _?): return 0
        }
    }

    private static func unlikeDigits(_ one: UInt64, _ other: UInt64) -> Int {
        (0..<16).count { (one ^ other) >> (4 * UInt64($0)) & 15 != 0 }
    }
}
