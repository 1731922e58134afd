// Accessories at the rates of real ones: nothing is lost, and where the kernel dropped something, that is told.
import TestBench
import Testing
import WakeModel

/// Bytes of a line with its end, and lines a second: 3,000,000 bits, at ten a byte.
private let (lineSize, lineRate) = (1_000, 300)
private let reportRate = 1_000
private let seconds = 5

/// A line and a knob, both connected.
private let both = """
    \(running)line /dev/ttyACM0
    \(plug("1-4", line: 0))\(knob)until connected cat NOTES/weigher
    until connected cat NOTES/turner

    """

@Suite(
    "Accessories at full speed", .serialized, .tags(.fullScale), .timeLimit(.minutes(3)),
    .enabled(if: MadeUpDevices.arePossible, MadeUpDevices.areMissing))
struct AccessoryRateTests {
    /// Each with a handler of its own.
    private func workshop() throws -> Workshop {
        let workshop = try Workshop()
        workshop.employ("weigher", for: "scale")
        workshop.employ("turner", for: "knob")
        return workshop
    }

    /// Until all handlers sleep, then what is known of each.
    private func looks(_ ids: String...) -> String {
        ids.map { "until \"state\":\"suspended\" TOOL handlers --json \($0)\n" }.joined()
    }

    private func streaming(_ node: String, _ count: Int, _ size: Int, until last: Int, in notes: String) -> String {
        """
        processor wakebridged
        stream \(node) 0 \(count) \(seconds) \(size)
        spoken
        pause 0.2
        stream \(node) \(count) 1 0 \(size)
        spoken
        until \(size > 8 ? "\(String(last).padded)" : last.report) tail -n1 NOTES/\(notes)
        processor wakebridged

        """
    }

