// A field list compiled to a flat program: steps with integer slots and ready key bytes, run once for every event.
import WakeModel

struct FieldProgram: Hashable, Sendable {
    /// The slots for values that later steps need; a fixed number, so that a run allocates nothing for them.
    typealias Slots = SIMD32<Int64>
    static let slotCount = 32
    /// The longest value in bytes, and the most elements of a list of objects.
    static let (largestOutput, mostElements) = (64 << 10, 255)

    struct Step: Hashable, Sendable {
        var condition: Condition?
        var work: Work
        /// Keeps the number read for later steps.
        var slot: Int?
        /// Nil for fields that only control others.
        var output: Output?
        var repeats = Repetition.once
        /// The step to go on with where the condition does not hold.
        var next: Int
    }

    enum Work: Hashable, Sendable {
        case read(Source)
        case control(Control)
    }

    /// How often a field or a group comes in a message.
    enum Repetition: Hashable, Sendable {
        case once
        /// Until no bytes are left.
        case toEnd
        case times(Int)
        /// As often as the value of a number that was read above.
        case counted(Reference)
    }

    /// Bits of a number that a slot keeps.
    struct Reference: Hashable, Sendable {
        var slot: Int
        var shift: Int
        var mask: Int64

        func value(in slots: Slots) -> Int64 { slots[slot] >> shift & mask }
    }

    enum Condition: Hashable, Sendable {
        case bits(BitCondition)
        /// Bytes are left to read.
        case left(isNegated: Bool)

        func holds(in slots: Slots, left: Int) -> Bool {
            switch self {
            case .bits(let condition): condition.holds(in: slots)
            case .left(let isNegated): (left > 0) != isNegated
            }
        }

        /// True where both can never hold.
        func excludes(_ other: Condition) -> Bool {
            switch (self, other) {
            case (.bits(let one), .bits(let two)): one.excludes(two)
            case (.left(let one), .left(let two)): one != two
            case (.bits, .left), (.left, .bits): false
            }
        }
    }

    struct BitCondition: Hashable, Sendable {
        var subject: Reference
        /// The required value; nil requires any value but zero.
        var equals: Int64?
        var isNegated: Bool

        func holds(in slots: Slots) -> Bool {
            let value = subject.value(in: slots)
            return (equals.map { value == $0 } ?? (value != 0)) != isNegated
        }

        func excludes(_ other: BitCondition) -> Bool {
            var opposite = other
            opposite.isNegated.toggle()
            if self == opposite { return true }
            // They require different values of the same bits.
            guard let equals, let theirs = other.equals, equals != theirs, !isNegated, !other.isNegated else {
                return false
            }
            return subject == other.subject
        }
    }

    enum Source: Hashable, Sendable {
        case integer(width: Int, isSigned: Bool, isBigEndian: Bool)
        case shortFloat(isBigEndian: Bool)
        case longFloat(isBigEndian: Bool)
        case binaryFloat(width: Int, isBigEndian: Bool)
        case text(Extent)
        case bytes(Extent)
        case uuid(length: Int, isReversed: Bool)
        case address(isReversed: Bool)
        case time(TimeForm, isBigEndian: Bool)
        /// Bits of a number kept earlier; reads no bytes.
        case bits(Reference)
        /// Bits of several, at a place in the table; reads no bytes.
        case joined(table: Int)
        /// Several numbers combined, at a place in the table; reads no bytes.
        case combined(table: Int)
        /// Bits from wherever the last run of bits ended.
        case run(width: Int, isSigned: Bool, isHighFirst: Bool)
    }

    /// How far a text or bytes go.
    enum Extent: Hashable, Sendable {
        case toEnd
        case length(Int)
        case counted(Reference)
        /// Up to these bytes, at a place in the table, which are read and not shown.
        case until(table: Int)
    }

    /// Control through groups, variants and records. Each step names others by their place, so that a run never calls
    /// itself.
    enum Control: Hashable, Sendable {
        case beginObject(clearing: UInt32)
        case endObject(isShown: Bool)
        /// The loop's number, and the step after the list.
        case beginList(loop: Int, end: Int)
        case beginItem(clearing: UInt32, isShown: Bool)
        case endItem(loop: Int, start: Int, isShown: Bool)
        /// Goes on where the pattern fits, otherwise with another step.
        case variant(pattern: Int, clearing: UInt32, otherwise: Int)
        case goOn(at: Int)
        case noVariant
        case beginRecords
        case record(table: Int)
        case endRecord(start: Int)
        case endRecords
        case endRun
        case check(Int)
        case text(Int)
        /// All that is left is for a named decoder.
        case handOver(NamedDecoder)
    }

    struct Output: Hashable, Sendable {
        /// The place of `"bpm":` among the program's keys.
        var key: Range<Int>
        var form: Form
        /// The name or the unit that a reading had before: only for handlers that still read it.
        var isFormer = false
    }

