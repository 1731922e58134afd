// Checksums of messages, by which a message that was damaged on its way is recognised.
import WakeModel

enum MessageCheck: String, Hashable, Sendable, CaseIterable {
    /// NMEA 0183: `$` or `!`, the text, `*`, and the XOR of the text as two hexadecimal digits.
    case nmea
    /// A byte: the sum of all bytes before it, modulo 256.
    case sum8
    /// Two bytes: the sum of all bytes before them, modulo 65536.
    case sum16
    /// A byte: the XOR of all bytes before it.
    case xor8
    /// Two bytes: the sum of the bytes, and the sum of these sums, each modulo 256 (RFC 1145; UBX).
    case fletcher8
    /// Modbus ASCII: of the bytes that hexadecimal digits write, the sum taken from zero, as two hexadecimal digits.
    case lrc
    /// A byte, which makes the sum of all bytes zero, modulo 256.
    case zeroSum8 = "zero-sum8"
    /// CRC-16/IBM-3740 ("CCITT-FALSE"): polynomial 1021, initial value ffff; high byte first.
    case crc16CCITT = "crc16-ccitt"
    /// CRC-16/MODBUS: polynomial 8005 reflected, initial value ffff; low byte first.
    case crc16Modbus = "crc16-modbus"
    /// CRC-32/ISO-HDLC, of zip and Ethernet: polynomial 04c11db7 reflected, initial and final XOR ffffffff; low byte first.
    case crc32
    /// A CRC with the width and polynomial that the profile gives.
    case crc

    /// The bytes for the field list. Throws where the checksum is missing or wrong.
    func verified(_ bytes: [UInt8]) throws(DecodeFault) -> [UInt8] {
        Array(bytes[..<(try CheckForm(self).verifiedEnd(of: bytes[...]))])
    }

    /// The parameters of a CRC that has a name; nil if it is none.
    var parameters: CyclicCheck? {
        switch self {
        case .crc16CCITT: CyclicCheck(width: 16, polynomial: 0x1021, initial: 0xffff)
        case .crc16Modbus: CyclicCheck(width: 16, polynomial: 0x8005, initial: 0xffff, isReflected: true)
        case .crc32:
            CyclicCheck(
                width: 32, polynomial: 0x04c1_1db7, initial: 0xffff_ffff, isReflected: true, finalXOR: 0xffff_ffff)
        case .nmea, .sum8, .sum16, .xor8, .fletcher8, .lrc, .zeroSum8, .crc: nil
        }
    }
}

/// A cyclic redundancy check by its parameters, as catalogues list them.
struct CyclicCheck: Hashable, Sendable {
    /// 8, 16 or 32 bits.
    var width: Int
    var polynomial: UInt32
    var initial: UInt32 = 0
    /// The lowest bit of each byte comes first, and the check is reflected too.
    var isReflected = false
    var finalXOR: UInt32 = 0

    func made(of bytes: ArraySlice<UInt8>) -> UInt32 {
        let mask: UInt32 = width == 32 ? .max : 1 << UInt32(width) - 1
        var crc = isReflected ? reversed(initial) : initial
        let turned = reversed(polynomial)
        for byte in bytes {
            crc ^= isReflected ? UInt32(byte) : UInt32(byte) << UInt32(width - 8)
            for _ in 0..<8 {
                if isReflected {
                    crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ turned
                } else {
                    crc = crc >> UInt32(width - 1) & 1 == 0 ? crc << 1 : crc << 1 ^ polynomial
                }
            }
        }
        return (crc ^ finalXOR) & mask
    }

    private func reversed(_ value: UInt32) -> UInt32 {
        var result: UInt32 = 0
        for bit in 0..<UInt32(width) where value >> bit & 1 == 1 { result |= 1 << (UInt32(width) - 1 - bit) }
        return result
    }
}

/// The place of a message's checksum, the bytes that it covers, and its written form.
struct CheckForm: Hashable, Sendable {
    enum Writing: String, Hashable, Sendable, CaseIterable {
        case plain
        /// Taken from zero.
        case negative
        /// With every bit the other way round.
        case inverted
        /// As hexadecimal digits, the highest first.
        case hex
    }

    var kind: MessageCheck
    /// The first byte that it covers.
    var from = 0
    /// The byte after the last that it covers, below zero from the end; nil: up to the check.
    var to: Int?
    /// Its place, below zero from the end; nil: at the end.
    var at: Int?
    var isHighFirst: Bool
    var writing = Writing.plain
    /// An NMEA sentence may come without it; a check that is there is verified.
    var isOptional = false
    var cyclic: CyclicCheck?

    init(_ kind: MessageCheck) {
        self.kind = kind
        cyclic = kind.parameters
        isHighFirst = kind == .crc16CCITT
    }

