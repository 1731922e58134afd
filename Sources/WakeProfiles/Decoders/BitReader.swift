// A bounded reader of numbers of any number of bits, which do not end where bytes end.
import WakeModel

struct BitReader {
    enum Order: Sendable {
        /// The first bit of a byte is its lowest, and of a number too.
        case low
        /// The first bit is the highest.
        case high
    }

    private let bytes: [UInt8]
    private let order: Order
    /// How many bits there are; the last byte may hold fewer than eight.
    let count: Int
    private(set) var place = 0

    init(_ bytes: [UInt8], order: Order, count: Int? = nil) {
        self.bytes = bytes
        self.order = order
        self.count = min(count ?? .max, bytes.count * 8)
    }

    var left: Int { count - place }

    private func bit(_ place: Int) -> UInt64 {
        let byte = bytes[place >> 3]
        return UInt64(order == .low ? byte >> (place & 7) & 1 : byte >> (7 - place & 7) & 1)
    }

    /// Up to 64 bits.
    mutating func unsigned(_ width: Int) throws(DecoderFault) -> UInt64 {
        guard width <= left else {
            throw DecoderFault.unfit("too short: \(width.counted("bit")) from bit \(place) on, \(left) are left")
        }
        var value: UInt64 = 0
        for index in 0..<width {
            switch order {
            case .low: value |= bit(place + index) << UInt64(index)
            case .high: value = value << 1 | bit(place + index)
            }
        }
        place += width
        return value
    }

    mutating func signed(_ width: Int) throws(DecoderFault) -> Int64 {
        let unused = 64 - width
        return Int64(bitPattern: try unsigned(width) << UInt64(unused)) >> Int64(unused)
    }

    mutating func flag() throws(DecoderFault) -> Bool { try unsigned(1) == 1 }
    mutating func skip(_ width: Int) throws(DecoderFault) { _ = try unsigned(width) }
}
