// The page in a headless Chromium, against a stand-in for the daemon: Tests/Page/run.py has the checks.
import Glibc
import TestBench
import Testing

private enum Browser {
    private static let python = "\(packageFolder)/.build/page/venv/bin/python"

    /// Prepared once it is asked for. The script says why it cannot be had.
    static let isThere: Bool = {
        let (_, _, talk) = (try? Child(["\(packageFolder)/Scripts/prepare-page.sh"]).finish()) ?? (-1, "", "")
        if !talk.isEmpty { print(talk) }
        return access("\(packageFolder)/.build/page/reason", F_OK) != 0 && access(python, X_OK) == 0
    }()

    /// Every line that the checks print.
    static func check() throws -> (exit: Int32, lines: [Substring], talk: String) {
        let (exit, output, talk) = try Child([python, "\(packageFolder)/Tests/Page/run.py"]).finish()
        return (exit, output.split(separator: "\n"), talk)
    }
}

@Suite(
    "The page in a browser", .tags(.fullScale, .unhurried),
    .enabled(if: Browser.isThere, "no browser could be prepared: Scripts/prepare-page.sh said why"))
struct BrowserTests {
    @Test("every check of the page in Chromium holds")
    func holds() throws {
        let (exit, lines, talk) = try Browser.check()
        for line in lines { print("page: \(line)") }
        for line in lines where line.hasPrefix("FAIL ") { Issue.record("\(line)") }
        #expect(exit == 0 && lines.count { $0.hasPrefix("ok ") } > 30, "\(talk.suffix(2000))")
    }
}
