// Bytes as lower-case hexadecimal text and back: the form in which device bytes are shown.

extension [UInt8] {
    /// Two lower-case digits a byte.
    public mutating func appendHexadecimal(_ bytes: some Collection<UInt8>) {
        for byte in bytes {
            append(hexadecimalDigit(byte >> 4))
            append(hexadecimalDigit(byte & 15))
        }
    }

    /// Reads an even number of digits of either case; nil for anything else.
    public init?(hexadecimal text: some Collection<UInt8>) {
        guard text.count.isMultiple(of: 2) else { return nil }
        self.init()
        reserveCapacity(text.count / 2)
        var high: UInt8?
        for character in text {
            guard let digit = hexadecimalValue(character) else { return nil }
            if let first = high {
                append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
    }

    public init?(hexadecimal text: some StringProtocol) { self.init(hexadecimal: Array(text.utf8)) }

    public var hexadecimal: String {
        var text: [UInt8] = []
        text.reserveCapacity(count * 2)
        text.appendHexadecimal(self)
        return String(decoding: text, as: UTF8.self)
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    /// All digits of the number: `000f` for 16 bits.
    public var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
    }
}

@inline(__always) func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}

@inline(__always) func hexadecimalValue(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    default: nil
    }
}
