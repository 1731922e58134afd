// Oneshots in real time: WakeCoreTests tell the same stories without a clock.
import Glibc
import TestBench
import Testing

@Suite(
    "Oneshots in real time", .tags(.fullScale),
    .enabled(if: Machine.freezes, "no cgroup of version 2 can be made here"))
struct LongOneshotTests {
    private let scratch = Scratch()

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
        let script = scratch.script("\(OneshotTests.readEvent); sleep 1.5; echo \"$seq $$\" >>\(log)")
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

    @Test(
        "a oneshot past its budget gets SIGTERM and then the kill, and its event comes again", .timeLimit(.minutes(1)))
    func ends() async throws {
        let log = scratch.file("log")
        let script = scratch.script(
            """
            trap '' TERM
            \(OneshotTests.readEvent)
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
