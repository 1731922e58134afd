// What the journal guarantees across crashes, damage and full disks, shown with real files.
import Glibc
import TestBench
import Testing
import WakeModel

@testable import WakeJournal

struct JournalTests {
    let scratch = Scratch()

    private func ready() throws -> Journal { try scratch.ready() }

    @Test("A kill -9 in the middle of a turn skips no number and returns the leased events as delivered")
    func killed() throws {
        shell("'\(try crasher())' \(scratch.path)")
        let recovery = try scratch.journal().recover()
        #expect(recovery.next == Sequence(4))
        #expect(recovery.lost == nil)
        #expect(recovery.pending[a]?.map(\.wasDelivered) == [true, true, false])
    }

    /// What happened before the session that is killed.
    enum Past { case none, killed, closedAndRebooted }

    @Test(
        "A kill -9 before any write or sync of a session, and of the next one, skips no number and reports no loss",
        arguments: [(Past.none, 1), (.none, 2), (.killed, 1), (.closedAndRebooted, 1)])
    func killedBeforeWrites(past: Past, kills: Int) throws {
        let library = try scratch.crashLibrary()
        for writes in 0..<400 {
            let scratch = Scratch()
            let first = try prepare(past, scratch)
            for _ in 0..<kills {
                try scratch.crash(before: writes, library)
            }
            let recovery = try scratch.journal().recover()
            let pending = recovery.pending.values.first?.map(\.sequence.rawValue) ?? []
            #expect(recovery.lost == nil && pending == Array(first..<recovery.next.rawValue), "before write \(writes)")
            if pending.count == 3 * (past == .killed ? kills + 1 : kills) { return }
        }
        Issue.record("the journal is never whole")
    }

    /// Returns the oldest pending number, or the next one.
    private func prepare(_ past: Past, _ scratch: Scratch) throws -> UInt64 {
        guard past != .none else { return 1 }
        shell("'\(try crasher())' \(scratch.path)")
        guard past == .closedAndRebooted else { return 1 }
        let journal = try scratch.journal()
        let recovery = journal.recover()
        for (handler, events) in recovery.pending { journal.acknowledge(events.map(\.sequence), by: handler) }
        journal.close(clean: true)
        scratch.reboot()
        return recovery.next.rawValue
    }

    @Test("A start that may open no more files fails, instead of reporting the files' events as lost")
    func starved() throws {
        var journal: Journal? = try ready()
        for number in UInt64(1)...3 {
            journal?.append(data([1]), as: Sequence(number), for: [a], durability: number == 2 ? .disk : .run)
        }
        _ = journal?.commit()
        journal = nil
        for limit in 4...14 { shell("ulimit -n \(limit); '\(try crasher())' \(scratch.path) 2>/dev/null") }
        let recovery = try scratch.journal().recover()
        #expect(recovery.lost == nil)
        #expect(recovery.pending[a]?.count == 3)
    }

    @Test(
        "The number of an event without handlers is not issued again, also when other events of its turn are pending",
        arguments: [true, false])
    func withoutHandlers(isClean: Bool) throws {
        var journal: Journal? = try ready()
        journal?.append(data([1]), as: Sequence(1), for: [a], durability: .run)
        journal?.recordIssued(Sequence(5), at: WallTime(microseconds: 5))
        _ = journal?.commit()
        if isClean { journal?.close(clean: true) }
        journal = nil
        #expect(try scratch.journal().recover().next == Sequence(6))
    }

    @Test("An acknowledgement by one of two owners keeps the other's event")
    func sharedEvent() throws {
        var journal: Journal? = try ready()
        journal?.append(data([1]), as: Sequence(1), for: [a, b], durability: .run)
        journal?.acknowledge([Sequence(1)], by: a)
        #expect(journal?.commit() == [.committed])
        journal = nil
        let recovery = try scratch.journal().recover()
        #expect(recovery.pending[a] == nil)
        #expect(recovery.pending[b]?.map(\.sequence) == [Sequence(1)])
    }

