// What some bytes are told apart from others by: FNV-1a of 64 bits, which is no defence against forgery and needs none here.

struct Fingerprint: CustomStringConvertible {
    private var value: UInt64 = 0xcbf2_9ce4_8422_2325

    init(of parts: [[UInt8]]) {
        for part in parts {
            for byte in part { add(byte) }
            // Between two parts, or "ab" and "c" would be "a" and "bc"; no text of the page holds it.
            add(0xff)
        }
    }

    private mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x0100_0000_01b3 }

    /// 16 digits.
    var description: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
