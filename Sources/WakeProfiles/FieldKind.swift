// The types of fields: their words, their widths, and the keys that each allows.

enum FieldKind: String, CaseIterable, Sendable {
    case uint8, uint16, uint24, uint32, uint40, uint48, uint56, uint64
    case sint8, sint16, sint24, sint32, sint48, sint64
    case sfloat, float, float32, float64
    case utf8, bytes, uuid, mac, time
    case bits, ubits, sbits
    case sum, difference, product, quotient, power

    /// The family of a type; types of one family take the same keys.
    enum Family {
        case unsigned(bytes: Int)
        case signed(bytes: Int)
        /// ISO/IEEE 11073.
        case medical
        /// IEEE 754.
        case binary
        case text
        case identifier
        case time
        /// Bits of a number that was read above; reads no bytes.
        case bits
        case unsignedRun
        case signedRun
        /// Combines numbers that were read above; reads no bytes.
        case combination(Combination.Operation)
    }

    var family: Family {
        switch self {
        case .uint8: .unsigned(bytes: 1)
        case .uint16: .unsigned(bytes: 2)
        case .uint24: .unsigned(bytes: 3)
        case .uint32: .unsigned(bytes: 4)
        case .uint40: .unsigned(bytes: 5)
        case .uint48: .unsigned(bytes: 6)
        case .uint56: .unsigned(bytes: 7)
        case .uint64: .unsigned(bytes: 8)
        case .sint8: .signed(bytes: 1)
        case .sint16: .signed(bytes: 2)
        case .sint24: .signed(bytes: 3)
        case .sint32: .signed(bytes: 4)
        case .sint48: .signed(bytes: 6)
        case .sint64: .signed(bytes: 8)
        case .sfloat, .float: .medical
        case .float32, .float64: .binary
        case .utf8, .bytes: .text
        case .uuid, .mac: .identifier
        case .time: .time
        case .bits: .bits
        case .ubits: .unsignedRun
        case .sbits: .signedRun
        case .sum: .combination(.sum)
        case .difference: .combination(.difference)
        case .product: .combination(.product)
        case .quotient: .combination(.quotient)
        case .power: .combination(.power)
        }
    }

    /// The size of an integer in bytes; nil for other types.
    var integerWidth: Int? {
        switch family {
        case .unsigned(let bytes), .signed(let bytes): bytes
        case .medical, .binary, .text, .identifier, .time, .bits, .unsignedRun, .signedRun, .combination: nil
        }
    }

    var isSigned: Bool {
        switch family {
        case .signed, .signedRun: true
        case .unsigned, .medical, .binary, .text, .identifier, .time, .bits, .unsignedRun, .combination: false
        }
    }

    /// Whether it is made of bits that need not fill bytes.
    var isRun: Bool {
        switch family {
        case .unsignedRun, .signedRun: true
        case .unsigned, .signed, .medical, .binary, .text, .identifier, .time, .bits, .combination: false
        }
    }

    /// Whether `values`, counts and conditions can refer to it.
    var isWhole: Bool { integerWidth != nil || isRun || self == .bits }

    /// Whether it is made of other fields.
    var isCombination: Bool {
        if case .combination = family { true } else { false }
    }

    var isNumber: Bool {
        switch family {
        case .unsigned, .signed, .medical, .binary, .bits, .unsignedRun, .signedRun, .combination: true
        case .text, .identifier, .time: false
        }
    }

    /// Whether its bytes have an order.
    var hasEndian: Bool {
        switch family {
        case .unsigned, .signed, .medical, .binary, .time: true
        case .text, .identifier, .bits, .unsignedRun, .signedRun, .combination: false
        }
    }

    /// Whether several of it may follow one after the other.
    var canRepeat: Bool {
        switch family {
        case .unsigned, .signed, .medical, .binary, .identifier, .time: true
        case .text, .bits, .unsignedRun, .signedRun, .combination: false
        }
    }

    /// Whether `null` may name numbers of it.
    var canBeNull: Bool { isWhole || self == .time }
}
