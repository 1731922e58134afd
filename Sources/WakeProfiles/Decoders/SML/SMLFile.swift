// The messages of one SML file: of lists of readings, each entry becomes a field with its unit.
import WakeModel

/// A value as SML encodes it.
enum SMLValue: Hashable, Sendable {
    case octets([UInt8])
    case flag(Bool)
    /// With the bytes that it was sent in.
    case signed(Int64, bytes: Int)
    case unsigned(UInt64)
    case list([SMLValue])

    var list: [SMLValue]? { if case .list(let values) = self { values } else { nil } }
    var octets: [UInt8]? { if case .octets(let bytes) = self { bytes } else { nil } }
    var number: Int64? {
        switch self {
        case .signed(let number, _): number
        case .unsigned(let number): Int64(exactly: number)
        case .octets, .flag, .list: nil
        }
    }
}

enum SMLFile {
    private static let listOfReadings: Int64 = 0x0701

    /// Nil for a file without readings.
    static func read(_ bytes: [UInt8]) throws(DecoderFault) -> DecodedFields? {
        var parser = SMLParser(bytes)
        var fields = DecodedFields()
        while let message = try parser.nextMessage() {
            // Number, group, action on a fault, body, check, end.
            guard let parts = message.list, parts.count == 6, let body = parts[3].list, body.count == 2 else {
                throw DecoderFault.unfit("no SML message: it has not the six parts of one")
            }
            guard body[0].number == listOfReadings, let response = body[1].list, response.count == 7 else { continue }
            try add(response, to: &fields)
        }
        return fields.isEmpty ? nil : fields
    }

    private static func add(_ response: [SMLValue], to fields: inout DecodedFields) throws(DecoderFault) {
        if let server = response[1].octets, !server.isEmpty { fields.add("server_id", .bytes(server)) }
        addTime(response[3], to: &fields)
        let entries = (response[4].list ?? []).map { $0.list ?? [] }
        guard entries.allSatisfy({ $0.count == 7 && $0[0].octets?.count == 6 }) else {
            throw DecoderFault.unfit("no SML reading: an entry has not the seven parts of one")
        }
        let maker = SMLMaker(server: response[1].octets ?? [], entries: entries)
        for parts in entries {
            guard let name = parts[0].octets else { continue }
            let reading = SMLReading(name: name, unit: parts[3].number ?? 255, scaler: parts[4].number ?? 0)
            fields.add(reading.fieldName, reading.value(of: maker.corrected(parts[5], of: name)))
        }
    }

    /// A choice of the seconds since the meter began, or a date.
    private static func addTime(_ value: SMLValue, to fields: inout DecodedFields) {
        guard let choice = value.list, choice.count == 2 else { return }
        let seconds = choice[1].number ?? choice[1].list?.first?.number
        guard let seconds, (0...Int64(UInt32.max)).contains(seconds) else { return }
        if choice[0].number == 1 {
            fields.add("meter_time_s", seconds)
        } else {
            fields.add("time", .time(unixSeconds: seconds))
        }
    }
}

/// Reads values one after the other; nothing is deeper or longer than the bytes that are there.
struct SMLParser {
    private var reader: ByteReader
    private static let deepest = 8

    init(_ bytes: [UInt8]) { reader = ByteReader(bytes) }

    /// Nil at the end; zeros between messages are padding.
    mutating func nextMessage() throws(DecoderFault) -> SMLValue? {
        while reader.rest.first == 0 { _ = try reader.byte() }
        return reader.left == 0 ? nil : try value(depth: 0)
    }

    private mutating func value(depth: Int) throws(DecoderFault) -> SMLValue {
        guard depth < Self.deepest else {
            throw DecoderFault.unfit("no SML: lists in lists, more than \(Self.deepest) deep")
        }
        let first = try reader.byte()
        var (count, next, width) = (Int(first & 15), first, 1)
        while next & 0x80 != 0 {
            next = try reader.byte()
            count = count << 4 | Int(next & 15)
            width += 1
            guard width <= 4 else { throw DecoderFault.unfit("no SML: a length of more than four bytes") }
        }
        // The end of a message.
        if first == 0 { return .octets([]) }
        if first >> 4 & 7 == 7 { return try list(count, depth: depth) }
        // Lengths count their own bytes.
        let data = try reader.take(count - width)
        switch first >> 4 & 7 {
        case 0: return .octets(Array(data))
        case 4: return .flag(data.contains { $0 != 0 })
        case 5 where (1...8).contains(data.count):
            let unused = 64 - 8 * data.count
            return .signed(
                Int64(bitPattern: data.bigEndianNumber << UInt64(unused)) >> Int64(unused), bytes: data.count)
        case 6 where (1...8).contains(data.count): return .unsigned(data.bigEndianNumber)
        default: throw DecoderFault.unfit("no SML: \(first.hexadecimal) at byte \(reader.offset) begins no value")
        }
    }

    private mutating func list(_ count: Int, depth: Int) throws(DecoderFault) -> SMLValue {
        guard count <= reader.left else {
            throw DecoderFault.tooShort(offset: reader.offset, needed: count, found: reader.left)
        }
        var values: [SMLValue] = []
        for _ in 0..<count { values.append(try value(depth: depth + 1)) }
        return .list(values)
    }
}
