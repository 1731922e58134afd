// What the outline reads by itself must be what FoundationEssentials' decoder reads.
import Testing

@testable import WakeProfiles

@Suite("Plain JSON5")
struct PlainReadingTests {
    /// Numbers and texts as people write them, and what is near to them.
    private static let values = [
        "0", "7", "-7", "10", "180000", "0.001", "-0.5", "12.25", "1.0", "-3.0", "100.50", "999999999999999",
        "0.1", "0.300000000004", "1234567.1234567", "true", "false", "null", "\"\"", "'it'",
        "\"Grüße, 世界\"", "'a \"quoted\" word'", "\"0x16\"", "[]", "{}", "[1, 2.5, 'x', null, ]",
        "{ a: 1, 'b c': [true], \"d\": { e: 'f' } /* g */ }", "// first\n{ a: 1, // last\n }",
        "{ a: 1, // ends here\r b: 2 }",
    ]
    /// Left to the decoder, whatever it makes of them.
    private static let others = [
        "-0", "-0.0", "01", "+1", ".5", "5.", "1e3", "0x1F", "12345678901234567890", "9007199254740993",
        "0.30000000000000004", "1.2.3", "--1",
        "\"a\\nb\"", "'\\u0041'", "\"\u{1}\"", "[1, 1e3]", "{ größe: 1 }",
    ]

    @Test("what is plain is read without the decoder, and as the decoder reads it", arguments: values)
    func readsAlike(_ text: String) throws {
        let read = try ConfigurationOutline.read(Array(text.utf8))
        #expect(read != nil)
        #expect(try read == ConfigurationValue.decoded(Array(text.utf8), "test"))
    }

    @Test("what is not plain is left to the decoder", arguments: others)
    func leavesTheRest(_ text: String) throws {
        #expect(try ConfigurationOutline.read(Array(text.utf8)) == nil)
    }

    @Test(
        "a key that is no name needs quotes, whatever else stands in the file", arguments: ["-1", "HTTP-PROXY", "a.b"])
    func keys(_ key: String) throws {
        for more in ["", ", b: 0x10"] {
            #expect(throws: (any Error).self) { try ConfigurationOutline.read(Array("{ \(key): 1\(more) }".utf8)) }
        }
    }

    @Test("the profiles that are shipped need no decoder")
    func shippedProfilesArePlain() throws {
        for source in try shippedSources() {
            let read = try ConfigurationOutline.read(source.text)
            #expect(read != nil, "\(source.file)")
            #expect(try read == ConfigurationValue.decoded(source.text, source.file))
        }
    }
}
