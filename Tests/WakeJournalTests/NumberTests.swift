// Numbers, gaps and evidence over several sessions: what one session only read, the next one must know too.
import Glibc
import Testing
import WakeModel

@testable import WakeJournal

struct NumberTests {
    let scratch = Scratch()

    @Test(
        "No number is issued again when its event was acknowledged in a session that issued none itself",
        arguments: [Durability.run, .disk])
    func acknowledgedLater(durability: Durability) throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...3, durability)
        _ = journal?.commit()
        journal = nil
        journal = try scratch.journal()
        _ = journal?.recover()
        journal?.acknowledge((1...3).map { Sequence($0) }, by: a)
        _ = journal?.commit()
        journal = nil
        let recovery = try scratch.journal().recover()
        #expect(recovery.next == Sequence(4) && recovery.lost == nil && recovery.pending.isEmpty)
    }

    @Test("No number of a hole is issued again after a session without handlers to report it to")
    func withoutHandlers() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...1, .ram)
        _ = journal?.commit()
        journal = nil
        journal = try scratch.journal()
        let next = try #require(journal?.recover()).next
        journal?.recordLossesReported()
        _ = journal?.commit()
        journal = nil
        #expect(try scratch.journal().recover().next >= next)
    }

    @Test("A gap that grows in the turn of its append is returned with its growth", arguments: [Durability.run, .disk])
    func grownAtOnce(durability: Durability) throws {
        let journal = try scratch.ready()
        // No log takes this, so the turn goes into the database at once.
        _ = journal.origin(of: Device(uri: "/d/2", alias: "two", profile: nil, kind: .externalAccessory))
        journal.append(gap(1), as: Sequence(1), for: [a], durability: durability)
        journal.update(gap(5), as: Sequence(1))
        _ = journal.commit()
        #expect(journal.event(Sequence(1)) == gap(5))
    }

    @Test("Damage that a start deleted before it crashed is reported by the next start")
    func repairsCrash() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...9, .disk)
        _ = journal?.compact()
        journal = nil
        try scratch.tamper(scratch.disk, "UPDATE events SET device=device+1 WHERE seq=5")
        journal = try scratch.journal()
        let disk = try #require(journal?.disk)
        let repairs = PendingEventReader.read(disk).repairs
        #expect(repairs.count == 1)
        disk.apply(repairs, rewritesProgress: false)
        disk.close()
        journal = nil
        let lost = try #require(try scratch.journal().recover().lost)
        #expect(lost.first <= Sequence(5) && Sequence(5) <= lost.last)
    }

    @Test("A start that cannot read a database reuses none of its numbers, reports all and changes nothing in it")
    func unreadable() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...9, .disk)
        _ = journal?.commit()
        journal = nil
        journal = try scratch.journal()
        // Neither damage nor a missing file. SQLite reports a lack of memory or a loose cable in the same way.
        try journal?.disk.database?.execute("ALTER TABLE events RENAME TO away")
        let recovery = try #require(journal?.recover())
        #expect(recovery.next > Sequence(9) && recovery.lost?.first == Sequence(1))
        #expect(recovery.lost.map { $0.last >= Sequence(9) } == true && !recovery.losses.isEmpty)
        let first = recovery.next.rawValue
        journal?.append(first...first, .disk)
        _ = journal?.commit()
        try journal?.disk.database?.execute("ALTER TABLE away RENAME TO events")
        #expect(journal?.compact().outcomes.contains(.restored(.disk)) == true)
        journal = nil
        let next = try scratch.journal().recover()
        #expect(next.pending[a]?.map(\.sequence.rawValue) == Array(1...9) + [first])
    }

    @Test("Unreadable dead letters hold back no event, and are reported")
    func unreadableLetters() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...3, .disk)
        _ = journal?.commit()
        journal = nil
        let next = try scratch.journal()
        try next.disk.database?.execute("ALTER TABLE dead_letters RENAME TO away")
        let recovery = next.recover()
        #expect(recovery.pending[a]?.map(\.sequence.rawValue) == [1, 2, 3] && !recovery.losses.isEmpty)
    }

    @Test(
        "After a kill in the turn in which the run database first fails, no number is issued twice and its events are reported"
    )
    func runIsFull() throws {
        var journal: Journal? = try scratch.ready()
        // No log takes this, so the turn goes into the database.
        _ = journal?.origin(of: Device(uri: "/d/2", alias: "two", profile: nil, kind: .externalAccessory))
        journal?.append(1...1, .run)
        journal?.append(2...2, .disk)
        let lock = try scratch.lock(scratch.run)
        _ = journal?.commit()
        #expect(journal?.health.run != .ok)
        journal = nil
        scratch.free([lock])
        let recovery = try scratch.journal().recover()
        #expect(recovery.next > Sequence(2) && recovery.lost?.first == Sequence(1))
    }

    @Test("A dead letter in memory is reported as lost too, although a later event came to memory first")
    func deadLetterBelowMemory() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...3)
        journal?.append(4...4, .ram)
        _ = journal?.commit()
        let lock = try scratch.lock(scratch.disk)
        journal?.deadLetter(Sequence(2), by: a, reason: "nack", at: WallTime(microseconds: 1))
        _ = journal?.commit()
        journal = nil
        scratch.free([lock])
        #expect(try scratch.journal().recover().lost?.first == Sequence(2))
    }

    @Test(
        "A dead letter that only memory has is reported as lost by the next start, because its event is erased already")
    func deadLetterInMemory() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...3)
        _ = journal?.commit()
        let lock = try scratch.lock(scratch.disk)
        journal?.deadLetter(Sequence(3), by: a, reason: "nack", at: WallTime(microseconds: 1))
        _ = journal?.commit()
        journal?.deadLetter(Sequence(2), by: a, reason: "nack", at: WallTime(microseconds: 1))
        _ = journal?.commit()
        journal = nil
        scratch.free([lock])
        let recovery = try scratch.journal().recover()
        #expect(recovery.pending[a]?.map(\.sequence.rawValue) == [1] && recovery.lost?.first == Sequence(2))
    }

    @Test("The gap of a restart that is lost itself is reported again with all that it reported")
    func restartGapIsLost() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...3, .ram)
        _ = journal?.commit()
        journal = try scratch.journal()
        let recovery = try #require(journal?.recover())
        let lost = try #require(recovery.lost)
        var gap = data([])
        gap.kind = .gap(
            Gap(cause: .bridgeRestart, count: nil, first: lost.first, last: lost.last, from: lost.to, to: lost.to))
        journal?.append(gap, as: recovery.next, for: [a], durability: .disk)
        journal?.recordLossesReported()
        _ = journal?.commit()
        journal = nil
        try scratch.tamper(scratch.disk, "UPDATE events SET device=device+1 WHERE seq>0")
        #expect(try scratch.journal().recover().lost?.first == Sequence(1))
    }

    @Test("A missing or empty state database is reported as lost", arguments: ["rm", "truncate -s 0"])
    func stateIsGone(command: String) throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...9, .disk)
        journal?.append(10...12, .run)
        _ = journal?.compact()
        journal = nil
        shell("rm -f \(scratch.disk)-*; \(command) \(scratch.disk)")
        let recovery = try scratch.journal().recover()
        #expect(recovery.pending[a]?.map(\.sequence.rawValue) == [10, 11, 12])
        #expect(recovery.lost.map { $0.first == Sequence(1) && $0.last >= Sequence(9) } == true)
        #expect(recovery.losses.contains { $0.sentence.contains("is not the one that was written") })
    }
}