    /// The end of the bytes for the field list: those before the check if that is at the end, otherwise all.
    /// Throws if the check is missing or wrong.
    func verifiedEnd(of bytes: ArraySlice<UInt8>) throws(DecodeFault) -> Int {
        if kind == .nmea {
            try verifySentence(bytes)
            return bytes.endIndex
        }
        let place = try place(in: bytes)
        let end = coveredEnd(of: bytes.count, before: place)
        guard from <= end else {
            throw DecodeFault.noCheck("\(kind.rawValue) covers bytes from \(from), \(bytes.count) are there")
        }
        let covered = bytes[(bytes.startIndex + from)..<(bytes.startIndex + end)]
        let made = try made(of: covered)
        let found = bytes.dropFirst(place).prefix(made.count)
        guard found.elementsEqual(made) || isHexadecimal && isSameNumber(found, made) else {
            throw DecodeFault.wrongCheck(kind: kind.rawValue, found: shown(found), made: shown(made[...]))
        }
        return at.map { $0 >= 0 } ?? false ? bytes.endIndex : bytes.startIndex + place
    }

    private func coveredEnd(of count: Int, before place: Int) -> Int {
        if let to { return min(to < 0 ? count + to : to, count) }
        // A check at a place before those that it covers is of all that follow.
        if let at, at >= 0, at < from { return count }
        return place
    }

    private var isHexadecimal: Bool { writing == .hex || kind == .lrc }

    /// Small hexadecimal digits are as good as capital ones.
    private func isSameNumber(_ found: ArraySlice<UInt8>, _ made: [UInt8]) -> Bool {
        [UInt8](hexadecimal: found).map { $0 == [UInt8](hexadecimal: made) } ?? false
    }

    /// The form in the sentence: digits as they are, bytes in hexadecimal.
    private func shown(_ bytes: ArraySlice<UInt8>) -> String {
        isHexadecimal ? String(decoding: bytes, as: UTF8.self) : Array(bytes).hexadecimal
    }

    private func place(in bytes: ArraySlice<UInt8>) throws(DecodeFault) -> Int {
        let place = at.map { $0 < 0 ? bytes.count + $0 : $0 } ?? bytes.count - width
        guard place >= 0, place + width <= bytes.count else {
            throw DecodeFault.noCheck("\(kind.rawValue) needs \(width.counted("byte")), \(bytes.count) are there")
        }
        return place
    }

    /// The length of the check in a message, in bytes.
    private var width: Int {
        let bytes =
            switch kind {
            case .sum8, .xor8, .zeroSum8, .lrc: 1
            case .sum16, .fletcher8: 2
            case .crc16CCITT, .crc16Modbus, .crc32, .crc: (cyclic?.width ?? 8) / 8
            case .nmea: 0
            }
        return isHexadecimal ? 2 * bytes : bytes
    }

    /// The check as a message holds it.
    private func made(of covered: ArraySlice<UInt8>) throws(DecodeFault) -> [UInt8] {
        switch kind {
        case .nmea: return []
        case .sum8: return written(covered.reduce(0) { $0 &+ UInt32($1) }, 1)
        case .sum16: return written(covered.reduce(0) { $0 &+ UInt32($1) }, 2)
        case .xor8: return written(covered.reduce(0) { $0 ^ UInt32($1) }, 1)
        case .zeroSum8: return written(0 &- covered.reduce(0) { $0 &+ UInt32($1) }, 1)
        case .fletcher8:
            let sums = covered.reduce((UInt8(0), UInt8(0))) { ($0.0 &+ $1, $0.1 &+ ($0.0 &+ $1)) }
            return written(UInt32(sums.1) << 8 | UInt32(sums.0), 2)
        case .lrc:
            guard let bytes = [UInt8](hexadecimal: covered) else {
                throw DecodeFault.noCheck("lrc covers hexadecimal digits, and other characters are there")
            }
            return written(0 &- bytes.reduce(0) { $0 &+ UInt32($1) }, 1)
        case .crc16CCITT, .crc16Modbus, .crc32, .crc:
            return written(cyclic?.made(of: covered) ?? 0, (cyclic?.width ?? 8) / 8)
        }
    }

    private func written(_ value: UInt32, _ width: Int) -> [UInt8] {
        let value = writing == .negative ? 0 &- value : writing == .inverted ? ~value : value
        let low = (0..<width).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
        if isHexadecimal { return Array(Array(low.reversed()).hexadecimal.uppercased().utf8) }
        return isHighFirst ? low.reversed() : low
    }