    @Test(
        "three million bits a second for five seconds: each line is heard once, in order, by the one handler that is awake"
    )
    func line() throws {
        let count = lineRate * seconds
        // The line makes whoever speaks wait for a reader who is late: at its full rate it is over in time.
        var wasBusy = false
        for _ in 1...3 {
            let workshop = try workshop()
            let said = try workshop.play(
                """
                \(both)\(looks("weigher", "turner"))\(streaming("/dev/ttyACM0", count, lineSize, until: count, in: "weigher"))
                \(looks("weigher", "turner"))
                """)
            let told = Told(said)
            let heard = workshop.notes("weigher").dropFirst().compactMap { Int($0.after(#""text": ""#).prefix(8)) }
            #expect(heard == Array(0...count), "\(heard.count) of \(count + 1)")
            #expect(told.dropped == 0)
            #expect(told.handlers("turner").count == 2 && Set(told.handlers("turner")).count == 1, "it slept on")
            #expect(told.launches("weigher").count == 1)
            if told.took(atMost: Double(seconds) * 1.05) {
                return told.tell("\(count) lines of \(lineSize) bytes in \(told.took) s", of: "3 Mbaud")
            }
            wasBusy = wasBusy || told.wasBusy
        }
        #expect(wasBusy, "it took longer than \(seconds) s each time, though the machine was not busy")
        withKnownIssue("this machine has other work: the line had to wait each time, and lost nothing") {
            Issue.record("three million bits a second were not shown to be carried")
        }
    }

    @Test(
        "a thousand reports a second for five seconds: each is heard once, in order, by the one handler that is awake")
    func reports() throws {
        let count = reportRate * seconds
        // Where the bridge waits for its turn for 64 ms some are lost, as they would be of a real device.
        var wasBusy = false
        for _ in 1...3 {
            let workshop = try workshop()
            let told = Told(
                try workshop.play(
                    """
                    \(both)\(looks("weigher", "turner"))\(streaming("/dev/hidraw0", count, 8, until: count, in: "turner"))
                    \(looks("weigher", "turner"))
                    """))
            expectHonest(workshop, told, count)
            #expect(Set(told.handlers("weigher")).count == 1, "it slept on")
            #expect(told.launches("turner").count == 1)
            // Who speaks only waits for its turn, so it is late where the machine is.
            let isLate = !told.took(atMost: Double(seconds) * 1.05)
            guard told.dropped > 0 || isLate else {
                return told.tell("\(count) reports in \(told.took) s", of: "1 kHz")
            }
            wasBusy = wasBusy || told.wasBusy || isLate
        }
        #expect(wasBusy, "reports were dropped each time, though the machine was not busy")
        withKnownIssue("this machine has other work: each time some reports were dropped, which all lie in gaps") {
            Issue.record("a thousand reports a second were not shown to be heard whole")
        }
    }

    @Test(
        "reports that come while the bridge cannot read are dropped by the node: a gap spans the time of each, few besides"
    )
    func stalls() throws {
        let workshop = try workshop()
        let told = Told(
            try workshop.play(
                """
                \(running)\(knob)until connected cat NOTES/turner
                processor wakebridged
                stream /dev/hidraw0 0 400 0.4 8
                pause 0.1
                signal STOP wakebridged
                pause 0.2
                signal CONT wakebridged
                spoken
                pause 0.2
                stream /dev/hidraw0 400 1 0 8
                until \(400.report) tail -n1 NOTES/turner
                processor wakebridged
                """))
        #expect(told.dropped > 50)
        #expect(expectHonest(workshop, told, 400) <= 2 || told.wasBusy)
    }

    /// What was not dropped is heard, once and in order; what was lies in a gap. How many gaps have no drop in them: as many
    /// reports as the node keeps may have been all, as where who speaks was late and says what is due at once.
    @discardableResult
    private func expectHonest(_ workshop: Workshop, _ told: Told, _ count: Int) -> Int {
        let notes = workshop.notes("turner")
        let heard = notes.filter { $0.hasPrefix("data ") }
            .compactMap { [UInt8](hexadecimal: String($0.after(#""raw": ""#).prefix(16))) }
            .map { bytes in bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }
        #expect(heard == heard.sorted() && Set(heard).count == heard.count)
        #expect(count + 1 - heard.count == told.dropped, "the bridge itself loses nothing")
        let gaps = notes.filter { $0.hasPrefix("gap ") }.map { line in
            (from: line.after(#""from": ""#).prefix { $0 != "\"" }, to: line.after(#""to": ""#).prefix { $0 != "\"" })
        }
        for time in told.dropTimes {
            #expect(gaps.contains { $0.from <= time && time <= $0.to }, "\(time) in none of \(gaps)")
        }
        #expect(notes.allSatisfy { !$0.hasPrefix("gap ") || $0.contains(#""cause": "overflow", "count": null"#) })
        return gaps.count { gap in !told.dropTimes.contains { gap.from <= $0 && $0 <= gap.to } }
    }
}

/// What the story's programs said.
private struct Told {
    let lines: [Substring]

    init(_ said: String) { lines = said.split(separator: "\n") }

    /// `said 5000 in 5.00 s, dropped 137 2026-11-22T03:40:59.130000Z 2026-11-22T03:40:59.260000Z …`.
    private var speeches: [[Substring]] { lines.filter { $0.hasPrefix("said ") }.map { $0.split(separator: " ") } }
    var took: Substring { speeches.first?[3] ?? "" }
    var dropped: Int { speeches.reduce(0) { $0 + (Int($1[6]) ?? 0) } }
    var dropTimes: [Substring] { speeches.flatMap { $0.dropFirst(7) } }

    func took(atMost seconds: Double) -> Bool { Double(took).map { $0 <= seconds } ?? false }

    /// `processor 1.29 4.81 10.12 0.03`: seconds that the bridge took, that all processors together were idle, that they had,
    /// and that a virtual machine's host kept them from.
    private func spent(_ place: Int) -> Double {
        let times = lines.filter { $0.hasPrefix("processor ") }.compactMap { Double($0.split(separator: " ")[place]) }
        return (times.last ?? 0) - (times.first ?? 0)
    }
    private var idleShare: Double { spent(2) / max(spent(3), 0.01) }
    /// The machine had other work, is too slow for this, or stood still as long as a node keeps reports.
    var wasBusy: Bool { idleShare < 0.2 || spent(4) > 0.05 }

    /// As `handlers --json` told them, but for what passes by itself.
    func handlers(_ id: String) -> [String] {
        lines.filter { $0.hasPrefix(#"{"id":"\#(id)""#) }.map { line in
            let value = try? JSONValue(parsing: Array(line.utf8))
            return ["pid", "epoch", "wakes", "events", "awake_ms"].map { "\(value?[$0]?.integer ?? -1)" }
                .joined(separator: " ")
        }
    }

    func launches(_ id: String) -> Set<Substring> {
        Set(handlers(id).compactMap { $0.split(separator: " ").first })
    }

    func tell(_ what: String, of rate: String) {
        let share = Int((spent(1) / Double(seconds) * 100).rounded())
        print(
            "accessory at \(rate): \(what); wakebridged took \(share) % of a processor; all were idle for \(Int(idleShare * 100)) %"
        )
    }
}

extension String {
    fileprivate var padded: String { String(repeating: "0", count: max(0, 8 - count)) + self }
}

extension Int {
    /// Its eight bytes, the lowest first, in hexadecimal.
    fileprivate var report: String {
        (0..<8).map { [UInt8(truncatingIfNeeded: self >> ($0 * 8))].hexadecimal }.joined()
    }
}
