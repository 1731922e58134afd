// A JSON value, and the only reader of JSON: strict (RFC 8259) for what programs write, JSON5 for what people write.

public enum JSONValue: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    /// In the order written; the reader refuses a name that comes twice.
    case object([Member])

    public struct Member: Hashable, Sendable {
        public var name: String
        public var value: JSONValue

        public init(name: String, value: JSONValue) { (self.name, self.value) = (name, value) }
    }

    /// Where reading stopped and why, for the end of a sentence: `at byte 17: expected ',' or '}'`.
    public struct Fault: Error, Hashable, CustomStringConvertible, Sendable {
        public var offset: Int
        public var reason: String
        public var description: String { "at byte \(offset): \(reason)" }
    }

    /// Reads exactly one value, with optional white space around it; refuses nesting deeper than 32.
    public init(parsing bytes: some Collection<UInt8>) throws(Fault) {
        var reader = JSONReader(bytes: Array(bytes), dialect: .strict)
        self = try reader.document()
    }

    /// The same of an object, with the text of one of its members as it was written; nil where it has none of that name.
    public static func parse(
        _ bytes: some Collection<UInt8>, keepingTextOf name: String
    ) throws(Fault) -> (value: JSONValue, text: String?) {
        var reader = JSONReader(bytes: Array(bytes), dialect: .strict, keepingTextOf: name)
        let value = try reader.document()
        return (value, reader.quotedText)
    }

    /// Reads one JSON5 document that a person wrote; refuses nesting deeper than 16. A number without a fraction is an
    /// integer, however it is written.
    public init(json5 bytes: [UInt8]) throws(Fault) {
        var reader = JSONReader(bytes: bytes, dialect: .json5)
        self = try reader.document()
    }

    /// The byte at which each value of a JSON5 document begins: a value before those in it, in the order written.
    public static func offsets(json5 bytes: [UInt8]) throws(Fault) -> [Int] {
        var reader = JSONReader(bytes: bytes, dialect: .json5, keepingOffsets: true)
        _ = try reader.document()
        return reader.offsets ?? []
    }

    public subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }
    public var string: String? { if case .string(let text) = self { text } else { nil } }
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    public var number: Double? {
        switch self {
        case .number(let value): value
        case .integer(let value): Double(value)
        case .null, .boolean, .string, .array, .object: nil
        }
    }
    public var array: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
}

extension JSONWriter {
    public mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .boolean(let flag): boolean(flag)
        case .integer(let whole): integer(whole)
        case .number(let real): number(real)
        case .string(let text): string(text)
        case .array(let values):
            beginArray()
            for value in values { self.value(value) }
            endArray()
        case .object(let members):
            beginObject()
            for member in members {
                key(named: member.name)
                self.value(member.value)
            }
            endObject()
        }
    }
}

/// Reads one document from its first byte to its last.
struct JSONReader {
    typealias Fault = JSONValue.Fault
    /// JSON5 adds comments, single quotes, bare keys, commas before a closing bracket, and other ways to write a number.
    enum Dialect { case strict, json5 }

    private static let mostValues = 20_000
    /// Comparing a name with this many others costs as much as hashing it.
    private static let fewMembers = 16

    private let bytes: [UInt8]
    private let isJSON5: Bool
    private let mostDepth: Int
    private var position = 0
    private var depth = 0
    private var valuesSeen = 0

    /// A member of the outermost object whose text is kept as it was written.
    private let quotedName: String?
    private(set) var quotedText: String?
    /// Where each value begins, if that is wanted.
    private(set) var offsets: [Int]?

    init(bytes: [UInt8], dialect: Dialect, keepingTextOf name: String? = nil, keepingOffsets: Bool = false) {
        self.bytes = bytes
        isJSON5 = dialect == .json5
        mostDepth = isJSON5 ? 16 : 32
        quotedName = name
        offsets = keepingOffsets ? [] : nil
    }

