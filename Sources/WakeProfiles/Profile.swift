// One device profile: which devices it matches, what to subscribe to and read at connect, and how bytes become values.
import WakeModel

/// A profile's place in its library; stable for as long as the library exists.
public struct ProfileIndex: RawRepresentable, Hashable, Sendable {
    public var rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
}

/// How the bytes of one channel become a value.
struct ChannelProgram: Hashable, Sendable {
    enum Form: Hashable, Sendable {
        case fields
        case inputEvents
        /// Only the checksum is verified.
        case none
    }

    var channel: Channel
    var check: MessageCheck?
    var form: Form
    /// Empty where the format has no fields.
    var program = FieldProgram()

    /// Appends the object for `bytes` to `json`; false where there is none. Throws where the bytes do not fit the profile.
    func run(over bytes: [UInt8], into json: inout [UInt8]) throws(DecodeFault) -> Bool {
        let checked = if let check { try check.verified(bytes) } else { bytes }
        switch form {
        case .fields: try program.run(over: checked, into: &json)
        case .inputEvents: try InputEventList.run(over: checked, into: &json)
        case .none: return false
        }
        return true
    }
}

public struct Profile: Hashable, Sendable {
    /// The properties that a device must have. Every part that is set must match.
    public struct Match: Hashable, Sendable {
        public struct Property: Hashable, Sendable {
            public var name: String
            public var value: String
        }

        public var services: [BluetoothUUID] = []
        public var namePrefix: String?
        public var properties: [Property] = []

        /// How many properties must match; of two profiles that match, the more specific one is used.
        var weight: Int { services.count + properties.count + (namePrefix == nil ? 0 : 1) }
    }

    /// The folder's name.
    public var name: String
    public var title: String
    public var kind: SourceKind
    public var match: Match
    /// Characteristics that are subscribed to as soon as the link is up.
    public var notify: [BluetoothUUID]
    /// Characteristics read once at connect.
    public var readAtConnect: [BluetoothUUID]
    /// Which node of an accessory is opened, and how; nil for a Bluetooth peripheral.
    public var accessory: AccessoryPlan?
    /// Whether its devices are reached by radio, and so can have a bond.
    public var isOfBluetooth: Bool { accessory.map { $0.node == .rfcomm } ?? true }
    /// The profile's names for its channels: `heart_rate_measurement`.
    public var channelNames: [Channel: String]
    /// Only a few: a linear search is faster than hashing a channel.
    var programs: [ChannelProgram]
    var advertisement: AdvertisementProgram

    func matches(services: Set<BluetoothUUID>, name: String?, properties: [(String, String)]) -> Bool {
        if let prefix = match.namePrefix, !(name ?? "").hasPrefix(prefix) { return false }
        return match.services.allSatisfy(services.contains)
            && match.properties.allSatisfy { wanted in properties.contains { $0 == (wanted.name, wanted.value) } }
    }
}
