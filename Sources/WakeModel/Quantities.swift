// Durations and sizes as people write them: a whole number and a unit.

private let durationUnits: [(name: String, nanoseconds: Int64)] = [
    ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000),
    ("ms", 1_000_000),
]

private let sizeUnits: [(name: String, bytes: Int)] = [
    ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
]

extension TimeSpan {
    /// Reads `10s`, `250ms`, `5m`, `2h`, `7d` or `0`. Nil for anything else, and for more than 292 years.
    public init?(text: String) {
        guard let (count, unit) = split(text) else { return nil }
        if unit.isEmpty, count == 0 {
            self = .zero
            return
        }
        guard let factor = durationUnits.first(where: { $0.name == unit })?.nanoseconds else { return nil }
        let (product, overflow) = count.multipliedReportingOverflow(by: factor)
        if overflow { return nil }
        self.init(nanoseconds: product)
    }

    /// The shortest form that ``init(text:)`` reads back; fractions of a millisecond are cut.
    public var text: String {
        if nanoseconds == 0 { return "0s" }
        for unit in durationUnits where nanoseconds.isMultiple(of: unit.nanoseconds) {
            return "\(nanoseconds / unit.nanoseconds)\(unit.name)"
        }
        return "\(wholeMilliseconds)ms"
    }
}

/// Reads `64MiB`, `16KiB`, `1GiB`, `512B` or `0` into bytes. Nil for anything else.
public func byteCount(text: String) -> Int? {
    guard let (count, unit) = split(text) else { return nil }
    if unit.isEmpty { return count == 0 ? 0 : nil }
    guard let factor = sizeUnits.first(where: { $0.name == unit })?.bytes else { return nil }
    let (product, overflow) = Int(count).multipliedReportingOverflow(by: factor)
    return overflow ? nil : product
}

/// The shortest form that ``byteCount(text:)`` reads back.
public func byteCountText(_ bytes: Int) -> String {
    for unit in sizeUnits where bytes.isMultiple(of: unit.bytes) && bytes > 0 {
        return "\(bytes / unit.bytes)\(unit.name)"
    }
    return "\(bytes)B"
}

/// The leading digits of `text`, and the rest. Nil where there are none or too many.
private func split(_ text: String) -> (count: Int64, unit: String)? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let count = Int64(digits) else { return nil }
    return (count, String(text.dropFirst(digits.count)))
}