    mutating func document() throws(Fault) -> JSONValue {
        if isJSON5, bytes.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
        try skipSpace()
        if isJSON5, next == nil { throw fault("the file is empty; write an object, {…}") }
        let result = try value()
        try skipSpace()
        if next != nil {
            throw fault("unexpected \(found) after the end of the \(result.isObject ? "object" : "value")")
        }
        return result
    }

    private mutating func value() throws(Fault) -> JSONValue {
        valuesSeen += 1
        offsets?.append(position)
        if isJSON5, valuesSeen > Self.mostValues { throw fault("more than \(Self.mostValues) values; split the file") }
        switch next {
        case UInt8(ascii: "{"): return try nested { reader throws(Fault) in try reader.object() }
        case UInt8(ascii: "["): return try nested { reader throws(Fault) in try reader.array() }
        case UInt8(ascii: "\""): return .string(try quoted())
        case UInt8(ascii: "'") where isJSON5: return .string(try quoted())
        default: return try bareValue()
        }
    }

    private mutating func nested(_ read: (inout Self) throws(Fault) -> JSONValue) throws(Fault) -> JSONValue {
        guard depth < mostDepth else { throw fault("nested deeper than \(mostDepth)") }
        depth += 1
        position += 1
        let result = try read(&self)
        depth -= 1
        return result
    }

    private mutating func object() throws(Fault) -> JSONValue {
        var members: [JSONValue.Member] = []
        var names: Set<String> = []
        try skipSpace()
        while next != UInt8(ascii: "}") || !members.isEmpty && !isJSON5 {
            let start = position
            let name = try key()
            if members.count == Self.fewMembers { names = Set(members.map(\.name)) }
            let isNew =
                members.count < Self.fewMembers
                ? !members.contains { $0.name == name } : names.insert(name).inserted
            guard isNew else { throw fault("key \"\(name)\" comes twice; keep one", at: start) }
            try skipSpace()
            guard next == UInt8(ascii: ":") else { throw fault("expected ':' after key \"\(name)\", found \(found)") }
            position += 1
            try skipSpace()
            let valueStart = position
            members.append(JSONValue.Member(name: name, value: try value()))
            if depth == 1, name == quotedName {
                quotedText = String(decoding: bytes[valueStart..<position], as: UTF8.self)
            }
            guard try separator(before: UInt8(ascii: "}")) else { break }
        }
        position += 1
        return .object(members)
    }

    private mutating func array() throws(Fault) -> JSONValue {
        var values: [JSONValue] = []
        try skipSpace()
        while next != UInt8(ascii: "]") || !values.isEmpty && !isJSON5 {
            values.append(try value())
            guard try separator(before: UInt8(ascii: "]")) else { break }
        }
        position += 1
        return .array(values)
    }

    /// False where the closing bracket follows instead of a comma.
    private mutating func separator(before close: UInt8) throws(Fault) -> Bool {
        try skipSpace()
        if next == close { return false }
        guard next == UInt8(ascii: ",") else {
            throw fault("expected ',' or '\(Character(Unicode.Scalar(close)))', found \(found)")
        }
        position += 1
        try skipSpace()
        return true
    }

    private mutating func key() throws(Fault) -> String {
        if next == UInt8(ascii: "\"") || isJSON5 && next == UInt8(ascii: "'") {
            if isJSON5 { try refuseEscapedKey() }
            return try quoted()
        }
        guard isJSON5 else { throw fault("expected a key in quotes, found \(found)") }
        let start = position
        let word = readWord()
        guard let first = word.first, !first.isDigit else { throw fault("expected a key, found \(found)") }
        let key = String(decoding: word, as: UTF8.self)
        guard !word.contains(where: \.isSignOrPoint) else { throw fault("the key \(key) needs quotes", at: start) }
        return key
    }

