// Whether a bond proved a device's identity: kept with each event and each device, also in journals of older versions.
import Testing
import WakeModel

@testable import WakeJournal

struct BondTests {
    let scratch = Scratch()

    private func proved(_ number: UInt8) -> DeviceEvent {
        var event = data([number])
        event.isAuthenticated = true
        return event
    }

    @Test(
        "an event keeps its bond flag over a restart, in either database and after any kind of end",
        arguments: [Durability.run, .disk], [true, false])
    func survives(durability: Durability, isClean: Bool) throws {
        for logBytes in [0, scratch.logBytes] {
            let scratch = Scratch()
            scratch.logBytes = logBytes
            var journal: Journal? = try scratch.ready()
            for number in UInt8(1)...4 {
                let event = number % 2 == 0 ? proved(number) : data([number])
                journal?.append(event, as: Sequence(UInt64(number)), for: [a], durability: durability)
                _ = journal?.commit()
            }
            if isClean { journal?.close(clean: true) }
            journal = nil
            let next = try scratch.journal()
            #expect(next.recover().pending[a]?.count == 4)
            let said = (UInt64(1)...4).map { next.event(Sequence($0))?.isAuthenticated }
            #expect(said == [false, true, false, true], "of a log of \(logBytes) bytes")
        }
    }

    @Test("a dead letter keeps the bond flag, and a flag changed on the disk is not believed")
    func marks() throws {
        var journal: Journal? = try scratch.ready()
        for number in UInt8(1)...2 {
            journal?.append(proved(number), as: Sequence(UInt64(number)), for: [a], durability: .disk)
        }
        journal?.deadLetter(Sequence(1), by: a, reason: "tried", at: WallTime(microseconds: 7))
        journal?.close(clean: true)
        journal = nil
        #expect(try scratch.journal().deadLetters().map(\.event.isAuthenticated) == [true])
        try scratch.tamper(scratch.disk, "UPDATE dead_letters SET synced=1; UPDATE events SET synced=1 WHERE seq=2")
        let next = try scratch.journal()
        _ = next.recover()
        #expect(next.deadLetters() == [] && next.event(Sequence(2)) == nil)
    }

    @Test("a device's bond and its changes are stored, and the device keeps its number")
    func devices() throws {
        var strap = accessory
        for isBonded in [true, false, true] {
            let journal = try scratch.ready()
            strap.isBonded = isBonded
            let number = journal.origin(of: strap)
            #expect(number == EventOrigin(rawValue: 1))
            journal.close(clean: true)
            #expect(try scratch.journal().device(number) == strap)
        }
    }

    /// What the previous version wrote: a device, a stopped handler, and an event that is pending for it.
    private func writeOld(_ path: String) throws {
        let database = try Database(path: path, strength: .normal)
        _ = try JournalSchema.migrate(database, steps: Array(JournalSchema.steps.prefix(4)))
        let (device, handler) = (
            CRC32.standard.check(fields: ["1", "/d/1", "one", "", "external-accessory"]),
            CRC32.standard.check(fields: ["1", "a", "1", ""])
        )
        var record = EventRecord()
        let event = record.encode(data([9]), seq: 1, owner: 1)
        try database.execute(
            """
            INSERT INTO devices VALUES(1,'/d/1','one',NULL,'external-accessory',\(device));
            INSERT INTO handlers VALUES(1,'a',1,NULL,\(handler));
            INSERT INTO events VALUES(1,1,1,4,3,4,5,1,\(event),x'09')
            """)
        try database.checkpoint()
    }

    @Test("a journal of the previous version opens with all its rows, and its devices and events have no bond")
    func migrates() throws {
        try writeOld(scratch.disk)
        let journal = try scratch.journal()
        let recovery = journal.recover()
        #expect(journal.device(EventOrigin(rawValue: 1)) == accessory)
        #expect(recovery.stopped == [a] && recovery.pending[a]?.map(\.sequence) == [Sequence(1)])
        #expect(journal.event(Sequence(1)) == data([9]))
        #expect(!recovery.losses.contains { $0.sentence.contains("not what was written") }, "\(recovery.losses)")
    }

    @Test("the readable rows of a damaged journal of the previous version are copied, its devices too")
    func salvages() throws {
        try writeOld(scratch.disk)
        let fresh = try Database(path: ":memory:", strength: .normal)
        _ = try JournalSchema.migrate(fresh)
        _ = Salvage.copy(from: scratch.disk, to: fresh)
        for table in ["devices", "handlers", "events"] {
            #expect(try fresh.integer("SELECT count(*) FROM \(table)") == 1, "\(table)")
        }
    }
}
