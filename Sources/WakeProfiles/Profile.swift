// A device profile: which devices it matches, which channels to subscribe to and read, and how bytes become values.
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
    var check: CheckForm?
    var form: Form
    /// Empty where the format has no fields.
    var program = FieldProgram()

    /// The bytes that the fields see. Throws where the check is missing or wrong.
    func checked(_ bytes: [UInt8]) throws(DecodeFault) -> [UInt8] {
        guard let check else { return bytes }
        return Array(bytes[..<(try check.verifiedEnd(of: bytes[...]))])
    }

    /// The bytes that a named decoder is to read; nil where none is named, or a fault keeps them.
    func handover(of bytes: [UInt8]) -> (name: NamedDecoder, bytes: [UInt8])? {
        var scratch: [UInt8] = []
        guard form == .fields, let checked = try? checked(bytes),
            case .handedOver(let name, let from, let to)? = try? program.run(over: checked, into: &scratch)
        else { return nil }
        return (name, Array(checked[from..<to]))
    }

    /// The rates that a message makes, as members of its object.
    func rates(
        of bytes: [UInt8], from channel: Channel, at now: Instant, after memory: inout RateMemory
    ) -> [UInt8] {
        guard !program.rates.isEmpty, let checked = try? checked(bytes) else { return [] }
        return program.rates(of: checked, at: now, after: &memory.counts[channel, default: [:]])
    }

    /// Appends the object for `bytes` to `json`; false where there is none. Throws where the bytes do not fit the profile.
    func run(over bytes: [UInt8], into json: inout [UInt8]) throws(DecodeFault) -> Bool {
        let checked = try checked(bytes)
        switch form {
        case .fields: return try program.run(over: checked, into: &json) == .written
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
            /// A property needs one of these values; never empty.
            public var values: [String]

            public init(name: String, values: [String]) { (self.name, self.values) = (name, values) }
        }

        public var services: [BluetoothUUID] = []
        /// The name begins with one of them; empty: any name.
        public var namePrefixes: [String] = []
        public var properties: [Property] = []
        /// Its advertisements must contain one of these; empty: none is needed.
        public var broadcasts: [Broadcast] = []
        /// Its format is one that anyone may send beside an own one: any other profile that fits is more particular.
        public var givesWay = false

        /// Services that many devices have beside their own: battery, current time, user data, device information.
        static let companions = Set([0x180f, 0x1805, 0x181c, 0x180a].map { BluetoothUUID(short: $0) })

        /// How many properties must match; of two profiles that match, the more specific one is used.
        var weight: Int {
            services.count { !Self.companions.contains($0) } + properties.count + (namePrefixes.isEmpty ? 0 : 1)
                + (broadcasts.map { 1 + $0.pattern.weight }.min() ?? 0)
        }

        var asksNothing: Bool { services.isEmpty && properties.isEmpty && namePrefixes.isEmpty && broadcasts.isEmpty }

        func fits(
            services found: Set<BluetoothUUID>, name: String?, properties given: [(String, String)],
            advertisement: [UInt8]?
        ) -> Bool {
            if !namePrefixes.isEmpty, !namePrefixes.contains(where: (name ?? "").hasPrefix) { return false }
            return services.allSatisfy(found.contains)
                && properties.allSatisfy { wanted in
                    given.contains { $0.0 == wanted.name && wanted.values.contains($0.1) }
                }
                && (broadcasts.isEmpty || advertisement.map { fits($0) } ?? false)
        }

        /// An AD structure by which a device has this match; empty where broadcasts do not count.
        public var advertisement: [UInt8] { broadcasts.first?.structure ?? [] }

        func fits(_ advertisement: [UInt8]) -> Bool {
            var structures = AdvertisementStructures(advertisement)
            while let structure = try? structures.next() {
                if broadcasts.contains(where: { $0.fits(structure) }) { return true }
            }
            return false
        }
    }

    /// A part of a broadcast by which a device is known.
    public struct Broadcast: Hashable, Sendable {
        public var part: AdvertisementPart
        var pattern: BytePattern

        /// The shortest that fits.
        var structure: [UInt8] { part.structure(with: pattern.bytes) }

        func fits(_ structure: AdvertisementStructures.Structure) -> Bool {
            switch part {
            case .anyManufacturerData:
                guard case .manufacturerData = structure.part else { return false }
                return pattern.fits(structure.whole)
            case .serviceData, .manufacturerData: return part == structure.part && pattern.fits(structure.data)
            }
        }
    }

    /// How the notifications of one characteristic become messages.
    public struct ChannelFraming: Hashable, Sendable {
        public var channel: Channel
        public var framing: Framing
        /// The longest message in bytes.
        public var limit: Int
        /// Finds damaged messages; nil if the profile knows no check.
        public var trial: MessageTrial?
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
    /// The characteristics of `notify` and `readAtConnect` that a device may lack: they were included with a service.
    public var optional: Set<BluetoothUUID> = []
    /// Framings of characteristics whose messages come in pieces.
    public var framings: [ChannelFraming] = []
    /// Settings of a named decoder.
    var decoderSettings = DecoderSettings()
    public var ask = AskPlan()

    /// Whether its devices broadcast values.
    public var hasBroadcasts: Bool { !advertisement.entries.isEmpty }
    /// Its devices only broadcast: no link is made to them.
    public var isOfBroadcasters: Bool {
        kind == .bluetoothCentral && hasBroadcasts && notify.isEmpty && readAtConnect.isEmpty
    }

    /// Whether a part of the advertisement has a layout.
    public func reads(advertisement bytes: [UInt8]) -> Bool { advertisement.covers(bytes) }
}

/// The part of a profile that devices are matched against, which is read at start.
public struct ProfileHead: Hashable, Sendable {
    public var name: String
    public var title: String
    public var kind: SourceKind
    public var match: Profile.Match
    /// The node of an accessory.
    public var node: AccessoryNode?
    /// It came with the program: its accessories are opened where a manifest watches it.
    public var isShipped = false
}
