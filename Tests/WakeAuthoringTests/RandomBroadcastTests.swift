// Ten thousand broadcasts made by chance, half of them of published ones, against every profile that reads broadcasts.
import DeviceLibrary
import TestBench
import Testing
import WakeAuthoring
import WakeModel
import WakeProfiles

/// A shipped profile that reads broadcasts, with what is known of it without the program.
private struct Listening {
    var name: String
    var decoder: ProfileDecoder
    /// Of parts whose data have a fixed length.
    var plain: [AdvertisementPart: PlainLayout] = [:]
    /// Whether its values come of one part alone.
    var isOfOnePart: Bool

    static func all(in library: ProfileLibrary) throws -> [Listening] {
        try library.names.compactMap { name in
            let index = try #require(library.index(named: name))
            guard library[index].hasBroadcasts else { return nil }
            let text = bytes(of: "\(ShippedLibrary.folder)/\(name)/profile.json5")
            let advertisement = try JSONValue(json5: text)["advertisement"] ?? .null
            var listening = Listening(
                name: name, decoder: library.decoder(index), isOfOnePart: advertisement["merge"] == nil)
            for (part, layout) in parts(of: advertisement) { listening.plain[part] = PlainLayout(layout) }
            return listening
        }
    }

    private static func parts(of advertisement: JSONValue) -> [(AdvertisementPart, JSONValue)] {
        members(of: advertisement["service_data"]).compactMap { member in
            BluetoothUUID(member.name).map { (.serviceData($0), member.value) }
        }
            + members(of: advertisement["manufacturer_data"]).compactMap { member in
                let part = UInt16(member.name, radix: 16).map { AdvertisementPart.manufacturerData($0) }
                return (member.name == "any" ? .anyManufacturerData : part).map { ($0, member.value) }
            }
    }

    private static func members(of object: JSONValue?) -> [JSONValue.Member] {
        if case .object(let members)? = object { members } else { [] }
    }

    /// Whether a value of these bytes is one of bytes that fit, in any of the parts; true where that is not known.
    func mayValue(_ advertisement: [UInt8]) -> Bool {
        guard isOfOnePart else { return true }
        var judged: [Bool] = []
        for (part, data) in AdvertisementPart.parts(of: advertisement) {
            if let layout = plain[part] {
                judged.append(layout.fits(data))
            } else if case .manufacturerData(let company) = part, let layout = plain[.anyManufacturerData] {
                judged.append(layout.fits([UInt8(company & 255), UInt8(company >> 8)] + data))
            }
        }
        return judged.isEmpty || judged.contains(true)
    }
}

/// Broadcasts of no device, and of devices whose bytes were spoilt on the way.
private struct Chance {
    var dice = Dice(26)
    /// What was published, with the profile that has it.
    let whole: [(name: String, bytes: [UInt8])]

    /// With the profile that knows what it was before it was spoilt.
    mutating func next() -> (name: String?, bytes: [UInt8]) {
        guard dice.isOne(in: 2) else { return (nil, invented()) }
        let origin = whole[dice.below(whole.count)]
        return (origin.name, spoilt(origin.bytes))
    }

    private mutating func spoilt(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...dice.below(3) { bytes[dice.below(bytes.count)] = random() }
        switch dice.below(4) {
        case 0: bytes.removeLast(1 + dice.below(bytes.count))
        case 1: bytes = resized(bytes, by: -1 - dice.below(3))
        case 2: bytes = resized(bytes, by: 1 + dice.below(3))
        default: break
        }
        return bytes
    }

    /// With another length that the structure itself tells.
    private mutating func resized(_ bytes: [UInt8], by count: Int) -> [UInt8] {
        var bytes = bytes
        if count < 0 { bytes.removeLast(min(-count, bytes.count - 1)) }
        for _ in 0..<max(0, count) { bytes.append(random()) }
        bytes[0] = UInt8(truncatingIfNeeded: bytes.count - 1)
        return bytes
    }

