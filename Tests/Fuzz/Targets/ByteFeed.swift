// Takes an input apart: numbers, choices and pieces, one after the other, as readers of several things need it.

/// Zeros and nothing come from it once the input is used up.
struct ByteFeed {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// Little-endian.
    mutating func number(bytes count: Int) -> UInt64 {
        piece(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func piece(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Begins with its length in one byte.
    mutating func piece() -> [UInt8] { piece(Int(byte())) }

    mutating func choice<Element>(_ elements: [Element]) -> Element { elements[Int(byte()) % elements.count] }

    /// The bytes up to the next line feed, without it.
    mutating func line() -> [UInt8] {
        let line = rest.prefix { $0 != UInt8(ascii: "\n") }
        rest = rest.dropFirst(line.count + 1)
        return Array(line)
    }

    mutating func textLine() -> String { String(decoding: line(), as: UTF8.self) }
}
