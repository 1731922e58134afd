// Broadcasts: AD structures one after the other, and the field lists that a profile has for them.
import WakeModel

/// A part of an advertisement that a field list can decode.
public enum AdvertisementPart: Hashable, Sendable {
    /// AD types 0x16, 0x20 and 0x21: a service's UUID, then its data.
    case serviceData(BluetoothUUID)
    /// AD type 0xff: a company's number, then its own data.
    case manufacturerData(UInt16)
    /// AD type 0xff of a device that has data in place of the number.
    case anyManufacturerData

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

extension AdvertisementPart {
    /// An AD structure that holds it, with the shortest form of a UUID (Assigned Numbers, 2.3); empty where it would be longer than
    /// one can be.
    public func structure(with data: [UInt8]) -> [UInt8] {
        let head: [UInt8] =
            switch self {
            case .serviceData(let uuid): Self.head(uuid)
            case .manufacturerData(let company): [0xff, UInt8(company & 255), UInt8(company >> 8)]
            case .anyManufacturerData: [0xff]
            }
        return UInt8(exactly: head.count + data.count).map { [$0] + head + data } ?? []
    }

    private static func head(_ uuid: BluetoothUUID) -> [UInt8] {
        func littleEndian(_ number: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
        }
        guard let short = uuid.short else { return [0x21] + littleEndian(uuid.low, 8) + littleEndian(uuid.high, 8) }
        let isShort = short <= UInt16.max
        return [isShort ? 0x16 : 0x20] + littleEndian(UInt64(short), isShort ? 2 : 4)
    }

    /// The parts of an advertisement, as far as it is whole.
    public static func parts(of advertisement: [UInt8]) -> [(part: AdvertisementPart, data: [UInt8])] {
        var structures = AdvertisementStructures(advertisement)
        var parts: [(AdvertisementPart, [UInt8])] = []
        while let structure = try? structures.next() { parts.append((structure.part, Array(structure.data))) }
        return parts
    }
}

/// The structures of an advertisement that have a name, one after the other.
struct AdvertisementStructures {
    struct Structure {
        var part: AdvertisementPart
        /// Behind the name.
        var data: ArraySlice<UInt8>
        /// With the company's number, of such a structure.
        var whole: ArraySlice<UInt8>
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// Nil at the end. Throws for a structure that is cut short.
    mutating func next() throws(DecodeFault) -> Structure? {
        // A length of zero ends the data before its end (Core Specification, Vol 3, Part C, 11).
        while let first = rest.first, first > 0 {
            let length = Int(first)
            guard rest.count > length else {
                throw DecodeFault.cutStructure(offset: rest.startIndex, needed: length, found: rest.count - 1)
            }
            let (type, whole) = (rest[rest.startIndex + 1], rest.dropFirst(2).prefix(length - 1))
            rest = rest.dropFirst(length + 1)
            var data = whole
            if let part = AdvertisementPart(type: type, &data) {
                return Structure(part: part, data: data, whole: whole)
            }
        }
        return nil
    }
}

/// The field lists of one profile's broadcasts.
struct AdvertisementProgram: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        var part: AdvertisementPart
        var program: FieldProgram
    }

    /// Only a few, as with channels. Entries of one company come before that of any.
    var entries: [Entry] = []
    /// All structures that have an entry make the value, and not the first alone.
    var isMerged = false

    private func entry(of structure: AdvertisementStructures.Structure) -> (entry: Entry, bytes: [UInt8])? {
        if let entry = entries.first(where: { $0.part == structure.part }) { return (entry, Array(structure.data)) }
        guard case .manufacturerData = structure.part,
            let entry = entries.first(where: { $0.part == .anyManufacturerData })
        else { return nil }
        return (entry, Array(structure.whole))
    }

    /// Whether some structure has a field list.
    func covers(_ bytes: [UInt8]) -> Bool {
        var structures = AdvertisementStructures(bytes)
        while let structure = try? structures.next() { if entry(of: structure) != nil { return true } }
        return false
    }

    /// Appends the object for the first structure that fits its field list; false where none has one. Throws where a
    /// structure is cut short, and where none fits: then the fault of the first.
    func run(over bytes: [UInt8], into json: inout [UInt8]) throws(DecodeFault) -> Bool {
        guard !entries.isEmpty else { return false }
        var structures = AdvertisementStructures(bytes)
        let start = json.count
        var fault: DecodeFault?
        while let structure = try structures.next() {
            guard let (entry, bytes) = entry(of: structure) else { continue }
            let joint = json.count
            do throws(DecodeFault) {
                guard try entry.program.run(over: bytes, into: &json) == .written else { return false }
            } catch {
                if isMerged { throw error }
                json.removeLast(json.count - joint)
                fault = fault ?? error
                continue
            }
            if !isMerged { return true }
            json.joinObjects(at: joint, from: start)
        }
        if let fault { throw fault }
        guard json.count > start else { return false }
        json.removeLast()
        json.mergeMembers(from: start + 1)
        json.append(UInt8(ascii: "}"))
        return true
    }

    /// The first structure that fits its entry, where a named decoder is to read it.
    func handover(of bytes: [UInt8]) -> ProfileDecoder.Handover? {
        var structures = AdvertisementStructures(bytes)
        while let structure = try? structures.next() {
            guard let (entry, bytes) = entry(of: structure) else { continue }
            var scratch: [UInt8] = []
            switch try? entry.program.run(over: bytes, into: &scratch) {
            case .handedOver(let name, let from, let to):
                return .init(
                    decoder: name, bytes: Array(bytes[from..<to]), origin: DecoderMessage.Origin(structure.part))
            case .written: return nil
            case nil: continue
            }
        }
        return nil
    }
}

extension [UInt8] {
    /// Makes one object of the one that begins at `start` and the one that begins at `joint`.
    fileprivate mutating func joinObjects(at joint: Int, from start: Int) {
        guard joint > start else { return }
        let isBoth = joint - start > 2 && count - joint > 2
        replaceSubrange((joint - 1)...joint, with: isBoth ? [UInt8(ascii: ",")] : [])
    }
}
