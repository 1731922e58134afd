// Broadcasts: AD structures one after the other, and the field lists that a profile has for them.
import WakeModel

/// A part of an advertisement that a field list can decode.
enum AdvertisementPart: Hashable, Sendable {
    /// AD types 0x16, 0x20 and 0x21: a service's UUID, then its data.
    case serviceData(BluetoothUUID)
    /// AD type 0xff: a company's number, then its own data.
    case manufacturerData(UInt16)

    /// Reads the name from the front of a structure and removes it. Nil for other types, and for a structure that is too short.
    init?(type: UInt8, _ data: inout ArraySlice<UInt8>) {
        let width: Int
        switch type {
        case 0x16, 0xff: width = 2
        case 0x20: width = 4
        case 0x21: width = 16
        default: return nil
        }
        let name = data.prefix(width)
        guard name.count == width, let first = name.first else { return nil }
        data = data.dropFirst(width)
        if type == 0xff {
            self = .manufacturerData(UInt16(name[name.startIndex + 1]) << 8 | UInt16(first))
        } else {
            guard let uuid = BluetoothUUID(littleEndian: name) else { return nil }
            self = .serviceData(uuid)
        }
    }
}

/// The field lists of one profile's broadcasts.
struct AdvertisementProgram: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        var part: AdvertisementPart
        var program: FieldProgram
    }

    /// Only a few, as with channels.
    var entries: [Entry] = []

    /// Appends the object for the first structure that has a field list; false where none has. Throws where a structure
    /// is cut short, or does not fit its field list.
    func run(over bytes: [UInt8], into json: inout [UInt8]) throws(DecodeFault) -> Bool {
        guard !entries.isEmpty else { return false }
        var rest = bytes[...]
        // A length of zero ends the data before its end (Core Specification, Vol 3, Part C, 11).
        while let first = rest.first, first > 0 {
            let length = Int(first)
            guard rest.count > length else {
                throw DecodeFault.cutStructure(offset: rest.startIndex, needed: length, found: rest.count - 1)
            }
            var data = rest.dropFirst(2).prefix(length - 1)
            if let part = AdvertisementPart(type: rest[rest.startIndex + 1], &data),
                let entry = entries.first(where: { $0.part == part })
            {
                try entry.program.run(over: Array(data), into: &json)
                return true
            }
            rest = rest.dropFirst(length + 1)
        }
        return false
    }
}
