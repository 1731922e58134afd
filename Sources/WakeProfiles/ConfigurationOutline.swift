// The outline of a JSON5 text: finds faults with line and column, duplicate keys and bad nesting, and reads plain values.
import WakeModel

/// FoundationEssentials' decoder does not say where a text is broken, silently keeps one of two equal keys, and follows
/// any nesting. This pass runs first and closes those three holes. It also reads plainly written values, which is nearly
/// every file: the decoder would take most of the start, and is used only for the rest of JSON5.
struct ConfigurationOutline {
    struct Fault: Error {
        var offset: Int
        var reason: String
    }

    static let deepestNesting = 16
    static let mostValues = 20_000

    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0
    private var valuesSeen = 0
    private var isPlain = true

    /// Throws at the first place where `bytes` are not one JSON5 value. Nil where a number or text is not plain.
    static func read(_ bytes: [UInt8]) throws(Fault) -> ConfigurationValue? {
        var outline = ConfigurationOutline(bytes: bytes)
        try outline.skipSpace()
        guard outline.next != nil else { throw outline.fault("the file is empty; write an object, {…}") }
        let value = try outline.value()
        try outline.skipSpace()
        if outline.next != nil { throw outline.fault("unexpected \(outline.found) after the end of the object") }
        return outline.isPlain ? value : nil
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// The next character as a sentence names it.
    private var found: String {
        guard let byte = next else { return "end of file" }
        return byte > 0x20 && byte < 0x7f ? "'\(Character(Unicode.Scalar(byte)))'" : "character 0x\([byte].hexadecimal)"
    }

    private func fault(_ reason: String, at offset: Int? = nil) -> Fault {
        Fault(offset: offset ?? position, reason: reason)
    }

    private mutating func value() throws(Fault) -> ConfigurationValue {
        valuesSeen += 1
        if valuesSeen > Self.mostValues { throw fault("more than \(Self.mostValues) values; split the file") }
        switch next {
        case UInt8(ascii: "{"): return try nested { outline throws(Fault) in try outline.object() }
        case UInt8(ascii: "["): return try nested { outline throws(Fault) in try outline.list() }
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return text(try quoted())
        default: return try bareValue()
        }
    }

    private mutating func text(_ bytes: ArraySlice<UInt8>) -> ConfigurationValue {
        if !bytes.allSatisfy(\.isPlain) { isPlain = false }
        return .text(String(decoding: bytes, as: UTF8.self))
    }

    private mutating func nested(
        _ body: (inout Self) throws(Fault) -> ConfigurationValue
    ) throws(Fault) -> ConfigurationValue {
        if depth == Self.deepestNesting { throw fault("nested deeper than \(Self.deepestNesting)") }
        depth += 1
        position += 1
        let value = try body(&self)
        depth -= 1
        return value
    }

    private mutating func object() throws(Fault) -> ConfigurationValue {
        var members = ConfigurationMembers()
        try skipSpace()
        while next != UInt8(ascii: "}") {
            let start = position
            let key = String(decoding: try key(), as: UTF8.self)
            if members.has(key) { throw fault("key \"\(key)\" comes twice; keep one", at: start) }
            try skipSpace()
            guard next == UInt8(ascii: ":") else { throw fault("expected ':' after key \"\(key)\", found \(found)") }
            position += 1
            try skipSpace()
            members.append(key, try value())
            try separator(before: UInt8(ascii: "}"))
        }
        position += 1
        return .object(members)
    }

    private mutating func list() throws(Fault) -> ConfigurationValue {
        var values: [ConfigurationValue] = []
        try skipSpace()
        while next != UInt8(ascii: "]") {
            values.append(try value())
            try separator(before: UInt8(ascii: "]"))
        }
        position += 1
        return .list(values)
    }

    private mutating func separator(before close: UInt8) throws(Fault) {
        try skipSpace()
        if next == close { return }
        guard next == UInt8(ascii: ",") else {
            throw fault("expected ',' or '\(Character(Unicode.Scalar(close)))', found \(found)")
        }
        position += 1
        try skipSpace()
    }

    private mutating func key() throws(Fault) -> ArraySlice<UInt8> {
        if next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") { return try plainQuoted() }
        let start = position
        let word = readWord()
        guard let first = word.first, !first.isDigit else { throw fault("expected a key, found \(found)") }
        guard !word.contains(where: \.isSignOrPoint) else {
            throw fault("the key \(String(decoding: word, as: UTF8.self)) needs quotes", at: start)
        }
        // The decoder decides which letters beyond ASCII a name may have.
        if !word.allSatisfy({ $0 < 0x80 }) { isPlain = false }
        return word
    }

    /// Swift 6.0's decoder traps on a malformed escape or character in a key. No key of ours needs either.
    private mutating func plainQuoted() throws(Fault) -> ArraySlice<UInt8> {
        let start = position
        let key = try quoted()
        guard key.allSatisfy(\.isPlain) else {
            throw fault("a key holds an escape or a control character; write it plainly", at: start)
        }
        return key
    }

    /// The bytes between the quotes, escapes as written.
    private mutating func quoted() throws(Fault) -> ArraySlice<UInt8> {
        let start = position
        let quote = bytes[start]
        position += 1
        while let byte = next, byte != quote {
            // The decoder would keep an escaped line end, which JSON5 drops, so it is refused.
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
                throw fault("a text runs over the end of its line; close it, or write \\n", at: start)
            }
            position += 1
            if byte == UInt8(ascii: "\\"), next == quote || next == UInt8(ascii: "\\") { position += 1 }
        }
        guard next == quote else { throw fault("a text that starts here has no closing quote", at: start) }
        position += 1
        return bytes[(start + 1)..<(position - 1)]
    }

