// Numbers that fields and constants make together: their sum, difference, product, quotient or power.

/// Exact if the numbers are decimals that fit, so that a half is rounded as a person rounds it.
struct Combination: Hashable, Sendable {
    enum Operation: String, Hashable, Sendable {
        case sum, product, power
        /// The first less all others, and the first by all others.
        case difference, quotient
    }

    enum Term: Hashable, Sendable {
        case constant(DecimalNumber)
        /// A whole number that a slot keeps, and its form.
        case whole(FieldProgram.Reference, NumberForm)
        /// A slot keeps the bits of a Double.
        case real(slot: Int, NumberScale?)
    }

    enum Number: Hashable, Sendable {
        case exact(DecimalNumber)
        case real(Double)

        var value: Double {
            switch self {
            case .exact(let number): number.value
            case .real(let value): value
            }
        }
    }

    /// `above` / `below`, the latter above zero.
    struct Fraction: Hashable, Sendable {
        var above: Int64
        var below: Int64
    }

    static let mostTerms = 8
    /// In the slot of a combination that has no value.
    static let none = Int64.min

    var operation: Operation
    var terms: [Term]
    /// The number is below zero where these bits are not zero.
    var sign: FieldProgram.Reference?
    var scale: NumberScale

    var slots: UInt32 {
        terms.reduce(0) { mask, term in
            switch term {
            case .constant: mask
            case .whole(let reference, _): mask | 1 << UInt32(reference.slot)
            case .real(let slot, _): mask | 1 << UInt32(slot)
            }
        }
    }

    /// Its last decimal counts as one; nil where there is no value, as where a term has none or the divisor is zero.
    func rounded(in slots: FieldProgram.Slots, of program: FieldProgram) -> Int64? {
        var numbers: [Number] = []
        for term in terms {
            guard let number = term.number(in: slots, of: program) else { return nil }
            numbers.append(number)
        }
        let isNegative = sign.map { $0.value(in: slots) != 0 } ?? false
        if let fraction = operation.fraction(of: numbers), fraction.above != .min,
            let whole = scale.rounded(isNegative ? -fraction.above : fraction.above, over: fraction.below)
        {
            return whole
        }
        let value = operation.real(of: numbers.map(\.value))
        let shifted = (scale.applied(to: isNegative ? -value : value) * scale.power).rounded()
        return shifted.magnitude < 9e15 ? Int64(shifted) : nil
    }
}

extension Combination.Operation {
    /// Nil where it is not exact, or where there is none.
    func fraction(of numbers: [Combination.Number]) -> Combination.Fraction? {
        var terms: [DecimalNumber] = []
        for number in numbers {
            guard case .exact(let decimal) = number else { return nil }
            terms.append(decimal)
        }
        guard let first = terms.first else { return nil }
        let others = terms.dropFirst()
        switch self {
        case .sum: return others.reduce(Optional(first)) { $0?.adding($1) }?.fraction
        case .difference: return others.reduce(Optional(first)) { $0?.adding($1.negated) }?.fraction
        case .product: return others.reduce(Optional(first)) { $0?.multiplied(by: $1) }?.fraction
        case .quotient: return others.reduce(Optional(.one)) { $0?.multiplied(by: $1) }.flatMap(first.divided)
        case .power: return nil
        }
    }

    /// The numbers combined; NaN if there are none.
    func real(of numbers: [Double]) -> Double {
        guard let first = numbers.first else { return .nan }
        let others = numbers.dropFirst()
        switch self {
        case .sum: return others.reduce(first, +)
        case .difference: return others.reduce(first, -)
        case .product: return others.reduce(first, *)
        case .quotient: return others.reduce(first) { $1 == 0 ? .nan : $0 / $1 }
        case .power: return others.reduce(first) { $0.raised(to: $1) }
        }
    }
}

extension Double {
    /// By products and square roots: this module has no other mathematics, because handlers test with it on any system.
    fileprivate func raised(to exponent: Double) -> Double {
        guard exponent.magnitude <= 1024, self > 0 || exponent == exponent.rounded(.towardZero) else { return .nan }
        var (whole, rest) = (Int(exponent.magnitude), exponent.magnitude.truncatingRemainder(dividingBy: 1))
        var (result, factor, root) = (1.0, self, self)
        while whole > 0 {
            if !whole.isMultiple(of: 2) { result *= factor }
            factor *= factor
            whole /= 2
        }
        while rest > 0 {
            root = root.squareRoot()
            rest *= 2
            if rest >= 1 { result *= root }
            rest = rest.truncatingRemainder(dividingBy: 1)
        }
        return exponent < 0 ? 1 / result : result
    }
}

extension Combination.Term {
    func number(in slots: FieldProgram.Slots, of program: FieldProgram) -> Combination.Number? {
        switch self {
        case .constant(let number): return .exact(number)
        case .whole(let reference, let form):
            return form.number(of: reference.value(in: slots), in: slots, of: program)
        case .real(let slot, let scale):
            let value = Double(bitPattern: UInt64(bitPattern: slots[slot]))
            return value.isFinite ? .real(scale?.applied(to: value) ?? value) : nil
        }
    }
}

extension NumberForm {
    /// The number that a raw one is shown as.
    fileprivate func number(
        of raw: Int64, in slots: FieldProgram.Slots, of program: FieldProgram
    ) -> Combination.Number? {
        if nulls.contains(raw) || words.map({ program.words[$0][raw] != nil }) ?? false { return nil }
        if isUnsigned64, raw < 0 {
            let value = Double(UInt64(bitPattern: raw))
            return .real(scale?.applied(to: value) ?? value)
        }
        var value = raw / divide
        if let modulo { value %= modulo }
        if let sign, sign.value(in: slots) != 0 { value = 0 &- value }
        guard let scale else { return .exact(DecimalNumber(mantissa: value, decimals: 0)) }
        guard let whole = scale.rounded(value) else { return .real(scale.applied(to: Double(value))) }
        return .exact(DecimalNumber(mantissa: whole, decimals: scale.decimals))
    }
}

extension DecimalNumber {
    fileprivate static let one = DecimalNumber(mantissa: 1, decimals: 0)

    fileprivate var negated: DecimalNumber { DecimalNumber(mantissa: 0 &- mantissa, decimals: decimals) }

    /// Nil where it does not fit; so are the others.
    fileprivate func adding(_ other: DecimalNumber) -> DecimalNumber? {
        let shared = max(decimals, other.decimals)
        guard let one = mantissa.times(powerOfTen: shared - decimals),
            let two = other.mantissa.times(powerOfTen: shared - other.decimals)
        else { return nil }
        let (sum, isTooLarge) = one.addingReportingOverflow(two)
        return isTooLarge ? nil : DecimalNumber(mantissa: sum, decimals: shared)
    }

    fileprivate func multiplied(by other: DecimalNumber) -> DecimalNumber? {
        let (product, isTooLarge) = mantissa.multipliedReportingOverflow(by: other.mantissa)
        return isTooLarge ? nil : DecimalNumber(mantissa: product, decimals: decimals + other.decimals)
    }

    fileprivate func divided(by other: DecimalNumber) -> Combination.Fraction? {
        guard let above = mantissa.times(powerOfTen: other.decimals - decimals),
            let below = other.mantissa.times(powerOfTen: decimals - other.decimals), below != 0,
            above != .min, below != .min
        else { return nil }
        return below < 0 ? .init(above: -above, below: -below) : .init(above: above, below: below)
    }

    fileprivate var fraction: Combination.Fraction? { divided(by: .one) }
}
