// Bluetooth UUIDs: 16-bit and 32-bit short forms equal their 128-bit form.

/// A Bluetooth UUID (Core Specification, Vol 3, Part B, 2.5.1). Equal whatever form it was written in.
public struct BluetoothUUID: Hashable, Sendable {
    public let high: UInt64
    public let low: UInt64

    private static let baseLow: UInt64 = 0x8000_0080_5f9b_34fb
    private static let baseHighMask: UInt64 = 0x0000_1000

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    public init(short: UInt32) { self.init(high: UInt64(short) << 32 | Self.baseHighMask, low: Self.baseLow) }

    /// Reads `2a37`, `00002a37` or the 36-character form, in either case. Nil for anything else.
    public init?(_ text: some StringProtocol) {
        let characters = Array(text.utf8)
        switch characters.count {
        case 4, 8:
            guard let short = Self.number(characters[...]) else { return nil }
            self.init(short: UInt32(truncatingIfNeeded: short))
        case 36:
            for hyphen in Self.hyphens where characters[hyphen] != UInt8(ascii: "-") { return nil }
            guard let first = Self.number(characters[..<8]), let second = Self.number(characters[9..<13]),
                let third = Self.number(characters[14..<18]), let fourth = Self.number(characters[19..<23]),
                let fifth = Self.number(characters[24...])
            else { return nil }
            self.init(high: first << 32 | second << 16 | third, low: fourth << 48 | fifth)
        default: return nil
        }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            guard let value = hexadecimalValue(digit) else { return nil }
            number = number << 4 | UInt64(value)
        }
        return number
    }

    /// The place of the short form in the long one.
    fileprivate static let hyphens = [8, 13, 18, 23]

    /// Reads 2, 4 or 16 little-endian bytes of a protocol unit; nil for any other number.
    public init?(littleEndian bytes: some BidirectionalCollection<UInt8>) {
        let reversed = Array(bytes.reversed())
        switch reversed.count {
        case 2, 4: self.init(short: UInt32(truncatingIfNeeded: reversed.bigEndianValue))
        case 16: self.init(high: Array(reversed[..<8]).bigEndianValue, low: Array(reversed[8...]).bigEndianValue)
        default: return nil
        }
    }

    /// The 16-bit or 32-bit form, where there is one.
    public var short: UInt32? {
        low == Self.baseLow && high & 0xffff_ffff == Self.baseHighMask ? UInt32(high >> 32) : nil
    }
}

extension BluetoothUUID: CustomStringConvertible {
    /// The shortest form, in lower case: `2a37`, or 36 characters.
    public var description: String {
        var text: [UInt8] = []
        text.appendUUID(self)
        return String(decoding: text, as: UTF8.self)
    }
}

extension [UInt8] {
    mutating func appendUUID(_ uuid: BluetoothUUID) {
        if let short = uuid.short {
            appendDigits(UInt64(short), count: short > 0xffff ? 8 : 4)
            return
        }
        appendDigits(uuid.high >> 32, count: 8)
        append(UInt8(ascii: "-"))
        appendDigits(uuid.high >> 16, count: 4)
        append(UInt8(ascii: "-"))
        appendDigits(uuid.high, count: 4)
        append(UInt8(ascii: "-"))
        appendDigits(uuid.low >> 48, count: 4)
        append(UInt8(ascii: "-"))
        appendDigits(uuid.low, count: 12)
    }

    private mutating func appendDigits(_ value: UInt64, count: Int) {
        for position in stride(from: count - 1, through: 0, by: -1) {
            append(hexadecimalDigit(UInt8(truncatingIfNeeded: value >> UInt64(position * 4)) & 15))
        }
    }

    fileprivate var bigEndianValue: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }
}
