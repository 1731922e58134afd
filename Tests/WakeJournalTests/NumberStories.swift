// Numbers, gaps and evidence over several lives: what one life knows only from what it read, the next one must know too.
import Glibc
import Testing
import WakeModel

@testable import WakeJournal

struct NumberStories {
    let scratch = Scratch()

    @Test(
        "No number is given again when what proved it was acknowledged in a life that gave none itself",
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

    @Test("No number of a hole is given again after a life in which nobody was left to be told of it")
    func toldToNobody() throws {
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

    @Test("A gap that grows in the turn that it is written in is given as it grew", arguments: [Durability.run, .disk])
    func grownAtOnce(durability: Durability) throws {
        let journal = try scratch.ready()
        // What the log does not take, so that the turn goes into the database at once.
        _ = journal.origin(of: Device(uri: "/d/2", alias: "two", profile: nil, kind: .externalAccessory))
        journal.append(gap(1), as: Sequence(1), for: [a], durability: durability)
        journal.update(gap(5), as: Sequence(1))
        _ = journal.commit()
        #expect(journal.event(Sequence(1)) == gap(5))
    }

    @Test("Damage that was taken out by a start that died before it told of it is told by the next")
    func remediesDie() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...9, .disk)
        _ = journal?.compact()
        journal = nil
        try scratch.tamper(scratch.disk, "UPDATE events SET device=device+1 WHERE seq=5")
        journal = try scratch.journal()
        let disk = try #require(journal?.disk)
        var reader = PendingEventReader(disk)
        reader.read()
        #expect(reader.outcome.repairs.count == 1)
        disk.apply(reader.outcome.repairs, rewritesProgress: false)
        disk.close()
        journal = nil
        let lost = try #require(try scratch.journal().recover().lost)
        #expect(lost.first <= Sequence(5) && Sequence(5) <= lost.last)
    }

    @Test("A start that cannot read a database gives none of its numbers again, tells of all, and leaves it as it is")
    func unreadable() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...9, .disk)
        _ = journal?.commit()
        journal = nil
        journal = try scratch.journal()
        // Neither damage nor the lack of a file: what SQLite says of memory or of a cable that comes and goes is no other.
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

    @Test("Dead letters that cannot be read hold back no event, and are told")
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
        "A kill in the very turn in which the run database first fails gives no number twice and tells of what it had")
    func runIsFull() throws {
        var journal: Journal? = try scratch.ready()
        // What the log of turns does not take, so that the database is asked.
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

    @Test("A dead letter that memory has since a later event was noted there is told as lost too")
    func buriedBelowMemory() throws {
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

    @Test("A dead letter that only memory has is told as lost by the next start, its event being erased already")
    func buriedInMemory() throws {
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

    @Test("The gap of a restart that is lost itself is told again with all that it told of")
    func restartGapIsLost() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...3, .ram)
        _ = journal?.commit()
        journal = try scratch.journal()
        let recovery = try #require(journal?.recover())
        let lost = try #require(recovery.lost)
        var told = data([])
        told.kind = .gap(
            Gap(cause: .bridgeRestart, count: nil, first: lost.first, last: lost.last, from: lost.to, to: lost.to))
        journal?.append(told, as: recovery.next, for: [a], durability: .disk)
        journal?.recordLossesReported()
        _ = journal?.commit()
        journal = nil
        try scratch.tamper(scratch.disk, "UPDATE events SET device=device+1 WHERE seq>0")
        #expect(try scratch.journal().recover().lost?.first == Sequence(1))
    }

    @Test("A state database that is gone, or empty, is told as lost", arguments: ["rm", "truncate -s 0"])
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
