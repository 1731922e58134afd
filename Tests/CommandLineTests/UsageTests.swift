// The tool's words: help everywhere, wrong usage told with the nearest right word, and reliable exit statuses.
import Glibc
import TestBench
import Testing
import WakeArguments
import WakeModel
import WakeSystem

@testable import wakebridge

@Suite("The command line") struct UsageTests {
    static let verbs = Verb.all.map(\.name)

    @Test("every verb has help with its usage and its options, on standard output, with exit 0", arguments: verbs)
    func help(verb: String) throws {
        for words in [[verb, "--help"], [verb, "-h"], ["help", verb]] {
            let child = try Child([Built.tool] + words).finish()
            #expect(child.exit == 0)
            #expect(child.output.hasPrefix("usage: wakebridge \(verb)"))
            #expect(child.output.contains("--help"))
            #expect(child.talk == "")
        }
    }

    @Test("the overview names every verb, and the version is told")
    func overview() throws {
        let help = try Built.run("--help")
        for verb in Self.verbs { #expect(help.output.contains("\n  \(verb) ")) }
        #expect(try Built.run("help").output == help.output)
        #expect(try Built.run("--version").output.hasPrefix("wakebridge 0."))
    }

    @Test(
        "wrong usage is exit 2, nothing on standard output, and a sentence with the nearest right word",
        arguments: [
            (["statsu"], "Did you mean 'status'?"), (["dead-leters"], "Did you mean 'dead-letters'?"),
            ([], "no verb was given"),
            (["status", "--jsno"], "Did you mean --json?"), (["--sokcet", "x", "status"], "Did you mean --socket?"),
            (["logs", "-n"], "needs a value"), (["logs", "-n", "ten"], "not a whole number from 0 to 10000"),
            (["logs", "--lines=10001"], "not a whole number"), (["stop", "--keep-sessions=1", "a"], "takes no value"),
            (["stop", "-z", "a"], "no option -z"), (["stop"], "a HANDLER must be named"),
            (["stop", "a", "b"], "'b' is one word too many"), (["restart", ""], "word 1 after the verb is empty"),
            (["write", "", "00"], "word 1 after the verb is empty"), (["watch", ""], "word 1 after the verb is empty"),
            (["new", "handler", "x", "--device", ""], "the value of --device is empty"),
            (["--socket", "", "status"], "the value of --socket is empty"),
            (["status", "--watch", "--json"], "--watch shows text and takes no --json"),
            (["status", "--watch=soon"], "'soon' is no time such as"),
            (["status", "--watch", "5"], "one word too many"),
            (["status", "now"], "'now' is one word too many"), (["status", "--", "x"], "has no meaning here"),
            (["simulate", "waek", "a"], "Did you mean 'wake'?"), (["simulate"], "name what to simulate"),
            (["simulate", "wake"], "needs a HANDLER"),
            (["simulate", "disconnect"], "needs a DEVICE"),
            (["simulate", "sleep"], "needs on or off"), (["simulate", "heat", "hot"], "neither on nor off"),
            (["simulate", "memory", "--level", "lots"], "neither low nor critical"),
            (["simulate", "kill", "a", "--level", "low"], "goes with memory only"),
            (["simulate", "alarm"], "needs a HANDLER"),
            (["simulate", "job", "a"], "needs the ID of one after the HANDLER"),
            (["simulate", "poll", "a", "b"], "'b' is one word too many"),
            (["simulate", "poll", "a", "--level", "low"], "goes with memory only"),
            (["simulate", "condition"], "needs a WORD such as power or mount:/data"),
            (["simulate", "condition", "power", "maybe"], "needs on, off or real"),
            (["run-job"], "a HANDLER must be named"), (["run-job", "a"], "the ID of a job must be named"),
            (["cancel-job"], "a HANDLER must be named"), (["cancel-job", "a"], "the ID of a job must be named"),
            (["pending", "a", "b"], "'b' is one word too many"),
            (["transfers", "--cancel", "photos/17"], "--cancel needs a HANDLER and the SESSION/ID"),
            (["send-alert", "ftp://x"], "does not begin with http"),
            (["send-alert"], "a URL must be named"),
            (["session"], "say open, paused, closed"), (["session", "clsoed", "a"], "Did you mean 'closed'?"),
            (["session", "open"], "needs a DEVICE"), (["session", "open", "a", "b"], "'b' is one word too many"),
            (["dead-letters", "reply"], "Did you mean 'replay'?"),
            (["dead-letters", "drop"], "say which"), (["dead-letters", "drop", "7", "--all"], "say which"),
            (["dead-letters", "drop", "-1"], "no option -1"), (["dead-letters", "drop", "0"], "not the SEQ"),
            (["replay"], "a trace FILE must be named"),
            (["replay", "x", "--speed", "fast"], "neither max nor a factor"),
            (["replay", "x", "--speed", "0"], "neither max"),
            (["replay", "x", "--"], "no HANDLER follows"), (["run"], "a HANDLER must follow"),
            (["replay", "x", "--from", "soon"], "'soon' is no time such as 90s"),
            (["replay", "x", "--from", "5m", "--until", "90s"], "--until 90s is not after --from 5m"),
            (["replay", "x", "--step"], "--step goes with a HANDLER or --manifest only"),
            (["replay", "x", "--step", "--speed", "2", "--", "h"], "--step and --speed exclude each other"),
            (["run", "--only", "strap", "--", "h"], "--only goes with --replay only"),
            (["run", "--manifest", "m", "--profile", "p", "--", "h"], "leave out --profile"),
            (["run", "-s", "2", "--", "h"], "goes with --replay only"),
            (["import"], "a FILE must be named"), (["import", "x", "--json"], "goes with -o only"),
            (["scan", "--for", "soon"], "no time such as"), (["scan", "--for", "0s"], "no time"),
            (["scan", "-a", "-p", "x"], "exclude each other"),
            (["pair", "--passkey", "1000000"], "not a number from 0 to 999999"),
            (["pair", "--passkey", "abc"], "not a number"), (["pair", "--alias", "/x"], "cannot be a name"),
            (["pair", "--alias", ""], "the value of --alias is empty"), (["pair", "a", "b"], "one word too many"),
            (["forget"], "a DEVICE must be named"), (["devices", "x", "y"], "one word too many"),
            (["read"], "a DEVICE must be named"), (["read", "a", "b", "c"], "'c' is one word too many"),
            (["write"], "a DEVICE must be named"), (["write", "a"], "say what to write"),
            (["write", "a", "0g"], "no hexadecimal such as 01ff"), (["restart"], "a HANDLER must be named"),
            (["write", "a", "--text", "b", "2a06", "c"], "'c' is one word too many"),
            (["wait", "a"], "say one of --connected"),
            (["wait", "a", "--connected", "--data"], "say one of --connected"),
            (["wait", "--data"], "a DEVICE must be named"), (["wait", "a", "--data", "--for", "x"], "no time such as"),
            (["export", "x"], "say where the capture goes"), (["export", "-o", "x"], "a FILE must be named"),
            (["record", "-o", "x"], "a DEVICE must be named"), (["record", "strap"], "say where the recording goes"),
            (["record", "strap", "-o", "x", "--for", "soon"], "no time such as"),
            (["record", "--air", "x", "strap"], "leave out 'strap'"),
            (["record", "--air", "x", "--day"], "leave out --day"),
            (["record", "--day"], "say where the recording goes"),
            (["replay", "x", "--handlers", "d", "--", "h"], "no program is run then"),
            (["replay", "x", "--work", "5m", "--manifest", "m"], "no program is run then"),
            (["replay", "x", "--work", "long"], "no time such as"),
            (["record", "--air", "x", "-o", "y"], "leave out --output"),
            (["doctor", "me"], "'me' is one word too many"), (["doctor", "--rot", "/x"], "Did you mean --root?"),
            (["udev-rules", "uno"], "'uno' is one word too many"), (["udev-ruls"], "Did you mean 'udev-rules'?"),
            (["help", "wach"], "Did you mean 'watch'?"), (["import", "x", "-p"], "no option -p"),
            (["trace"], "say what: info, diff, cut"), (["trace", "inf", "x"], "Did you mean 'info'?"),
            (["trace", "info"], "a trace FILE must be named"), (["trace", "diff", "x"], "two traces must be named"),
            (["trace", "info", "x", "--only", "y"], "--only does not go with info"),
            (["trace", "info", "x", "-o", "y"], "--output does not go with info"),
            (["trace", "cut", "x"], "say what to keep with"),
            (["trace", "cut", "x", "--from", "soon"], "is no time such"),
            (["trace", "cut", "x", "--from", "1s", "--json"], "goes with -o only"),
            (["trace", "shift", "x"], "say one of --by and --to"),
            (["trace", "shift", "x", "--by", "1"], "is no time such"),
            (["trace", "anonymise", "x", "--word", "ab"], "'ab' is too short"),
            (["new"], "name what to write"), (["new", "handlr", "x"], "Did you mean 'handler'?"),
            (["new", "handler"], "needs a NAME"),
            (["new", "handler", "x"], "with --profile or --device; 'wakebridge scan --all' shows the profiles"),
            (["new", "handler", "X", "-p", "gps-receiver"], "cannot be a handler's name"),
            (["new", "handler", "x", "-p", "gps-reciever"], "Did you mean 'gps-receiver' or"),
            (["new", "handler", "x", "-p", "gps-receiver", "-l", "pyton"], "Did you mean 'python'?"),
            (["new", "profile", "x"], "use 'wakebridge profile new NAME'"),
            (["profile", "new", "x", "--from", "y", "--trace", "z"], "--from and --trace exclude each other"),
            (["profile", "new", "X"], "cannot be a profile's name"), (["profile", "chekc"], "Did you mean 'check'?"),
            (["new", "handler", "x", "y"], "one word too many"),
            (["check"], "a FILE must be named"), (["config"], "name what to do: show or set"),
            (["config", "shwo"], "Did you mean 'show'?"), (["config", "set", "log.burst"], "needs a KEY and a VALUE"),
            (["status", "--color", "red"], "none of auto, always and never"),
            (["replay", "x", "--profiles", "/nonexistent"], "is not there; name a directory that is"),
            (["new", "handler", "x", "-p", "p", "--config", "/etc", "--directory", "."], "exclude each other"),
            (["completion"], "say for which shell"), (["completion", "bsh"], "Did you mean 'bash' or 'zsh'?"),
            (["completion", "bash", "--json"], "goes with offer only"),
            (["completion", "offer"], "must follow after '--'"),
        ])
    func wrongUsage(words: [String], sentence: String) throws {
        let child = try Child([Built.tool] + words).finish()
        #expect(child.exit == 2)
        #expect(child.output == "")
        #expect(child.talk.contains(sentence))
        #expect(child.talk.contains("--help"))
    }

    @Test("a daemon that does not run is exit 3, with its socket and what to do")
    func unreachable() throws {
        let missing = try Built.run("--runtime", "/nonexistent", "status")
        #expect(missing.exit == 3)
        #expect(missing.output == "")
        #expect(
            missing.talk.hasPrefix(
                "wakebridge status: cannot reach wakebridged at /nonexistent/control.sock: there is no such socket"))
        #expect(missing.talk.hasSuffix("'wakebridge doctor' says how to start it\n"))
        let long = try Built.run("--socket", "/" + String(repeating: "x", count: 200), "status")
        #expect(long.exit == 1)
    }

