// A year of ten handlers with ten daily alarms each, and days of a hundred, through the whole engine under the virtual clock.
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("A year in a replay")
struct ReplayedYearTests {
    private let scratch = Scratch()

    @Test(
        "each of a hundred daily alarms fires once on each day of a year, those without its hour and with two of it too",
        .tags(.fullScale))
    func year() throws {
        let begun = SystemClock.monotonic()
        let fired = try Firings(scratch, of: 10, from: "2025-12-31T23:00:00Z", lasting: .seconds(365 * 86_400))
        print("a year of a hundred daily alarms took \((SystemClock.monotonic() - begun).spoken)")
        #expect(fired.total == 365 * 10 * 10)
        #expect(fired.counts.count == 10 * 10 && fired.counts.values.allSatisfy { $0 == 365 })
        #expect(fired.areInOrder)
    }

    @Test("each of a thousand daily alarms fires once on each of three days, the one that lacks an hour among them")
    func days() throws {
        // From the twenty-eighth of March on, in Berlin.
        let fired = try Firings(scratch, of: 100, from: "2026-03-27T23:00:00Z", lasting: .seconds(3 * 86_400 - 3_600))
        #expect(fired.total == 3 * 10 * 100)
        #expect(fired.counts.count == 10 * 100 && fired.counts.values.allSatisfy { $0 == 3 })
        #expect(fired.areInOrder)
    }
}

/// How often each alarm in Berlin fired, ten of each handler.
private struct Firings {
    private(set) var counts: [String: Int] = [:]
    /// No alarm fired for one time twice, or for an earlier one after a later one.
    private(set) var areInOrder = true
    private var latest: [String: String] = [:]
    var total: Int { counts.values.reduce(0, +) }

    init(_ scratch: Scratch, of handlers: Int, from start: String, lasting span: TimeSpan) throws {
        let trace = """
            wakebridge-trace 1
            clock \(start) zone=Europe/Berlin
            \((0..<handlers).map(Self.manifest).joined(separator: "\n"))
            +\(span.wholeMilliseconds / 1_000 - 60) machine synchronized on
            end

            """
        let replay = try Built.run("replay", scratch.write(trace, to: "alarms.trace"), "--speed", "max")
        #expect(replay.exit == 0, "nothing is dead-lettered, no handler is quarantined: \(replay.talk)")
        for line in replay.output.utf8.split(separator: UInt8(ascii: "\n")) { count(Array(line)) }
    }

    /// Ten alarms at times that no other has, from 00:05 to 23:20.
    private static func manifest(_ handler: Int) -> String {
        let alarms = (0..<10).map { alarm in
            let minute = alarm * 144 + handler + 5
            let (hours, minutes) = (minute / 60, minute % 60)
            return
                "{\"id\":\"h\(handler)-\(alarm)\",\"daily\":[\"\(hours < 10 ? "0" : "")\(hours):\(minutes < 10 ? "0" : "")\(minutes)\"]}"
        }
        return "+0 handler h\(handler) manifest {\"alarms\":[\(alarms.joined(separator: ","))]}"
    }

    private mutating func count(_ line: [UInt8]) {
        guard let id = Self.text(after: "\"data\":{\"id\":\"", in: line),
            let due = Self.text(after: "\"due\":\"", in: line)
        else { return }
        counts[id, default: 0] += 1
        if let before = latest[id], before >= due { areInOrder = false }
        latest[id] = due
    }

    /// Up to the next quotation mark.
    private static func text(after words: String, in line: [UInt8]) -> String? {
        line.withUnsafeBufferPointer { bytes in
            offset(of: words, in: bytes).map { place in
                String(
                    decoding: bytes[(place + words.utf8.count)...].prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
            }
        }
    }
}
