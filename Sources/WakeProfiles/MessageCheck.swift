// Checksums at the end of messages, by which a message that was damaged on its way is recognised.
import WakeModel

enum MessageCheck: String, Hashable, Sendable, CaseIterable {
    /// NMEA 0183: `$` or `!`, the text, `*`, and the XOR of the text as two hexadecimal digits.
    case nmea
    /// One byte: the sum of all bytes before it, modulo 256.
    case sum8
    /// One byte: the XOR of all bytes before it.
    case xor8
    /// CRC-16/IBM-3740 ("CCITT-FALSE"): polynomial 1021, initial value ffff; high byte first.
    case crc16CCITT = "crc16-ccitt"
    /// CRC-16/MODBUS: polynomial 8005 reflected, initial value ffff; low byte first.
    case crc16Modbus = "crc16-modbus"
    /// CRC-32/ISO-HDLC, of zip and Ethernet: polynomial 04c11db7 reflected, initial and final XOR ffffffff; low byte first.
    case crc32

    /// The bytes for the field list: all but the checksum. With NMEA, the whole sentence, which people recognise as text.
    /// Throws where the checksum is missing or wrong.
    func verified(_ bytes: [UInt8]) throws(DecodeFault) -> [UInt8] {
        if self == .nmea {
            try verifySentence(bytes)
            return bytes
        }
        guard bytes.count >= width else {
            throw DecodeFault.noCheck("\(rawValue) needs \(width) bytes, \(bytes.count) are there")
        }
        let message = bytes.dropLast(width)
        let made = made(of: message)
        let found = Array(bytes.suffix(width))
        guard found == made else {
            throw DecodeFault.wrongCheck(kind: rawValue, found: found.hexadecimal, made: made.hexadecimal)
        }
        return Array(message)
    }

    /// The length of a checksum after its message, in bytes.
    private var width: Int {
        switch self {
        case .sum8, .xor8: 1
        case .crc16CCITT, .crc16Modbus: 2
        case .crc32: 4
        case .nmea: 0
        }
    }

    /// The checksum as a message holds it.
    private func made(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        switch self {
        case .nmea: return []
        case .sum8: return [bytes.reduce(0, &+)]
        case .xor8: return [bytes.reduce(0, ^)]
        case .crc16CCITT:
            let crc = Self.highFirst(bytes)
            return [UInt8(crc >> 8), UInt8(crc & 0xff)]
        case .crc16Modbus:
            let crc = Self.lowFirst(bytes, polynomial: 0xa001, start: 0xffff)
            return [UInt8(crc & 0xff), UInt8(crc >> 8)]
        case .crc32:
            let crc = ~Self.lowFirst(bytes, polynomial: 0xedb8_8320, start: 0xffff_ffff)
            return (0..<4).map { UInt8(crc >> (8 * $0) & 0xff) }
        }
    }

    private static func highFirst(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        var crc: UInt16 = 0xffff
        for byte in bytes {
            crc ^= UInt16(byte) << 8
            for _ in 0..<8 { crc = crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021 }
        }
        return crc
    }

    private static func lowFirst(_ bytes: ArraySlice<UInt8>, polynomial: UInt32, start: UInt32) -> UInt32 {
        var crc = start
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ polynomial }
        }
        return crc
    }

    private func verifySentence(_ bytes: [UInt8]) throws(DecodeFault) {
        guard let first = bytes.first, first == UInt8(ascii: "$") || first == UInt8(ascii: "!"), bytes.count >= 4,
            bytes[bytes.count - 3] == UInt8(ascii: "*"), let found = [UInt8](hexadecimal: bytes.suffix(2))
        else { throw DecodeFault.noCheck("nmea asks for $…*hh, the text and two hexadecimal digits") }
        let made = [bytes[1..<(bytes.count - 3)].reduce(0, ^)]
        guard found == made else {
            throw DecodeFault.wrongCheck(kind: rawValue, found: found.hexadecimal, made: made.hexadecimal)
        }
    }
}
