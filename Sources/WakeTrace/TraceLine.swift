// A cursor over one line of a trace: reads the smallest pieces of the grammar, and names the column of a fault.
import WakeModel

/// Holds the reader's buffer only while it reads its line, so that the buffer is never copied.
struct TraceLine {
    let bytes: [UInt8]
    let start: Int
    let end: Int
    let number: Int
    var position: Int

    init(bytes: [UInt8], start: Int, end: Int, number: Int) {
        self.bytes = bytes
        self.start = start
        self.end = end
        self.number = number
        self.position = start
    }

    var isAtEnd: Bool { position >= end }
    var next: UInt8? { position < end ? bytes[position] : nil }

    func error(_ reason: String, at place: Int? = nil) -> TraceError {
        TraceError(line: number, column: (place ?? position) - start + 1, reason: reason)
    }

    mutating func skipSpaces() {
        while position < end, bytes[position] == UInt8(ascii: " ") || bytes[position] == UInt8(ascii: "\t") {
            position += 1
        }
    }

    mutating func expectEnd() throws(TraceError) {
        skipSpaces()
        guard isAtEnd else { throw error("`\(rest)` is more than this line may hold") }
    }

    /// The range up to the next space, or to `=` where `stoppingAtEquals`.
    mutating func token(_ wanted: StaticString, stoppingAtEquals: Bool = false) throws(TraceError) -> Range<Int> {
        skipSpaces()
        let first = position
        while position < end, bytes[position] > UInt8(ascii: " ") {
            if stoppingAtEquals, bytes[position] == UInt8(ascii: "=") { break }
            position += 1
        }
        guard position > first else { throw error("\(wanted) is missing") }
        return first..<position
    }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    func matches(_ range: Range<Int>, _ word: StaticString) -> Bool {
        guard range.count == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { word in
            for index in 0..<word.count where bytes[range.lowerBound + index] != word[index] { return false }
            return true
        }
    }

    /// The rest of the line, cut to fit into a message.
    private var rest: String { String(text(position..<min(end, position + 40)).prefix(40)) }
}

// Numbers and times.
extension TraceLine {
    mutating func unsigned(_ wanted: StaticString, upTo limit: UInt64) throws(TraceError) -> UInt64 {
        skipSpaces()
        let first = position
        var value: UInt64 = 0
        while position < end, let digit = decimalDigit(bytes[position]) {
            let (scaled, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = scaled.addingReportingOverflow(digit)
            guard !overflow, !carry else { throw error("\(wanted) is over \(limit)", at: first) }
            value = sum
            position += 1
        }
        guard position > first else { throw error("\(wanted) must be a whole number, no sign") }
        guard value <= limit else { throw error("\(wanted) is over \(limit)", at: first) }
        guard position == end || bytes[position] <= UInt8(ascii: " ") else {
            throw error("\(wanted) must be a whole number")
        }
        return value
    }

    /// The longest span that is allowed in a place.
    enum SpanLimit {
        case decade, century

        var span: TimeSpan {
            switch self {
            case .decade: TraceLimit.span
            case .century: TraceLimit.step
            }
        }
        var words: String {
            switch self {
            case .decade: "ten years"
            case .century: "a hundred years"
            }
        }
    }

    /// Seconds, with up to nine digits after the point.
    mutating func span(_ wanted: StaticString, within limit: SpanLimit = .decade) throws(TraceError) -> TimeSpan {
        let first = position
        guard next != UInt8(ascii: "-") else { throw error("\(wanted) is negative; time never runs back") }
        var seconds: Int64 = 0
        while position < end, let digit = decimalDigit(bytes[position]) {
            guard position - first < 10 else { throw error("\(wanted) is over \(limit.words)", at: first) }
            seconds = seconds * 10 + Int64(digit)
            position += 1
        }
        guard position > first else { throw error("\(wanted) must be seconds, such as `0.812`") }
        let fraction = try nanoseconds(wanted)
        guard position == end || bytes[position] <= UInt8(ascii: " ") else {
            throw error("\(wanted) must be seconds, such as `0.812`", at: first)
        }
        let span = TimeSpan.seconds(seconds) + TimeSpan(nanoseconds: fraction)
        guard span <= limit.span else { throw error("\(wanted) is over \(limit.words)", at: first) }
        return span
    }

    private mutating func nanoseconds(_ wanted: StaticString) throws(TraceError) -> Int64 {
        guard next == UInt8(ascii: ".") else { return 0 }
        position += 1
        let first = position
        var value: Int64 = 0
        var scale: Int64 = 1_000_000_000
        while position < end, let digit = decimalDigit(bytes[position]) {
            guard position - first < 9 else { throw error("\(wanted) has more than nine digits after the point") }
            value = value * 10 + Int64(digit)
            scale /= 10
            position += 1
        }
        guard position > first else { throw error("\(wanted) has no digit after the point") }
        return value * scale
    }
}

// Bytes and texts.
extension TraceLine {
    /// Hexadecimal digits to the end of the line; spaces are allowed between whole bytes.
    mutating func payload() throws(TraceError) -> [UInt8] {
        skipSpaces()
        var result: [UInt8] = []
        result.reserveCapacity((end - position) / 2)
        while position < end {
            let character = bytes[position]
            if character == UInt8(ascii: " ") || character == UInt8(ascii: "\t") {
                position += 1
                continue
            }
            guard let high = digitValue(character) else { throw error("`\(shown(character))` is no hexadecimal digit") }
            guard position + 1 < end, let low = digitValue(bytes[position + 1]) else {
                throw error("half a byte: hexadecimal digits come in pairs")
            }
            result.append(high << 4 | low)
            position += 2
        }
        return result
    }

