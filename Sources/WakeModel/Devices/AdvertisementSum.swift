// The sum of a device's advertisements that makes it known: data may come in a scan response, or in turn.

extension AdvertisementBytes {
    /// The longest that is made of several.
    private static let longestSum = 512

    /// The first advertisement, and behind it the data of another that are of a kind which it has not. The sum stays the same
    /// where nothing is to be added, or where it would be too long.
    public static func sum(of known: [UInt8], and more: [UInt8]) -> [UInt8] {
        guard !known.isEmpty else { return more }
        var sum = whole(known)
        var kinds = Set(AdvertisementBytes(sum).compactMap(\.kind))
        for structure in AdvertisementBytes(more) {
            guard let kind = structure.kind, kinds.insert(kind).inserted,
                sum.count + structure.data.count + 2 <= longestSum
            else { continue }
            sum += [UInt8(structure.data.count + 1), structure.type] + structure.data
        }
        return sum.count > whole(known).count ? sum : known
    }

    /// Without what ends it early: zeros, and a structure that is cut short.
    private static func whole(_ bytes: [UInt8]) -> [UInt8] {
        Array(bytes.prefix(AdvertisementBytes(bytes).reduce(0) { $0 + $1.data.count + 2 }))
    }
}

extension AdvertisementBytes.Structure {
    /// Whose data they are, and how many: a profile asks for no more to know a device, mostly.
    fileprivate struct Kind: Hashable {
        var type: UInt8
        var name: ArraySlice<UInt8>
        var length: Int
    }

    /// Nil for what holds no data of a company or a service (Assigned Numbers, 2.3).
    fileprivate var kind: Kind? {
        let width: Int
        switch type {
        case 0x16, 0xff: width = 2
        case 0x20: width = 4
        case 0x21: width = 16
        default: return nil
        }
        return Kind(type: type, name: data.prefix(width), length: data.count)
    }
}
