// The trace verb: what it prints, what it writes, and how it ends.
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("The trace verb") final class TraceVerbTests {
    private let directory: String
    private let trace: String

    init() throws {
        directory = try Directory.makeTemporary(prefix: "traceverb")
        trace = directory + "/a.trace"
        put(
            """
            wakebridge-trace 1
            clock 2026-11-21T07:00:00.000000Z
            device 1 bluetooth C0:F1:F2:F3:F4:01 alias="annas-strap"
            +0.000000 1 connect
            +1.000000 1 data 2a37 0048
            +1.000000 1 data 2a37 0049
            end

            """, at: trace)
    }
    deinit { Directory.removeTree(directory) }

    private func json(_ words: String...) throws -> JSONValue {
        let outcome = try Child([Built.tool] + words).finish()
        return try JSONValue(parsing: outcome.output.utf8)
    }

    @Test("info tells the devices, and how often each did what")
    func info() throws {
        let told = try Child(["env", "TZ=UTC", Built.tool, "trace", "info", trace]).finish()
        #expect(told.exit == 0 && told.output.hasPrefix("format 1, begins 2026-11-21 07:00:00.000+00:00\n"))
        #expect(told.output.contains("annas-strap") && told.output.contains("  data 2a37: 2\n"))
        let contents = try json("trace", "info", "--json", trace)
        #expect(contents["operations"]?.integer == 3 && contents["length_s"]?.number == 2)
        #expect(contents["devices"]?.array?.first?["counts"]?.array?.count == 2)
    }

    @Test("diff ends with 0 where traces say the same, with 1 where they do not, and shows where")
    func diff() throws {
        let other = directory + "/b.trace"
        put(text(of: trace).replacing("0049", with: "0050"), at: other)
        let same = try Built.run("trace", "diff", trace, trace)
        #expect(same.exit == 0 && same.output == "the traces are the same: 3 operations\n")
        let differs = try Built.run("trace", "diff", trace, other)
        #expect(differs.exit == 1 && differs.output.contains("  line 6, after 2.0 s: 1 data 2a37 0050\n"))
        #expect(try json("trace", "diff", "--json", trace, other)["same"]?.boolean == false)
    }

    @Test("cut, shift and anonymise print a trace, or write one whole, and what they wrote is a trace again")
    func remakes() throws {
        let output = directory + "/c.trace"
        let calls = [
            ["cut", "--from", "1s"], ["cut", "--until", "2026-11-21T07:00:01Z"], ["cut", "--only", "annas-strap"],
            ["shift", "--by", "-1h"], ["shift", "--to", "2020-01-01T00:00:00Z"], ["anonymise", "--word", "strap"],
        ]
        for words in calls {
            let printed = try Child([Built.tool, "trace"] + words + [trace]).finish()
            #expect(printed.exit == 0 && printed.output.hasSuffix("end\n"), "\(words) \(printed)")
            let written = try Child([Built.tool, "trace"] + words + ["-o", output, "--json", trace]).finish()
            #expect(written.exit == 0 && text(of: output) == printed.output, "\(words) \(written)")
            let told = try json("trace", "info", "--json", output)["operations"]?.integer
            #expect(try JSONValue(parsing: written.output.utf8)["operations"]?.integer == told, "\(words)")
        }
        #expect(!text(of: output).contains("strap") && !text(of: output).contains("F1:F2"))
    }

    @Test("a device that is not in the trace is exit 5, a trace that was cut is exit 1, and neither leaves a file")
    func refuses() throws {
        let output = directory + "/d.trace"
        let unknown = try Built.run("trace", "cut", "--only", "scale", "-o", output, trace)
        #expect(unknown.exit == 5 && unknown.talk.contains("there is no device 'scale'"))
        put(text(of: trace).replacing("end\n", with: ""), at: trace)
        let cut = try Built.run("trace", "anonymise", "-o", output, trace)
        #expect(cut.exit == 1 && cut.talk.contains("cannot anonymise \(trace): line 7, column 1: "), "\(cut.talk)")
        #expect(names(in: directory) == ["a.trace"])
    }
}