    @Test(
        "A ram event lost in a crash makes the rest of the reservation one hole; reported and closed cleanly there is none"
    )
    func ramHole() throws {
        var journal: Journal? = try ready()
        journal?.append(data([1]), as: Sequence(1), for: [a], durability: .ram)
        _ = journal?.commit()
        journal = try scratch.journal()
        let crashed = try #require(journal?.recover())
        #expect(crashed.lost?.last == Sequence(4_096))
        #expect(crashed.next == Sequence(4_097))
        journal?.recordLossesReported()
        journal?.close(clean: true)
        #expect(try scratch.journal().recover().lost == nil)
    }

    @Test("On a full file system the journal keeps events in memory, loses none and heals when there is room")
    func fullDisk() throws {
        guard scratch.limit(to: "300k") else { return }
        var journal: Journal? = try ready()
        var losses = 0
        for number in 1...2_000 {
            journal?.append(
                data(Array(repeating: 7, count: 200)), as: Sequence(UInt64(number)), for: [a], durability: .run)
            if number % 10 == 0 {
                losses += journal?.commit().count { if case .lost = $0 { true } else { false } } ?? 0
            }
        }
        #expect(losses > 0)
        #expect(journal?.health.run != .ok)
        #expect((1...2_000).allSatisfy { journal?.event(Sequence($0)) != nil })
        shell("mount -o remount,size=20m \(scratch.path)")
        let outcomes = try #require(journal?.compact()).outcomes
        #expect(outcomes.contains(.restored(.run)))
        #expect(journal?.health.run == .ok)
        journal = nil
        let recovery = try scratch.journal().recover()
        #expect(recovery.pending[a]?.count == 2_000)
        #expect(recovery.next == Sequence(2_001))
    }

