// The page of the command line, which is made of the verbs' own help, so that the two cannot differ.
import TestBench
import Testing

@testable import wakebridge

@Suite("The page of the command line") struct CommandPageTests {
    private static let path = "docs/reference/cli.md"

    private static var page: String {
        let list = Verb.all.map { "- [`\($0.name)`](#\($0.name)): \($0.summary)" }
        let verbs = Verb.all.map { "## `\($0.name)`\n\n```text\n\(Manual.page(of: $0))```\n" }
        return """
            # Command line

            This page shows the help of every verb, as `wakebridge help VERB` prints it. [Exit codes](exit-codes.md) lists how the tool
            ends. [Name a device](devices.md#name-a-device) lists what DEVICE may be.

            <!-- Made from the verbs of the tool. CommandPageTests says how to make it again. -->

            \(list.joined(separator: "\n"))

            ## Every verb

            ```text
            \(Manual.overview)```

            \(verbs.joined(separator: "\n"))
            """
    }

    @Test("the page shows what the help of every verb says; if not, a new page is written and the test says where")
    func isTheHelp() {
        let wanted = Self.page + (Self.page.hasSuffix("\n") ? "" : "\n")
        guard text(of: "\(packageFolder)/\(Self.path)") != wanted else { return }
        put(wanted, at: "\(packageFolder)/.build/cli.md")
        Issue.record("\(Self.path) is not what the verbs say; to make it again, run: cp .build/cli.md \(Self.path)")
    }

    @Test("the page of exit codes has each status that the tool's overview names, and no other")
    func exitCodes() throws {
        let overview = Manual.overview.split(separator: "\n").drop { !$0.hasPrefix("Exit status: ") }
        let named = overview.flatMap { $0.split { " ,.".contains($0) } }.filter { $0.allSatisfy(\.isNumber) }
        let rows = try Document("docs/reference/exit-codes.md").text.split(separator: "\n")
            .drop { $0 != "## `wakebridge`" }.prefix { $0 != "## `wakebridged`" }.filter { $0.hasPrefix("| ") }
        let listed = rows.compactMap { $0.split { "| ".contains($0) }.first }.filter { $0.allSatisfy(\.isNumber) }
        #expect(named.count >= 3 && listed == named)
    }
}
