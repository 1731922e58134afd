// One JSON value read from bytes, strictly (RFC 8259), for lines that arrive while the bridge runs: replies and events.

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
    }

    /// Where reading stopped and why, for the end of a sentence: `at byte 17: expected ',' or '}'`.
    public struct Fault: Error, Hashable, CustomStringConvertible, Sendable {
        public var offset: Int
        public var reason: String
        public var description: String { "at byte \(offset): \(reason)" }
    }

    /// Reads exactly one value, with optional white space around it; refuses nesting deeper than 32.
    public init(parsing bytes: some Collection<UInt8>) throws(Fault) {
        var reader = JSONReader(bytes: Array(bytes))
        self = try reader.document()
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

private struct JSONReader {
    let bytes: [UInt8]
    var position = 0
    var depth = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(JSONValue.Fault) -> JSONValue {
        let result = try value()
        skipSpace()
        guard position == bytes.count else { throw fault("expected the end of the line") }
        return result
    }

    private mutating func value() throws(JSONValue.Fault) -> JSONValue {
        skipSpace()
        guard let byte = current else { throw fault("expected a value, found the end") }
        switch byte {
        case UInt8(ascii: "{"): return try nested { reader throws(JSONValue.Fault) in try reader.object() }
        case UInt8(ascii: "["): return try nested { reader throws(JSONValue.Fault) in try reader.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default:
            if skip("true") { return .boolean(true) }
            if skip("false") { return .boolean(false) }
            if skip("null") { return .null }
            throw fault("expected a value")
        }
    }

    private mutating func nested(
        _ read: (inout JSONReader) throws(JSONValue.Fault) -> JSONValue
    ) throws(JSONValue.Fault) -> JSONValue {
        guard depth < 32 else { throw fault("nested deeper than 32") }
        depth += 1
        position += 1
        let result = try read(&self)
        depth -= 1
        return result
    }

    private mutating func object() throws(JSONValue.Fault) -> JSONValue {
        var members: [JSONValue.Member] = []
        skipSpace()
        if skip("}") { return .object(members) }
        while true {
            skipSpace()
            guard current == UInt8(ascii: "\"") else { throw fault("expected a name in quotes") }
            let start = position
            let name = try string()
            guard !members.contains(where: { $0.name == name }) else {
                throw JSONValue.Fault(offset: start, reason: "the name \"\(name)\" comes twice")
            }
            skipSpace()
            guard skip(":") else { throw fault("expected ':'") }
            members.append(JSONValue.Member(name: name, value: try value()))
            skipSpace()
            if skip("}") { return .object(members) }
            guard skip(",") else { throw fault("expected ',' or '}'") }
        }
    }

    private mutating func array() throws(JSONValue.Fault) -> JSONValue {
        var values: [JSONValue] = []
        skipSpace()
        if skip("]") { return .array(values) }
        while true {
            values.append(try value())
            skipSpace()
            if skip("]") { return .array(values) }
            guard skip(",") else { throw fault("expected ',' or ']'") }
        }
    }

    private mutating func number() throws(JSONValue.Fault) -> JSONValue {
        let start = position
        _ = skip("-")
        let whole = digits()
        guard whole == 1 || whole > 1 && bytes[position - whole] != UInt8(ascii: "0") else {
            throw fault("malformed number")
        }
        var isInteger = true
        if skip(".") {
            isInteger = false
            guard digits() > 0 else { throw fault("expected a digit") }
        }
        if skip("e") || skip("E") {
            isInteger = false
            if !skip("+") { _ = skip("-") }
            guard digits() > 0 else { throw fault("expected a digit") }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { throw fault("number out of range") }
        return .number(value)
    }

    private mutating func digits() -> Int {
        let start = position
        while let byte = current, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
        return position - start
    }

    private mutating func string() throws(JSONValue.Fault) -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = current {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let result = String(validating: text, as: UTF8.self) else { throw fault("not UTF-8") }
                return result
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0..<0x20: throw fault("a control character inside a string")
            default: text.append(byte)
            }
        }
        throw fault("a string without its closing quote")
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONValue.Fault) {
        guard let byte = current else { throw fault("a string without its closing quote") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(8)
        case UInt8(ascii: "f"): text.append(12)
        case UInt8(ascii: "n"): text.append(10)
        case UInt8(ascii: "r"): text.append(13)
        case UInt8(ascii: "t"): text.append(9)
        case UInt8(ascii: "u"): text.append(contentsOf: String(try escapedScalar()).utf8)
        default: throw fault("unknown escape")
        }
    }

    private mutating func escapedScalar() throws(JSONValue.Fault) -> Character {
        let first = try escapedUnit()
        if let scalar = Unicode.Scalar(first) { return Character(scalar) }
        guard first < 0xdc00, skip("\\u") else { throw fault("half of a surrogate pair") }
        let second = try escapedUnit()
        guard (0xdc00..<0xe000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
        else { throw fault("half of a surrogate pair") }
        return Character(scalar)
    }

    private mutating func escapedUnit() throws(JSONValue.Fault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = hexadecimalValue(byte) else {
                throw fault("expected four hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skip(_ text: StaticString) -> Bool {
        let found = text.withUTF8Buffer { bytes[position...].starts(with: $0) }
        if found { position += text.utf8CodeUnitCount }
        return found
    }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { position += 1 }
    }

    private func fault(_ reason: String) -> JSONValue.Fault { JSONValue.Fault(offset: position, reason: reason) }
}
