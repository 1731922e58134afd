// The reckoning sees what it is there for: records and journals of a round that went well are tampered with, one way at a time.
import Glibc
import TestBench
import Testing
import WakeSystem

@Suite("The reckoning", .serialized)
struct ReckoningTests {
    /// A bridge that is killed while one handler answers nothing.
    private static let round = Round(
        number: 0, theme: .kills, seconds: 3, seed: 7,
        steps: [
            Step(at: 0.5, fault: .mood("mona", .mute)), Step(at: 1.2, fault: .killBridge),
            Step(at: 1.3, fault: .mood("mona", .good)), Step(at: 2, fault: .killHandler(0)),
        ])

    /// What the reckoning says of a copy of the folder that the command was run in.
    private func complaints(_ folder: String, after command: String) throws -> [String] {
        let copy = makeDirectory("/tmp/wakebridge-tampered.XXXXXX")
        defer { Directory.removeTree(copy) }
        let script = "cp -a \(folder)/. \(copy) && cd \(copy) && \(command)"
        let tampering = try Child(["sh", "-c", script]).finish()
        #expect(tampering.exit == 0, "\(tampering.talk)")
        let (exit, output) = try Programs.reckon("round", copy)
        let complaints = output.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("count ") }
        #expect((exit == 0) == complaints.isEmpty)
        return complaints
    }

    private static let sql = "import glob,sqlite3\nfor f in glob.glob('deaths/*/run.sqlite'):\n d=sqlite3.connect(f)\n "

    /// What is done to the evidence, and the invariant that this breaks.
    private static let tamperings = [
        // An event that nobody's record has any more.
        (
            "sed -i \"/ $(grep -h '^E.*data' heard/heard-bulk.* | sed -n 200p | cut -d' ' -f9)$/d\" heard/heard-bulk.*",
            "I4"
        ),
        // Two deliveries that changed places.
        (
            "f=$(ls -S heard/heard-bulk.* | head -1) && awk '/^E/ && !d { if (p) { print; print p; d = 1; p = 0; next } p = $0; next } p { print p; p = 0 } { print }' $f >new && mv new $f",
            "I5"
        ),
        // What was open when the bridge was killed, and its journal does not know.
        (
            "sed -i '/^[AS]/d' heard/heard-bulk.*; python3 -c \"\(sql)d.execute('DELETE FROM events WHERE seq>0')\n d.execute('DELETE FROM owed')\n d.commit()\"; rm -f deaths/*/*-turns",
            "I6"
        ),
        // A bridge that gave what it had not journaled.
        (
            "python3 -c \"\(sql)d.execute('DELETE FROM events')\n d.commit()\"; rm -f deaths/*/*-turns deaths/*/journal*",
            "I6"
        ),
        // A number that means two events.
        ("sed -i '0,/ strap-1 data /s/ strap-1 data .*/ strap-1 data 00/' $(ls -S heard/heard-bulk.* | head -1)", "I4"),
        // Who runs long after its time.
        ("f=$(ls -S heard/heard-mona.* | head -1) && tail -1 $f | awk '{ print \"B\", $2 + 60 }' >>$f", "I3"),
        // A lock that was never let go.
        ("echo '1.0 waited forever' >>faults.log", "I8"),
        // Who is stopped, and starts.
        (
            "t=$(grep -h '^P' heard/heard-both.* | sort -n | tail -1 | cut -d' ' -f3) && awk -v t=$t 'BEGIN { print t - 2, \"stop-done both 0\" }' >>faults.log",
            "I9"
        ),
        // Who did nothing wrong, and was ended.
        ("sed -i '/kill-handler/d' faults.log; for f in heard/heard-bulk.*; do cp $f ${f}9; done", "I13"),
    ]

    /// On a busy machine the bridge may be killed before it has given anything, which leaves nothing to tamper with.
    private func fight(with programs: Programs) async throws -> Battle {
        for _ in 1...10 {
            let battle = try Battle(Self.round, rate: 1_000, programs)
            battle.keep()
            #expect(try await battle.fight(), "\(battle.tally.complaints)")
            if hasGivenEvents(in: battle.folder) { return battle }
            battle.forget()
        }
        throw SystemError("play", "a round in which the bridge gives events before it is killed", .timedOut)
    }

    private func hasGivenEvents(in folder: String) -> Bool {
        func times(of word: Substring, _ place: Int, in file: String) -> [Double] {
            lines(of: file).map { $0.split(separator: " ") }.filter { $0.count > 1 && $0[1 - place] == word }
                .compactMap { Double($0[place]) }
        }
        let kills = times(of: "kill-bridge", 0, in: folder + "/faults.log")
        let given = names(in: folder + "/heard").filter { $0.hasPrefix("heard-bulk.") }
            .flatMap { times(of: "E", 1, in: "\(folder)/heard/\($0)") }
        return kills.contains { kill in given.contains { $0 < kill } }
    }

    @Test("a round that went well is found to be well, and each thing that is taken from its evidence is seen")
    func seesLoss() async throws {
        let programs = try #require(Programs())
        let battle = try await fight(with: programs)
        defer { battle.forget() }
        #expect(try complaints(battle.folder, after: "true") == [])
        for (command, invariant) in Self.tamperings {
            let complaints = try complaints(battle.folder, after: command)
            #expect(complaints.contains { $0.hasPrefix("\(invariant):") }, "\(command): \(complaints)")
        }
    }
}
