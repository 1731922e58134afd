// A field list compiled to a flat program: steps with integer slots and ready-made key bytes, run once for every event.
import WakeModel

/// Why bytes are not what a profile's field list says; the event is then delivered raw.
public enum DecodeFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field that starts at `offset` needs `needed` bytes and finds `found`.
    case tooShort(offset: Int, needed: Int, found: Int)
    /// `count` bytes stand after the last field.
    case trailing(count: Int)
    /// The text that starts at `offset` is not UTF-8.
    case notText(offset: Int)
    /// The structure of an advertisement that starts at `offset` says `needed` bytes, and `found` are left.
    case cutStructure(offset: Int, needed: Int, found: Int)
    /// The message is too short for its check, or its check is not where it should be.
    case noCheck(String)
    /// The check that a message carries is not the one that its bytes make.
    case wrongCheck(kind: String, found: String, made: String)
    /// So many bytes are no whole number of input events.
    case notEvents(count: Int)
    /// The line's framing has found no whole message.
    case fragment(Fragment)

    public var description: String {
        switch self {
        case .tooShort(let offset, let needed, let found):
            "too short: the field at byte \(offset) needs \(needed), \(found) are left"
        case .trailing(let count): "too long: \(count) bytes after the last field"
        case .notText(let offset): "the text at byte \(offset) is not UTF-8"
        case .cutStructure(let offset, let needed, let found):
            "cut short: the structure at byte \(offset) says \(needed) more, \(found) are left"
        case .noCheck(let reason): "no check: \(reason)"
        case .wrongCheck(let kind, let found, let made):
            "a wrong check: \(kind) says \(found), the bytes make \(made)"
        case .fragment(let fragment): fragment.sentence
        case .notEvents(let count): "not input events: \(count) bytes, where each event has 8"
        }
    }
}

struct FieldProgram: Hashable, Sendable {
    /// Where values are kept that later steps ask for; a fixed number, so that running allocates nothing for them.
    typealias Slots = SIMD16<Int64>
    static let slotCount = 16

    struct Step: Hashable, Sendable {
        var condition: Condition?
        var source: Source
        /// Keeps the number read for later steps.
        var slot: Int?
        /// Nil for fields that only steer others.
        var output: Output?
        var repeats = false
    }

    struct Condition: Hashable, Sendable {
        var slot: Int
        var shift: Int
        var mask: Int64
        /// The value asked for; nil asks for anything but zero.
        var equals: Int64?
        var isNegated: Bool

        func holds(in slots: Slots) -> Bool {
            let value = slots[slot] >> shift & mask
            return (equals.map { value == $0 } ?? (value != 0)) != isNegated
        }

        /// True where never both hold.
        func excludes(_ other: Condition) -> Bool {
            var opposite = other
            opposite.isNegated.toggle()
            if self == opposite { return true }
            // Two different values of the same bits.
            guard let equals, let theirs = other.equals, equals != theirs, !isNegated, !other.isNegated else {
                return false
            }
            return (slot, shift, mask) == (other.slot, other.shift, other.mask)
        }
    }

    enum Source: Hashable, Sendable {
        case integer(width: Int, isSigned: Bool, isBigEndian: Bool)
        case shortFloat(isBigEndian: Bool)
        case longFloat(isBigEndian: Bool)
        /// `length` nil takes all that is left.
        case text(length: Int?)
        case bytes(length: Int?)
        /// Bits of a number kept earlier; reads nothing.
        case bits(slot: Int, shift: Int, mask: Int64)
    }

    struct Output: Hashable, Sendable {
        /// Where `"bpm":` stands among the program's keys.
        var key: Range<Int>
        var form: Form
    }

    enum Form: Hashable, Sendable {
        case plain
        case boolean
        /// A table of the program's words; a value without a word is written as its number.
        case words(table: Int)
        /// value × `numerator` / `denominator`, rounded to `decimals`, `power` being 10^decimals.
        case scaled(numerator: Double, denominator: Double, decimals: Int, power: Double)
    }

    /// Plain numbers all through, so that running them counts no references; bytes and words stand beside.
    var steps: [Step] = []
    /// The keys of all outputs, one after the other, each as it stands in the line.
    var keys: [UInt8] = []
    /// JSON words by value.
    var words: [[Int64: [UInt8]]] = []

    /// Appends the object for `bytes` to `json`. Throws where they are too short, too long or not text; what was appended
    /// by then stands.
    func run(over bytes: [UInt8], into json: inout [UInt8]) throws(DecodeFault) {
        var cursor = FieldCursor(bytes: bytes, appendingTo: &json)
        defer { json = cursor.json }
        // In place: a step is large.
        for index in steps.indices where steps[index].condition?.holds(in: cursor.slots) ?? true {
            if steps[index].repeats {
                try cursor.takeAll(steps[index], of: self)
            } else {
                cursor.openField(steps[index].output, of: self)
                try cursor.take(steps[index], of: self)
            }
        }
        if cursor.left > 0 { throw DecodeFault.trailing(count: cursor.left) }
        cursor.json.append(UInt8(ascii: "}"))
    }
}
