// One device profile: whom it matches, what to arm and read at connect, and how its bytes become values.
import WakeModel

/// A profile's place in its library; stable for the library's life.
public struct ProfileIndex: RawRepresentable, Hashable, Sendable {
    public var rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
}

struct ChannelProgram: Hashable, Sendable {
    var channel: Channel
    var program: FieldProgram
}

public struct Profile: Hashable, Sendable {
    /// What a device must show. Every part that is set must hold.
    public struct Match: Hashable, Sendable {
        public struct Property: Hashable, Sendable {
            public var name: String
            public var value: String
        }

        public var services: [BluetoothUUID] = []
        public var namePrefix: String?
        public var properties: [Property] = []

        /// How much a device must show; of two profiles that match, the more particular one is taken.
        var weight: Int { services.count + properties.count + (namePrefix == nil ? 0 : 1) }
    }

    /// The folder's name.
    public var name: String
    public var title: String
    public var mode: DeviceMode
    public var match: Match
    /// Characteristics whose notifications are armed as soon as the link is up.
    public var notify: [BluetoothUUID]
    /// Characteristics read once at connect.
    public var readAtConnect: [BluetoothUUID]
    /// What the profile calls its channels: `heart_rate_measurement`.
    public var channelNames: [Channel: String]
    /// A handful: looking through them is quicker than hashing a channel.
    var programs: [ChannelProgram]
    var advertisement: AdvertisementProgram
    /// What is opened of an accessory, and how it is listened to; nil for peripherals.
    public var accessory: AccessoryPlan?

    func matches(services: Set<BluetoothUUID>, name: String?, properties: [(String, String)]) -> Bool {
        if let prefix = match.namePrefix, !(name ?? "").hasPrefix(prefix) { return false }
        return match.services.allSatisfy(services.contains)
            && match.properties.allSatisfy { wanted in properties.contains { $0 == (wanted.name, wanted.value) } }
    }
}
