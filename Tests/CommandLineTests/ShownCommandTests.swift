// The command lines that the pages show, against what the tool accepts.
import Glibc
import TestBench
import Testing
import WakeArguments
import WakeSystem

@testable import wakebridge

/// A command line of a page: where it stands, and the words after the tool's name.
private struct ShownCommand {
    let page: String
    let words: [String]

    /// Nil for what is no command line of the tool with a verb.
    init?(_ text: Substring, in page: String) {
        var words = ShownCommand.split(text)[...]
        if words.first == "sudo" { words = words.dropFirst() }
        guard let program = words.popFirst(), program == "wakebridge" || program == ".build/debug/wakebridge" else {
            return nil
        }
        guard words.first?.first?.isLetter == true else { return nil }
        self.page = page
        // Of several words one stands for all.
        self.words = words.map { $0.split(separator: "|").first.map(String.init) ?? $0 }
    }

    /// As a shell would, up to a comment or to the next program.
    private static func split(_ text: Substring) -> [String] {
        var words: [String] = []
        for (place, piece) in text.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
            let isQuoted = place % 2 == 1
            for word in isQuoted ? [piece] : piece.split(separator: " ") {
                if !isQuoted, ["|", ">", "&&"].contains(word) || word.hasPrefix("#") { return words }
                words.append(String(word))
            }
        }
        return words
    }

    static let all: [ShownCommand] = {
        let pages = Document.pages.filter { !$0.hasPrefix("docs/dev/") }.flatMap { page -> [ShownCommand] in
            let pieces = text(of: "\(packageFolder)/\(page)").split(separator: "```", omittingEmptySubsequences: false)
            return pieces.enumerated().flatMap { place, piece -> [ShownCommand] in
                // What programs print is in fences of its own.
                let isFence = place % 2 == 1
                if isFence, piece.hasPrefix("text") { return [] }
                let spans = piece.split(separator: isFence ? "\n" : "`", omittingEmptySubsequences: false).enumerated()
                return spans.filter { isFence || $0.offset % 2 == 1 }.compactMap { ShownCommand($0.element, in: page) }
            }
        }
        let manual = lines(of: "\(packageFolder)/docs/man/wakebridge.1").filter { $0.hasPrefix(".Dl ") }
        return pages + manual.compactMap { ShownCommand($0.dropFirst(4), in: "docs/man/wakebridge.1") }
    }()
}

@Suite("Commands that are shown") struct ShownCommandTests {
    /// Asking the daemon, these do nothing where there is none.
    private static let daemonVerbs = [
        "status", "handlers", "start", "stop", "session", "reload", "attach", "simulate", "dead-letters", "why", "logs",
        "watch", "read", "write", "restart", "wait", "pending", "run-job", "cancel-job",
    ]

    @Test("every command line of the pages has a verb of the tool and options that this takes")
    func parse() throws {
        #expect(ShownCommand.all.count > 60)
        for command in ShownCommand.all where command.words[0] != "help" {
            let name = command.words[0]
            let verb = try #require(Verb.all.first { $0.name == name }, "\(command)")
            #expect(throws: Never.self, "\(command)") {
                try ParsedArguments(Array(command.words.dropFirst()), options: verb.allOptions)
            }
        }
    }

    @Test("every example of a verb's help is a command line of that verb, with options that it takes")
    func examples() throws {
        for verb in Verb.all {
            for example in verb.examples {
                // A command before a pipe is not the tool's.
                let line = example.split(separator: "| ").last ?? ""
                let command = try #require(ShownCommand(line, in: verb.name), "\(example)")
                #expect(command.words[0] == verb.name, "\(example)")
                let end = command.words.firstIndex(of: "--") ?? command.words.count
                #expect(throws: Never.self, "\(example)") {
                    try ParsedArguments(Array(command.words[1..<end]), options: verb.allOptions)
                }
            }
        }
    }

    @Test("where a command line of the pages is whole and asks the daemon, its words are no wrong usage")
    func ask() throws {
        let whole = ShownCommand.all.filter { command in
            Self.daemonVerbs.contains(command.words[0])
                && (command.words.count > 1
                    || ["status", "reload", "handlers", "dead-letters"].contains(command.words[0]))
        }
        #expect(whole.count > 20)
        for command in whole where !["closed", "disconnect", "expire"].contains(command.words.last) {
            let asked = try Child([Built.tool, "--runtime", "/nonexistent"] + command.words).finish()
            #expect(asked.exit == 3 && asked.talk.contains("there is no such socket"), "\(command) \(asked.talk)")
        }
    }

    @Test(
        "where a command line of the pages makes a handler or a profile without asking for a device, it works as it stands"
    )
    func make() throws {
        let whole = ShownCommand.all.filter { command in
            command.words[0] == "new" && command.words.count > 2
                && !command.words.contains { $0 == "--from" || $0 == "NAME" || $0.contains("[") }
                && command.page != "CHANGELOG.md"
        }
        #expect(Set(whole.map(\.page)).isSuperset(of: ["docs/tutorials/from-corebluetooth.md"]))
        let ordinary = Machine.isRoot ? ["setpriv", "--reuid=1", "--regid=1", "--clear-groups"] : []
        // The checkout's own is laid out by `make wakehandler`, and no test needs that.
        let library = makeDirectory("/tmp/wakeshown-library.XXXXXX")
        defer { Directory.removeTree(library) }
        for path in ["Template", "Sources/WakeHandler"] { try Directory.create("\(library)/\(path)", mode: 0o755) }
        for path in ["Package.swift", "Template/Package.swift"] { put("", at: "\(library)/\(path)") }
        chmod(library, 0o755)
        let places = ["WAKEBRIDGE_WAKEHANDLER=\(library)"]
        for command in whole {
            let folder = makeDirectory("/tmp/wakeshown.XXXXXX")
            defer { Directory.removeTree(folder) }
            if Machine.isRoot { chown(folder, 1, 1) }
            let words =
                ["env", "-C", folder, "XDG_CONFIG_HOME=\(folder)/config"] + places + [Built.tool] + command.words
            let made = try Child(ordinary + words).finish()
            #expect(made.exit == 0 && made.output.hasPrefix("wrote "), "\(command) \(made.talk)")
        }
    }

    @Test("every verb that prints takes --json, and every verb that may ask the daemon takes where it is")
    func common() {
        let silent = Verb.all.filter { verb in !verb.flags.contains { $0.name == "json" } }.map(\.name)
        #expect(silent == [])
        for verb in Verb.all where Self.daemonVerbs.contains(verb.name) {
            #expect(Set(["socket", "runtime"]).isSubset(of: verb.flags.map(\.name)), "\(verb.name)")
        }
    }
}
