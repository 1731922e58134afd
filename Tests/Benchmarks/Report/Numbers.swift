// Numbers as people read them: three digits that say something, thousands apart.

public enum Numbers {
    /// `0.0042`, `0.42`, `12.3`, `417`, `125,919`.
    static func written(_ value: Double) -> String {
        guard value.isFinite else { return "?" }
        // What rounds up to the next size is written as one of that size.
        let size = abs(value)
        return fixed(value, decimals: size < 0.0995 && size > 0 ? 4 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0)
    }

    static func fixed(_ value: Double, decimals: Int) -> String {
        let scale = (0..<decimals).reduce(Int64(1)) { scale, _ in scale * 10 }
        let scaled = Int64((abs(value) * Double(scale)).rounded())
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard decimals > 0 else { return sign + grouped(scaled) }
        let rest = String(scaled % scale)
        return sign + grouped(scaled / scale) + "." + String(repeating: "0", count: decimals - rest.count) + rest
    }

    public static func grouped(_ whole: Int64) -> String {
        let digits = Array(String(whole))
        var text = ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return text
    }
}

extension Numbers {
    /// As marks of an axis are: `0.5`, `20`, `10,000`.
    static func short(_ value: Double) -> String {
        if abs(value - value.rounded()) < 1e-9 * max(1, abs(value)) { return grouped(Int64(value.rounded())) }
        return "\((value * 1e6).rounded() / 1e6)"
    }

    /// As goals are: `1.75`, `300,000`, `1/150`.
    static func bound(_ value: Double) -> String {
        let inverse = (1 / value).rounded()
        return value > 0 && value < 0.1 && abs(value * inverse - 1) < 1e-9 ? "1/\(Int(inverse))" : short(value)
    }
}