    /// Printable from its first character to its last, without what begins another sentence or a check: what was damaged there
    /// is no sentence without a check.
    private static func isSentenceWithoutCheck(_ sentence: ArraySlice<UInt8>) -> Bool {
        guard sentence.first == UInt8(ascii: "$") || sentence.first == UInt8(ascii: "!"), sentence.count > 1 else {
            return false
        }
        return sentence.dropFirst().allSatisfy { (0x20...0x7e).contains($0) && !"$!*".utf8.contains($0) }
    }

    private func verifySentence(_ sentence: ArraySlice<UInt8>) throws(DecodeFault) {
        let bytes = Array(sentence)
        if isOptional, Self.isSentenceWithoutCheck(sentence) { return }
        guard let first = bytes.first, first == UInt8(ascii: "$") || first == UInt8(ascii: "!"), bytes.count >= 4,
            bytes[bytes.count - 3] == UInt8(ascii: "*"), let found = [UInt8](hexadecimal: bytes.suffix(2))
        else { throw DecodeFault.noCheck("nmea asks for $…*hh, the text and two hexadecimal digits") }
        let made = [bytes[1..<(bytes.count - 3)].reduce(0, ^)]
        guard found == made else {
            throw DecodeFault.wrongCheck(kind: kind.rawValue, found: found.hexadecimal, made: made.hexadecimal)
        }
    }
}

/// The key `check`: a word, or an object with parameters.
extension CheckForm {
    static let keys = [
        "kind", "from", "to", "at", "order", "form", "width", "polynomial", "init", "reflect", "xor", "optional",
    ]
    private static let cyclicKeys = ["width", "polynomial", "init", "reflect", "xor"]

    /// Nil where there is none; nil and reported where it cannot be read.
    static func read(_ key: String, of object: ConfigurationObject) -> CheckForm? {
        if case .object? = object.value(key) {
            guard let found = object.object(key, keys: keys, required: ["kind"]) else { return nil }
            return found.word("kind", as: MessageCheck.self).flatMap { CheckForm($0, found) }
        }
        guard let kind = object.word(key, as: MessageCheck.self) else { return nil }
        if kind == .crc {
            object.refuse(
                key, expected: "an object with kind, width and polynomial, because \"crc\" alone says too little")
            return nil
        }
        return CheckForm(kind)
    }

    private init?(_ kind: MessageCheck, _ object: ConfigurationObject) {
        self.init(kind)
        from = object.integer("from", in: 0...4_095) ?? 0
        to = object.integer("to", in: -4_095...4_095)
        at = object.integer("at", in: -4_095...4_095)
        writing = object.word("form") ?? .plain
        isOptional = object.flag("optional") ?? false
        if kind == .crc {
            guard object.require("width", because: "a CRC needs it"),
                object.require("polynomial", because: "a CRC needs it"), let cyclic = Self.cyclic(of: object)
            else { return nil }
            self.cyclic = cyclic
            isHighFirst = !cyclic.isReflected
        } else {
            for key in Self.cyclicKeys where object.has(key) {
                object.add(
                    "\(object.path(of: key)) does not fit kind \"\(kind.rawValue)\"; it belongs to \"crc\"", at: key)
            }
        }
        if let order = object.word("order", among: ["low", "high"]) { isHighFirst = order == "high" }
        if let at, at == from, to == nil {
            object.add(
                "\(object.path(of: "at")) is where from is, so that nothing is covered; write to, or another from",
                at: "at")
        }
        if kind != .nmea, object.has("optional") {
            object.add(
                "\(object.path(of: "optional")) does not fit kind \"\(kind.rawValue)\"; only of \"nmea\" a message shows whether it has a check",
                at: "optional")
        }
        if kind == .nmea {
            for key in ["from", "to", "at", "order", "form"] where object.has(key) {
                object.add("\(object.path(of: key)) does not fit kind \"nmea\", which says it all; remove it", at: key)
            }
        }
    }

    private static func cyclic(of object: ConfigurationObject) -> CyclicCheck? {
        let width = object.read("width", expected: "8, 16 or 32") { value -> Int? in
            value.integer.flatMap { [8, 16, 32].contains($0) ? Int($0) : nil }
        }
        guard let width, let polynomial = number("polynomial", of: object, width) else { return nil }
        return CyclicCheck(
            width: width, polynomial: polynomial, initial: number("init", of: object, width) ?? 0,
            isReflected: object.flag("reflect") ?? false, finalXOR: number("xor", of: object, width) ?? 0)
    }

    private static func number(_ key: String, of object: ConfigurationObject, _ width: Int) -> UInt32? {
        object.read(key, expected: "\(width / 4) hexadecimal digits in quotes") { value in
            value.string.flatMap { $0.utf8.count == width / 4 ? UInt32($0, radix: 16) : nil }
        }
    }
}
