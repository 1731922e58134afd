// Keys that are not plain are refused: a control character would end up in every sentence about the key.
import Testing

@testable import WakeProfiles

@Test(
    "a key with an escape or a control character is refused with its place",
    arguments: ["a\u{0}b", "a\u{1f}", "a\tb", "a\u{7f}", "a\\q", "a\\ud800", "a\\xzz", "a\\0", "\\u0061"])
func plainKeys(key: String) {
    for quote in ["\"", "'"] {
        let text = "{\n  outer: { \(quote)\(key)\(quote): 1 } }"
        let report = ConfigurationReport(file: "f.json5")
        #expect(ConfigurationObject(document: Array(text.utf8), keys: ["outer"], report: report) == nil)
        let sentences = report.errors.map(\.description)
        #expect(sentences.contains { $0.contains("line 2, column 12: a key holds an escape") }, "\(sentences)")
    }
}
