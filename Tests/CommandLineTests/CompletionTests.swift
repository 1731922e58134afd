// What bash, zsh and fish complete, by the scripts that the tool prints, asked in the shells themselves.
import Glibc
import TestBench
import Testing
import WakeSystem

@testable import wakebridge

/// A shell that has loaded the script that the tool prints for it.
private enum Shell: String {
    case bash
    case zsh
    case fish

    var isThere: Bool { ["/bin/", "/usr/bin/"].contains { access($0 + rawValue, X_OK) == 0 } }

    /// Only a shell at a terminal may set options of a completion; there, what it would list by itself is named instead.
    private var start: String {
        switch self {
        case .bash:
            """
            source <("$TOOL" completion bash); wakebridge() { "$TOOL" "$@"; }
            compopt() { COMPREPLY+=(":$2"); }; compgen() { echo ":compgen$1"; }
            """
        case .zsh:
            """
            compdef() { :; }; source <("$TOOL" completion zsh); wakebridge() { "$TOOL" "$@"; }
            _describe() { print -rl -- ${(P)2}; }; _files() { print -r -- ":files $*"; }
            _users() { print :users; }; _groups() { print :groups; }
            """
        case .fish:
            """
            function wakebridge; $TOOL $argv; end
            $TOOL completion fish | source
            """
        }
    }

    private func call(_ words: [String]) -> String {
        let quoted = words.map { "'\($0)'" }.joined(separator: " ")
        return switch self {
        case .bash:
            "COMP_WORDS=(wakebridge \(quoted)); COMP_CWORD=\(words.count); _wakebridge; printf '%s\\n' \"${COMPREPLY[@]}\" '##'"
        case .zsh: "words=(wakebridge \(quoted)); CURRENT=\(words.count + 1); _wakebridge; print -r -- '##'"
        case .fish: "complete -C \"wakebridge \(words.joined(separator: " "))\"; echo '##'"
        }
    }

    private var command: [String] {
        switch self {
        case .bash: ["bash", "--norc", "-c"]
        case .zsh: ["zsh", "-f", "-c"]
        case .fish: ["fish", "--no-config", "-c"]
        }
    }

    /// The program and arguments that print what is offered after each of these words, the last one of which has only begun.
    func asking(_ lines: [[String]]) -> [String] {
        // No shell reads the settings of the one who tests; fish makes folders in its home.
        ["env", "TOOL=\(Built.tool)", "HOME=\(packageFolder)/.build/home", "LC_ALL=C.UTF-8"] + command
            + [([start] + lines.map(call)).joined(separator: "\n")]
    }

    /// The words of each answer, without what they mean.
    func answers(in output: String) -> [Set<String>] {
        var answers: [Set<String>] = [[]]
        for line in output.split(separator: "\n") {
            if line == "##" {
                answers.append([])
            } else {
                answers[answers.count - 1].insert(word(line))
            }
        }
        return answers.dropLast()
    }

    private func word(_ line: Substring) -> String {
        switch self {
        case .bash: return String(line)
        case .fish: return String(line.prefix { $0 != "\t" })
        case .zsh:
            if line.hasPrefix(":") { return String(line) }
            let escaped = line.replacing("\\:", with: "\u{1}")
            return String(escaped.prefix { $0 != ":" }).replacing("\u{1}", with: ":")
        }
    }

    func offered(after lines: [[String]]) throws -> [Set<String>] {
        let asked = try Child(asking(lines)).finish()
        #expect(asked.exit == 0 && asked.talk.isEmpty, "\(asked.talk)")
        return answers(in: asked.output)
    }
}

@Suite("Completion") struct CompletionTests {
    private static let (zshThere, fishThere) = (Shell.zsh.isThere, Shell.fish.isThere)

    @Test("bash offers after each verb exactly its options, and every verb, and each of a few fixed words")
    func bash() throws { try expectTables(in: .bash) }

    @Test("zsh offers the same", .enabled(if: zshThere, "zsh is not installed"))
    func zsh() throws { try expectTables(in: .zsh) }