    private mutating func bareValue() throws(Fault) -> ConfigurationValue {
        let start = position
        let word = String(decoding: readWord(), as: UTF8.self)
        switch word {
        case "": throw fault("expected a value, found \(found)", at: start)
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "null": return .null
        default: break
        }
        guard let first = word.utf8.first, first.isDigit || first.isSignOrPoint else {
            throw fault("\(word) is not a value; a text needs quotes, \"\(word)\"", at: start)
        }
        if let number = ConfigurationValue(plainNumber: word) { return number }
        isPlain = false
        return .null
    }

    private mutating func readWord() -> ArraySlice<UInt8> {
        let start = position
        while let byte = next, byte.isWordPart { position += 1 }
        return bytes[start..<position]
    }

    private mutating func skipSpace() throws(Fault) {
        if position == 0, bytes.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
        while let byte = next {
            if byte == 0x20 || (9...13).contains(byte) {
                position += 1
            } else if byte == UInt8(ascii: "/"), position + 1 < bytes.count {
                guard try skipRemark() else { return }
            } else {
                return
            }
        }
    }

    /// False where the slash does not begin a comment.
    private mutating func skipRemark() throws(Fault) -> Bool {
        switch bytes[position + 1] {
        case UInt8(ascii: "/"):
            while let byte = next, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") { position += 1 }
        case UInt8(ascii: "*"): try skipComment()
        default: return false
        }
        return true
    }

    private mutating func skipComment() throws(Fault) {
        let start = position
        position += 2
        while position < bytes.count, !bytes[position...].starts(with: "*/".utf8) { position += 1 }
        guard position < bytes.count else { throw fault("a comment that starts here has no */", at: start) }
        position += 2
    }
}

extension ConfigurationValue {
    /// Digits with an optional sign and point, and no more than a Double holds exactly: every reader agrees on them.
    fileprivate init?(plainNumber word: String) {
        let digits = word.utf8.drop { $0 == UInt8(ascii: "-") }
        let parts = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard word.utf8.count - digits.count <= 1, digits.count <= 15, parts.count <= 2,
            parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isDigit) }), let first = parts.first,
            first.count == 1 || first.first != UInt8(ascii: "0"), let value = Double(word),
            value != 0 || digits.startIndex == word.startIndex
        else { return nil }
        if let whole = Int64(exactly: value) { self = .integer(whole) } else { self = .number(value) }
    }
}

extension UInt8 {
    /// Whether the character needs no escape in a text or key.
    fileprivate var isPlain: Bool { self >= 0x20 && self != 0x7f && self != UInt8(ascii: "\\") }
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    fileprivate var isWordPart: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) || self >= 0x80
            || isSignOrPoint || self == UInt8(ascii: "_") || self == UInt8(ascii: "$")
    }
    fileprivate var isSignOrPoint: Bool {
        self == UInt8(ascii: "+") || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
    }
}
