// Recordings of four kinds, imported and merged: one trace, which wakes a handler in one order and can be shared.
import TestBench
import Testing
import WakeModel

/// A recording, and when its trace is to begin.
private struct Recorded {
    let file: String
    let start: String
    /// For a recording that tells no name.
    var name: String?
}

@Suite("A mixed trace", .serialized)
struct MixedTraceTests {
    private let scratch = Scratch()

    @discardableResult
    private func tool(_ words: [String]) async throws -> Running.Outcome {
        let outcome = try await Running([Built.tool] + words, in: scratch).end()
        try #require(outcome.exit == 0, "\(words) \(outcome.talk)")
        return outcome
    }

    /// Each imported and shifted, then all merged.
    private func merged(_ recordings: [Recorded]) async throws -> String {
        var parts: [String] = []
        for (number, recording) in recordings.enumerated() {
            let (whole, part) = (scratch.file("whole-\(number).trace"), scratch.file("part-\(number).trace"))
            try await tool(["import", recording.file, "-o", whole] + (recording.name.map { ["--as", $0] } ?? []))
            try await tool(["trace", "shift", "--to", recording.start, whole, "-o", part])
            parts.append(part)
        }
        try await tool(["merge"] + parts + ["-o", scratch.file("mixed.trace")])
        return scratch.file("mixed.trace")
    }

    // MARK: What comes of it

    /// Without a handler process: the event lines, and the decision log.
    private func played(_ trace: String) async throws -> (lines: [String], decisions: [UInt8]) {
        let log = scratch.file("virtual")
        let lines = try await tool(["replay", trace, "--decisions", log]).lines
        return (lines, bytes(of: log))
    }

    private struct Heard {
        let lines: [String]
        /// The processes that were woken.
        let processes: Set<Substring>
        let decisions: [Decision]
    }

    /// What a handler process is given, without the notices, which have no number.
    private func heard(_ trace: String, speed: String) async throws -> Heard {
        let record = scratch.file("record")
        scratch.write("", to: "record")
        let replay = try LiveReplay(
            trace: trace, speed: speed, scratch, handler: [Built.fixture, "--record", record])
        let outcome = try await replay.end(within: 120)
        #expect(outcome.exit == 0, "\(outcome.talk)")
        let entries = lines(of: record).map { $0.split(separator: " ", maxSplits: 3) }.filter { $0.count == 4 }
        let events = entries.map { String($0[3]) }.filter { $0.contains("\"seq\":") }
        return Heard(lines: events, processes: Set(entries.map { $0[0] }), decisions: replay.decisions)
    }

    /// The time that is left for an event is of the moment at which it is given.
    private func withoutBudget(_ line: String) -> String {
        let parts = line.split(separator: "\"budgetms\":", maxSplits: 1)
        return parts.count == 2 ? String(parts[0]) + String(parts[1].drop { $0 != "," }) : line
    }

    /// Both ways of a replay, each twice.
    /// - Returns: the event lines.
    private func expectOneOrder(of trace: String, speed: String) async throws -> [JSONValue] {
        let (first, second) = (try await played(trace), try await played(trace))
        #expect(first.lines == second.lines && first.decisions == second.decisions && first.decisions.count > 1_000)
        let wanted = first.lines.map(withoutBudget)
        for _ in 0..<2 {
            let heard = try await heard(trace, speed: speed)
            #expect(heard.lines.map(withoutBudget) == wanted)
            #expect(heard.processes.count == 1)
        }
        let events = try first.lines.map { try JSONValue(parsing: Array($0.utf8)) }
        let times = events.compactMap { $0["time"]?.string }
        #expect(times.count == events.count && times == times.sorted())
        return events
    }

    /// Neither as text nor as bytes in hexadecimal.
    private func expect(_ words: [String], absentFrom trace: String) {
        let text = text(of: trace).lowercased().replacing(" ", with: "")
        for word in words.map({ $0.lowercased().replacing(" ", with: "") }) {
            #expect(!text.contains(word), "\(word) stayed")
        }
        for word in words {
            let bytes = [Array(word.utf8), Array(word.lowercased().utf8), Array(word.uppercased().utf8)]
            #expect(!bytes.contains { text.contains($0.hexadecimal) }, "\(word) stayed in a message")
        }
    }

    // MARK: Small recordings