    enum Form: Hashable, Sendable {
        case plain
        case boolean
        /// A table of names; a value without a name is written as its number.
        case words(table: Int)
        /// A place among the scales.
        case scaled(table: Int)
        /// A place among the forms of numbers.
        case number(Int)
    }

    /// A number of fewer bytes in the place of another.
    struct Narrow: Hashable, Sendable {
        var source: Source
        var form: Form
    }

    /// A part of a number that is put together from several.
    struct Piece: Hashable, Sendable {
        var part: Reference
        var width: Int
    }

    /// The treatment of bytes that no field reads, and of a list's element that is cut.
    enum Surplus: Hashable, Sendable {
        /// A fault: in broadcasts and on lines, another length is often another format.
        case refused
        /// Shown beside the fields: a UUID, a report's number or a check vouches for these.
        case kept
        /// The same, but for zeros at the end, with which HID reports are filled up.
        case keptWithoutPadding
    }

    var surplus = Surplus.refused
    /// The narrower reading of some steps, by their place, for messages that fit only so.
    var narrow: [Int: Narrow] = [:]
    /// Only plain numbers, so that a run counts no references; bytes and names are kept beside.
    var steps: [Step] = []
    /// The keys of all outputs, one after the other, as they appear in the line.
    var keys: [UInt8] = []
    /// JSON names by value.
    var words: [[Int64: [UInt8]]] = []
    var numbers: [NumberForm] = []
    var scales: [NumberScale] = []
    var joints: [[Piece]] = []
    var combinations: [Combination] = []
    var endMarks: [[UInt8]] = []
    var patterns: [BytePattern] = []
    var records: [RecordTable] = []
    var checks: [CheckForm] = []
    var texts: [TextProgram] = []
    /// Made of two messages, when they arrive.
    var rates: [Rate] = []

    /// Whether messages must be decoded in their order: a rate is made of two, and a named decoder remembers.
    var hasMemory: Bool { !rates.isEmpty || handsOver }

    /// Whether a named decoder is to read some messages.
    var handsOver: Bool { steps.contains { if case .control(.handOver) = $0.work { true } else { false } } }

    func names(_ decoder: NamedDecoder) -> Bool {
        steps.contains { if case .control(.handOver(decoder)) = $0.work { true } else { false } }
    }

    /// The outcome of a run: an object, or bytes that a named decoder is to read.
    enum Outcome: Hashable, Sendable {
        case written
        case handedOver(NamedDecoder, from: Int, to: Int)
    }

    /// The member that has the bytes which no field reads.
    static let surplusName = "undecoded"

    /// Appends the object for `bytes` to `json`. Throws where they do not fit the fields; the text appended by then stays.
    @discardableResult
    func run(over bytes: [UInt8], into json: inout [UInt8]) throws(DecodeFault) -> Outcome {
        var cursor = FieldCursor(bytes: bytes, surplus: surplus, appendingTo: &json)
        defer { json = cursor.json }
        try run(&cursor)
        return cursor.outcome
    }

    /// A message that is too short for its fields is tried with narrower ones, and counts where those end with it.
    func run(_ cursor: inout FieldCursor) throws(DecodeFault) {
        do throws(DecodeFault) { try runOnce(&cursor) } catch {
            guard case .tooShort = error, !narrow.isEmpty else { throw error }
            cursor.restart()
            guard (try? runOnce(&cursor)) != nil, !cursor.hasLeftOver else { throw error }
        }
    }

    private func runOnce(_ cursor: inout FieldCursor) throws(DecodeFault) {
        var place = 0
        // In place: a step is large.
        while place < steps.count {
            if let condition = steps[place].condition, !condition.holds(in: cursor.slots, left: cursor.left) {
                place = steps[place].next
                continue
            }
            do throws(DecodeFault) { place = try take(place, &cursor) } catch {
                guard let next = cursor.leaveCutElement(after: error) else { throw error }
                place = next
            }
        }
        try cursor.conclude()
    }

    /// Performs a step, and returns the step to go on with.
    private func take(_ place: Int, _ cursor: inout FieldCursor) throws(DecodeFault) -> Int {
        switch steps[place].work {
        case .control(let control): return try cursor.follow(control, at: place, of: self)
        case .read(let source):
            if !cursor.hasTerms(of: source, in: self) {
                cursor.forget(steps[place])
            } else if cursor.isNarrow, let narrow = narrow[place] {
                var step = steps[place]
                step.output?.form = narrow.form
                cursor.openField(step.output, of: self)
                try cursor.read(narrow.source, step, of: self)
            } else if steps[place].repeats == .once {
                cursor.openField(steps[place].output, of: self)
                try cursor.read(source, steps[place], of: self)
            } else {
                try cursor.readRepeated(source, steps[place], of: self)
            }
            return place + 1
        }
    }
}
