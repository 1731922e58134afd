// A field list compiled to a flat program: steps with integer slots and ready key bytes, run once for every event.
import WakeModel

/// Why bytes do not fit a profile's field list; the event is then delivered raw.
public enum DecodeFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field at `offset` needs `needed` bytes and finds `found`.
    case tooShort(offset: Int, needed: Int, found: Int)
    /// `count` bytes follow the last field.
    case trailing(count: Int)
    /// The text at `offset` is not UTF-8.
    case notText(offset: Int)
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

    public var description: String {
        switch self {
        case .tooShort(let offset, let needed, let found):
            "too short: the field at byte \(offset) needs \(needed), \(found) are left"
        case .trailing(let count): "too long: \(count.counted("byte")) after the last field"
        case .notText(let offset): "the text at byte \(offset) is not UTF-8"
        case .cutStructure(let offset, let needed, let found):
            "cut short: the structure at byte \(offset) says \(needed) more, \(found) are left"
        case .noCheck(let reason): "no check: \(reason)"
        case .wrongCheck(let kind, let found, let made):
            "a wrong check: \(kind) says \(found), the bytes make \(made)"
        case .fragment(let fragment): fragment.sentence
        case .notEvents(let count): "not input events: \(count.counted("byte")), where each event has 8"
        }
    }
}

struct FieldProgram: Hashable, Sendable {
    /// The slots for values that later steps need; a fixed number, so that a run allocates nothing for them.
    typealias Slots = SIMD16<Int64>
    static let slotCount = 16

    struct Step: Hashable, Sendable {
        var condition: Condition?
        var source: Source
        /// Keeps the number read for later steps.
        var slot: Int?
        /// Nil for fields that only control others.
        var output: Output?
        var repeats = false
    }

    struct Condition: Hashable, Sendable {
        var slot: Int
        var shift: Int
        var mask: Int64
        /// The required value; nil requires any value but zero.
        var equals: Int64?
        var isNegated: Bool

        func holds(in slots: Slots) -> Bool {
            let value = slots[slot] >> shift & mask
            return (equals.map { value == $0 } ?? (value != 0)) != isNegated
        }

        /// True where both can never hold.
        func excludes(_ other: Condition) -> Bool {
            var opposite = other
            opposite.isNegated.toggle()
            if self == opposite { return true }
            // They require different values of the same bits.
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
        /// `length` nil reads to the end.
        case text(length: Int?)
        case bytes(length: Int?)
        /// Bits of a number kept earlier; reads no bytes.
        case bits(slot: Int, shift: Int, mask: Int64)
    }

    struct Output: Hashable, Sendable {
        /// The place of `"bpm":` among the program's keys.
        var key: Range<Int>
        var form: Form
    }

    enum Form: Hashable, Sendable {
        case plain
        case boolean
        /// A table of names; a value without a name is written as its number.
        case words(table: Int)
        /// value × `numerator` / `denominator`, rounded to `decimals`, `power` being 10^decimals.
        case scaled(numerator: Double, denominator: Double, decimals: Int, power: Double)
    }

    /// Only plain numbers, so that a run counts no references; bytes and names are kept beside.
    var steps: [Step] = []
    /// The keys of all outputs, one after the other, as they appear in the line.
    var keys: [UInt8] = []
    /// JSON names by value.
    var words: [[Int64: [UInt8]]] = []

    /// Appends the object for `bytes` to `json`. Throws where they are too short, too long or not text; the text appended
    /// by then stays.
    func run(over bytes: [UInt8], into json: inout [UInt8]) throws(DecodeFault) {
        var cursor = FieldCursor(bytes: bytes, appendingTo: &json)
        defer { json = cursor.json }
        // In place: a step is large.
        for index in steps.indices where steps[index].condition?.holds(in: cursor.slots) ?? true {
            if steps[index].repeats {
                try cursor.readRepeated(steps[index], of: self)
            } else {
                cursor.openField(steps[index].output, of: self)
                try cursor.read(steps[index], of: self)
            }
        }
        if cursor.left > 0 { throw DecodeFault.trailing(count: cursor.left) }
        cursor.json.append(UInt8(ascii: "}"))
    }
}
