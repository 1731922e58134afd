// The shipped recording, played without a handler: what comes out is written down, and comes out again.
import Glibc
import TestBench
import Testing

@Suite("The shipped recording")
struct RecordingTests {
    private let scratch = Scratch()

    private func play(_ decisions: String) async throws -> Running.Outcome {
        try await Running(
            [Built.tool, "replay", heartRateTrace, "--speed", "max", "--decisions", scratch.file(decisions)],
            in: scratch
        ).end()
    }

    @Test("the recorded heart-rate monitor comes out as the event lines that were written down, byte for byte")
    func printsExpectedEvents() async throws {
        let outcome = try await play("decisions")
        #expect(outcome.exit == 0)
        #expect(outcome.talk == "")
        #expect(outcome.output == text(of: "\(packageFolder)/Devices/heart-rate-monitor/expected.ndjson"))
    }

    @Test(
        "a decoder that shares nothing with the bridge makes the same event lines of the recording",
        .enabled(if: access("/usr/bin/python3", X_OK) == 0))
    func agreesWithDecoder() async throws {
        let decoder = ["/usr/bin/python3", "\(packageFolder)/Tests/Lab/decoder.py", heartRateTrace]
        let outcome = try await Running(decoder, in: scratch).end()
        #expect(outcome.exit == 0)
        #expect(outcome.output == text(of: "\(packageFolder)/Devices/heart-rate-monitor/expected.ndjson"))
    }

    @Test("I12: without a handler process, the same trace gives the same decision log byte for byte")
    func decidesAlike() async throws {
        _ = try await play("first")
        _ = try await play("second")
        let first = bytes(of: scratch.file("first"))
        #expect(first.count > 1000)
        #expect(first == bytes(of: scratch.file("second")))
    }

    @Test("what stands before a broken line is played and printed, and the exit status tells of the rest")
    func playsUpToFault() async throws {
        let broken = scratch.write(
            TraceText.beats(2, every: 1).text.dropLast(4) + "+1 1 dota 2a37 00\n", to: "broken.trace")
        let outcome = try await Running([Built.tool, "replay", broken, "--speed", "max"], in: scratch).end()
        #expect(outcome.exit == 1)
        #expect(outcome.lines.count == 3)
        #expect(outcome.talk.contains("line 7") && outcome.talk.contains("did you mean `data`?"))
    }

    @Test("the recording is a minute of beats with RR intervals, energy, a contact loss, battery readings and a place")
    func showsEverything() {
        let events = lines(of: "\(packageFolder)/Devices/heart-rate-monitor/expected.ndjson")
        #expect(events.first?.contains(".connected\"") == true)
        #expect(events.last?.contains(".disconnected\"") == true)
        #expect(events.count { $0.contains("\"rr_s\":[") } > 60)
        for wanted in [
            "\"energy_kj\":", "\"contact\":false", "\"battery_percent\":87", "\"battery_percent\":86",
            "\"location\":\"chest\"",
        ] {
            #expect(events.contains { $0.contains(wanted) })
        }
    }
}
