// Why bytes do not fit a profile; the event is then delivered raw, with the sentence.
import WakeModel

public enum DecodeFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field at `offset` needs `needed` bytes and finds `found`.
    case tooShort(offset: Int, needed: Int, found: Int)
    /// `count` bytes follow the last field.
    case trailing(count: Int)
    /// The text at `offset` is not UTF-8.
    case notText(offset: Int)
    /// The text or bytes at `offset` have no end mark.
    case unended(offset: Int)
    /// The date or time at `offset` does not exist.
    case notTime(offset: Int)
    /// A run of bits ends in the middle of the byte at `offset`.
    case openRun(offset: Int)
    /// A count or length is below zero, or a list has more than 255 elements or one that takes no bytes.
    case badCount(offset: Int, count: Int64)
    /// The profile does not know the layout of the bytes at `offset`.
    case noVariant(offset: Int)
    /// The value would be larger than an event can hold.
    case tooLarge
    /// The part of a text that should be a value of this type.
    case notValue(text: String, type: String)
    /// A text that does not have this part.
    case noPart(String)
    /// The advertisement's structure at `offset` announces `needed` bytes, and `found` are left.
    case cutStructure(offset: Int, needed: Int, found: Int)
    /// The message is too short for its checksum, or has none at its place.
    case noCheck(String)
    /// The checksum of a message does not match its bytes.
    case wrongCheck(kind: String, found: String, made: String)
    /// This many bytes are no whole number of input events.
    case notEvents(count: Int)
    /// The framing of the line has found no whole message.
    case fragment(Fragment)
    /// Found when the message arrived; the sentence is whole.
    case heard(String)

    public var description: String {
        switch self {
        case .tooShort(let offset, let needed, let found):
            "too short: the field at byte \(offset) needs \(needed), \(found) are left"
        case .trailing(let count): "too long: \(count.counted("byte")) after the last field"
        case .notText(let offset): "the text at byte \(offset) is not UTF-8"
        case .unended(let offset): "the field at byte \(offset) has no end"
        case .notTime(let offset): "the time at byte \(offset) does not exist"
        case .openRun(let offset): "the bits before byte \(offset) end within a byte"
        case .badCount(let offset, let count): "a count that cannot be: \(count) at byte \(offset)"
        case .noVariant(let offset): "no variant fits at byte \(offset)"
        case .tooLarge: "too large: the value has more than 64 KiB"
        case .notValue(let text, let type): "\"\(text)\" is no \(type)"
        case .noPart(let name): "the text has no \(name)"
        case .cutStructure(let offset, let needed, let found):
            "cut short: the structure at byte \(offset) says \(needed) more, \(found) are left"
        case .noCheck(let reason): "no check: \(reason)"
        case .wrongCheck(let kind, let found, let made):
            "a wrong check: \(kind) says \(found), the bytes make \(made)"
        case .fragment(let fragment): fragment.sentence
        case .heard(let sentence): sentence
        case .notEvents(let count): "not input events: \(count.counted("byte")), where each event has 8"
        }
    }
}
