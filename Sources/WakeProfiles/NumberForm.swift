// What becomes of a whole number that a device sent: no value, a word, a part of it, a scaled number.
import WakeModel

/// A number's way into the value, where it is more than plain, a word or scaled.
struct NumberForm: Hashable, Sendable {
    /// Raw numbers that mean that there is no value.
    var nulls: [Int64] = []
    /// A table of names.
    var words: Int?
    /// Whole, toward zero; before `modulo` where both are given.
    var divide: Int64 = 1
    var modulo: Int64?
    /// The number is below zero where these bits are not zero.
    var sign: FieldProgram.Reference?
    var scale: NumberScale?
    /// All 64 bits are the number.
    var isUnsigned64 = false
    var isBoolean = false
}

/// value × `numerator` / `denominator` + `offset`, rounded to `decimals`.
struct NumberScale: Hashable, Sendable {
    var numerator = 1.0
    var denominator = 1.0
    var offset = 0.0
    var decimals: Int
    /// 10^decimals.
    var power: Double

    func applied(to value: Double) -> Double { value * numerator / denominator + offset }
}

extension [UInt8] {
    mutating func appendNull() { append(contentsOf: "null".utf8) }

    mutating func appendBoolean(_ flag: Bool) { append(contentsOf: flag ? "true".utf8 : "false".utf8) }

    /// Half away from zero, without zeros at the end.
    mutating func appendRounded(_ value: Double, decimals: Int, power: Double) {
        let shifted = (value * power).rounded()
        if shifted.magnitude < 9e15 {
            appendShortest(Int64(shifted), pointBefore: decimals)
        } else if value.isFinite {
            // Above the whole numbers that a Double holds exactly there are no decimals to round.
            append(contentsOf: value.description.utf8)
        } else {
            appendNull()
        }
    }

    mutating func append(_ value: Double, _ scale: NumberScale) {
        appendRounded(scale.applied(to: value), decimals: scale.decimals, power: scale.power)
    }

    /// The shortest text that reads back as the same number; what is no number is null.
    mutating func appendReal(_ value: Double, shortest text: String) {
        if !value.isFinite {
            appendNull()
        } else if value.magnitude < 1e15, let whole = Int64(exactly: value) {
            appendDecimal(whole)
        } else {
            append(contentsOf: text.utf8)
        }
    }
}