    /// A bare word, or a text in double quotes with `\"`, `\\`, `\n`, `\t` and `\xHH`.
    mutating func value(_ wanted: StaticString) throws(TraceError) -> String {
        guard next == UInt8(ascii: "\"") else {
            let range = try token(wanted)
            guard !bytes[range].contains(UInt8(ascii: "\"")) else {
                throw error("\(wanted) has a quotation mark inside a bare word", at: range.lowerBound)
            }
            return try checkedText(Array(bytes[range]), wanted, at: range.lowerBound)
        }
        return try quoted(wanted)
    }

    private mutating func quoted(_ wanted: StaticString) throws(TraceError) -> String {
        let first = position
        var result: [UInt8] = []
        position += 1
        while let character = next, character != UInt8(ascii: "\"") {
            position += 1
            result.append(character == UInt8(ascii: "\\") ? try escaped() : character)
        }
        guard next != nil else { throw error("\(wanted) has no closing quotation mark", at: first) }
        position += 1
        guard isAtEnd || bytes[position] <= UInt8(ascii: " ") else {
            throw error("a space belongs after the quotation mark")
        }
        return try checkedText(result, wanted, at: first)
    }

    private mutating func escaped() throws(TraceError) -> UInt8 {
        let character = next
        position += 1
        switch character {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): return character ?? 0
        case UInt8(ascii: "n"): return UInt8(ascii: "\n")
        case UInt8(ascii: "t"): return UInt8(ascii: "\t")
        case UInt8(ascii: "x"):
            guard position + 1 < end, let high = digitValue(bytes[position]), let low = digitValue(bytes[position + 1]),
                high < 8
            else { throw error("`\\x` takes two hexadecimal digits, 00 to 7f", at: position - 2) }
            position += 2
            return high << 4 | low
        default: throw error("unknown escape; known are \\\" \\\\ \\n \\t \\xHH", at: position - 2)
        }
    }

    private func checkedText(_ text: [UInt8], _ wanted: StaticString, at place: Int) throws(TraceError) -> String {
        let string = String(decoding: text, as: UTF8.self)
        guard string.utf8.elementsEqual(text) else { throw error("\(wanted) is not UTF-8", at: place) }
        return string
    }

    private func shown(_ character: UInt8) -> String {
        character > 0x20 && character < 0x7f
            ? String(decoding: [character], as: UTF8.self) : "byte 0x" + [character].hexadecimal
    }
}

@inline(__always) package func decimalDigit(_ character: UInt8) -> UInt64? {
    character >= UInt8(ascii: "0") && character <= UInt8(ascii: "9") ? UInt64(character - UInt8(ascii: "0")) : nil
}

@inline(__always) package func isLetter(_ character: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character | 0x20)
}

@inline(__always) package func digitValue(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    default: nil
    }
}

/// ``; did you mean `data`?`` or, where nothing is near, the list of known words.
func advice(on word: String, among known: [String]) -> String {
    guard let near = nearestName(to: word, among: known) else { return "; known are " + known.joined(separator: ", ") }
    return "; did you mean `\(near)`?"
}
