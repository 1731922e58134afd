// The form of a whole number that a device sent: no value, a word, a part of it, a scaled number.
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
    let numerator: Double
    let denominator: Double
    let offset: Double
    let decimals: Int
    /// 10^decimals.
    let power: Double
    /// The same of the decimals that were written; nil where they are too long.
    private let whole: WholeScale?

    init(numerator: Double = 1, denominator: Double = 1, offset: Double = 0, decimals: Int) {
        (self.numerator, self.denominator, self.offset) = (numerator, denominator, offset)
        (self.decimals, power) = (decimals, powerOfTen(decimals))
        whole = WholeScale(numerator: numerator, denominator: denominator, offset: offset, decimals: decimals)
    }

    func applied(to value: Double) -> Double { value * numerator / denominator + offset }

    /// `mantissa` / `divisor` scaled, its last decimal counting as one; nil where it does not fit into 64 bits.
    func rounded(_ mantissa: Int64, over divisor: Int64 = 1) -> Int64? { whole?.rounded(mantissa, over: divisor) }
}

/// (value × `factor` + `offset`) / `divisor` in whole numbers. A binary fraction such as 0.005 is not the written one,
/// so it cannot find halves.
struct WholeScale: Hashable, Sendable {
    private var factor: Int64 = 1
    private var offset: Int64 = 0
    private var divisor: Int64 = 1

    /// Nil where a number has more digits than fit.
    init?(numerator: Double, denominator: Double, offset: Double, decimals: Int) {
        guard let above = DecimalNumber(numerator), let below = DecimalNumber(denominator), below.mantissa > 0,
            let shift = DecimalNumber(offset),
            multiply(by: above.mantissa, over: below.mantissa, power: below.decimals - above.decimals + decimals)
        else { return nil }
        if shift.mantissa != 0, !add(shift.mantissa, power: decimals - shift.decimals) { return nil }
    }

    private mutating func multiply(by above: Int64, over below: Int64, power: Int) -> Bool {
        guard let factor = above.times(powerOfTen: power), let divisor = below.times(powerOfTen: -power) else {
            return false
        }
        (self.factor, self.divisor) = (factor, divisor)
        return true
    }

    private mutating func add(_ mantissa: Int64, power: Int) -> Bool {
        let product = mantissa.multipliedReportingOverflow(by: divisor)
        guard !product.overflow, let offset = product.partialValue.times(powerOfTen: power),
            let factor = factor.times(powerOfTen: -power), let divisor = divisor.times(powerOfTen: -power)
        else { return false }
        (self.factor, self.offset, self.divisor) = (factor, offset, divisor)
        return true
    }

    func rounded(_ mantissa: Int64, over below: Int64) -> Int64? {
        let product = mantissa.multipliedReportingOverflow(by: factor)
        let shift = offset.multipliedReportingOverflow(by: below)
        let sum = product.partialValue.addingReportingOverflow(shift.partialValue)
        let divisor = divisor.multipliedReportingOverflow(by: below)
        guard !product.overflow, !shift.overflow, !sum.overflow, !divisor.overflow else { return nil }
        let (quotient, rest) = sum.partialValue.quotientAndRemainder(dividingBy: divisor.partialValue)
        guard rest.magnitude * 2 >= divisor.partialValue.magnitude else { return quotient }
        return sum.partialValue < 0 ? quotient - 1 : quotient + 1
    }
}

/// `mantissa` / 10^`decimals`.
struct DecimalNumber: Hashable {
    var mantissa: Int64
    var decimals: Int
    var value: Double { Double(mantissa) / powerOfTen(decimals) }
}

extension DecimalNumber {
    /// The shortest decimal that reads back as the number, as a person writes it: of 1500 two digits and -2 decimals.
    init?(_ number: Double) {
        let halves = number.description.split(separator: "e")
        let digits = halves[0].split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = digits.first, let exponent = halves.count > 1 ? Int(halves[1]) : 0 else { return nil }
        let fraction = digits.count > 1 && digits[1] != "0" ? digits[1] : ""
        guard var mantissa = Int64(whole + fraction) else { return nil }
        var decimals = fraction.utf8.count - exponent
        while mantissa != 0, mantissa.isMultiple(of: 10) {
            mantissa /= 10
            decimals -= 1
        }
        (self.mantissa, self.decimals) = (mantissa, mantissa == 0 ? 0 : decimals)
    }
}

extension Int64 {
    /// The number × 10^`exponent`, and the number itself where the exponent is below zero; nil where that does not fit.
    func times(powerOfTen exponent: Int) -> Int64? {
        var result = self
        for _ in 0..<Swift.max(0, Swift.min(exponent, 20)) {
            let (product, isTooLarge) = result.multipliedReportingOverflow(by: 10)
            if isTooLarge { return nil }
            result = product
        }
        return result
    }
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

    mutating func append(_ value: Int64, _ scale: NumberScale) {
        if let whole = scale.rounded(value) { return appendShortest(whole, pointBefore: scale.decimals) }
        append(Double(value), scale)
    }

    mutating func append(_ number: DecimalNumber, _ scale: NumberScale) {
        let divisor = number.decimals >= 0 ? Int64(1).times(powerOfTen: number.decimals) : nil
        if let divisor, let whole = scale.rounded(number.mantissa, over: divisor) {
            return appendShortest(whole, pointBefore: scale.decimals)
        }
        append(number.value, scale)
    }

    /// The shortest text that reads back as the same number; null if it is no number.
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
