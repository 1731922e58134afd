// The pattern of bluetoothd's advertisement monitor: bytes at a place of an AD structure, made for profiles and
// regions.
import WakeLoop
import WakeModel
import WakeProfiles

/// Bytes from an offset on in AD structures of a type.
struct MonitorPattern: Hashable, Sendable {
    var type: UInt8
    var offset: UInt8 = 0
    var bytes: [UInt8]

    /// `(yyay)`, as org.bluez.AdvertisementMonitor1 has them.
    var value: BusValue { .structure([.byte(offset), .byte(type), .bytes(bytes)]) }

    init(type: UInt8, offset: UInt8 = 0, bytes: [UInt8]) {
        (self.type, self.offset, self.bytes) = (type, offset, bytes)
    }

    /// Nil if no bytes identify it: the data of any company.
    init?(_ part: AdvertisementPart) {
        guard part != .anyManufacturerData else { return nil }
        let structure = part.structure(with: [])
        self.init(type: structure[1], bytes: Array(structure.dropFirst(2)))
    }

    init(_ beacon: BeaconPattern) {
        switch beacon {
        case .iBeacon: self.init(type: 0xff, bytes: [0x4c, 0x00, 0x02, 0x15])
        case .altBeacon: self.init(type: 0xff, offset: 2, bytes: [0xbe, 0xac])
        case .eddystone: self.init(type: 0x16, bytes: [0xaa, 0xfe, 0x00])
        }
    }

    /// Nil if bytes do not identify everything that is wanted: a monitor would then miss some of it.
    static func all(of profiles: [ProfileHead], _ beacons: Set<BeaconPattern>) -> [MonitorPattern]? {
        var patterns = Set(beacons.map { MonitorPattern($0) })
        for profile in profiles {
            // Only a scan requests names.
            guard !profile.match.broadcasts.isEmpty, profile.match.namePrefixes.isEmpty else { return nil }
            for broadcast in profile.match.broadcasts {
                guard let pattern = MonitorPattern(broadcast.part) else { return nil }
                patterns.insert(pattern)
            }
        }
        guard !patterns.isEmpty else { return nil }
        return patterns.sorted {
            ($0.type, $0.offset, $0.bytes.hexadecimal) < ($1.type, $1.offset, $1.bytes.hexadecimal)
        }
    }
}
