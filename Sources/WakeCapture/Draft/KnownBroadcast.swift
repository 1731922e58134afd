// The parts of broadcasts by which a device is known: what it sends comes in several, as with a scan response.
import WakeModel

struct KnownBroadcast {
    /// More kinds of parts tell no more.
    private static let most = 16

    /// AD structures without their lengths, one of each kind, in the order in which they came.
    private var parts: [ArraySlice<UInt8>] = []
    private var kinds: Set<[UInt8]> = []

    init() {}

    /// Takes the parts of one more broadcast that are of a new kind.
    mutating func add(_ data: ArraySlice<UInt8>) {
        var rest = data
        while let length = rest.popFirst(), length > 0, let part = rest.slice(0, Int(length)) {
            if parts.count < Self.most, kinds.insert(Self.kind(of: part)).inserted { parts.append(part) }
            rest = rest.dropFirst(Int(length))
        }
    }

    /// As a trace has them. Beacons are of all makers: where a maker's own data came, they do not say what the device is.
    var bytes: [UInt8] {
        let isOfMaker = parts.contains { Self.isData($0) && !Self.isBeacon($0) }
        let told = isOfMaker ? parts.filter { !Self.isBeacon($0) } : parts
        return told.flatMap { [UInt8($0.count)] + $0 }
    }

    /// Its type; of data also how long they are, and whose: layouts differ in that.
    private static func kind(of part: ArraySlice<UInt8>) -> [UInt8] {
        isData(part) ? [UInt8(truncatingIfNeeded: part.count)] + part.prefix(4) : Array(part.prefix(1))
    }

    /// Of services, by their short or long number, and of makers.
    private static func isData(_ part: ArraySlice<UInt8>) -> Bool {
        [0x16, 0x20, 0x21, 0xff].contains(part.first ?? 0)
    }

    /// iBeacon, AltBeacon and Eddystone.
    private static func isBeacon(_ part: ArraySlice<UInt8>) -> Bool {
        part.starts(with: [0xff, 0x4c, 0x00, 0x02, 0x15]) || part.starts(with: [0x16, 0xaa, 0xfe])
            || part.first == 0xff && part.dropFirst(3).starts(with: [0xbe, 0xac])
    }
}