    @Test("fish offers the same", .enabled(if: fishThere, "fish is not installed"))
    func fish() throws { try expectTables(in: .fish) }

    private func expectTables(in shell: Shell) throws {
        let offered = try shell.offered(after: Verb.all.map { [$0.name, "--"] } + [["--"]])
        try #require(offered.count == Verb.all.count + 1)
        for (verb, options) in zip(Verb.all, offered) {
            #expect(options == Set(verb.allOptions.map { "--\($0.name)" }), "\(verb.name)")
        }
        #expect(offered[Verb.all.count] == Set(Verb.globalOptions.map { "--\($0.name)" }))
        let words: [([String], Set<String>)] = [
            ([""], Set(Verb.all.map(\.name) + ["help"])), (["--socket", "/x", "he"], ["help"]),
            (["help", "st"], ["status", "start", "stop"]), (["wat"], ["watch"]),
            (
                ["simulate", ""],
                [
                    "wake", "expire", "memory", "kill", "disconnect", "sleep", "heat", "battery", "alarm", "job",
                    "poll",
                    "condition",
                ]
            ), (["simulate", "condition", "power", "o"], ["on", "off"]),
            (["session", "--json", ""], ["open", "pause", "close"]),
            (["dead-letters", ""], ["list", "replay", "drop"]),
            (["simulate", "heat", ""], ["on", "off"]), (["simulate", "battery", "of"], ["off"]),
            (["simulate", "memory", "--level", ""], ["low", "critical"]), (["replay", "-s", "m"], ["max"]),
            (["new", ""], ["handler"]), (["profile", ""], ["new", "check"]),
            (["trace", ""], ["info", "diff", "cut", "shift", "anonymise"]), (["trace", "a"], ["anonymise"]),
            (["new", "handler", "-l", "s"], ["shell", "swift"]),
            (["completion", ""], ["bash", "zsh", "fish", "offer"]), (["config", ""], ["show", "set"]),
            (["logs", "-n", ""], []), (["status", ""], []), (["nonsense", ""], []),
        ]
        let answers = try shell.offered(after: words.map(\.0))
        for ((line, wanted), answer) in zip(words, answers) { #expect(answer == wanted, "\(shell): \(line)") }
        #expect(answers.count == words.count)
    }

    @Test("what only the shell can list, it lists: files, directories, users and groups")
    func listings() throws {
        let lines = [
            ["replay", ""], ["import", "-o", ""], ["doctor", "--root", ""], ["run", "--user", ""],
            ["udev-rules", "-g", ""],
        ]
        #expect(
            try Shell.bash.offered(after: lines) == [
                [":default"], [":default"], [":dirnames"], [":compgen-u"], [":compgen-g"],
            ])
        guard Shell.zsh.isThere else { return }
        #expect(
            try Shell.zsh.offered(after: lines) == [[":files "], [":files "], [":files -/"], [":users"], [":groups"]])
    }

    @Test(
        "handlers, devices and adapters are those of the daemon that the line names, and profiles those that are known")
    func names() throws {
        let fixture = try Fixture { request in
            switch request.path {
            case ["v1", "handlers"]:
                .json(status: 200, Array(#"{"handlers":[{"id":"hr","state":"suspended"},{"id":"up-load"}]}"#.utf8))
            case ["v1", "devices"]:
                .json(
                    status: 200,
                    Array(
                        #"{"devices":[{"alias":"chest strap","source":"/bluetooth/x"},{"alias":"scale\u001b"},{"alias":":users"}]}"#
                            .utf8))
            case ["v1", "handlers", "hr", "pending"]:
                .json(
                    status: 200,
                    Array(
                        #"{"pending":[{"source":"alarm","id":"pill"},{"source":"job","id":"x"}],"jobs":["backup","sync"]}"#
                            .utf8))
            case ["v1", "conditions"]:
                .json(status: 200, Array(#"{"conditions":[{"word":"power"},{"word":"idle"}]}"#.utf8))
            case ["v1", "status"]: .json(status: 200, Array(#"{"adapters":[{"address":"00:1A:7D:DA:71:13"}]}"#.utf8))
            default: .json(status: 404, [])
            }
        }
        let unfinished: [[String]] = [
            ["why", ""], ["logs", "u"], ["watch", "ch"], ["session", "open", ""], ["simulate", "kill", ""],
            ["scan", "--adapter", ""], ["run", "--profile", "gps"], ["dead-letters", "drop", "--handler", ""],
            ["read", ""], ["write", ""], ["wait", "ch"], ["restart", ""], ["pending", "h"], ["run-job", "hr", ""],
            ["cancel-job", "hr", "s"], ["simulate", "job", "hr", "b"], ["simulate", "alarm", "hr", ""],
            ["simulate", "condition", "p"],
        ]
        // Where the daemon is may be said before the verb and after it.
        let lines = unfinished.map { ["--socket", fixture.path] + $0 } + [["logs", "--socket", fixture.path, "u"]]
        for shell in [Shell.bash, .zsh, .fish] where shell.isThere {
            let outcome = try fixture.run(shell.asking(lines))
            let device = shell == .bash ? #"chest\ strap"# : "chest strap"
            let wanted: [Set<String>] = [
                ["hr", "up-load"], ["up-load"], [device], [device], ["hr", "up-load"], ["00:1A:7D:DA:71:13"],
                ["gps-receiver"], ["hr", "up-load"], [device], [device], [device], ["hr", "up-load"], ["hr"],
                ["backup", "sync"], ["sync"], ["backup"], ["pill"], ["power"], ["up-load"],
            ]
            #expect(shell.answers(in: outcome.output) == wanted, "\(shell): \(outcome)")
        }
    }

    @Test("in a zsh at a terminal a tab completes a verb", .enabled(if: zshThere, "zsh is not installed"))
    func tab() throws {
        let script = """
            zmodload zsh/zpty zsh/zselect
            await() {
                local chunk
                repeat 1200; do
                    zpty -rt shell chunk && seen+=$chunk
                    [[ $seen == *$1* ]] && return
                    zselect -t 5
                done
                return 1
            }
            zpty -b shell zsh -f -i
            zpty -w shell 'autoload -Uz compinit; compinit -D -u; wakebridge() { '$TOOL' "$@"; }'
            zpty -w shell 'source <('$TOOL' completion zsh); print LOA''DED'
            await LOADED
            seen=
            zpty -w -n shell $'wakebridge udev-r\\t'
            await 'wakebridge udev-rules ' && print completed
            # Its end would otherwise be left to chance.
            zpty -d shell
            """
        let asked = try Child(["env", "TOOL=\(Built.tool)", "TERM=dumb", "zsh", "-f", "-c", script])
            .finish()
        #expect(asked.exit == 0 && asked.output.hasSuffix("completed\n"), "\(asked)")
    }

    @Test("every placeholder of an option's value is one that completion knows")
    func placeholders() {
        for flag in Verb.all.flatMap(\.allOptions) where flag.value != nil {
            #expect(flag.operand != nil, "--\(flag.name) \(flag.value ?? "")")
        }
    }

    @Test("every verb whose usage names a device, a handler or a file offers what can stand there")
    func operands() {
        for verb in Verb.all {
            for synopsis in verb.synopsis {
                let own = synopsis.replacing(#/-[^ ]* (DEVICE|HANDLER|FILE)\b/#, with: "").replacing(
                    #/ -- .*/#, with: "")
                guard own.contains(#/\b(DEVICE|HANDLER|FILE)\b/#) else { continue }
                #expect(!verb.operands.isEmpty, "\(verb.name) \(synopsis)")
            }
        }
    }

    @Test("with --json what fits is one object, with what each word means")
    func json() throws {
        let asked = try Built.run("completion", "offer", "--json", "--", "statu")
        #expect(asked.output.hasPrefix(#"{"words":[{"word":"status","meaning":""#), "\(asked)")
        #expect(
            try Built.run("completion", "offer", "--json", "--", "replay", "").output
                == #"{"words":[],"lists":"files"}"# + "\n")
    }
}
