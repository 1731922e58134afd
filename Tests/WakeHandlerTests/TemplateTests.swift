// The template of a handler in Swift: copied as `wakebridge new handler` does, built and tested as its author would.
import TestBench
import Testing
import WakeSystem

@Suite("The template of a handler in Swift", .tags(.fullScale))
struct TemplateTests {
    private let folder = makeDirectory("/tmp/wakebridge-template-XXXXXX")

    /// Copies a folder, with the words replaced in texts and names.
    private func copy(_ from: String, to: String, _ words: [String: String]) throws {
        func replaced(_ text: String) -> String { words.reduce(text) { $0.replacing($1.key, with: $1.value) } }
        try Directory.create(to)
        for name in names(in: from) {
            let (source, target) = ("\(from)/\(name)", "\(to)/\(replaced(name))")
            if (try? Directory.names(in: source)) != nil {
                try copy(source, to: target, words)
            } else {
                put(replaced(text(of: source)), at: target)
            }
        }
    }

    private func runSwift(_ words: String...) throws -> (exit: Int32, output: String, talk: String) {
        try Child(["/usr/bin/env", "swift"] + words).finish(within: 1800)
    }

    @Test("it builds, passes its own tests and the formatter, and handles what comes in on stdin")
    func works() throws {
        defer { Directory.removeTree(folder) }
        #expect(try layOutPackage(in: folder).exit == 0)
        let (library, copied) = ("\(folder)/wakehandler", "\(folder)/my-handler")
        try copy(
            "\(library)/Template", to: copied,
            ["@NAME@": "my-handler", "@MODULE@": "MyHandler"])
        try copy(library, to: "\(copied)/Packages/wakehandler", [:])
        #expect(text(of: "\(copied)/my-handler.json5").contains("exec: [\"/opt/my-handler/MyHandler\"]"))
        let format = "\(packageFolder)/.swift-format"
        let lint = try runSwift("format", "lint", "--strict", "--recursive", "--configuration", format, copied)
        #expect(lint.exit == 0, "\(lint.talk)")
        let built = try runSwift("build", "--package-path", copied)
        #expect(built.exit == 0, "\(built)")
        let tested = try runSwift("test", "--package-path", copied)
        #expect(tested.exit == 0 && tested.output.contains("2 tests in 1 suite passed"), "\(tested)")
        let lines = lines(of: "\(packageFolder)/Devices/heart-rate-monitor/expected.ndjson")
        let run = runProgram(["\(copied)/.build/debug/MyHandler"], input: lines, in: folder)
        #expect(run.status == 0 && run.replies.count == 96)
        #expect(run.standardOutput.first?.hasSuffix("chest-strap: 62 bpm") == true)
    }
}
