// Damaged, missing, foreign and unwritable files: nothing crashes, nothing false is believed, and the loss is reported.
import Glibc
import Testing
import WakeModel

@testable import WakeJournal

struct DamageTests {
    let scratch = Scratch()

    @Test(
        "a flipped bit in a table's own description loses no event and no handler's name",
        arguments: ["id INTEGER PRIMARY KEY, name", "owner INTEGER", "stopped INTEGER", "seq INTEGER PRIMARY"])
    func description(words: String) throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...3)
        _ = journal?.commit()
        journal = nil
        try scratch.tamper(scratch.run, "UPDATE facts SET crc=crc")
        var content = bytes(of: scratch.run)
        let place = try #require(content.indices.first { content[$0...].starts(with: words.utf8) })
        content[place] ^= 1
        overwrite(scratch.run, with: content)
        journal = try scratch.journal()
        let recovery = try #require(journal?.recover())
        #expect(recovery.pending[a]?.count == 3)
        #expect(recovery.losses.contains { $0.sentence.contains("set aside") })
        #expect(try Database(path: scratch.run, strength: .normal).integer("SELECT count(id) FROM handlers") == 2)
    }

    /// A hundred events in the file at rest, one pending for both handlers.
    private func fill(_ durability: Durability) throws {
        let journal = try scratch.ready()
        for number in UInt64(1)...100 {
            let event = data(Array(repeating: UInt8(number), count: 40))
            journal.append(event, as: Sequence(number), for: number == 50 ? [a, b] : [a], durability: durability)
        }
        journal.lease([Sequence(1), Sequence(2)], to: a)
        journal.setCheckpoint("mark", of: a)
        _ = journal.compact()
    }

    /// All events read are those written; each earlier pending event is still pending or reported as lost.
    private func inspect(_ journal: Journal?) {
        guard let journal else { return }
        let recovery = journal.recover()
        let pending = Set((recovery.pending[a] ?? []).map(\.sequence))
        for seq in pending {
            #expect(journal.event(seq).map { $0 == data(Array(repeating: UInt8(seq.rawValue), count: 40)) } ?? true)
        }
        for number in UInt64(1)...100 where !pending.contains(Sequence(number)) {
            let isReported = recovery.lost.map { $0.first <= Sequence(number) && Sequence(number) <= $0.last } ?? false
            #expect(isReported, "\(number) is neither pending nor reported as lost")
            if !isReported { break }
        }
        #expect(recovery.next > Sequence(100))
        let checkpoint = journal.checkpoint(of: a)
        #expect(checkpoint == nil || checkpoint == "mark")
    }

    private func damage(_ path: String, _ durability: Durability, rounds: Int, _ change: (inout [UInt8], Int) -> Void)
        throws
    {
        try fill(durability)
        shell("cp -a \(scratch.path) \(scratch.path).whole")
        defer { shell("rm -rf \(scratch.path).whole") }
        let whole = bytes(of: path)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<rounds {
            shell("rm -rf \(scratch.path)/* && cp -a \(scratch.path).whole/. \(scratch.path)")
            var bytes = whole
            change(&bytes, Int(generator.next(upperBound: UInt32.max)))
            overwrite(path, with: bytes)
            inspect(try scratch.journal())
        }
    }

    @Test("A flipped bit in the run database causes no crash, no false event and no unreported loss")
    func runFlips() throws {
        try damage(scratch.run, .run, rounds: 150) { bytes, random in
            bytes[random % bytes.count] ^= 1 << UInt8(random % 8)
        }
    }

    @Test("A flipped bit in the state database causes no crash, no false event and no unreported loss")
    func diskFlips() throws {
        try damage(scratch.disk, .disk, rounds: 150) { bytes, random in
            bytes[random % bytes.count] ^= 1 << UInt8(random % 8)
        }
    }

    @Test("A flipped bit in the header of the state database prevents no start")
    func headerFlips() throws {
        try damage(scratch.disk, .disk, rounds: 60) { bytes, random in bytes[random % 100] ^= 1 << UInt8(random % 8) }
    }

    @Test("A truncated state database causes no crash, no false event and no unreported loss")
    func diskCuts() throws {
        try damage(scratch.disk, .disk, rounds: 40) { bytes, random in bytes.removeLast(random % bytes.count) }
    }

    @Test("A truncated run database causes no crash, no false event and no unreported loss")
    func runCuts() throws {
        try damage(scratch.run, .run, rounds: 40) { bytes, random in bytes.removeLast(random % bytes.count) }
    }

    @Test("A damaged write-ahead log returns no event that was not written")
    func walFlips() throws {
        let journal = try scratch.ready()
        for number in UInt64(1)...100 {
            let event = data(Array(repeating: UInt8(number), count: 40))
            journal.append(event, as: Sequence(number), for: [a], durability: .run)
            if number % 10 == 0 { _ = journal.commit() }
        }
        let copy = scratch.path + ".copy"
        defer { shell("rm -rf \(copy)") }
        let wal = bytes(of: scratch.run + "-wal")
        #expect(!wal.isEmpty)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<60 {
            shell("rm -rf \(copy) && cp -a \(scratch.path) \(copy) && rm -f \(copy)/*-shm")
            var bytes = wal
            let random = Int(generator.next(upperBound: UInt32.max))
            bytes[random % bytes.count] ^= 1 << UInt8(random % 8)
            overwrite(copy + "/run.sqlite-wal", with: bytes)
            let damaged = try Journal(
                opening: JournalSettings(runtimeDirectory: copy, stateDirectory: copy), bootID: "boot")
            for event in damaged.recover().pending[a] ?? [] {
                let written = data(Array(repeating: UInt8(event.sequence.rawValue), count: 40))
                #expect(damaged.event(event.sequence) == written)
            }
        }
    }

    @Test(
        "The last events of a truncated or damaged write-ahead log are reported as lost, and their numbers are not reused",
        arguments: [0, 1])
    func logIsCut(_ which: Int) throws {
        let journal = try scratch.ready()
        for number in UInt64(1)...100 {
            let event = data(Array(repeating: UInt8(number), count: 40))
            journal.append(event, as: Sequence(number), for: [a], durability: which == 0 ? .run : .disk)
            _ = journal.commit()
        }
        let log = which == 0 ? "run.sqlite-wal" : "journal.sqlite-wal"
        let whole = bytes(of: "\(scratch.path)/\(log)")
        let copy = scratch.path + ".copy"
        defer { shell("rm -rf \(copy)") }
        for round in 0..<40 {
            // As a kill leaves it, with the index of the log.
            shell("rm -rf \(copy) && cp -a \(scratch.path) \(copy)")
            var bytes = whole
            let place = Int.random(in: bytes.count / 2..<bytes.count)
            if round % 2 == 0 { bytes.removeLast(bytes.count - place) } else { bytes[place] ^= 4 }
            overwrite("\(copy)/\(log)", with: bytes)
            let settings = JournalSettings(runtimeDirectory: copy, stateDirectory: copy)
            inspect(try Journal(opening: settings, bootID: "boot"))
        }
        shell("rm -rf \(copy) && cp -a \(scratch.path) \(copy)")
        let settings = JournalSettings(runtimeDirectory: copy, stateDirectory: copy)
        let recovery = try Journal(opening: settings, bootID: "boot").recover()
        #expect(recovery.lost == nil && recovery.losses.isEmpty && recovery.pending[a]?.count == 100)
    }

    @Test(
        "A journal opened after a kill keeps SQLite's locks: without them another reader would truncate the log's index"
    )
    func locks() throws {
        let journal = try scratch.ready()
        journal.append(1...10)
        let copy = scratch.path + ".copy"
        defer { shell("rm -rf \(copy)") }
        shell("cp -a \(scratch.path) \(copy)")
        let settings = JournalSettings(runtimeDirectory: copy, stateDirectory: copy)
        let opened = try Journal(opening: settings, bootID: "boot")
        for name in ["run", "journal"] {
            // Where a file is locked, its inode stands in the kernel's table.
            shell("grep \":$(stat -c %i \(copy)/\(name).sqlite-shm) \" /proc/locks >\(copy)/locks")
            #expect(!bytes(of: "\(copy)/locks").isEmpty, "\(name)")
        }
        withExtendedLifetime(opened) {}
    }

    @Test("Damage to an open file causes no crash and no false event, and the journal continues")
    func damageWhileOpen() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<40 {
            let scratch = Scratch()
            let journal = try scratch.ready()
            journal.append(1...200)
            _ = journal.compact()
            var bytes = bytes(of: scratch.run)
            for _ in 0..<20 {
                bytes[Int(generator.next(upperBound: UInt32(bytes.count)))] = UInt8.random(in: 0...255)
            }
            overwrite(scratch.run, with: bytes)
            for number in UInt64(201)...260 {
                journal.append(number...number)
                journal.acknowledge([Sequence(number - 200)], by: a)
                _ = journal.commit()
                if let event = journal.event(Sequence(number - 100)) {
                    #expect(event == data([UInt8(truncatingIfNeeded: number - 100)]))
                }
            }
            _ = journal.compact()
            #expect((201...260).allSatisfy { journal.event(Sequence($0)) != nil })
        }
    }

    @Test("A damaged schema version is repaired and reported, and the start succeeds", arguments: [0, 1, 99, 65_537])
    func schemaVersion(_ version: Int) throws {
        try fill(.run)
        try scratch.tamper(scratch.run, "PRAGMA user_version=\(version)")
        let recovery = try scratch.journal().recover()
        #expect(recovery.pending[a]?.count == 100)
        #expect(!recovery.losses.isEmpty)
        #expect(try scratch.journal().recover().losses.isEmpty)
    }

    @Test("A damaged checkpoint is reported and not believed")
    func checkpoint() throws {
        try fill(.run)
        try scratch.tamper(scratch.disk, "UPDATE handlers SET checkpoint='wrong' WHERE id=1")
        let journal = try scratch.journal()
        #expect(journal.checkpoint(of: a) == nil)
        #expect(journal.handlerID(named: "a") == a)
        #expect(!journal.recover().losses.isEmpty)
    }

    @Test("A damaged stopped flag keeps the handler stopped and is reported")
    func stopped() throws {
        let journal = try scratch.ready()
        journal.setStopped(true, b)
        _ = journal.commit()
        try scratch.tamper(scratch.disk, "UPDATE handlers SET stopped=0 WHERE id=2")
        let recovery = try scratch.journal().recover()
        #expect(recovery.stopped == [b])
        #expect(!recovery.losses.isEmpty)
    }

    @Test(
        "A damaged owner gets no event, and the event is reported as lost",
        arguments: ["handler=9", "seq=51"])
    func owner(change: String) throws {
        try fill(.run)
        try scratch.tamper(scratch.run, "UPDATE owed SET \(change) WHERE handler=2")
        let recovery = try scratch.journal().recover()
        #expect(recovery.pending[HandlerID(rawValue: 9)] == nil)
        #expect(recovery.pending[a]?.contains { $0.sequence == Sequence(50) } == true)
        #expect(recovery.lost.map { $0.first <= Sequence(50) && Sequence(50) <= $0.last } == true)
    }

    @Test("After the logs of both databases are cut back beyond the newest reservation, no number is issued twice")
    func reservationIsCut() throws {
        let journal = try scratch.ready()
        let logs = ["run.sqlite-wal", "journal.sqlite-wal"].map { "\(scratch.path)/\($0)" }
        let earlier = logs.map { bytes(of: $0) }
        // Past the numbers that the first session reserved.
        let newest = UInt64(scratch.settings.reservation) + 100
        journal.reserve(upTo: Sequence(newest + UInt64(scratch.settings.reservation)))
        for number in newest - 10...newest {
            journal.append(data([UInt8(truncatingIfNeeded: number)]), as: Sequence(number), for: [a], durability: .run)
        }
        _ = journal.commit()
        // As a kill leaves it.
        let copy = scratch.path + ".copy"
        defer { shell("rm -rf \(copy)") }
        shell("rm -rf \(copy) && cp -a \(scratch.path) \(copy)")
        for (log, bytes) in zip(["run.sqlite-wal", "journal.sqlite-wal"], earlier) {
            overwrite("\(copy)/\(log)", with: bytes)
        }
        shell("rm -f '\(TurnLog.path(beside: copy + "/run.sqlite"))'")
        let recovery = try Journal(
            opening: JournalSettings(runtimeDirectory: copy, stateDirectory: copy), bootID: "boot"
        ).recover()
        #expect(recovery.next.rawValue > newest, "\(recovery.next) is issued again")
    }

    @Test("After a damaged reservation no number is issued twice")
    func reservation() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...50, .ram)
        _ = journal?.commit()
        journal = nil
        for path in [scratch.disk, scratch.run] {
            try scratch.tamper(path, "UPDATE facts SET value='3' WHERE name='reserved'")
        }
        #expect(try scratch.journal().recover().next > Sequence(50))
    }

    @Test("Events of a run database that survived a reboot are kept, and its possibly missing tail is reported")
    func otherBoot() throws {
        try fill(.run)
        let recovery = try scratch.journal(boot: "next").recover()
        #expect(recovery.pending[a]?.count == 100)
        #expect(recovery.lost?.first == Sequence(101))
    }

    @Test("A run database of another state directory is set aside and reported")
    func foreignRun() throws {
        let other = Scratch()
        let journal = try other.ready()
        journal.append(1...5)
        journal.close(clean: true)
        try fill(.disk)
        shell("rm -f \(scratch.run)*; cp \(other.run) \(scratch.path)")
        let recovery = try scratch.journal().recover()
        #expect(recovery.pending[a]?.count == 100)
        #expect(recovery.pending[a]?.allSatisfy { $0.durability == .disk } == true)
        #expect(recovery.losses.contains { $0.sentence.contains("another state directory") })
        #expect(shell("ls \(scratch.run).corrupt-* >/dev/null 2>&1") == 0)
    }

    @Test("Directories that cannot be written degrade to memory and heal when they can")
    func readOnly() throws {
        try fill(.disk)
        let twin = scratch.path + ".twin"
        shell("mkdir \(twin); cp -a \(scratch.path)/. \(twin)")
        defer { shell("umount -l \(twin) 2>/dev/null; rm -rf \(twin)") }
        guard shell("mount --bind \(twin) \(twin) && mount -o remount,bind,ro \(twin) 2>/dev/null") == 0 else {
            return print("SKIPPED: mounting needs root; a read-only directory was not tried")
        }
        let settings = JournalSettings(runtimeDirectory: twin, stateDirectory: twin)
        var journal: Journal? = try Journal(opening: settings, bootID: "boot")
        let recovery = try #require(journal?.recover())
        #expect(recovery.losses.count >= 2)
        let first = recovery.next.rawValue
        journal?.append(first...(first + 9), .disk)
        _ = journal?.commit()
        #expect(journal?.event(Sequence(first)) != nil)
        #expect(journal?.health.disk != .ok && journal?.health.run != .ok)
        shell("mount -o remount,bind,rw \(twin)")
        _ = journal?.compact()
        if case .degraded(let sentence)? = journal?.health.disk { #expect(sentence.contains("restart")) }
        journal = nil
        let later = try Journal(opening: settings, bootID: "boot").recover()
        for number in UInt64(1)...100 {
            #expect(later.pending[a]?.contains { $0.sequence == Sequence(number) } == true)
        }
    }

    @Test("A state directory that appears later is used")
    func lateState() throws {
        let late = scratch.path + "/late"
        let settings = JournalSettings(runtimeDirectory: scratch.path, stateDirectory: late)
        var journal: Journal? = try Journal(opening: settings, bootID: "boot")
        _ = journal?.handlerID(named: "a")
        let next = try #require(journal?.recover()).next.rawValue
        journal?.append(next...next, .disk)
        _ = journal?.commit()
        #expect(journal?.health.disk != .ok)
        shell("mkdir \(late)")
        #expect(journal?.compact().outcomes.contains(.restored(.disk)) == true)
        #expect(journal?.health.disk == .ok)
        journal = nil
        let recovery = try Journal(opening: settings, bootID: "boot").recover()
        #expect(recovery.pending[a]?.map(\.sequence) == [Sequence(next)])
    }

    @Test("A state file that returns with another session's numbers is not written, and health says what to do")
    func stateOfAnotherSession() throws {
        try fill(.disk)
        shell("mkdir \(scratch.path)/away && mv \(scratch.path)/journal.* \(scratch.path)/away; rm -f \(scratch.run)*")
        shell("mkdir \(scratch.path)/journal.sqlite")
        var journal: Journal? = try scratch.ready()
        journal?.append(1...3, .disk)
        _ = journal?.commit()
        shell("rmdir \(scratch.path)/journal.sqlite && mv \(scratch.path)/away/* \(scratch.path)")
        _ = journal?.compact()
        guard case .degraded(let sentence)? = journal?.health.disk else {
            Issue.record("the file of another session was written")
            return
        }
        #expect(sentence.contains("restart wakebridged"))
        journal = nil
        #expect(try scratch.journal().recover().pending[a]?.count == 100)
    }
}