    private mutating func invented() -> [UInt8] {
        (0...dice.below(2)).flatMap { _ -> [UInt8] in
            let data = (0..<dice.below(28)).map { _ in random() }
            let heads: [[UInt8]] = [
                [0xff, 0x4c, 0], [0xff, 0x99, 4], [0xff, 1, 0], [0xff, random(), random()], [0x16, 0xd2, 0xfc],
                [0x16, 0x95, 0xfe], [0x16, 0xaa, 0xfe], [0x16, random(), random()], [0x21], [random()],
            ]
            let structure = heads[dice.below(heads.count)] + data
            let length = dice.isOne(in: 8) ? dice.below(256) : structure.count
            return [UInt8(length)] + structure
        }
    }

    private mutating func random() -> UInt8 { UInt8(truncatingIfNeeded: dice.next()) }
}

@Suite("Broadcasts made by chance")
struct RandomBroadcastTests {
    /// The profiles that it is most like read each, and every tenth of the others in turn.
    @Test(
        "ten thousand make JSON or a reason of whatever profile, and no value where the bytes do not fit the layout")
    func broadcasts() throws {
        let library = ShippedLibrary.library
        let all = try Listening.all(in: library)
        var chance = Chance(whole: try Self.published())
        var (values, faults, matched, judged) = (0, 0, 0, 0)
        for round in 0..<10_000 {
            let (origin, broadcast) = chance.next()
            let match = library.match(kind: .bluetoothCentral, advertisement: broadcast).map(library.name)
            if match != nil { matched += 1 }
            for (place, profile) in all.enumerated()
            where place % 10 == round % 10 || profile.name == origin || profile.name == match {
                switch Self.outcome(of: broadcast, profile) {
                case .nothing: break
                case .fault: faults += 1
                case .value:
                    values += 1
                    judged += profile.plain.isEmpty ? 0 : 1
                    #expect(profile.mayValue(broadcast), "\(profile.name) \(broadcast.hexadecimal)")
                }
            }
        }
        print(
            "10000 broadcasts, \(all.count) profiles: \(matched) matched, \(values) values, \(faults) undecodable; "
                + "\(all.count { !$0.plain.isEmpty }) profiles have a fixed length, which \(judged) of the values fit")
        #expect(values > 500 && faults > 2_000 && matched > 500 && judged > 100)
    }

    private enum Outcome { case nothing, fault, value }

    private static func outcome(of broadcast: [UInt8], _ profile: Listening) -> Outcome {
        var memory = DeviceMemory()
        let sender = DeviceMemory.Sender(address: [1, 2, 3, 4, 5, 6], key: [UInt8](repeating: 7, count: 16))
        let heard = profile.decoder.hear(broadcast, from: .advertisement, of: sender, at: .zero, after: &memory)
        var writer = JSONWriter()
        do throws(DecodeFault) {
            guard try profile.decoder.decode(broadcast, from: .advertisement, heard: heard, into: &writer) else {
                #expect(writer.bytes.isEmpty, "\(profile.name) \(broadcast.hexadecimal)")
                return .nothing
            }
        } catch {
            let isNamed = writer.bytes.isEmpty && error.description.count > 5
            #expect(isNamed, "\(profile.name) \(broadcast.hexadecimal): \(error)")
            return .fault
        }
        let isObject: Bool
        if case .object? = try? JSONValue(parsing: writer.bytes) { isObject = true } else { isObject = false }
        #expect(isObject, "\(profile.name) \(broadcast.hexadecimal)")
        return .value
    }

    private static func published() throws -> [(name: String, bytes: [UInt8])] {
        try ShippedLibrary.devices.flatMap { name in
            try ShippedLibrary.vectors(of: name).flatMap { vector -> [[UInt8]] in
                switch vector.origin {
                case .part(let part): vector.pieces.map { part.structure(with: $0) }
                case .channel(.advertisement): vector.pieces
                case .channel: []
                }
            }.map { (name, $0) }
        }
    }
}
