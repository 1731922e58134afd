// Integers and texts in and out of byte arrays, and the CRC-32 that guards them.
import WakeModel

struct CRC32: Sendable {
    static let standard = CRC32()

    /// For a byte by itself, and behind that for one with 1, 2 and 3 more behind it.
    private let table: [UInt32] = {
        var table: [UInt32] = (0..<256).map { index in
            (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
        for place in 0..<768 {
            let value: UInt32 = table[place]
            table.append(value >> 8 ^ table[Int(value & 0xff)])
        }
        return table
    }()

    /// Over the fields of a row, each closed by a byte that UTF-8 never has.
    func check(fields: [String]) -> Int64 {
        var bytes: [UInt8] = []
        for field in fields {
            bytes.append(contentsOf: field.utf8)
            bytes.append(0xff)
        }
        return Int64(check(bytes))
    }

    func check(numbers: [UInt64]) -> Int64 {
        var bytes: [UInt8] = []
        for number in numbers { bytes.appendLittleEndian(number) }
        return Int64(check(bytes))
    }

    /// Rows from before there was a hold have the check without one.
    func check(attempts: [UInt64], held: UInt64) -> Int64 {
        check(numbers: held == 0 ? attempts : attempts + [held])
    }

    /// `seed` is the check of the bytes before.
    func check(_ bytes: [UInt8], from first: Int = 0, seed: UInt32 = 0) -> UInt32 {
        var value = ~seed
        var place = first
        while place + 4 <= bytes.count {
            let word = UInt32(bytes[place]) | UInt32(bytes[place + 1]) << 8 | UInt32(bytes[place + 2]) << 16
            value ^= word | UInt32(bytes[place + 3]) << 24
            value =
                table[768 + Int(value & 0xff)] ^ table[512 + Int(value >> 8 & 0xff)]
                ^ table[256 + Int(value >> 16 & 0xff)] ^ table[Int(value >> 24)]
            place += 4
        }
        while place < bytes.count {
            value = value >> 8 ^ table[Int((value ^ UInt32(bytes[place])) & 0xff)]
            place += 1
        }
        return ~value
    }
}

struct MalformedRecord: Error {}

struct ByteReader {
    let bytes: [UInt8]
    private var position = 0

    init(bytes: [UInt8], from position: Int = 0) { (self.bytes, self.position) = (bytes, position) }

    var isAtEnd: Bool { position >= bytes.count }
    var rest: [UInt8] { Array(bytes[position...]) }
    var restText: String { String(decoding: bytes[position...], as: UTF8.self) }

    mutating func integer<Number: FixedWidthInteger>() throws(MalformedRecord) -> Number {
        let size = Number.bitWidth / 8
        guard bytes.count - position >= size else { throw MalformedRecord() }
        var value: Number = 0
        for offset in 0..<size { value |= Number(truncatingIfNeeded: bytes[position + offset]) << Number(offset * 8) }
        position += size
        return value
    }

    /// Bytes behind their count, a u32.
    mutating func sized() throws(MalformedRecord) -> [UInt8] {
        let count: UInt32 = try integer()
        return Array(try next(Int(count)))
    }

    /// A text behind its count of bytes, a u8.
    mutating func word() throws(MalformedRecord) -> String {
        let count: UInt8 = try integer()
        return String(decoding: try next(Int(count)), as: UTF8.self)
    }

    private mutating func next(_ count: Int) throws(MalformedRecord) -> ArraySlice<UInt8> {
        guard bytes.count - position >= count else { throw MalformedRecord() }
        defer { position += count }
        return bytes[position..<(position + count)]
    }
}

extension [UInt8] {
    mutating func appendLittleEndian<Number: FixedWidthInteger>(_ value: Number) {
        for offset in 0..<(Number.bitWidth / 8) {
            append(UInt8(truncatingIfNeeded: value >> Number(offset * 8)))
        }
    }

    /// Sequence numbers as one u64 and the distances to each next one, so that a batch of neighbours fits a page.
    init(packing seqs: [Sequence]) {
        self.init()
        reserveCapacity(8 + seqs.count * 2)
        var previous: UInt64 = 0
        for seq in seqs {
            var distance = seq.rawValue &- previous
            previous = seq.rawValue
            while distance >= 0x80 {
                append(UInt8(truncatingIfNeeded: distance) | 0x80)
                distance >>= 7
            }
            append(UInt8(distance))
        }
    }

    var unpackedSequences: [Sequence] {
        var found: [Sequence] = []
        var previous: UInt64 = 0
        var value: UInt64 = 0
        var shift: UInt64 = 0
        for byte in self {
            value |= UInt64(byte & 0x7f) << shift
            shift += 7
            guard byte < 0x80 else { continue }
            previous &+= value
            found.append(Sequence(previous))
            (value, shift) = (0, 0)
        }
        return found
    }
}
