// The page of the command line, which is made of the verbs' own help, so that the two cannot differ.
import TestBench
import Testing

@testable import wakebridge

@Suite("The page of the command line") struct CommandPageTests {
    private static let path = "docs/reference/cli.md"

    private static var page: String {
        let list = Verb.all.map { "- [`\($0.name)`](#\($0.name)): \($0.summary)" }
        let verbs = Verb.all.map { verb in
            let help = Manual.page(of: verb).split(separator: "\n", omittingEmptySubsequences: false)
            return "## `\(verb.name)`\n\n```text\n" + help.joined(separator: "\n") + "```\n"
        }
        return """
            # Command line

            This page shows the help of every verb, as `wakebridge help VERB` prints it. [Exit codes](exit-codes.md) lists how the tool
            ends. [Name a device](devices.md#name-a-device) says what DEVICE may be.

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
}
