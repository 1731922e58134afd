// What becomes of a scenario that failed, and of one that did while the machine under it stood still.
import TestBench
import Testing
import WakeSystem

@Suite("The lab's excuses")
struct ExcuseTests {
    /// What the guest says of a scenario that said this, and whose machine stood still so often: for 0.5 s each time.
    private func excuse(_ said: String..., standstills: Int) throws -> String {
        let lines = (["PASS: a"] + said).map { "'\($0)'" }.joined(separator: ", ")
        return try python("print(guest.excuse([\(lines)], [(1.0, 0.5)] * \(standstills)))")
    }

    /// What a statement about guest.py prints.
    private func python(_ statement: String) throws -> String {
        let ended = try Child([
            "env", "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=\(LabRun.sources)", "python3", "-c",
            "import guest, sys; \(statement)",
        ]).finish()
        #expect(ended.exit == 0, "\(ended.talk)")
        return ended.output
    }

    @Test("what was late while the machine stood still proves nothing, nor does what failed after it")
    func standstill() throws {
        #expect(try excuse("LATE: b", standstills: 2).contains("stood still 2 times, for up to 0.50 s"))
        #expect(try excuse("LATE: b", "FAIL: c", standstills: 1) != "None\n")
    }

    @Test("what was late while the machine had its processors has failed, and so has what no standstill causes")
    func noExcuse() throws {
        #expect(try excuse("LATE: b", standstills: 0) == "None\n")
        #expect(try excuse("FAIL: b", "LATE: c", standstills: 2) == "None\n")
        #expect(try excuse("LATE: b", "LOST: c", standstills: 2) == "None\n")
    }

    @Test("what is told of a scenario that failed ends with the claims that failed, after the last lines of its logs")
    func news() throws {
        let folder = try Directory.makeTemporary(prefix: "wakelab")
        defer { Directory.removeTree(folder) }
        put((1...40).map { "line \($0)\n" }.joined(), at: "\(folder)/wakebridged.log")
        put("again\nagain\nlast\n", at: "\(folder)/bluetoothd.log")
        let said = "['PASS: a', 'LOST: b (3)', 'FAIL: c', 'END one 2.0 s']"
        let told = try python("guest.tell(sys.stdout, 'one', '\(folder)', \(said), None)").split(separator: "\n")
        #expect(told.prefix(2) == ["lab: one: bluetoothd.log: again", "lab: one: bluetoothd.log: last"])
        #expect(told.dropFirst(2).first == "lab: one: wakebridged.log: line 11" && told.count == 34)
        #expect(told.suffix(2) == ["lab: FAILED one in 2.0 s: LOST: b (3)", "lab: FAILED one in 2.0 s: FAIL: c"])
        let passed = "['PASS: a', 'FIGURE: b: 3', 'NOT-YET: c (4)', 'END one 2.0 s']"
        #expect(
            try python("guest.tell(sys.stdout, 'one', '\(folder)', \(passed), None)")
                == "lab: one: b: 3\nlab: one: not-yet: c (4)\nlab: played one in 2.0 s\n")
    }

    @Test("only how it ended the last time counts, and how it failed before is told")
    func again() {
        let report = [
            "SCENARIO one: it holds", "PASS: a", "LATE: b (not within 3 s)", "END one 3.0 s",
            "AGAIN one: it stood still",
            "SCENARIO one: it holds", "PASS: a", "PASS: b", "END one 2.0 s", "SCENARIO two: it holds", "LOST: c",
            "END two 1.0 s",
        ]
        let outcomes = LabRun.outcomes(in: report)
        #expect(outcomes["one"]?.failures == [])
        #expect(outcomes["one"]?.claims == ["a", "b"])
        #expect(outcomes["one"]?.excuses == ["it stood still: b (not within 3 s)"])
        #expect(outcomes["two"]?.failures == ["c"])
        #expect(outcomes["two"]?.excuses == [])
    }
}
