// Why bytes of an accessory are no message of its framing, each with its sentence.
import WakeModel

public enum FramingFault: Hashable, Sendable, CustomStringConvertible {
    /// No end came within the limit; bytes until the next end are part of it.
    case tooLong(limit: Int)
    /// They are in place of a start mark.
    case noStart
    /// The length that they give is not one of `possible`.
    case badLength(Int, possible: ClosedRange<Int>)
    /// SLIP: an escape, then this byte.
    case badEscape(UInt8)
    /// HDLC: an escape, then this byte.
    case badChange(UInt8)
    /// COBS: a code that needs more bytes than are left.
    case badCode(UInt8, left: Int)
    /// Their check is wrong, and another message begins within them.
    case badCheck
    /// The device went, or the line was closed, before their message ended.
    case cutShort

    /// The name of the fault in events.
    public var fragment: Fragment {
        switch self {
        case .tooLong: .tooLong
        case .noStart: .noStart
        case .badLength: .badLength
        case .badEscape, .badChange: .badEscape
        case .badCode: .badCode
        case .badCheck: .badCheck
        case .cutShort: .cutShort
        }
    }

    public var description: String {
        switch self {
        case .tooLong(let limit): "too long: the message did not end within the limit of \(limit) bytes"
        case .noStart: "garbage: these bytes stand before the mark that a message starts with"
        case .badLength(let length, let possible):
            "a length that cannot be: it makes a message of \(length) bytes, possible are "
                + "\(possible.lowerBound) to \(possible.upperBound)"
        case .badEscape(let byte): "a bad escape: SLIP has no 0x\([byte].hexadecimal) after 0xdb"
        case .badChange(let byte): "a bad escape: HDLC has no 0x\([byte].hexadecimal) after 0x7d"
        case .badCode(let code, let left):
            "a bad code: COBS asks for \(Int(code) - 1) more bytes, \(left) are left"
        case .badCheck, .cutShort: fragment.sentence
        }
    }
}
