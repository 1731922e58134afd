// Keys that are not plain: FoundationEssentials of Swift 6.0 ends the process over some of them, so none gets that far.
import Testing

@testable import WakeProfiles

@Test(
    "a key with an escape or a control character is refused with its place, whether the decoder could read it or not",
    arguments: ["a\u{0}b", "a\u{1f}", "a\tb", "a\u{7f}", "a\\q", "a\\ud800", "a\\xzz", "a\\0", "\\u0061"])
func plainKeys(key: String) {
    for quote in ["\"", "'"] {
        let text = "{\n  outer: { \(quote)\(key)\(quote): 1 } }"
        do {
            _ = try ConfigurationValue(parsing: Array(text.utf8), file: "f.json5")
            Issue.record("\(text) was taken")
        } catch {
            #expect(error.description.contains("line 2, column 12: a key holds an escape"), "\(error.description)")
        }
    }
}
