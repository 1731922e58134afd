// Parts of a trace that are replayed, and steps: what a program hears of them, and what is printed without one.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("A replay of a part") final class ReplayPartTests {
    private let folder: String
    private var trace: String { folder + "/two.trace" }
    private var handler: [String] { ["--", "/bin/sh", folder + "/hear.sh"] }

    init() {
        folder = makeDirectory("/tmp/wakereplaypart.XXXXXX")
        put(
            """
            wakebridge-trace 1
            clock 2026-11-21T07:00:00.000000Z
            device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap" service=180d
            device 2 bluetooth C0:F1:F2:F3:F4:02 alias="spare" service=180d
            +0.000000 1 connect
            +1.000000 1 data 2a37 0048
            +0.500000 2 connect
            +0.500000 2 data 2a37 0050
            +1.000000 1 data 2a37 0049
            +1.000000 2 disconnect reason=timeout
            +1.000000 1 data 2a37 004a
            +1.000000 1 disconnect reason=remote-user
            end

            """, at: folder + "/two.trace")
        put(
            """
            while IFS= read -r line; do
                case $line in *'"seq":'*) ;; *) continue ;; esac
                printf '%s\\n' "$line"
                seq=${line#*'"seq":'}; echo "{\\"ack\\":${seq%%,*}}" >&3
            done
            """, at: folder + "/hear.sh")
    }

    deinit { Directory.removeTree(folder) }

    /// An event line without what tells the place of the event among others.
    private struct Heard: Hashable {
        let time: String
        let source: String
        let type: String
        let raw: String

        init?(_ line: some StringProtocol) {
            guard let json = try? JSONValue(parsing: Array(line.utf8)), let type = json["type"]?.string else {
                return nil
            }
            self.type = type
            (time, source) = (json["time"]?.string ?? "", json["source"]?.string ?? "")
            raw = json["data"]?["raw"]?.string ?? json["data"]?["reason"]?.string ?? ""
        }

        static func all(_ output: String) -> [Heard] { output.split(separator: "\n").compactMap { Heard($0) } }
    }

    private func heard(_ words: String...) throws -> [Heard] {
        let outcome = try Child([Built.tool] + words + ["--speed", "max"] + handler).finish(within: 60)
        #expect(outcome.exit == 0, "\(words) \(outcome.talk)")
        return Heard.all(outcome.output)
    }

    // MARK: To a program

    @Test("from a time on, a handler hears the links of then, and after them what it hears of the whole from then on")
    func from() throws {
        let whole = try heard("replay", trace)
        #expect(whole.count == 8)
        let rest = whole.filter { $0.time >= "2026-11-21T07:00:03" }
        #expect(rest.map(\.raw) == ["0049", "timeout", "004a", "remote-user"])
        for mark in ["3s", "2026-11-21T07:00:03Z"] {
            let part = try heard("replay", trace, "--from", mark)
            #expect(part.prefix(2).map(\.type) == ["wakebridge.device.connected", "wakebridge.device.connected"])
            #expect(part.prefix(2).map(\.source) == whole.filter { $0.type.hasSuffix(".connected") }.map(\.source))
            #expect(part.prefix(2).allSatisfy { $0.time == "2026-11-21T07:00:03.000000Z" })
            #expect(Array(part.dropFirst(2)) == rest, "from \(mark)")
        }
        let late = try heard("run", "--replay", trace, "--from", "4500ms")
        #expect(late.map(\.raw) == ["", "004a", "remote-user"], "the spare is gone by then")
    }

    @Test("until a time, a handler hears what it hears of the whole before; of one device alone, only what that did")
    func untilAndOnly() throws {
        let whole = try heard("replay", trace)
        let before = whole.filter { $0.time < "2026-11-21T07:00:03" }
        #expect(try heard("replay", trace, "--until", "3s") == before && before.count == 4)
        let spare = whole.filter { $0.source == "/bluetooth/C0:F1:F2:F3:F4:02" }
        #expect(try heard("replay", trace, "--only", "spare") == spare && spare.count == 3)
        #expect(try heard("run", "--replay", trace, "--only", "spare", "--only", "strap") == whole)
        let both = try heard("replay", trace, "--from", "1s", "--until", "3s", "--only", "spare")
        #expect(both.map(\.raw) == ["", "0050"])
    }

    @Test("a time after the end is exit 1 with the last line, and a device that is not there is exit 5")
    func refuses() throws {
        for words in [["replay", trace] + handler, ["replay", trace], ["run", "--replay", trace] + handler] {
            let end = words.firstIndex(of: "--") ?? words.count
            func outcome(_ more: String...) throws -> (exit: Int32, output: String, talk: String) {
                let all = Array(words[..<end]) + more + Array(words[end...])
                return try Child([Built.tool] + all).finish(within: 60)
            }
            let late = try outcome("--from", "1h")
            #expect(late.exit == 1 && late.output.isEmpty, "\(late)")
            #expect(late.talk.contains("line 12, column 1: the trace ends here, before 1h"), "\(late.talk)")
            let unknown = try outcome("--only", "scale")
            #expect(unknown.exit == 5 && unknown.talk.contains("there is no device 'scale'"), "\(unknown)")
        }
    }

    // MARK: Without one

    @Test("without a program, a part is the end of the whole, byte for byte: an alarm ordered before it still comes")
    func keepsState() throws {
        let manifest =
            #"{"modes":["bluetooth-central"],"watch":[{"profile":"heart-rate-monitor"}],"alarms":[]}"#
        put(
            """
            wakebridge-trace 1
            clock 2026-11-21T07:00:00.000000Z
            device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap" service=180d
            +0.000000 handler w manifest \(manifest)
            +0.000000 1 connect
            +0.010000 handler w say {"alarm":{"id":"tea","in_s":240}}
            +1.000000 1 data 2a37 0048
            +298.000000 1 data 2a37 0049
            +60.000000 1 data 2a37 004a
            end

            """, at: folder + "/tea.trace")
        func played(_ words: String...) throws -> (lines: [String], decisions: [String]) {
            let log = folder + "/decisions"
            let all = [Built.tool, "replay", folder + "/tea.trace", "--decisions", log] + words
            let outcome = try Child(all).finish(within: 60)
            #expect(outcome.exit == 0, "\(outcome.talk)")
            return (outcome.output.split(separator: "\n").map(String.init), lines(of: log))
        }
        let (whole, part) = (try played(), try played("--from", "2m"))
        let late = whole.decisions.filter { (Int($0.prefix { $0 != " " }) ?? 0) >= 120_000_000 }
        #expect(part.decisions == late && late.count < whole.decisions.count && late.contains { $0.contains("tea") })
        #expect(part.lines == Array(whole.lines.suffix(part.lines.count)) && part.lines.count < whole.lines.count)
        #expect(part.lines.first?.contains("wakebridge.alarm") == true, "\(part.lines)")
        #expect(part.lines.count { $0.contains("wakebridge.device.data") } == 2)
        let until = try played("--until", "2m")
        #expect(until.lines == Array(whole.lines.prefix(2)), "\(until.lines)")
    }

    // MARK: Step by step

    @Test("each event is shown, and comes with a line of input; the end of the input lets all others come")
    func steps() throws {
        let ends = try Pipe(ours: .write).releaseEnds()
        let child = try Child([Built.tool, "replay", trace, "--step"] + handler, input: ends.readEnd)
        close(ends.readEnd)
        #expect(Patience.wait { child.talk.contains("next, line 5, after 0.0 s: 1 connect\n") }, "\(child.talk)")
        #expect(Heard.all(child.output).isEmpty)
        press(1, ends.writeEnd)
        #expect(Patience.wait { child.talk.contains("next, line 6, after 1.0 s: 1 data 2a37 0048\n") }, "\(child.talk)")
        #expect(Patience.wait { Heard.all(child.output).count == 1 }, "\(child.output)")
        press(2, ends.writeEnd)
        #expect(
            Patience.wait { child.talk.contains("next, line 8") && Heard.all(child.output).count == 3 }, "\(child.talk)"
        )
        #expect(!child.talk.contains("next, line 9") && !child.isOver)
        close(ends.writeEnd)
        let outcome = child.finish(within: 60)
        #expect(outcome.exit == 0 && outcome.talk.contains("8 events, 8 acknowledged"), "\(outcome.talk)")
        let raw = Heard.all(outcome.output).map(\.raw)
        #expect(raw == ["", "0048", "", "0050", "0049", "timeout", "004a", "remote-user"])
    }

    @Test("with steps, the links of the beginning come at once, and with nothing to read nothing is waited for")
    func stepsOfPart() throws {
        let ends = try Pipe(ours: .write).releaseEnds()
        let words = ["--replay", trace, "--from", "3s", "--step"]
        let child = try Child([Built.tool, "run"] + words + handler, input: ends.readEnd)
        close(ends.readEnd)
        #expect(Patience.wait { child.talk.contains("next, line 9, after 0.0 s") }, "\(child.talk)")
        #expect(Patience.wait { Heard.all(child.output).count == 2 }, "\(child.output)")
        close(ends.writeEnd)
        #expect(child.finish(within: 60).exit == 0)
        let silent = try Child([Built.tool, "run"] + words + handler).finish(within: 60)
        #expect(silent.exit == 0 && Heard.all(silent.output).count == 6, "\(silent.talk)")
    }

    /// Enter, so many times.
    private func press(_ count: Int, _ keyboard: Int32) {
        let lines = [UInt8](repeating: UInt8(ascii: "\n"), count: count)
        _ = write(keyboard, lines, count)
    }
}
