// The strap's and the receiver's recordings, played by the tool itself: what comes out is written down, and comes out again.
import Glibc
import TestBench
import Testing
import WakeModel

/// All that have a recording; decoder.py reads both too. PublishedMessageTests plays what other devices publish.
private let devices = ["heart-rate-monitor", "gps-receiver"]

private func folder(_ device: String) -> String { "\(packageFolder)/Devices/\(device)" }

@Suite("The shipped recordings")
struct RecordingTests {
    private let scratch = Scratch()

    private func play(_ decisions: String, _ trace: String = heartRateTrace) async throws -> Running.Outcome {
        try await Running(
            [Built.tool, "replay", trace, "--speed", "max", "--decisions", scratch.file(decisions)], in: scratch
        ).end()
    }

    @Test(
        "the tool plays a recording to the event lines written down beside it",
        arguments: devices)
    func printsExpectedEvents(device: String) async throws {
        let expected = text(of: "\(folder(device))/expected.ndjson")
        #expect(expected.split(separator: "\n").count > 20)
        let outcome = try await play("decisions", "\(folder(device))/recording.trace")
        #expect(outcome.exit == 0)
        #expect(outcome.talk == "")
        #expect(outcome.output == expected)
    }

    @Test(
        "a decoder that shares nothing with the bridge makes the same event lines of the recording",
        .enabled(if: access("/usr/bin/python3", X_OK) == 0), arguments: devices)
    func agreesWithDecoder(device: String) async throws {
        let decoder = [
            "/usr/bin/python3", "\(packageFolder)/Tests/Lab/decoder.py", "\(folder(device))/recording.trace",
        ]
        let outcome = try await Running(decoder, in: scratch).end()
        #expect(outcome.exit == 0)
        #expect(outcome.output == text(of: "\(folder(device))/expected.ndjson"))
    }

    @Test("I12: without a handler process, the same trace gives the same decision log byte for byte")
    func decidesAlike() async throws {
        _ = try await play("first")
        _ = try await play("second")
        let first = bytes(of: scratch.file("first"))
        #expect(first.count > 1000)
        #expect(first == bytes(of: scratch.file("second")))
    }

    @Test("a handler is played what devices did, and one line says that what the machine did is left out")
    func leavesOutTheMachine() async throws {
        let trace = scratch.write(
            """
            wakebridge-trace 1
            clock 2026-11-21T07:42:46.727125Z zone=Europe/Berlin seed=7
            device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap"
            +0 machine sleep 28800
            +0 1 data 2a37 0048
            +0 machine condition power off
            +0 handler hr attach
            +0 1 data 2a37 0049
            end

            """, to: "machine.trace")
        let replay = try LiveReplay(trace: trace, speed: "max", scratch, handler: [Built.fixture])
        let outcome = try await replay.end(within: 30)
        #expect(outcome.exit == 0 && replay.decisions.has("ack 2"))
        let told = outcome.talk.split(separator: "\n").filter { $0.contains("the machine or a handler did") }
        #expect(told.count == 1 && told.first?.contains("line 4 of the trace") == true, "\(outcome.talk)")
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

    @Test("the receiver's recording is half a minute of sentences: what it is, then no position, then one that moves")
    func showsReceiver() throws {
        let events = try lines(of: "\(folder("gps-receiver"))/expected.ndjson").map {
            try JSONValue(parsing: Array($0.utf8))
        }
        let times = events.compactMap { $0["time"]?.string.flatMap { WallTime(rfc3339: $0) } }
        let (begin, end) = (try #require(times.first), try #require(times.last))
        #expect(end > begin + .seconds(25))
        #expect(events.last?["data"]?["reason"]?.string == "unplugged")
        let readings = events.filter { $0["data"]?["value"] != nil }
        let sentences = readings.compactMap { [UInt8](hexadecimal: $0["data"]?["raw"]?.string ?? "") }
            .map { String(decoding: $0, as: UTF8.self) }
        #expect(readings.count == events.count - 2 && sentences.count == readings.count)
        #expect(readings.count { $0["data"]?["value"]?["latitude_deg"]?.number != nil } == 3 * 25)
        #expect(sentences.first?.hasPrefix("$GPTXT,") == true)
        let positions = sentences.filter { $0.hasPrefix("$GPRMC,") }.map { $0.split(separator: ",") }
        #expect(positions.prefix(5).allSatisfy { $0[2] == "V" } && positions.dropFirst(5).allSatisfy { $0[2] == "A" })
        #expect(Set(positions.dropFirst(5).map { $0[3] }).count == positions.count - 5 && positions.count == 30)
        for kind in ["VTG", "GGA", "GSA", "GSV", "GLL"] { #expect(sentences.contains { $0.hasPrefix("$GP\(kind),") }) }
    }

    @Test(
        "the strap's recording is a minute of beats with RR intervals, energy, a contact loss, battery readings and a place"
    )
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