    /// No key of ours needs an escape, and a control character in a key would end up in the sentence about it.
    private func refuseEscapedKey() throws(Fault) {
        for byte in bytes[(position + 1)...] {
            if byte == bytes[position] || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { return }
            if byte < 0x20 || byte == 0x7f || byte == UInt8(ascii: "\\") {
                throw fault("a key holds an escape or a control character; write it plainly")
            }
        }
    }

    private mutating func quoted() throws(Fault) -> String {
        let start = position
        let quote = bytes[start]
        position += 1
        var copied: [UInt8] = []
        var uncopied = position
        while let byte = next, byte != quote {
            switch byte {
            // JSON5 would drop an escaped line end; it is refused like any other.
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                throw fault("a text runs over the end of its line; close it, or write \\n", at: start)
            case 0..<0x20: throw fault("a control character inside a text; write it as an escape, such as \\t")
            case UInt8(ascii: "\\"):
                copied += bytes[uncopied..<position]
                position += 1
                try escape(into: &copied)
                uncopied = position
            default: position += 1
            }
        }
        guard next == quote else { throw fault("a text that starts here has no closing quote", at: start) }
        let rest = bytes[uncopied..<position]
        position += 1
        let text =
            copied.isEmpty ? String(validating: rest, as: UTF8.self) : String(validating: copied + rest, as: UTF8.self)
        guard let text else { throw fault("a text that is not UTF-8", at: start) }
        return text
    }

