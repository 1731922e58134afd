// Rules for broadcasters: which of them are received, which profile reads them, and when their coming and going is
// reported.
import WakeModel
import WakeProfiles

/// A profile's plan for a broadcaster.
struct BroadcastPlan: Hashable, Sendable {
    /// The profile's name.
    var profile: String
    /// Its place in the library.
    var index: ProfileIndex
    /// Its devices are connected too, and the source of peripherals reports their links.
    var hasLink = false
}

/// A received advertisement, as far as it is known: a name may come with another advertisement than the data.
struct Sighting: Hashable, Sendable {
    var address: RadioAddress
    var isPublic = false
    /// dBm.
    var signal: Int?
    /// AD structures.
    var data: [UInt8]
    var name: String?
    var services: [BluetoothUUID] = []

    init(_ address: RadioAddress, _ data: [UInt8], isPublic: Bool = false, signal: Int? = nil) {
        (self.address, self.data, self.isPublic, self.signal) = (address, data, isPublic, signal)
        for structure in AdvertisementBytes(data) { note(structure.type, structure.data) }
    }

    /// Another address is another device each time: it is random, and not one that stays (Core Specification, Vol 6, Part B, 1.3.2).
    var hasPassingAddress: Bool { !isPublic && address.number >> 46 != 0b11 }

    /// Names and lists of services (Assigned Numbers, 2.3).
    private mutating func note(_ type: UInt8, _ data: ArraySlice<UInt8>) {
        switch type {
        // Peripherals cut names by bytes, also within a character.
        case 0x08, 0x09: name = String(decoding: data.textPrefix, as: UTF8.self)
        case 0x02, 0x03: addServices(data, width: 2)
        case 0x04, 0x05: addServices(data, width: 4)
        case 0x06, 0x07: addServices(data, width: 16)
        default: break
        }
    }

    private mutating func addServices(_ data: ArraySlice<UInt8>, width: Int) {
        var rest = data
        while rest.count >= width {
            if let uuid = BluetoothUUID(littleEndian: rest.prefix(width)) { services.append(uuid) }
            rest = rest.dropFirst(width)
        }
    }
}

/// Decides on broadcasters, once for each of them.
protocol BroadcastJudge {
    /// Whether it is meant whatever it sends: it is examined for as long as no profile knows it.
    func isMeant(_ address: RadioAddress) -> Bool
    /// Nil where no profile knows it.
    func plan(for sighting: Sighting) -> BroadcastPlan?
    /// A plan that handlers watch, if none watches this plan's data and the sighting fits another profile. Otherwise a
    /// plan that is more particular than a beacon that anyone may send.
    func better(than plan: BroadcastPlan, for sighting: Sighting) -> BroadcastPlan?
    /// Whether the profile can read a value from these bytes.
    func reads(_ data: [UInt8], by plan: BroadcastPlan) -> Bool
    /// Its name, and whether it is meant: by a person, or by a manifest that names it.
    func standing(of address: RadioAddress, _ plan: BroadcastPlan) -> (alias: String, isMeant: Bool)
}

public struct BroadcastRules: Hashable, Sendable {
    /// Every broadcaster is received that a profile knows.
    public var learns = false
    /// A broadcaster that is silent for so long is gone; zero if neither coming nor going is reported.
    public var presence = TimeSpan.seconds(30)

    public init(learns: Bool = false, presence: TimeSpan = .seconds(30)) {
        (self.learns, self.presence) = (learns, presence)
    }
}
