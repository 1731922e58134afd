// What may be a name, and what is taken off a text.
import Testing
import WakeModel

@Suite("Plain text") struct PlainTextTests {
    @Test("a name is 1 to 64 bytes of what can be read, without a space at its ends or a slash before it")
    func names() {
        let longest = String(repeating: "ä", count: 32)
        for name in ["a", "Küche 2", "a/b", "\"", "new", longest] { #expect(name.isPlainName, "\(name)") }
        for name in [
            "", " a", "a ", "/a", "a\tb", "a\n", "\u{7f}", "a\u{85}", "a\u{200f}b", "\u{2066}a", longest + "a",
        ] {
            #expect(!name.isPlainName, "\(name.debugDescription)")
        }
    }

    @Test("of a text that was cut within a character, or spoilt, what is valid before that is kept")
    func cutText() {
        let cases: [([UInt8], String)] = [
            ([0x54, 0xc3, 0xbc, 0x72, 0x65, 0x6e, 0xc3], "Türen"), ([0xe2, 0x82, 0xac, 0xe2, 0x82], "€"),
            ([0x41, 0xf0, 0x9f, 0x98], "A"), ([0x41, 0xff, 0x42], "A"), ([0xc3], ""), ([], ""), ([0x41, 0x42], "AB"),
        ]
        for (bytes, text) in cases { #expect(Array(bytes[...].textPrefix) == Array(text.utf8), "\(bytes)") }
    }

    @Test("one pair of quotes is taken off, and nothing else")
    func quotes() {
        let cases = [
            ("\"a b\"", "a b"), ("\"\"a\"\"", "\"a\""), ("\"\"", ""), ("\"", "\""), ("\"a", "\"a"), ("a\"", "a\""),
            ("", ""),
        ]
        for (text, bare) in cases { #expect(text.unquoted == bare) }
    }

    @Test("a number has all its hexadecimal digits, and an optional field is null where there is none")
    func numbers() {
        #expect(UInt16(15).hexadecimal == "000f" && UInt64.max.hexadecimal == "ffffffffffffffff")
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("a", "b" as String?)
        writer.field("c", nil as String?)
        writer.field("d", 1 as Int?)
        writer.field("e", nil as Int?)
        writer.endObject()
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"a":"b","c":null,"d":1,"e":null}"#)
    }
}
