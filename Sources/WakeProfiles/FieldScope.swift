// The scope of a field: the fields above it, in its own list and in those around it, and their slots.
import WakeModel

/// The shape of a whole number.
struct NumberShape: Hashable {
    /// Bits; nil if it is no whole number.
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

/// A list of fields while it is compiled: those of the message, a group, a variant or a record.
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
    /// No field of it is shown.
    var isSilent = false
    /// It begins where the message begins, as those of variants do.
    var isWhole = true
    /// A key that replaces the fields takes all bytes that are left.
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
