// What handlers can leave behind of a round, written by hand: the reckoning is to tell what only looks like a fault of the bridge.
import Glibc
import TestBench
import Testing
import WakeSystem

@Suite("The reckoning of what handlers recorded")
struct EvidenceTests {
    /// What is complained of after a round of nick alone, who has a budget of a second, is warned 0.2 s before its end, and left
    /// these records, a process each. `lost` are beats of the trace that he was not given. Killed, the bridge leaves a journal in
    /// which nobody is owed anything.
    private func complaints(
        _ records: String..., lost: [String] = [], isKilled: Bool = false,
        leaving journal: ((String) throws -> Void)? = nil
    ) throws -> [String] {
        let folder = makeDirectory("/tmp/wakebridge-evidence.XXXXXX")
        defer { Directory.removeTree(folder) }
        for name in ["heard", "deaths", "end"] { mkdir("\(folder)/\(name)", 0o755) }
        let nick = try #require(Crew.all.first { $0.id == "nick" })
        let facts = "{\"theme\": \"manners\", \"tree\": \"/nowhere\", \"handlers\": {\(nick.description)}}"
        write(facts, to: "\(folder)/round.json")
        write("", to: "\(folder)/daemon.log")
        write("0.5 start-bridge 1" + (isKilled ? "\n2.5 kill-bridge 1" : ""), to: "\(folder)/faults.log")
        if isKilled { try (journal ?? leaveJournal)("\(folder)/deaths/1") }
        let beats = (["aa"] + lost).map { "+0.1 3 data 2a37 \($0)" }
        let devices = [3, 4].map { "device \($0) bluetooth C0:F1:F2:F3:F4:0\($0) alias=\"strap-\($0)\"" }
        write(
            (["wakebridge-trace 1"] + devices + beats + ["end"]).joined(separator: "\n"), to: "\(folder)/made.trace")
        for (number, record) in records.enumerated() {
            write("P 1 \(1 + number)\n\(record)", to: "\(folder)/heard/heard-nick.\(77 + number)")
        }
        let output = try Programs.reckon("round", folder).output
        return output.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("count ") }
    }

    /// Numbers went up to 9.
    private func leaveJournal(_ folder: String) throws {
        mkdir(folder, 0o755)
        let tables = ["handlers(id, name)", "owed(seq, handler)", "dead_letters(seq, handler)", "facts(name, value)"]
        let sql = (tables + ["events(seq, owner, monotonic)"]).map { "CREATE TABLE \($0);" }.joined()
        let script =
            "import sqlite3; sqlite3.connect('\(folder)/run.sqlite').executescript('\(sql)INSERT INTO events VALUES(0, 0, 9)')"
        let ended = try Child(["python3", "-c", script]).finish()
        #expect(ended.exit == 0, "\(ended.talk)")
    }

    private func write(_ text: String, to path: String) { put(Array("\(text)\n".utf8), at: path) }

    private let beat = "j1-1 1 1 0 strap-3 data aa"
    private let other = "j1-2 2 1 0 strap-3 attention -"

    // MARK: Warnings

    private func isEarly(_ record: String) throws -> Bool {
        let complaints = try complaints(record)
        #expect(complaints.allSatisfy { $0.hasPrefix("I2: nick") }, "\(complaints)")
        return complaints.count == 1
    }

    @Test("what was read late may have been delivered between two looks, and only then")
    func readsLate() throws {
        #expect(try !isEarly("L 1.9 1.0\nE 1.9 \(beat)\nN 1.95 wakebridge.expiring budget"))
        #expect(try isEarly("L 1.9 1.8\nE 1.9 \(beat)\nN 1.95 wakebridge.expiring budget"))
        let later = "L 1.9 1.0\nE 1.9 \(beat)\nA 1.9 1\nL 2.0 2.0\nE 2.0 \(other)\nN 2.1 wakebridge.expiring budget"
        #expect(try isEarly(later))
    }

    @Test("an answer may cross with a warning that was due before it, and with no other")
    func crosses() throws {
        #expect(try !isEarly("E 1.0 \(beat)\nA 1.81 1\nN 1.82 wakebridge.expiring budget"))
        #expect(try isEarly("E 1.0 \(beat)\nA 1.79 1\nN 1.82 wakebridge.expiring budget"))
        let heard = "E 1.0 \(beat)\nA 1.81 1\nE 1.82 \(other)\nN 1.83 wakebridge.expiring budget"
        #expect(try isEarly(heard))
    }

    @Test("what was read in one piece was given in its order")
    func keepsOrder() throws {
        let notices = ["N 1.9 wakebridge.expiring budget", "N 1.9 wakebridge.resumed owed"]
        #expect(try !isEarly("E 1.0 \(beat)\n\(notices[0])\n\(notices[1])"))
        #expect(try isEarly("E 1.0 \(beat)\n\(notices[1])\n\(notices[0])"))
    }

    // MARK: Deaths

    @Test("only a handler that was killed while it answered may have answered")
    func cutsAnswerShort() throws {
        #expect(try complaints("E 1.0 \(beat)\nS 1.1 1", isKilled: true) == [])
        for record in ["E 1.0 \(beat)", "E 1.0 \(beat)\nS 1.1 1\nB 1.2"] {
            let complaints = try complaints(record, isKilled: true)
            #expect(complaints.count == 1 && complaints[0].hasPrefix("I6: nick: [1] were given"), "\(complaints)")
        }
    }

    @Test("a bridge that was killed before it made its tables left nothing, so it can have delivered nothing")
    func diesUnmade() throws {
        let empty: (String) throws -> Void = { folder in
            mkdir(folder, 0o755)
            put([], at: "\(folder)/journal.sqlite")
        }
        #expect(try complaints("B 1.2", isKilled: true, leaving: empty).allSatisfy { !$0.hasPrefix("I6") })
        let complaints = try complaints("E 1.0 \(beat)\nA 1.0 1", isKilled: true, leaving: empty)
        #expect(complaints.contains { $0.hasPrefix("I6: nick: 1 was given before") }, "\(complaints)")
    }

    // MARK: Gaps

    private func gap(_ sequence: Int, _ content: String) -> String {
        "E 1.\(sequence) j1-\(sequence) \(sequence) 1 0 strap-3 gap \(content)"
    }

    @Test("the number of a gap lies among those that it tells of, and is told itself when the gap is lost")
    func losesGap() throws {
        let first = "E 1.0 \(beat)\nA 1.0 1\n\(gap(3, "stopped 2 2 4"))"
        #expect(try complaints(first, "\(gap(5, "dead-letter 1 3 3"))\nA 1.6 5", lost: ["bb", "cc"]) == [])
        let twice = try complaints(first + "\nA 1.4 3", "\(gap(5, "dead-letter 1 2 2"))\nA 1.6 5", lost: ["bb", "cc"])
        #expect(twice.count == 1 && twice[0].contains("told twice"), "\(twice)")
    }

    @Test("gaps may lie across each other, and tell of no more than can be lost")
    func crossesGaps() throws {
        let first = "E 1.0 \(beat)\nA 1.0 1\n\(gap(4, "stopped 1 3 3"))\n"
        let lost = ["bb", "cc", "dd"]
        #expect(try complaints(first + "\(gap(6, "stopped 2 2 5"))\nA 1.6 6", lost: lost) == [])
        let twice = try complaints(first + "\(gap(6, "stopped 3 2 5"))\nA 1.6 6", lost: lost)
        #expect(twice.count == 1 && twice[0].contains("told twice"), "\(twice)")
    }
}
