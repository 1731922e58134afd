// While no database can be written: the file beside them has the issued numbers, and each loss is reported after any end.
import Testing
import WakeModel

@testable import WakeJournal

struct FullDiskTests {
    let scratch = Scratch()

    @Test(
        "After a crash while neither database can be written, no number is issued twice and all events of memory are reported as lost"
    )
    func bothAreFull() throws {
        scratch.logBytes = 0
        var journal: Journal? = try scratch.ready()
        journal?.append(1...10)
        _ = journal?.commit()
        let locks = [try scratch.lock(scratch.run), try scratch.lock(scratch.disk)]
        for number in UInt64(11)...6_000 {
            journal?.append(number...number, number % 2 == 0 ? .disk : .run)
            if number % 500 == 0 { _ = journal?.commit() }
        }
        journal = nil
        scratch.free(locks)
        let recovery = try scratch.journal().recover()
        #expect(recovery.next > Sequence(6_000))
        #expect(recovery.lost?.first == Sequence(11))
        #expect(recovery.pending[a]?.map(\.sequence) == (1...10).map { Sequence($0) })
    }

    @Test("A session that started and crashed while nothing could be written does not look cleanly ended")
    func beganWhileFull() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...10)
        journal?.close(clean: true)
        let locks = [try scratch.lock(scratch.run), try scratch.lock(scratch.disk)]
        journal = try scratch.journal()
        #expect(journal?.recover().next == Sequence(11))
        journal?.append(11...20)
        _ = journal?.commit()
        journal = nil
        scratch.free(locks)
        journal = try scratch.journal()
        let recovery = try #require(journal?.recover())
        let lost = try #require(recovery.lost)
        #expect(lost.first == Sequence(11) && lost.last >= Sequence(20))
        journal?.recordLossesReported()
        journal?.close(clean: true)
        journal = nil
        #expect(try scratch.journal().recover().lost == nil, "it is reported once")
    }

    @Test("A disk that was full for a while leaves no loss to report at the next start")
    func fullForAWhile() throws {
        var journal: Journal? = try scratch.ready()
        let locks = [try scratch.lock(scratch.run), try scratch.lock(scratch.disk)]
        journal?.append(1...20, .disk)
        _ = journal?.commit()
        scratch.free(locks)
        _ = journal?.compact()
        journal?.append(21...21)
        _ = journal?.commit()
        journal = nil
        let recovery = try scratch.journal().recover()
        #expect(recovery.lost == nil)
        #expect(recovery.pending[a]?.count == 21)
        #expect(recovery.next == Sequence(22))
    }

    @Test("After a reboot while only the disk was full, no number is issued twice")
    func rebootWhileFull() throws {
        var journal: Journal? = try scratch.ready()
        let lock = [try scratch.lock(scratch.disk)]
        for number in UInt64(1)...6_000 {
            journal?.append(number...number)
            if number % 500 == 0 { _ = journal?.commit() }
        }
        journal = nil
        scratch.free(lock)
        scratch.reboot()
        let recovery = try scratch.journal(boot: "next").recover()
        #expect(recovery.next > Sequence(6_000))
        #expect(recovery.lost?.first == Sequence(1))
    }

    @Test("A clean end writes what a full disk had prevented, once there is room again")
    func endsWithRoom() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...2)
        _ = journal?.commit()
        let locks = [try scratch.lock(scratch.run), try scratch.lock(scratch.disk)]
        journal?.acknowledge([Sequence(1)], by: a)
        journal?.append(3...3)
        _ = journal?.commit()
        scratch.free(locks)
        journal?.close(clean: true)
        journal = nil
        let recovery = try scratch.journal().recover()
        #expect(recovery.lost == nil)
        #expect(recovery.pending[a]?.map(\.sequence) == [Sequence(2), Sequence(3)])
    }
}
