// Numbers as decimal text, made in memory of their own first: a text that grows with each digit costs more than its digits.

extension [UInt8] {
    /// Appends a number in decimal without making a string.
    public mutating func appendDecimal(_ value: some BinaryInteger) {
        if value < 0 { append(UInt8(ascii: "-")) }
        appendDigits(UInt64(value.magnitude))
    }

    /// Appends `value` / 10^`decimals` with all its decimals, up to 20 of them: 832 and 3 give `0.832`.
    public mutating func appendDecimal(_ value: Int64, pointBefore decimals: Int) {
        if value < 0 { append(UInt8(ascii: "-")) }
        guard decimals > 0 else { return appendDigits(value.magnitude) }
        appendText(upTo: 24) { text in
            let rest = text.fill(before: text.count, with: value.magnitude, width: decimals)
            let point = text.count - decimals - 1
            text[point] = UInt8(ascii: ".")
            return text.fill(before: point, with: rest)
        }
    }

    private mutating func appendDigits(_ value: UInt64) {
        if value < 10 { return append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value)) }
        appendText(upTo: 20) { text in text.fill(before: text.count, with: value) }
    }

    /// Appends what `write` puts at the end of so many bytes, from the place on that it returns.
    @inline(__always)
    mutating func appendText(upTo length: Int, write: (UnsafeMutableBufferPointer<UInt8>) -> Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: length) { text in
            let start = write(text)
            append(contentsOf: UnsafeBufferPointer(start: text.baseAddress.map { $0 + start }, count: length - start))
        }
    }
}

extension UnsafeMutableBufferPointer<UInt8> {
    /// Writes all digits of `value`, at least one, and returns where the first stands.
    func fill(before end: Int, with value: UInt64) -> Int {
        var (rest, place) = (value, end)
        repeat {
            place -= 1
            self[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        return place
    }

    /// Writes the lowest `width` digits of `value`, and returns the number that is left of it.
    func fill(before end: Int, with value: UInt64, width: Int) -> UInt64 {
        var (rest, place) = (value, end)
        while place > end - width {
            place -= 1
            self[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        return rest
    }

    /// Writes the two digits of a number below 100.
    @inline(__always)
    func fill(at place: Int, withPair value: UInt64) {
        self[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 10)
        self[place + 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10)
    }
}
