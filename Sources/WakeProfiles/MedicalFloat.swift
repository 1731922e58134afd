// The two floating-point formats of ISO/IEEE 11073-20601: a signed exponent of ten above a signed mantissa.

/// A decimal number, exactly as the device sent it: `mantissa` × 10^`exponent`.
struct MedicalFloat: Hashable {
    var mantissa: Int64
    var exponent: Int

    /// SFLOAT: 4 bits of exponent, 12 of mantissa. Nil for NaN, NRes, ±infinity and the reserved value.
    init?(short bits: UInt16) {
        // The five special values have exponent 0; with another exponent these mantissas are plain numbers.
        if (0x07fe...0x0802).contains(bits) { return nil }
        mantissa = Int64(Int16(bitPattern: bits << 4) >> 4)
        exponent = Int(Int16(bitPattern: bits) >> 12)
    }

    /// FLOAT: 8 bits of exponent, 24 of mantissa. Nil for NaN, NRes, ±infinity and the reserved value.
    init?(long bits: UInt32) {
        if (0x007f_fffe...0x0080_0002).contains(bits) { return nil }
        mantissa = Int64(Int32(bitPattern: bits << 8) >> 8)
        exponent = Int(Int32(bitPattern: bits) >> 24)
    }

    var value: Double {
        // Dividing keeps 365e-1 at 36.5, which multiplying by 0.1 would not.
        let power = powerOfTen(abs(exponent))
        return exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
    }
}

/// 10^`exponent`, exact to 22; infinite above 308.
func powerOfTen(_ exponent: Int) -> Double {
    var power = 1.0
    for _ in 0..<min(exponent, 309) { power *= 10 }
    return power
}

extension [UInt8] {
    /// Appends the number as JSON without rounding: `36.5`, `120`, and `5e-20` where it would need many zeros.
    mutating func append(_ number: MedicalFloat) {
        if number.mantissa == 0 {
            append(UInt8(ascii: "0"))
        } else if (-12...(-1)).contains(number.exponent) {
            appendShortest(number.mantissa, pointBefore: -number.exponent)
        } else if (0...9).contains(number.exponent) {
            appendDecimal(number.mantissa)
            append(contentsOf: repeatElement(UInt8(ascii: "0"), count: number.exponent))
        } else {
            appendDecimal(number.mantissa)
            append(UInt8(ascii: "e"))
            appendDecimal(Int64(number.exponent))
        }
    }

    /// Appends the number scaled and rounded.
    mutating func append(_ number: MedicalFloat, _ scale: NumberScale) {
        if (-18...0).contains(number.exponent) {
            append(DecimalNumber(mantissa: number.mantissa, decimals: -number.exponent), scale)
        } else {
            append(number.value, scale)
        }
    }

    /// Appends `value` / 10^`decimals` without trailing zeros: 832 and 3 give `0.832`, 1500 and 3 give `1.5`.
    mutating func appendShortest(_ value: Int64, pointBefore decimals: Int) {
        var (rest, decimals) = (value, decimals)
        while decimals > 0, rest.isMultiple(of: 10) {
            rest /= 10
            decimals -= 1
        }
        appendDecimal(rest, pointBefore: decimals)
    }
}
