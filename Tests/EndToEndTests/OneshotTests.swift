// Handlers launched for each batch: how their exit is understood.
import Glibc
import TestBench
import Testing

@Suite("Oneshots", .enabled(if: Machine.freezes, "no cgroup of version 2 can be made here"))
struct OneshotTests {
    private let scratch = Scratch()
    /// Passes over what carries no number, and takes the first event apart.
    private static let readEvent = """
        while IFS= read -r line; do case $line in *'"seq":'*) break ;; esac; done
        seq=${line#*'"seq":'}; seq=${seq%%,*}; attempt=${line#*'"attempt":'}; attempt=${attempt%%,*}
        """

    @Test(
        "twenty barcode scans in two seconds to a oneshot that takes 1.5 s are twenty runs, and nothing is lost",
        .timeLimit(.minutes(2)))
    func scans() async throws {
        let log = scratch.file("log")
        let header =
            "wakebridge-trace 1\nclock 2026-11-21T07:42:46Z\ndevice 1 accessory 05e0:1200:77 alias=\"scanner\"\n"
        let scans = (0..<20).map { "+0.1 1 data report-2 00000\($0 % 10)0000000000\n" }.joined()
        let trace = scratch.write(header + scans + "end\n", to: "scans.trace")
        let manifest = manifest(["/bin/true"], "lifecycle: \"oneshot\"").replacingProfile("*")
        let decisions = scratch.file("decisions")
        let script = scratch.script("\(Self.readEvent); sleep 1.5; echo \"$seq $$\" >>\(log)")
        let outcome = try await Running(
            [
                Built.tool, "replay", trace, "--decisions", decisions, "--manifest",
                scratch.write(manifest, to: "scan.json5"), "--", script,
            ], in: scratch
        ).end(within: 100)
        #expect(outcome.exit == 0)
        #expect(outcome.talk.contains("20 events, 20 acknowledged"))
        let runs = lines(of: log).map { $0.split(separator: " ").map(String.init) }
        #expect(runs.map { $0[0] } == (1...20).map(String.init))
        #expect(Set(runs.map { $0[1] }).count == 20)
        #expect(outcome.seconds > 29)
    }

    /// Event 2 is refused once for now, 3 is acknowledged by a run that fails, 4 fails and says nothing.
    @Test(
        "exit 0 acknowledges, 75 asks again, anything else is a failure; an acknowledgement counts in any case",
        .timeLimit(.minutes(1)))
    func exits() async throws {
        let log = scratch.file("log")
        let script = scratch.script(
            """
            \(Self.readEvent)
            echo "$seq $attempt" >>\(log)
            case $seq.$attempt in
            2.1) exit 75 ;;
            3.1) echo '{"ack":3}' >&3; exit 9 ;;
            4.1) exit 9 ;;
            esac
            """)
        var trace = TraceText(devices: 2)
        trace.add(0, 1, "connect")
        trace.add(0.1, 1, "data 2a37 003c")
        trace.add(0.2, 2, "connect")
        trace.add(0.3, 2, "data 2a37 003c")
        let replay = try LiveReplay(
            trace, scratch,
            manifest: "lifecycle: \"oneshot\", timers: { retry_base: \"10s\", failure_base: \"100ms\" }",
            handler: [script])
        let outcome = try await replay.end(within: 40)
        #expect(outcome.exit == 0)
        #expect(lines(of: log).sorted() == ["1 1", "2 1", "2 2", "3 1", "4 1", "4 2"])
        #expect(outcome.talk.contains("4 events, 4 acknowledged"))
        #expect(outcome.seconds > 9.5, "a nack without after_s waits for retry_base")
    }

    @Test(
        "a oneshot past its budget gets SIGTERM and then the kill, and its event comes again", .timeLimit(.minutes(1)))
    func ends() async throws {
        let log = scratch.file("log")
        let script = scratch.script(
            """
            trap '' TERM
            \(Self.readEvent)
            echo "$attempt" >>\(log)
            [ "$attempt" = 2 ] && exit 0
            while :; do sleep 1; done
            """)
        let replay = try LiveReplay(
            .beats(0, every: 1), scratch,
            manifest: """
                lifecycle: "oneshot", budget: "1s", timers: { grace: "200ms", terminate: "500ms", failure_base: "100ms" }
                """,
            handler: [script])
        let outcome = try await replay.end(within: 30)
        #expect(outcome.exit == 0)
        #expect(lines(of: log) == ["1", "2"])
    }
}

extension String {
    fileprivate func replacingProfile(_ profile: String) -> String {
        let parts = components(around: "heart-rate-monitor")
        return parts.0 + profile + parts.1
    }

    private func components(around word: String) -> (String, String) {
        let text = Array(utf8)
        let key = Array(word.utf8)
        for start in text.indices where text[start...].starts(with: key) {
            return (
                String(decoding: text[..<start], as: UTF8.self),
                String(decoding: text[(start + key.count)...], as: UTF8.self)
            )
        }
        return (self, "")
    }
}
