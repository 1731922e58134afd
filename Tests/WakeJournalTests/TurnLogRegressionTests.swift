// Sequences that once broke the turn log: late changes, crashes within a start, and a clean end before a reboot.
import Glibc
import Testing
import WakeModel

@testable import WakeJournal

struct TurnLogRegressionTests {
    let scratch = Scratch()

    @Test("A gap that grew after it came into the database is returned with its growth, at once and after a crash")
    func grownGap() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(gap(1), as: Sequence(1), for: [a], durability: .run)
        journal?.append(2...2)
        _ = journal?.compact()
        // Enough to push the gap out of the cache.
        for number in UInt64(3)...12 {
            journal?.append(
                data(Array(repeating: 1, count: 60_000)), as: Sequence(number), for: [b], durability: .run)
            _ = journal?.compact()
        }
        journal?.update(gap(2), as: Sequence(1))
        journal?.acknowledge([Sequence(2)], by: a)
        _ = journal?.commit()
        #expect(journal?.event(Sequence(1)) == gap(2))
        journal = nil
        let later = try scratch.journal()
        #expect(later.recover().pending[a]?.map(\.sequence.rawValue) == [1])
        #expect(later.event(Sequence(1)) == gap(2))
    }

    @Test(
        "A record that ends in zeros is read to its end, wherever that is",
        arguments: [70_000, 65_536, 65_300, 200_000])
    func endsInZeros(_ length: Int) throws {
        var journal: Journal? = try scratch.ready()
        let event = data(Array(repeating: 0, count: length))
        journal?.append(event, as: Sequence(1), for: [a], durability: .run)
        _ = journal?.commit()
        journal = nil
        journal = try scratch.journal()
        let recovery = try #require(journal?.recover())
        #expect(recovery.pending[a]?.map(\.sequence.rawValue) == [1] && recovery.lost == nil)
        #expect(journal?.event(Sequence(1)) == event)
    }

    @Test("An acknowledgement is kept wherever in the log it ends")
    func endsAnywhere() throws {
        // A record of one acknowledgement ends in three zeros, of the handler's number, around the first 64 KiB of the log.
        var met = 0
        for length in 65_150..<65_250 {
            let scratch = Scratch()
            var journal: Journal? = try scratch.ready()
            journal?.append(1...1)
            _ = journal?.commit()
            let event = data(Array(repeating: 7, count: length))
            journal?.append(event, as: Sequence(2), for: [a], durability: .run)
            _ = journal?.commit()
            journal?.acknowledge([Sequence(1)], by: a)
            _ = journal?.commit()
            journal = nil
            let end = (bytes(of: scratch.turns)[..<66_000].lastIndex { $0 != 0 } ?? 0) + 1
            if end <= 65_536, end + 3 > 65_536 { met += 1 }
            let recovery = try scratch.journal().recover()
            #expect(recovery.pending[a]?.map(\.sequence.rawValue) == [2] && recovery.lost == nil, "\(length) bytes")
        }
        #expect(met > 0)
    }

    @Test("The number of an event without handlers is not issued again, whatever else its turn holds")
    func withoutHandlers() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...1)
        journal?.recordIssued(Sequence(2), at: WallTime(microseconds: 5))
        _ = journal?.commit()
        journal?.lease([Sequence(1)], to: a)
        _ = journal?.commit()
        journal = nil
        #expect(try scratch.journal().recover().next == Sequence(3))
    }

    @Test("A database that no longer names its log is reported as cut, where there is a log")
    func nameIsDamaged() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...3)
        _ = journal?.commit()
        journal = nil
        try scratch.tamper(scratch.run, "UPDATE facts SET value=value+1 WHERE name='turns'")
        let recovery = try scratch.journal().recover()
        #expect(recovery.lost?.first == Sequence(1))
        #expect(recovery.next > Sequence(3))
    }

    @Test("A start on a full file system reads more than SQLite's cache holds")
    func fullStart() throws {
        guard scratch.limit(to: "4m") else { return }
        var journal: Journal? = try scratch.ready()
        scratch.fill()
        for number in UInt64(1)...400 {
            let event = data(Array(repeating: UInt8(truncatingIfNeeded: number), count: 500))
            journal?.append(event, as: Sequence(number), for: [a], durability: .run)
            #expect(journal?.commit() == [.committed])
        }
        journal = nil
        journal = try scratch.journal()
        let recovery = try #require(journal?.recover())
        #expect(recovery.pending[a]?.count == 400 && recovery.lost == nil)
        #expect((1...400).allSatisfy { journal?.event(Sequence($0)) != nil })
    }

    @Test("Events acknowledged before a start on a full file system are not pending again once there is room")
    func fullStartForgets() throws {
        guard scratch.limit(to: "4m") else { return }
        var journal: Journal? = try scratch.ready()
        journal?.append(data([1]), as: Sequence(1), for: [a, b], durability: .run)
        _ = journal?.compact()
        for handler in [a, b] { journal?.acknowledge([Sequence(1)], by: handler) }
        _ = journal?.commit()
        // As after a kill, SQLite's files stay as they are.
        let other = try Database(path: scratch.run, strength: .normal)
        #expect(try other.integer("SELECT count(*) FROM owed") == 2)
        scratch.fill()
        journal = nil
        journal = try scratch.journal()
        #expect(journal?.recover().pending.isEmpty == true)
        #expect(journal?.health.run != .ok)
        shell("rm \(scratch.path)/filler")
        journal?.close(clean: true)
        journal = nil
        #expect(try scratch.journal().recover().pending.isEmpty)
    }

    @Test("A start that finds the database locked fails, and loses nothing")
    func lockedStart() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...3)
        _ = journal?.commit()
        journal = nil
        let lock = try scratch.lock(scratch.run)
        let reason = "database is locked"
        #expect(throws: JournalError.notTakenUp(path: scratch.run, reason: reason)) { try scratch.journal() }
        scratch.free([lock])
        #expect(try scratch.journal().recover().pending[a]?.count == 3)
    }

    @Test("A reboot after a clean end reports nothing where nothing was pending")
    func endsAndReboots() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...5)
        _ = journal?.compact()
        journal?.acknowledge((1...5).map { Sequence($0) }, by: a)
        _ = journal?.commit()
        journal?.close(clean: true)
        journal = nil
        scratch.reboot()
        #expect(try scratch.journal(boot: "next").recover().lost == nil)
    }

    @Test("A crash between the first commit and the first header of a log is no damage")
    func firstHeader() throws {
        var journal: Journal? = try scratch.journal()
        let before = bytes(of: scratch.turns)
        _ = journal?.recover()
        #expect(bytes(of: scratch.turns) != before)
        journal = nil
        overwrite(scratch.turns, with: before)
        let recovery = try scratch.journal().recover()
        #expect(recovery.lost == nil && recovery.losses.isEmpty)
    }

    @Test("A log that was cut between two records is reported as cut, also after several starts that crashed")
    func cutBetweenRecords() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...1)
        _ = journal?.commit()
        let end = try #require(bytes(of: scratch.turns).lastIndex { $0 != 0 }) + 1
        journal?.append(2...2)
        _ = journal?.commit()
        journal = nil
        shell("truncate -s \(end) \(scratch.turns)")
        for _ in 0..<3 { _ = try scratch.journal() }
        let recovery = try scratch.journal().recover()
        #expect(recovery.pending[a]?.map(\.sequence.rawValue) == [1])
        #expect(recovery.lost?.first == Sequence(2))
    }

    @Test("A database's own log that was cut is reported as cut, also after several starts that crashed")
    func databaseIsCut() throws {
        let journal = try scratch.ready()
        for number in UInt64(1)...20 {
            journal.append(number...number, .disk)
            _ = journal.commit()
        }
        // As a kill leaves it, with the index of the log.
        let copy = Scratch()
        shell("cp -a \(scratch.path)/. \(copy.path)")
        let log = copy.disk + "-wal"
        shell("truncate -s \(bytes(of: log).count * 3 / 4) \(log)")
        for _ in 0..<3 { _ = try copy.journal() }
        let recovery = try copy.journal().recover()
        let pending = Set((recovery.pending[a] ?? []).map(\.sequence.rawValue))
        #expect(pending.count < 20)
        #expect((1...20).allSatisfy { pending.contains($0) || recovery.lost.map { $0.first.rawValue <= 20 } == true })
        withExtendedLifetime(journal) {}
    }

    @Test("A damaged database is reported as damaged, also after several starts that crashed")
    func salvageCrashes() throws {
        var journal: Journal? = try scratch.ready()
        for number in UInt64(1)...300 {
            let event = data(Array(repeating: 0xEE, count: 100))
            journal?.append(event, as: Sequence(number), for: [a], durability: .run)
        }
        _ = journal?.compact()
        journal = nil
        var content = bytes(of: scratch.run)
        let mark = [UInt8](repeating: 0xEE, count: 100)
        let half = try #require((content.count / 2..<content.count).first { content[$0...].starts(with: mark) })
        let page = half / 1_024 * 1_024
        for place in page..<(page + 1_024) { content[place] = 0xAA }
        overwrite(scratch.run, with: content)
        for _ in 0..<3 { _ = try scratch.journal() }
        journal = try scratch.journal()
        let recovery = try #require(journal?.recover())
        let pending = Set((recovery.pending[a] ?? []).map(\.sequence.rawValue))
        let lost = try #require(recovery.lost)
        #expect(pending.count < 300)
        #expect((1...300).allSatisfy { pending.contains($0) || lost.first.rawValue <= $0 && $0 <= lost.last.rawValue })
        journal?.recordLossesReported()
        journal?.close(clean: true)
        journal = nil
        #expect(try scratch.journal().recover().lost == nil)
    }

    @Test("Records of an older generation behind the end of the log are not read")
    func olderRecords() throws {
        var journal: Journal? = try scratch.ready()
        for number in UInt64(1)...4 {
            journal?.append(number...number)
            _ = journal?.commit()
        }
        let earlier = bytes(of: scratch.turns)
        journal?.acknowledge((1...4).map { Sequence($0) }, by: a)
        _ = journal?.compact()
        journal?.append(5...5)
        _ = journal?.commit()
        journal = nil
        var content = bytes(of: scratch.turns)
        let end = try #require(content.lastIndex { $0 != 0 }) + 1
        content.replaceSubrange(end..., with: earlier[end...])
        overwrite(scratch.turns, with: content)
        let recovery = try scratch.journal().recover()
        #expect(recovery.pending[a]?.map(\.sequence.rawValue) == [5])
    }

    @Test("A journal's name that no number can follow is ignored")
    func nameIsTooHigh() throws {
        _ = try scratch.ready()
        shell("rm -f \(scratch.path)/*.sqlite*; echo 'j9223372036854775807 0 0 0' >\(scratch.path)/journal.number")
        #expect(try scratch.journal().id == "j1")
    }
}
