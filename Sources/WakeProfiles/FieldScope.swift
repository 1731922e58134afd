// What a field may refer to: the fields above it, in its own list and in those around it, and the slots that they have.
import WakeModel

/// What a whole number can be.
struct NumberShape: Hashable {
    /// Bits; nil for what is no whole number.
    var width: Int?
    var isSigned = false

    /// All 64 bits are the number.
    var isUnsigned64: Bool { width == 64 && !isSigned }
}

/// A value that later fields may refer to by name.
struct KnownField {
    var document: FieldDocument
    var shape: NumberShape
    var repeats: Bool
    /// More than one where exclusive fields share a name; they share its slot too.
    var steps: [Int]
    var slot: Int?
}

/// One list of fields while it is compiled: those of the message, a group, a variant or a record.
struct FieldScope {
    /// A field or group of the list.
    struct Entry {
        var name: String
        var condition: FieldProgram.Condition?
        var takesAll: Bool
        var takesBytes: Bool
    }

    /// Its first among all known fields.
    var firstKnown: Int
    var entries: [Entry] = []
    /// Slots of lists that ended before this one began: it may have them, because it clears its slots when it begins.
    var pool: UInt32 = 0
    /// Slots of lists in this one that have ended.
    var freed: UInt32 = 0
    /// Nothing of it is shown.
    var isSilent = false
    /// It begins where the message begins, as those of variants do.
    var isWhole = true
    /// What stands in place of fields takes all that is left.
    var layoutTakesAll = false
    var layoutTakesBytes = false

    var takesAll: Bool { layoutTakesAll || entries.contains { $0.takesAll && $0.condition == nil } }
    var takesBytes: Bool { layoutTakesBytes || entries.contains(where: \.takesBytes) }
}

/// The bits behind a reference such as `flags.wide`.
struct FieldReference {
    var place: FieldProgram.Reference
    var shape: NumberShape
    var values: [Int64: String]
}
