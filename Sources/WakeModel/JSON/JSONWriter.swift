// Writes JSON text straight into bytes, without a tree or an encoder, because every delivery writes a line.

public struct JSONWriter: Sendable {
    public private(set) var bytes: [UInt8]
    private var needsComma = false

    public init(reserving capacity: Int = 512) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    public mutating func beginObject() { open("{") }
    public mutating func endObject() { close("}") }
    public mutating func beginArray() { open("[") }
    public mutating func endArray() { close("]") }

    /// Ends a line; the next value starts a new one.
    public mutating func newline() {
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    /// Appends names and punctuation that are the same in every line; a value must follow.
    mutating func verbatim(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
        needsComma = false
    }

    /// The same for text made once for many lines.
    mutating func verbatim(_ text: some Collection<UInt8>) {
        bytes.append(contentsOf: text)
        needsComma = false
    }

    /// The length in bytes.
    public var count: Int { bytes.count }

    /// Removes the text and keeps its memory, where that is at most this many bytes.
    public mutating func removeAll(keepingUpTo limit: Int = .max) {
        bytes.removeAll(keepingCapacity: bytes.capacity <= limit)
        needsComma = false
    }

    public mutating func key(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Has a name of its own, so that no literal becomes a string first.
    public mutating func key(named name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    public mutating func string(_ text: String) {
        separate()
        bytes.appendJSONString(text.utf8)
        needsComma = true
    }

    public mutating func integer(_ value: some BinaryInteger) {
        separate()
        bytes.appendDecimal(value)
        needsComma = true
    }

    /// The shortest text that reads back as the same number; `null` for a number that JSON does not have.
    public mutating func number(_ value: Double) {
        separate()
        if let whole = Int64(exactly: value) {
            bytes.appendDecimal(whole)
        } else {
            bytes.append(contentsOf: (value.isFinite ? value.description : "null").utf8)
        }
        needsComma = true
    }

    public mutating func boolean(_ value: Bool) { word(value ? "true" : "false") }
    public mutating func null() { word("null") }

    private mutating func word(_ text: StaticString) {
        separate()
        verbatim(text)
        needsComma = true
    }

    public mutating func hexadecimal(_ value: some Collection<UInt8>) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.appendHexadecimal(value)
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    public mutating func time(_ value: WallTime) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.appendRFC3339(value)
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    mutating func uuid(_ value: BluetoothUUID) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.appendUUID(value)
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// Appends JSON text made elsewhere. The caller must have checked it.
    public mutating func fragment(_ text: some Collection<UInt8>) {
        separate()
        bytes.append(contentsOf: text)
        needsComma = true
    }

    /// A value that `compose` appends in place and must have checked. Where it throws or returns false, its text is removed.
    public mutating func fragment<Fault: Error>(
        composedBy compose: (inout [UInt8]) throws(Fault) -> Bool
    ) throws(Fault) -> Bool {
        let start = bytes.count
        separate()
        var isComposed = false
        defer {
            if isComposed { needsComma = true } else { bytes.removeLast(bytes.count - start) }
        }
        isComposed = try compose(&bytes)
        return isComposed
    }

    /// Appends a string made of a prefix and a number, such as an event's id.
    public mutating func string(_ prefix: String, number: UInt64) {
        separate()
        bytes.appendJSONString(prefix.utf8)
        bytes.removeLast()
        bytes.appendDecimal(number)
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    private mutating func open(_ bracket: Unicode.Scalar) {
        separate()
        bytes.append(UInt8(ascii: bracket))
        needsComma = false
    }

    private mutating func close(_ bracket: Unicode.Scalar) {
        bytes.append(UInt8(ascii: bracket))
        needsComma = true
    }
}

extension JSONWriter {
    public mutating func field(_ name: StaticString, _ text: String) {
        key(name)
        string(text)
    }
    public mutating func field(_ name: StaticString, _ value: some BinaryInteger) {
        key(name)
        integer(value)
    }
    public mutating func field(_ name: StaticString, _ value: Bool) {
        key(name)
        boolean(value)
    }

    /// Appends `null` where the value is nil.
    public mutating func field(_ name: StaticString, _ text: String?) {
        key(name)
        if let text { string(text) } else { null() }
    }
    public mutating func field(_ name: StaticString, _ value: (some BinaryInteger)?) {
        key(name)
        if let value { integer(value) } else { null() }
    }
    public mutating func field(_ name: StaticString, _ time: WallTime?) {
        key(name)
        if let time { self.time(time) } else { null() }
    }

    public mutating func field(_ name: StaticString, _ texts: [String]) {
        list(name, texts) { writer, text in writer.string(text) }
    }
}

// Objects and lists that close by themselves.
extension JSONWriter {
    /// Writes an object as a whole line.
    public static func line(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object(write)
        writer.newline()
        return writer.bytes
    }

    public mutating func object(_ write: (inout JSONWriter) -> Void) {
        beginObject()
        write(&self)
        endObject()
    }

    public mutating func object(_ name: StaticString, _ write: (inout JSONWriter) -> Void) {
        key(name)
        object(write)
    }

    public mutating func list<Element>(
        _ name: StaticString, _ values: some Collection<Element>, _ write: (inout JSONWriter, Element) -> Void
    ) {
        key(name)
        beginArray()
        for value in values { write(&self, value) }
        endArray()
    }

    /// A list of objects.
    public mutating func objects<Element>(
        _ name: StaticString, _ values: some Collection<Element>, _ write: (inout JSONWriter, Element) -> Void
    ) {
        list(name, values) { writer, value in writer.object { write(&$0, value) } }
    }
}

extension [UInt8] {
    /// Appends a number in decimal without making a string.
    public mutating func appendDecimal(_ value: some BinaryInteger) {
        if value < 0 { append(UInt8(ascii: "-")) }
        let rest = UInt64(value.magnitude)
        append(contentsOf: repeatElement(UInt8(ascii: "0"), count: rest.decimalWidth))
        fillDigits(rest, before: count)
    }

    /// Appends `value` / 10^`decimals` with all its decimals: 832 and 3 give `0.832`.
    public mutating func appendDecimal(_ value: Int64, pointBefore decimals: Int) {
        guard decimals > 0 else { return appendDecimal(value) }
        if value < 0 { append(UInt8(ascii: "-")) }
        let width = Swift.max(value.magnitude.decimalWidth, decimals + 1)
        append(contentsOf: repeatElement(UInt8(ascii: "0"), count: width + 1))
        let whole = fillDigits(value.magnitude, before: count, upTo: decimals)
        self[count - 1 - decimals] = UInt8(ascii: ".")
        fillDigits(whole, before: count - 1 - decimals)
    }

    /// Overwrites the zeros in place, so that nothing is moved. Returns the number without the digits written.
    @discardableResult
    private mutating func fillDigits(_ value: UInt64, before end: Int, upTo limit: Int = 20) -> UInt64 {
        var (rest, place) = (value, end)
        while rest > 0, end - place < limit {
            place -= 1
            self[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        return rest
    }

    /// Appends a quoted JSON string; control characters, quotes and backslashes are escaped (RFC 8259, 7).
    public mutating func appendJSONString(_ text: String.UTF8View) {
        append(UInt8(ascii: "\""))
        let isWritten = text.withContiguousStorageIfAvailable { bytes in
            // Nearly every text is plain; this check takes no branch a byte.
            guard bytes.allPlain else { return false }
            append(contentsOf: bytes)
            return true
        }
        if isWritten != true { appendEscaped(text) }
        append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ text: String.UTF8View) {
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case UInt8(ascii: "\n"): append(contentsOf: "\\n".utf8)
            case UInt8(ascii: "\t"): append(contentsOf: "\\t".utf8)
            case UInt8(ascii: "\r"): append(contentsOf: "\\r".utf8)
            case 0..<0x20, 0x7f:
                append(contentsOf: "\\u00".utf8)
                append(hexadecimalDigit(byte >> 4))
                append(hexadecimalDigit(byte & 15))
            default: append(byte)
            }
        }
    }
}

extension Collection<UInt8> {
    /// Whether no byte needs escaping in a JSON string.
    fileprivate var allPlain: Bool {
        var special: UInt8 = 0
        for byte in self {
            special |= byte < 0x20 ? 1 : 0
            special |= byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7f ? 1 : 0
        }
        return special == 0
    }
}

extension UInt64 {
    /// The number of decimal digits, at least one.
    fileprivate var decimalWidth: Int {
        var (width, limit) = (1, UInt64(10))
        while width < 20, self >= limit {
            width += 1
            limit = width < 20 ? limit * 10 : .max
        }
        return width
    }
}