    private mutating func escape(into text: inout [UInt8]) throws(Fault) {
        // A line end in place of the byte is refused by the caller.
        guard let byte = next, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") else { return }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(8)
        case UInt8(ascii: "f"): text.append(12)
        case UInt8(ascii: "n"): text.append(10)
        case UInt8(ascii: "r"): text.append(13)
        case UInt8(ascii: "t"): text.append(9)
        case UInt8(ascii: "u"): text.append(contentsOf: String(try escapedCharacter()).utf8)
        case UInt8(ascii: "'") where isJSON5: text.append(byte)
        case UInt8(ascii: "x") where isJSON5:
            text.append(contentsOf: String(Character(Unicode.Scalar(UInt8(try escapedUnit(digits: 2))))).utf8)
        default: throw fault("unknown escape in a text; write a backslash as \\\\", at: position - 2)
        }
    }

    private mutating func escapedCharacter() throws(Fault) -> Character {
        let start = position - 2
        let first = try escapedUnit(digits: 4)
        if let scalar = Unicode.Scalar(first) { return Character(scalar) }
        if first < 0xdc00, bytes[position...].starts(with: "\\u".utf8) {
            position += 2
            let second = try escapedUnit(digits: 4)
            if (0xdc00..<0xe000).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
            {
                return Character(scalar)
            }
        }
        throw fault("half of a surrogate pair", at: start)
    }

    private mutating func escapedUnit(digits: Int) throws(Fault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let byte = next, let digit = hexadecimalValue(byte) else {
                throw fault("expected \(digits) hexadecimal digits of an escape, found \(found)")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    private mutating func bareValue() throws(Fault) -> JSONValue {
        let start = position
        let word = readWord()
        guard let first = word.first else { throw fault("expected a value, found \(found)") }
        if first.isDigit || first.isSignOrPoint {
            if let number = number(word) { return number }
            throw fault("\(shown(word)) is a number that cannot be read; fix it or write a smaller one", at: start)
        }
        if word.elementsEqual("true".utf8) { return .boolean(true) }
        if word.elementsEqual("false".utf8) { return .boolean(false) }
        if word.elementsEqual("null".utf8) { return .null }
        throw fault("\(shown(word)) is not a value; a text needs quotes, \"\(shown(word))\"", at: start)
    }

    private func number(_ word: ArraySlice<UInt8>) -> JSONValue? {
        var rest = word
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || isJSON5 && rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        if isJSON5, rest.starts(with: "0x".utf8) || rest.starts(with: "0X".utf8) {
            let digits = rest.dropFirst(2)
            guard digits.allSatisfy({ hexadecimalValue($0) != nil }) else { return nil }
            let sign = isNegative ? "-" : ""
            return Int64(sign + String(decoding: digits, as: UTF8.self), radix: 16).map { .integer($0) }
        }
        let whole = rest.prefix(while: \.isDigit)
        guard whole.count < 2 || whole.first != UInt8(ascii: "0"), !whole.isEmpty || isJSON5 else { return nil }
        if whole.count == rest.count, (1...18).contains(whole.count) {
            let magnitude = whole.reduce(Int64(0)) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
            return .integer(isNegative ? -magnitude : magnitude)
        }
        guard isFraction(rest.dropFirst(whole.count), afterDigits: !whole.isEmpty) else { return nil }
        let text = String(decoding: word, as: UTF8.self)
        if whole.count == rest.count, let integer = Int64(text) { return .integer(integer) }
        guard let real = Double(text), real.isFinite else { return nil }
        if isJSON5, let integer = Int64(exactly: real) { return .integer(integer) }
        return .number(real)
    }

    /// Whether what follows a number's first digits is a fraction, an exponent, both or nothing.
    private func isFraction(_ text: ArraySlice<UInt8>, afterDigits: Bool) -> Bool {
        var rest = text
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix(while: \.isDigit)
            guard !digits.isEmpty || isJSON5 && afterDigits else { return false }
            rest = rest.dropFirst(1 + digits.count)
        } else if !afterDigits {
            return false
        }
        guard let mark = rest.first else { return true }
        rest = rest.dropFirst()
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        return mark | 0x20 == UInt8(ascii: "e") && !rest.isEmpty && rest.allSatisfy(\.isDigit)
    }

    private mutating func readWord() -> ArraySlice<UInt8> {
        let start = position
        while let byte = next, byte.isWordPart { position += 1 }
        return bytes[start..<position]
    }

    private mutating func skipSpace() throws(Fault) {
        while let byte = next {
            switch byte {
            case 0x20, 0x09, 0x0a, 0x0d: position += 1
            case 0x0b...0x0c where isJSON5: position += 1
            case UInt8(ascii: "/") where isJSON5: guard try skipComment() else { return }
            default: return
            }
        }
    }

    /// False where the slash does not begin a comment.
    private mutating func skipComment() throws(Fault) -> Bool {
        let start = position
        if bytes[start...].starts(with: "//".utf8) {
            while let byte = next, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") { position += 1 }
            return true
        }
        guard bytes[start...].starts(with: "/*".utf8) else { return false }
        position += 2
        while position < bytes.count, !bytes[position...].starts(with: "*/".utf8) { position += 1 }
        guard position < bytes.count else { throw fault("a comment that starts here has no */", at: start) }
        position += 2
        return true
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// The next character as a sentence names it.
    private var found: String {
        guard let byte = next else { return isJSON5 ? "end of file" : "the end" }
        return byte > 0x20 && byte < 0x7f ? "'\(Character(Unicode.Scalar(byte)))'" : "character 0x\([byte].hexadecimal)"
    }

    /// A word as a sentence names it.
    private func shown(_ word: ArraySlice<UInt8>) -> String {
        String(decoding: word.prefix(40), as: UTF8.self) + (word.count > 40 ? "…" : "")
    }

    private func fault(_ reason: String, at offset: Int? = nil) -> Fault {
        Fault(offset: offset ?? position, reason: reason)
    }
}

extension JSONValue {
    fileprivate var isObject: Bool { if case .object = self { true } else { false } }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    fileprivate var isWordPart: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) || self >= 0x80
            || isSignOrPoint || self == UInt8(ascii: "_") || self == UInt8(ascii: "$")
    }
    fileprivate var isSignOrPoint: Bool {
        self == UInt8(ascii: "+") || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
    }
}
