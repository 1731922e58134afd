// While nothing can be written: what is given is known beside the databases, and nothing is lost untold however that ends.
import Testing
import WakeModel

@testable import WakeJournal

struct FullDiskTests {
    let scratch = Scratch()

    @Test("A crash while neither database can be written gives no number twice, and tells of all that memory had")
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

    @Test("A life that began and died while nothing could be written has not ended in order as the one before it did")
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
        #expect(try scratch.journal().recover().lost == nil, "it is told once")
    }

    @Test("A disk that was full while the bridge lived and has room again leaves nothing to tell at the next start")
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

    @Test("A reboot while the disk was full and the runtime directory was not gives no number twice")
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

    @Test("An end in order writes what a full disk kept from being written, where there is room again")
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
