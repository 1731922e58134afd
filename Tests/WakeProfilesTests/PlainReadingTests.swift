// The values of JSON5, and what is near to them.
import Testing
import WakeModel

@testable import WakeProfiles

@Suite("JSON5 values")
struct PlainReadingTests {
    private static let integers: [(String, Int64)] = [
        ("0", 0), ("7", 7), ("-7", -7), ("180000", 180_000), ("999999999999999", 999_999_999_999_999), ("1.0", 1),
        ("-3.0", -3), ("-0", 0), ("-0.0", 0), ("+1", 1), ("5.", 5), ("1e3", 1000), ("1.e3", 1000), ("0x1F", 31),
        ("-0x10", -16), ("9007199254740993", 9_007_199_254_740_993), ("9223372036854775807", .max),
    ]
    private static let reals: [(String, Double)] = [
        ("0.001", 0.001), ("-0.5", -0.5), ("12.25", 12.25), ("100.50", 100.5), ("0.300000000004", 0.300000000004),
        ("0.30000000000000004", 0.30000000000000004), (".5", 0.5), ("-.5", -0.5),
        ("12345678901234567890", 12_345_678_901_234_567_890), ("25E-1", 2.5),
    ]
    private static let malformed = [
        "01", "1.2.3", "--1", ".", "+", "-", "0x", "0xg", "0xFFFFFFFFFFFFFFFFF", "1e400", "1e", "1e+", "1_000", ".e1",
        "Infinity", "-Infinity", "NaN",
    ]
    private static let texts: [(String, String)] = [
        ("\"\"", ""), ("'it'", "it"), ("\"Grüße, 世界\"", "Grüße, 世界"), ("'a \"quoted\" word'", "a \"quoted\" word"),
        ("'a\\nb'", "a\nb"), ("'\\u0041\\x42'", "AB"), ("'\\''", "'"), ("'\\ud83d\\ude00'", "😀"), ("'\\xe9'", "é"),
    ]
    private static let malformedTexts = [
        "'\u{1}'", "'a\tb'", "'\\q'", "'\\ud800'", "'\\udc00'", "'\\01'", "'\\", "'a\\\nb'",
    ]

    private func read(_ text: String) throws -> JSONValue { try JSONValue(json5: Array(text.utf8)) }

    @Test("a number without a fraction is an integer, however it is written", arguments: integers)
    func readsIntegers(_ text: String, _ value: Int64) throws {
        #expect(try read(text) == .integer(value))
    }

    @Test("other numbers are read to the nearest Double", arguments: reals)
    func readsReals(_ text: String, _ value: Double) throws {
        #expect(try read(text).number == value)
    }

    @Test("a malformed number or text is refused", arguments: malformed + malformedTexts)
    func refusesMalformed(_ text: String) throws {
        #expect(throws: JSONValue.Fault.self) { try read(text) }
    }

    @Test("texts are read with their escapes", arguments: texts)
    func readsTexts(_ text: String, _ value: String) throws {
        #expect(try read(text) == .string(value))
    }

    @Test("comments end at every kind of line end, and may stand anywhere between values")
    func comments() throws {
        #expect(try read("// first\n{ a: 1, // ends here\r b: /* g */ 2 }/**/") == read("{a:1,b:2}"))
    }

    @Test("a bare key may have letters beyond ASCII")
    func bareKeys() throws {
        #expect(try read("{ größe: 1 }")["größe"] == .integer(1))
    }

    @Test(
        "a key that is no name needs quotes, whatever else stands in the file", arguments: ["-1", "HTTP-PROXY", "a.b"])
    func keys(_ key: String) throws {
        for more in ["", ", b: 0x10"] {
            #expect(throws: (any Error).self) { try read("{ \(key): 1\(more) }") }
        }
    }

    @Test(
        "strict JSON has none of it",
        arguments: [
            "{a:1}", "'x'", "[1,]", "{\"a\":1,}", "+1", "0x10", ".5", "5.", "/**/1", "\u{b}1", "\u{feff}1", "\"\\x41\"",
        ])
    func strict(_ text: String) throws {
        #expect(throws: JSONValue.Fault.self) { try JSONValue(parsing: text.utf8) }
        #expect(throws: Never.self) { try JSONValue(json5: Array(text.utf8)) }
    }
}