    @Test("A file of a newer schema is refused and not changed")
    func newerSchema() throws {
        _ = try ready()
        let check = CRC32.standard.check(fields: ["schema", "99"])
        try scratch.tamper(
            scratch.run, "UPDATE facts SET value='99',crc=\(check) WHERE name='schema'; PRAGMA user_version=99")
        #expect(throws: JournalError.newerSchema(path: scratch.run, found: 99, known: JournalSchema.steps.count)) {
            try scratch.journal()
        }
    }

    @Test("A migration keeps the rows of the previous version, and a step that fails leaves the file as it was")
    func migration() throws {
        let database = try Database(path: scratch.path + "/old.sqlite", strength: .normal)
        _ = try JournalSchema.migrate(database)
        try database.execute("INSERT INTO handlers VALUES(1,'a',0,NULL,0)")
        #expect(throws: JournalSchema.Failure.self) {
            try JournalSchema.migrate(database, steps: JournalSchema.steps + ["CREATE nonsense"])
        }
        #expect(try database.integer("PRAGMA user_version") == Int64(JournalSchema.steps.count))
        _ = try JournalSchema.migrate(
            database, steps: JournalSchema.steps + ["ALTER TABLE handlers ADD COLUMN more INTEGER DEFAULT 5"])
        #expect(try database.integer("SELECT more FROM handlers WHERE name='a'") == 5)
    }

    @Test("Rows of a version without advertisements are read correctly")
    func olderRows() throws {
        _ = try scratch.ready()
        let rows = [
            "(1,1,1,1,3,4,5,1,1826063934,x'03000000')",
            "(2,1,1,3,3,4,5,1,795483005,x'00100000372a0000fb349b5f800000801049')",
            "(3,1,1,4,3,4,5,1,2873819210,x'24')",
            "(4,1,1,6,3,4,5,1,2549018332,x'0102')",
        ]
        try scratch.tamper(scratch.run, "INSERT INTO events VALUES" + rows.joined(separator: ","))
        let journal = try scratch.journal()
        let pending = journal.recover().pending[a] ?? []
        let heartRate = Channel.characteristic(BluetoothUUID(short: 0x2a37))
        #expect(pending.map(\.content) == [.connected, .data(heartRate), .data(.serial), .data(.input)])
        #expect(journal.event(Sequence(2))?.kind == .data(heartRate, [0x10, 0x49]))
    }

    @Test("An advertisement is read back as one, and is the first data to make room")
    func advertisement() throws {
        var journal: Journal? = try ready()
        var event = data([])
        event.kind = .data(.advertisement, [2, 1, 6])
        journal?.append(1...1, for: [a])
        journal?.append(event, as: Sequence(2), for: [a, b], durability: .run)
        journal?.append(event, as: Sequence(3), for: [a], durability: .disk)
        _ = journal?.commit()
        journal = nil
        let later = try scratch.journal()
        #expect(
            later.recover().pending[a]?.map(\.content) == [
                .data(.serial), .data(.advertisement), .data(.advertisement),
            ])
        for number in [2, 3] as [UInt64] { #expect(later.event(Sequence(number))?.kind == event.kind) }
        #expect(later.oldestData(freeing: 100)[a]?.contains(Sequence(1)) == false)
        #expect(later.oldestData(freeing: 1 << 20)[a]?.count == 3)
    }

    @Test("Every channel is read back: a stream's fragment with its reason, and a stream that only a new source names")
    func channels() throws {
        var journal: Journal? = try ready()
        var event = data([])
        let channels =
            [
                .serial, .input, .advertisement, .report(7), .stream("tick"),
                .characteristic(CharacteristicName(BluetoothUUID(short: 0x2a19), number: 2)),
            ] + Fragment.allCases.map(Channel.fragment)
        for (number, channel) in zip(UInt64(1)..., channels) {
            event.kind = .data(channel, [0x24, 0x47])
            let durability: Durability = number % 2 == 0 ? .run : .disk
            journal?.append(event, as: Sequence(number), for: [a], durability: durability)
        }
        _ = journal?.commit()
        journal = nil
        let later = try scratch.journal()
        _ = later.recover()
        for (number, channel) in zip(UInt64(1)..., channels) {
            #expect(later.event(Sequence(number))?.kind == .data(channel, [0x24, 0x47]))
        }
    }

    @Test("Only their owner may read the files")
    func fileMode() throws {
        let journal = try ready()
        _ = journal.commit()
        for name in ["run.sqlite", "run.sqlite-wal", "journal.sqlite", "journal.sqlite-wal"] {
            var status = stat()
            #expect(stat(scratch.path + "/" + name, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600, "\(name)")
        }
    }

    @Test("Recent events stay within their bound and older ones come from the database")
    func recentBound() throws {
        let journal = try ready()
        for number in 1...1_000 {
            let event = data(Array(repeating: 1, count: 1_000))
            journal.append(event, as: Sequence(UInt64(number)), for: [a], durability: .run)
        }
        _ = journal.compact()
        let recent = try #require(journal.run?.cache.recent)
        #expect(recent.bytes > 200 << 10 && recent.bytes <= 256 << 10)
        #expect(recent[Sequence(1)] == nil)
        #expect(journal.event(Sequence(1)) != nil)
    }

    @Test("A gap that grew, counts given back and the replay position come back in the state of their commit")
    func smallState() throws {
        var journal: Journal? = try ready()
        journal?.append(gap(1), as: Sequence(1), for: [a], durability: .run)
        journal?.setReplayPosition(source: "t.trace", line: 7)
        journal?.giveBack(Sequence(1), by: a, attempts: 3, charges: 2)
        _ = journal?.commit()
        journal?.update(gap(8), as: Sequence(1))
        _ = journal?.commit()
        journal?.setReplayPosition(source: "t.trace", line: 99)
        journal = nil
        let later = try scratch.journal()
        let recovery = later.recover()
        #expect(later.event(Sequence(1)) == gap(8))
        #expect(recovery.replayPosition == Recovery.ReplayPosition(source: "t.trace", line: 7))
        #expect(recovery.pending[a]?.first?.attempts == 3)
        #expect(recovery.pending[a]?.first?.charges == 2)
    }

    @Test(
        "An event given back before a crash is not in flight; its attempts and its hold survive",
        arguments: [Durability.run, .disk])
    func givenBack(durability: Durability) throws {
        var journal: Journal? = try ready()
        journal?.append(1...3, durability)
        journal?.lease([1, 2, 3].map { Sequence($0) }, to: a)
        _ = journal?.commit()
        let until = WallTime(microseconds: 77)
        journal?.giveBack(Sequence(2), by: a, attempts: 1, charges: 0, heldUntil: until)
        _ = journal?.commit()
        journal = nil
        let pending = try scratch.journal().recover().pending[a] ?? []
        #expect(pending.map(\.wasDelivered) == [true, false, true])
        #expect(pending.map(\.attempts) == [0, 1, 0], "without the delivery that the crash interrupted")
        #expect(pending.map(\.heldUntil) == [nil, until, nil])
    }

    @Test("Counts that a version without the wait of a nack wrote are read as they were meant")
    func olderCounts() throws {
        let database = try Database(path: scratch.run, strength: .normal)
        _ = try JournalSchema.migrate(database, steps: Array(JournalSchema.steps.prefix(1)))
        try database.execute("INSERT INTO events VALUES(4,1,1,6,3,4,5,1,2549018332,x'0102')")
        let check = CRC32.standard.check(numbers: [1, 4, 3, 2])
        try database.execute("INSERT INTO attempts VALUES(1,4,3,2,\(check))")
        let pending = try scratch.journal().recover().pending[a]?.first
        #expect(pending?.attempts == 3 && pending?.charges == 2 && pending?.heldUntil == nil)
    }

    @Test("The journal knows earlier handlers from new ones, except where damage leaves that in doubt")
    func known() throws {
        #expect(try scratch.journal().recover().handlers == [])
        _ = try ready()
        #expect(try scratch.journal().recover().handlers == [a, b])
        try scratch.tamper(scratch.disk, "UPDATE handlers SET stopped=stopped+2 WHERE name='a'")
        #expect(try scratch.journal().recover().handlers == nil)
    }

    @Test("A dead letter leaves the queue, is listed, taken for replay and dropped")
    func deadLetters() throws {
        let journal = try ready()
        for number in 1...2 { journal.append(data([9]), as: Sequence(UInt64(number)), for: [a], durability: .run) }
        for number in 1...2 {
            journal.deadLetter(Sequence(UInt64(number)), by: a, reason: "nack", at: WallTime(microseconds: 1))
        }
        #expect(journal.deadLetterCounts() == [a: 2])
        _ = journal.commit()
        #expect(journal.deadLetters().map(\.seq) == [Sequence(1), Sequence(2)])
        #expect(journal.deadLetterCounts() == [a: 2])
        #expect(journal.removeDeadLetter(Sequence(1), of: a)?.event == data([9]))
        #expect(journal.deadLetterCounts() == [a: 1])
        #expect(journal.dropDeadLetters { $0.seq == Sequence(2) } == 1)
        _ = journal.commit()
        #expect(journal.deadLetters().isEmpty)
    }

    @Test("A lost state database makes a journal with a higher number that knows its devices from the run database")
    func newNumber() throws {
        var journal: Journal? = try ready()
        _ = journal?.commit()
        #expect(journal?.id == "j1")
        journal = nil
        shell("rm \(scratch.path)/journal.sqlite*")
        let later = try scratch.journal()
        #expect(later.id == "j2")
        #expect(later.devices().map(\.1) == [accessory])
    }

    @Test("While all events have durability run, compaction leaves the files on disk as they are, to the byte")
    func leavesDiskAlone() throws {
        let journal = try ready()
        _ = journal.compact()
        let files = ["", "-wal", "-shm"].map { scratch.disk + $0 }
        let before = files.map { bytes(of: $0) }
        #expect(before[0].count > 0 && before[2].count > 0)
        for round in UInt64(0)..<3 {
            journal.append(round * 10 + 1...round * 10 + 10)
            _ = journal.commit()
            journal.acknowledge((round * 10 + 1...round * 10 + 10).map { Sequence($0) }, by: a)
            _ = journal.commit()
            _ = journal.compact()
        }
        #expect(files.map { bytes(of: $0) } == before)
    }
}
