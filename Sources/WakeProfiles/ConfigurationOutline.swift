// The outline of a JSON5 text: finds faults with their line and column, doubled keys and bad nesting, before any value.
import WakeModel

/// FoundationEssentials' decoder says of a broken text only that it is broken, keeps one of two equal keys in silence
/// and follows any nesting; this pass runs first and closes those three holes.
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

    /// Throws at the first place where `bytes` stop being one JSON5 value.
    static func check(_ bytes: [UInt8]) throws(Fault) {
        var outline = ConfigurationOutline(bytes: bytes)
        try outline.skipSpace()
        guard outline.next != nil else { throw outline.fault("the file is empty; write an object, {…}") }
        try outline.value()
        try outline.skipSpace()
        if outline.next != nil { throw outline.fault("unexpected \(outline.found) after the end of the object") }
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// How the next character reads in a sentence.
    private var found: String {
        guard let byte = next else { return "end of file" }
        return byte > 0x20 && byte < 0x7f ? "'\(Character(Unicode.Scalar(byte)))'" : "character 0x\([byte].hexadecimal)"
    }

    private func fault(_ reason: String, at offset: Int? = nil) -> Fault {
        Fault(offset: offset ?? position, reason: reason)
    }

    private mutating func value() throws(Fault) {
        valuesSeen += 1
        if valuesSeen > Self.mostValues { throw fault("more than \(Self.mostValues) values; split the file") }
        switch next {
        case UInt8(ascii: "{"): try nested { outline throws(Fault) in try outline.object() }
        case UInt8(ascii: "["): try nested { outline throws(Fault) in try outline.list() }
        case UInt8(ascii: "\""), UInt8(ascii: "'"): _ = try quoted()
        default: try bareValue()
        }
    }

    private mutating func nested(_ body: (inout Self) throws(Fault) -> Void) throws(Fault) {
        if depth == Self.deepestNesting { throw fault("nested deeper than \(Self.deepestNesting)") }
        depth += 1
        position += 1
        try body(&self)
        depth -= 1
    }

    private mutating func object() throws(Fault) {
        var keys: Set<[UInt8]> = []
        try skipSpace()
        while next != UInt8(ascii: "}") {
            let start = position
            let key = try key()
            if !keys.insert(key).inserted {
                throw fault("key \"\(String(decoding: key, as: UTF8.self))\" comes twice; keep one", at: start)
            }
            try skipSpace()
            guard next == UInt8(ascii: ":") else {
                throw fault("expected ':' after key \"\(String(decoding: key, as: UTF8.self))\", found \(found)")
            }
            position += 1
            try skipSpace()
            try value()
            try separator(before: UInt8(ascii: "}"))
        }
        position += 1
    }

    private mutating func list() throws(Fault) {
        try skipSpace()
        while next != UInt8(ascii: "]") {
            try value()
            try separator(before: UInt8(ascii: "]"))
        }
        position += 1
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

    private mutating func key() throws(Fault) -> [UInt8] {
        if next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") { return try plainQuoted() }
        let word = takeWord()
        guard let first = word.first, !first.isDigit else { throw fault("expected a key, found \(found)") }
        return word
    }

    /// Swift 6.0's decoder traps where an escape or a character of a key is malformed. No key of ours needs either.
    private mutating func plainQuoted() throws(Fault) -> [UInt8] {
        let start = position
        let key = try quoted()
        guard key.allSatisfy({ $0 >= 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "\\") }) else {
            throw fault("a key holds an escape or a control character; write it plainly", at: start)
        }
        return key
    }

    /// The bytes between the quotes, escapes as written.
    private mutating func quoted() throws(Fault) -> [UInt8] {
        let start = position
        let quote = bytes[start]
        position += 1
        while let byte = next, byte != quote {
            // The decoder would keep an escaped line end, which JSON5 drops: refused rather than misread.
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
                throw fault("a text runs over the end of its line; close it, or write \\n", at: start)
            }
            position += 1
            if byte == UInt8(ascii: "\\"), next == quote || next == UInt8(ascii: "\\") { position += 1 }
        }
        guard next == quote else { throw fault("a text that starts here has no closing quote", at: start) }
        position += 1
        return Array(bytes[(start + 1)..<(position - 1)])
    }

    private mutating func bareValue() throws(Fault) {
        let start = position
        let word = String(decoding: takeWord(), as: UTF8.self)
        if word.isEmpty { throw fault("expected a value, found \(found)", at: start) }
        let isNumber = word.utf8.first.map { $0.isDigit || "+-.".utf8.contains($0) } ?? false
        if isNumber || ["true", "false", "null"].contains(word) { return }
        throw fault("\(word) is not a value; a text needs quotes, \"\(word)\"", at: start)
    }

    private mutating func takeWord() -> [UInt8] {
        let start = position
        while let byte = next, byte.isWordPart { position += 1 }
        return Array(bytes[start..<position])
    }

    private mutating func skipSpace() throws(Fault) {
        while let byte = next {
            if byte == 0x20 || (9...13).contains(byte) {
                position += 1
            } else if bytes[position...].starts(with: [0xef, 0xbb, 0xbf]), position == 0 {
                position += 3
            } else if bytes[position...].starts(with: "//".utf8) {
                while let byte = next, byte != UInt8(ascii: "\n") { position += 1 }
            } else if bytes[position...].starts(with: "/*".utf8) {
                try skipComment()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(Fault) {
        let start = position
        position += 2
        while position < bytes.count, !bytes[position...].starts(with: "*/".utf8) { position += 1 }
        guard position < bytes.count else { throw fault("a comment that starts here has no */", at: start) }
        position += 2
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    fileprivate var isWordPart: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) || self >= 0x80
            || "_$+-.".utf8.contains(self)
    }
}
