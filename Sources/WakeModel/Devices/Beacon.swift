// Beacons: which one an advertisement names, and which of them a region of a manifest means.

/// The identity that a beacon advertises.
public enum Beacon: Hashable, Sendable {
    case iBeacon(uuid: BluetoothUUID, major: UInt16, minor: UInt16)
    /// The same form with the code of the open specification; of any company.
    case altBeacon(uuid: BluetoothUUID, major: UInt16, minor: UInt16)
    /// Ten bytes of a namespace, six of an instance.
    case eddystone(namespace: [UInt8], instance: [UInt8])
}

/// The beacons that a region is made of; nil parts are any.
public enum BeaconPattern: Hashable, Sendable {
    case iBeacon(uuid: BluetoothUUID, major: UInt16?, minor: UInt16?)
    case altBeacon(uuid: BluetoothUUID, major: UInt16?, minor: UInt16?)
    case eddystone(namespace: [UInt8], instance: [UInt8]?)

    public func fits(_ beacon: Beacon) -> Bool {
        switch (self, beacon) {
        case (.iBeacon(let uuid, let major, let minor), .iBeacon(let itsUUID, let itsMajor, let itsMinor)),
            (.altBeacon(let uuid, let major, let minor), .altBeacon(let itsUUID, let itsMajor, let itsMinor)):
            uuid == itsUUID && (major ?? itsMajor) == itsMajor && (minor ?? itsMinor) == itsMinor
        case (.eddystone(let namespace, let instance), .eddystone(let itsNamespace, let itsInstance)):
            namespace == itsNamespace && (instance ?? itsInstance) == itsInstance
        case (.iBeacon, _), (.altBeacon, _), (.eddystone, _): false
        }
    }
}

extension Beacon {
    /// The first that the AD structures of an advertisement name; nil where they name none.
    public init?(advertisement bytes: [UInt8]) {
        for structure in AdvertisementBytes(bytes) {
            guard let beacon = Beacon(type: structure.type, structure.data) else { continue }
            self = beacon
            return
        }
        return nil
    }

    /// Layouts: a company's data with Apple's number and type 02 15, or the code be ac of AltBeacon, then 16 bytes, two
    /// numbers, the measured power; service data of Eddystone with the frame type 00, the power, ten and six bytes.
    private init?(type: UInt8, _ data: ArraySlice<UInt8>) {
        let bytes = Array(data)
        switch (type, bytes.count) {
        case (0xff, 25) where bytes[0...3] == [0x4c, 0x00, 0x02, 0x15]:
            self = .iBeacon(uuid: Self.uuid(bytes), major: bytes.big(20), minor: bytes.big(22))
        case (0xff, 26) where bytes[2...3] == [0xbe, 0xac]:
            self = .altBeacon(uuid: Self.uuid(bytes), major: bytes.big(20), minor: bytes.big(22))
        case (0x16, 20...) where bytes[0...2] == [0xaa, 0xfe, 0x00]:
            self = .eddystone(namespace: Array(bytes[4..<14]), instance: Array(bytes[14..<20]))
        default: return nil
        }
    }

    private static func uuid(_ bytes: [UInt8]) -> BluetoothUUID {
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        return BluetoothUUID(high: number(4..<12), low: number(12..<20))
    }
}

extension [UInt8] {
    fileprivate func big(_ place: Int) -> UInt16 { UInt16(self[place]) << 8 | UInt16(self[place + 1]) }
}

/// The AD structures of an advertisement, one after the other; what is cut short ends them (Core Specification, Vol 3,
/// Part C, 11).
public struct AdvertisementBytes: Swift.Sequence, IteratorProtocol {
    public struct Structure: Hashable, Sendable {
        public var type: UInt8
        /// Behind the type.
        public var data: ArraySlice<UInt8>
    }

    private var rest: ArraySlice<UInt8>

    public init(_ bytes: [UInt8]) { rest = bytes[...] }

    public mutating func next() -> Structure? {
        guard let length = rest.first.map(Int.init), length > 0, rest.count > length else { return nil }
        let (type, data) = (rest[rest.startIndex + 1], rest.dropFirst(2).prefix(length - 1))
        rest = rest.dropFirst(length + 1)
        return Structure(type: type, data: data)
    }
}

/// Whether a region's beacons are near.
public enum RegionPresence: String, Hashable, Sendable, CaseIterable {
    case inside, outside
    /// No radio listens, or it has not listened for long enough.
    case unknown
}
