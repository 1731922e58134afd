// Until when devices were listened to is known after a crash and a reboot, and needs no disk write of its own.
import Testing
import WakeModel

@testable import WakeJournal

struct ListeningTests {
    let scratch = Scratch()
    private let source = "/bluetooth/C0:F1:F2:F3:F4:01"

    private func time(_ seconds: Int64) -> WallTime { WallTime(microseconds: seconds * 1_000_000) }

    @Test("The listening state of a device survives a crash, and the last one recorded counts")
    func crash() throws {
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

    @Test(
        "The listening state causes no disk write, and goes with the next one", arguments: ["event", "upkeep", "end"])
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

    @Test("A start that ends right after recovery has stored how far the session before it listened")
    func startWithoutRecovery() throws {
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

    @Test("A new database gets the listening state again")
    func heals() throws {
        var journal: Journal? = try scratch.ready()
        journal?.record(.until(time(10)), of: source)
        _ = journal?.commit()
        _ = journal?.compact()
        // As if its bad sector had held exactly these rows.
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