    private func madeUp() async throws -> [Recorded] {
        var strap = """
            wakebridge-trace 1
            clock 2026-11-21T09:00:00.000000Z
            device 1 bluetooth C0:F1:F2:F3:F4:01 name="Annas Polar" service=180d
            +0.000000 1 connect

            """
        for beat in 0..<8 { strap += "+1.000000 1 data 2a37 \([0, UInt8(70 + beat)].hexadecimal)\n" }
        let capture = scratch.file("strap.btsnoop")
        try await tool(["export", scratch.write(strap + "end\n", to: "strap.trace"), "-o", capture])
        let receiver = (0..<6).map { "$GPRMC,07000\($0).000,A,4807.0380,N,01131.0000,E,0.02,31.66,211126,,,A*00\r\n" }
        let keyboard = (1...4).map { second in
            "E: \(second).000000 0001 001e 1\nE: \(second).000000 0000 0000 0\n"
        }
        let descriptor = "06 8c 00 09 02 a1 01 75 08 95 04 15 00 26 ff 00 09 01 81 02 c0"
        let scanner = (0..<3).map { "E: \($0).500000 4 31 32 33 0a\n" }
        return [
            Recorded(file: capture, start: "2026-11-21T07:00:00Z"),
            Recorded(
                file: scratch.write(receiver.joined(), to: "receiver.nmea"), start: "2026-11-21T07:00:00.300Z",
                name: "annas-receiver"),
            Recorded(
                file: scratch.write(
                    "# EVEMU 1.3\nN: Annas Keyboard\nI: 0003 046d c31c 0110\n" + keyboard.joined(), to: "keys.events"),
                start: "2026-11-21T07:00:00.450Z"),
            Recorded(
                file: scratch.write(
                    "D: 0\nR: 21 \(descriptor)\nN: Annas Scanner\nI: 3 05e0 1200\n" + scanner.joined(),
                    to: "scanner.hid"), start: "2026-11-21T07:00:00.700Z"),
        ]
    }

    @Test(
        "a strap, a receiver, a keyboard and a scanner wake one frozen handler in one order, twice the same byte for byte"
    )
    func wakes() async throws {
        let trace = try await merged(madeUp())
        let events = try await expectOneOrder(of: trace, speed: "4")
        let data = events.filter { $0["type"]?.string == "wakebridge.device.data" }
        let channels = data.compactMap { $0["data"]?["characteristic"]?.string ?? $0["data"]?["stream"]?.string }
        let counts = Dictionary(grouping: channels) { $0 }.mapValues(\.count)
        #expect(counts["2a37"] == 8 && counts["serial"] == 6 && counts["input"] == 4 && counts["report-0"] == 3)
        #expect(Set(events.compactMap { $0["source"]?.string }).count == 4)
        #expect(channels.prefix(8).contains("2a37") && Set(channels.prefix(8)).count == 4, "\(channels)")
    }

    @Test("anonymised, it has as many events, and holds no address, no name and no position of before")
    func anonymises() async throws {
        let (trace, shared) = (try await merged(madeUp()), scratch.file("shared.trace"))
        try await tool(["trace", "anonymise", "--word", "annas", trace, "-o", shared])
        expect(
            [
                "C0:F1:F2:F3:F4:01", "C0F1F2F3F401", "01f4f3f2f1c0", "Annas Polar", "annas-receiver", "Annas Keyboard",
                "Annas Scanner", "annas", "4807.0380", "01131.0000",
            ], absentFrom: shared)
        #expect(text(of: trace).contains("C0:F1:F2:F3:F4:01") && text(of: trace).contains("Annas Scanner"))
        let (before, after) = (try await played(trace).lines, try await played(shared).lines)
        #expect(before.count == after.count && before.count == 25)
    }

    // MARK: Of real devices

    @Test(
        "so do a treadmill, a receiver, a headset and a tablet that others recorded, and nothing of their owners stays",
        .enabled(unless: DeviceCaptures.hindrance))
    func captures() async throws {
        let folder = DeviceCaptures.folder
        let trace = try await merged([
            Recorded(file: DeviceCaptures.btsnoop("horizon-treadmill"), start: "2026-11-21T07:00:00Z"),
            Recorded(file: "\(folder)/serial/bu353s4.nmea", start: "2026-11-21T07:00:03Z", name: "roof-receiver"),
            Recorded(file: "\(folder)/input/headset-buttons.events", start: "2026-11-21T07:00:05Z"),
            Recorded(file: "\(folder)/hid/penpartner.hidrecord", start: "2026-11-21T07:00:08Z"),
        ])
        let events = try await expectOneOrder(of: trace, speed: "20")
        let sources = Set(events.compactMap { $0["source"]?.string })
        #expect(sources.count >= 4 && events.count > 1_900)
        let info = try JSONValue(parsing: Array(try await tool(["trace", "info", "--json", trace]).output.utf8))
        let devices = info["devices"]?.array ?? []
        let names = devices.flatMap { device in ["name", "alias"].compactMap { device[$0]?.string } }
        let addresses = devices.compactMap { $0["source"]?.string }.filter { $0.hasPrefix("/bluetooth/") }
            .map { String($0.dropFirst("/bluetooth/".count)) }
        #expect(!addresses.isEmpty && names.contains("roof-receiver"))
        let shared = scratch.file("shared.trace")
        try await tool(["trace", "anonymise", trace, "-o", shared])
        expect(addresses + names + ["3747.0873", "17518.8938"], absentFrom: shared)
        #expect(try await played(shared).lines.count == events.count)
    }
}