    @Test("the socket is the last option's, else the environment's, else none")
    func socketSaid() throws {
        func path(_ words: [String], _ environment: [String: String] = [:]) throws -> String? {
            try ParsedArguments(words, options: Verb.globalOptions).socketSaid { environment[$0] }
        }
        #expect(try path([]) == nil)
        #expect(try path([], ["WAKEBRIDGE_SOCKET": "/s"]) == "/s")
        #expect(try path(["--runtime", "/r"], ["WAKEBRIDGE_SOCKET": "/s"]) == "/r/control.sock")
        #expect(try path(["--runtime", "/r", "--socket=/t"]) == "/t")
    }

    @Test("replay, run and import read all their words")
    func engineWords() throws {
        let replay = try ReplayOptions(
            try ParsedArguments(
                ["--speed", "max", "t.trace", "-m", "m.json5", "-d", "d", "--", "./h", "--help", "--"],
                options: Verb.replay.allOptions))
        #expect(
            replay
                == ReplayOptions(
                    trace: "t.trace", speed: .max, manifest: "m.json5", decisions: "d",
                    handler: ["./h", "--help", "--"]))
        let run = try RunOptions(
            try ParsedArguments(
                ["-p", "heart-rate-monitor", "-r", "t", "-s", "2x", "--", "h"], options: Verb.run.allOptions))
        #expect(run == RunOptions(handler: ["h"], profile: "heart-rate-monitor", replay: "t", speed: .times(2)))
        let taken = try ImportOptions(
            try ParsedArguments(["a", "-o", "b", "--partial"], options: Verb.import.allOptions))
        #expect(taken.captures == ["a"] && taken.output == "b" && taken.terms.partial && !taken.lists)
    }

    @Test("a failed write is reported with exit 1, and a slow reader gets all of it")
    func output() throws {
        let trace = makeDirectory("/tmp/wakeoutput.XXXXXX")
        defer { Directory.removeTree(trace) }
        let head = "wakebridge-trace 1\nclock 2026-11-22T04:28:33.820696Z\n"
        let device = "device 1 bluetooth C0:DE:00:00:00:10 alias=\"strap\" service=180d\n+0.000000 1 connect\n"
        let beats = String(repeating: "+1.000000 1 data 2a37 0048\n", count: 3000)
        put(head + device + beats + "end\n", at: trace + "/t.trace")
        func run(_ line: String) throws -> (exit: Int32, output: String, talk: String) {
            try Child(["env", "T=\(Built.tool)", "F=\(trace)", "sh", "-c", line]).finish()
        }
        for line in [
            "\"$T\" udev-rules >/dev/full", "env --ignore-signal=PIPE \"$T\" udev-rules >/dev/full",
            "\"$T\" replay $F/t.trace --speed max >/dev/full",
        ] {
            let full = try run(line)
            #expect(full.exit == 1 && full.talk.contains("cannot write standard output: "), "\(full)")
        }
        // As a service of systemd's, which ignores SIGPIPE.
        let left = try run(
            "(env --ignore-signal=PIPE \"$T\" replay $F/t.trace --speed max; echo $? >$F/exit) | head -1")
        #expect(left.exit == 0 && text(of: trace + "/exit") == "141\n" && left.talk.isEmpty, "\(left)")
        let whole = try run("\"$T\" replay $F/t.trace --speed max")
        #expect(whole.exit == 0 && whole.output.utf8.count > 300_000, "\(whole.talk)")
        let program = """
            import os, subprocess, sys, time
            reading, writing = os.pipe()
            os.set_blocking(writing, False)
            tool = subprocess.Popen(sys.argv[1:], stdout=writing)
            os.close(writing)
            time.sleep(0.5)
            with os.fdopen(reading) as text:
                sys.stdout.write(text.read())
            sys.exit(tool.wait())
            """
        let words = [Built.tool, "replay", trace + "/t.trace", "--speed", "max"]
        let slow = try Child(["python3", "-c", program] + words).finish()
        #expect(slow.exit == 0 && slow.output == whole.output, "\(slow.output.utf8.count) bytes")
    }

    @Test("spans, sizes and columns are written for people")
    func humanText() {
        let spans: [Int64] = [0, 350, 1_234, 59_999, 60_000, 184_000, 7_500_000, 273_600_000, -1_500]
        #expect(
            spans.map { TimeSpan.milliseconds($0).spoken } == [
                "0 ms", "350 ms", "1.2 s", "59.9 s", "1 min", "3 min 4 s", "2 h 5 min", "3 d 4 h", "-1.5 s",
            ])
        #expect([0, 1023, 1024, 10_276_045].map(spokenBytes) == ["0 B", "1023 B", "1.0 KiB", "9.7 MiB"])
        #expect(
            Table(rows: [["A", "N"], ["long", "10"], ["b", "7"]], numeric: [1]).text == "A      N\nlong  10\nb      7\n"
        )
        #expect("a\u{1b}[31mb\u{7f}\u{9b}".printable == "a\u{fffd}[31mb\u{fffd}\u{fffd}")
    }

    @Test("no line of help is longer than 100 columns")
    func columns() {
        for page in [Manual.overview] + Verb.all.map(Manual.page) {
            for line in page.split(separator: "\n") { #expect(line.count <= 100, "\(line)") }
        }
        let rows = ColumnText.rows([("  a", String(repeating: "word ", count: 40)), ("  long-name", "end")])
        #expect(rows.split(separator: "\n").map(\.count) == [97, 97, 42, 16], "\(rows)")
        #expect(ColumnText.paragraphs("a\nb\n  as it is\n\nc") == "a b\n  as it is\n\nc")
        let usage = ColumnText.usage("usage: wakebridge v", String(repeating: "[--one TWO] ", count: 8), margin: 11)
        #expect(
            usage.split(separator: "\n").allSatisfy { $0.hasSuffix("TWO]") } && usage.contains("\n           [--one"))
    }

    @Test("the verbs stand in groups, each verb in one, and each with examples that the tool takes")
    func groups() throws {
        let names = VerbGroup.all.flatMap(\.verbs).map(\.name)
        #expect(Set(names).count == names.count && names.count > 40)
        let overview = Manual.overview
        for group in VerbGroup.all { #expect(overview.contains("\n\(group.title)\n  \(group.verbs[0].name) ")) }
        for verb in Verb.all {
            #expect(!verb.examples.isEmpty && verb.examples.allSatisfy { $0.count <= 98 }, "\(verb.name)")
        }
        #expect(Manual.page(of: .logs).contains("\nexamples:\n  wakebridge logs -f hr\n"))
    }

    @Test("the words that people try lead to a verb, and the version is a verb too")
    func aliases() throws {
        for (alias, name) in Verb.aliases { #expect(try Verb.named(alias).name == name) }
        let version = try Built.run("--runtime", "/nonexistent", "version")
        #expect(version.exit == 0 && version.output == "wakebridge \(Tool.version)\n", "\(version)")
        let json = try Built.run("--runtime", "/nonexistent", "version", "-j")
        #expect(json.output == #"{"wakebridge":"\#(Tool.version)","wakebridged":null}"# + "\n")
    }

    @Test("a figure is told with one decimal at most, and a share that is not nothing is never shown as nothing")
    func figures() {
        #expect([4.671, 0, 30.936].map(tenths) == ["4.7", "0.0", "30.9"])
        #expect([0.0, 0.000_244, 0.046_71].map { percent(of: $0) } == ["0.0 %", "under 0.1 %", "4.7 %"])
        #expect(ShownChunks.sentence("a", 50 << 20, of: 200 << 20) == "a: 50.0 MiB of 200.0 MiB read, 25.0 %")
        #expect(ShownChunks.sentence("-", 1024, of: 0) == "-: 1.0 KiB read")
    }

    @Test("a short option means one thing in every verb")
    func shortOptions() {
        var meanings: [Character: Set<String>] = [:]
        for flag in Verb.all.flatMap(\.allOptions) + Verb.globalOptions {
            if let short = flag.short { meanings[short, default: []].insert(flag.name) }
        }
        #expect(meanings.count > 10)
        for (short, names) in meanings { #expect(names.count == 1, "-\(short): \(names.sorted())") }
    }
}
