// What becomes of a scenario that failed while the machine under it stood still.
import TestBench
import Testing

@Suite("The lab's excuses")
struct ExcuseTests {
    /// What the guest says of a scenario that said this, and whose machine stood still so often: for 0.5 s each time.
    private func excuse(_ said: String..., standstills: Int) throws -> String {
        let lines = (["PASS: a"] + said).map { "'\($0)'" }.joined(separator: ", ")
        let script = "import guest; print(guest.excuse([\(lines)], [(1.0, 0.5)] * \(standstills)))"
        let child = try Child([
            "env", "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=\(LabRun.sources)", "python3", "-c", script,
        ])
        let ended = child.finish()
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
