// Cuts a recording of text into lines, each with its offset; a line that never ends costs an error and no memory.

struct LineCursor {
    /// The longest line of any recording: a HID report of 4 KiB takes three digits a byte.
    static let limit = 1 << 20

    private(set) var cursor: ByteCursor
    /// Where the line begins that was read last.
    private(set) var offset = 0
    /// Whether that line ended in a newline, and not with the recording.
    private(set) var isWhole = true

    init(_ cursor: ByteCursor) { self.cursor = cursor }

    /// The next line without its newline, or CR LF; nil at the end.
    mutating func next() throws(ImportError) -> ArraySlice<UInt8>? {
        offset = cursor.offset
        var searched = 0
        while try cursor.has(searched + 1) {
            let here = cursor.peek(cursor.held)
            if let newline = here[(here.startIndex + searched)...].firstIndex(of: UInt8(ascii: "\n")) {
                return take(newline - here.startIndex + 1)
            }
            searched = here.count
            guard searched <= Self.limit else {
                throw ImportError(offset: offset, reason: "the line there is over 1 MiB long, as no recording has")
            }
        }
        guard searched > 0 else { return nil }
        isWhole = false
        return trimmed(cursor.read(searched))
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        isWhole = true
        return trimmed(cursor.read(count).dropLast())
    }

    private func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }
}

/// Words and numbers of one line.
struct LineWords {
    private(set) var rest: ArraySlice<UInt8>

    init(_ line: ArraySlice<UInt8>) { rest = line }

    /// The next word between spaces; nil at the end.
    mutating func next() -> ArraySlice<UInt8>? {
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        guard !rest.isEmpty else { return nil }
        let word = rest.prefix { $0 != 0x20 && $0 != 0x09 }
        rest = rest[word.endIndex...]
        return word
    }

    mutating func decimal() -> Int64? { next().flatMap { Int64(decimal: $0) } }
    mutating func hexadecimal() -> UInt64? { next().flatMap { UInt64(hexadecimal: $0) } }

    /// `1345610846.343504` in nanoseconds.
    mutating func seconds() -> Int64? { next().flatMap { Int64(seconds: $0) } }

    /// Bytes in hexadecimal to the end of the line; nil for other text there, or over `most`.
    mutating func bytes(most: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while let word = next() {
            guard let more = [UInt8](hexadecimal: word), bytes.count + more.count <= most else { return nil }
            bytes += more
        }
        return bytes
    }
}

extension Int64 {
    /// Digits, with a sign where it is negative; nil for anything else.
    init?(decimal text: ArraySlice<UInt8>) {
        let digits = text.first == UInt8(ascii: "-") ? text.dropFirst() : text
        guard !digits.isEmpty, digits.count <= 18 else { return nil }
        var value: Int64 = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            value = value * 10 + Int64(digit - 0x30)
        }
        self = digits.count == text.count ? value : -value
    }

    /// Seconds with up to nine digits after the point, in nanoseconds.
    init?(seconds text: ArraySlice<UInt8>) {
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, first.count <= 10, let whole = Int64(decimal: first), whole >= 0,
            whole < 9_000_000_000
        else { return nil }
        self = whole * 1_000_000_000
        guard parts.count == 2 else { return }
        guard (1...9).contains(parts[1].count), var fraction = Int64(decimal: parts[1]), fraction >= 0 else {
            return nil
        }
        for _ in parts[1].count..<9 { fraction *= 10 }
        self += fraction
    }
}

extension UInt64 {
    /// Up to 16 digits of either case, with or without `0x`; nil for anything else.
    init?(hexadecimal text: ArraySlice<UInt8>) {
        let digits = text.starts(with: Array("0x".utf8)) ? text.dropFirst(2) : text
        guard (1...16).contains(digits.count) else { return nil }
        self = 0
        for character in digits {
            guard let digit = Character(UnicodeScalar(character)).hexDigitValue else { return nil }
            self = self << 4 | UInt64(digit)
        }
    }
}

extension ArraySlice<UInt8> {
    func hasPrefix(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { prefix in count >= prefix.count && zip(self, prefix).allSatisfy { $0 == $1 } }
    }

    /// The bytes behind the prefix; nil if there is none.
    func after(_ text: StaticString) -> ArraySlice<UInt8>? {
        hasPrefix(text) ? dropFirst(text.utf8CodeUnitCount) : nil
    }

    /// The first place of the text.
    func place(of text: String) -> Int? {
        let wanted = Array(text.utf8)
        guard let first = wanted.first, count >= wanted.count else { return nil }
        var start = startIndex
        while let found = self[start...].firstIndex(of: first), endIndex - found >= wanted.count {
            if self[found..<(found + wanted.count)].elementsEqual(wanted) { return found }
            start = found + 1
        }
        return nil
    }

    func contains(_ text: String) -> Bool { place(of: text) != nil }

    var text: String { String(decoding: self, as: UTF8.self) }

    /// Without spaces at both ends.
    var trimmed: ArraySlice<UInt8> {
        let begun = drop { $0 <= 0x20 }
        return begun[..<(begun.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? begun.startIndex)]
    }
}
