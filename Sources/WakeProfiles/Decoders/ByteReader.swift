// A bounded reader over the bytes of one message: a missing byte is a fault with its place.
import WakeModel

struct ByteReader {
    private let bytes: ArraySlice<UInt8>
    private let first: Int
    private var place: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        first = bytes.startIndex
        place = bytes.startIndex
    }
    init(_ bytes: [UInt8]) { self.init(bytes[...]) }

    var left: Int { bytes.endIndex - place }
    /// From the first byte.
    var offset: Int { place - first }
    var rest: ArraySlice<UInt8> { bytes[place...] }

    mutating func take(_ count: Int) throws(DecoderFault) -> ArraySlice<UInt8> {
        guard count >= 0, count <= left else {
            throw DecoderFault.tooShort(offset: offset, needed: count, found: left)
        }
        defer { place += count }
        return bytes[place..<(place + count)]
    }

    mutating func byte() throws(DecoderFault) -> UInt8 {
        guard place < bytes.endIndex else { throw DecoderFault.tooShort(offset: offset, needed: 1, found: 0) }
        defer { place += 1 }
        return bytes[place]
    }

    /// Up to eight bytes, least first.
    mutating func unsigned(_ width: Int) throws(DecoderFault) -> UInt64 { try take(width).littleEndianNumber }
    mutating func signed(_ width: Int) throws(DecoderFault) -> Int64 { try take(width).littleEndianSigned }
}

extension Collection<UInt8> {
    /// The number of up to eight bytes.
    var bigEndianNumber: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }
}

extension BidirectionalCollection<UInt8> {
    /// The number of up to eight bytes.
    var littleEndianNumber: UInt64 { reversed().bigEndianNumber }

    /// The number of one to eight bytes in two's complement.
    var littleEndianSigned: Int64 {
        let unused = 64 - 8 * Swift.min(8, count)
        return unused == 64 ? 0 : Int64(bitPattern: littleEndianNumber << unused) >> unused
    }
}
