// How far devices were listened to is known after a death and a reboot, and costs no write of its own to the disk.
import Testing
import WakeModel

@testable import WakeJournal

struct ListeningTests {
    let scratch = Scratch()
    private let source = "/bluetooth/C0:F1:F2:F3:F4:01"

    private func time(_ seconds: Int64) -> WallTime { WallTime(microseconds: seconds * 1_000_000) }

    @Test("How far a device was listened to survives the bridge's death, and of two words the last counts")
    func death() throws {
        var journal: Journal? = try scratch.ready()
        journal?.record(.until(time(10)), of: source)
        _ = journal?.commit()
        journal?.record(.since(time(20)), of: source)
        _ = journal?.commit()
        journal = nil
        let next = try scratch.journal()
        #expect(next.listening(to: source) == .since(time(20)))
        #expect(next.listening(to: "/d/1") == nil)
    }

    @Test("It is no reason to write the disk, and goes with whatever is", arguments: ["event", "upkeep", "end"])
    func reboot(reason: String) throws {
        var journal: Journal? = try scratch.ready()
        _ = journal?.compact()
        let before = bytes(of: scratch.disk) + bytes(of: scratch.disk + "-wal")
        journal?.record(.until(time(10)), of: source)
        _ = journal?.commit()
        #expect(bytes(of: scratch.disk) + bytes(of: scratch.disk + "-wal") == before)
        switch reason {
        case "event": journal?.append(1...1, .disk)
        case "upkeep": _ = journal?.compact()
        default: journal?.close(clean: false)
        }
        _ = journal?.commit()
        journal = nil
        scratch.reboot()
        #expect(try scratch.journal(boot: "next").listening(to: source) == .until(time(10)))
    }

    @Test("A start that ends as soon as it has taken up the journal has noted how far the life before it listened")
    func startInVain() throws {
        var journal: Journal? = try scratch.ready()
        journal?.record(.since(time(10)), of: source)
        _ = journal?.commit()
        journal = try scratch.journal()
        let source = source
        let until = Listening.until(time(20))
        _ = journal?.recover { [journal] _ in journal?.record(until, of: source) }
        journal = nil
        #expect(try scratch.journal().listening(to: source) == until)
    }

    @Test("A database that was begun anew knows it again")
    func heals() throws {
        var journal: Journal? = try scratch.ready()
        journal?.record(.until(time(10)), of: source)
        _ = journal?.commit()
        _ = journal?.compact()
        // As if its bad sector had held just that.
        let loss = "DELETE FROM facts WHERE name LIKE 'listening%'"
        try scratch.tamper(scratch.run, loss)
        _ = journal?.run?.degrade(SQLiteFailure(code: SQLiteFailure.corrupt, message: "a bad sector"))
        _ = journal?.compact()
        #expect(journal?.health.run == .ok)
        journal = nil
        try scratch.tamper(scratch.disk, loss)
        #expect(try scratch.journal().listening(to: source) == .until(time(10)))
    }
}
