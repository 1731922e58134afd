// The page in a headless Chromium, against a stand-in for the daemon: Tests/Page/run.py has the checks.
import TestBench
import Testing

private enum Browser {
    private static let part = PreparedPart("page")
    private static let python = "\(part.folder)/venv/bin/python"
    static var hindrance: String? { part.hindrance(without: python, "\(part.folder)/venv/requirements.txt") }

    /// Every line that the checks print.
    static func check() throws -> (exit: Int32, lines: [Substring], talk: String) {
        let (exit, output, talk) = try Child([python, "\(packageFolder)/Tests/Page/run.py"]).finish()
        return (exit, output.split(separator: "\n"), talk)
    }
}

@Suite(
    "The page in a browser", .tags(.fullScale, .gate, .outside),
    .enabled(unless: Browser.hindrance))
struct BrowserTests {
    @Test("every check of the page in Chromium holds")
    func holds() throws {
        let (exit, lines, talk) = try Browser.check()
        for line in lines { print("page: \(line)") }
        for line in lines where line.hasPrefix("FAIL ") { Issue.record("\(line)") }
        #expect(exit == 0 && lines.count { $0.hasPrefix("ok ") } > 30, "\(talk.suffix(2000))")
    }
}
