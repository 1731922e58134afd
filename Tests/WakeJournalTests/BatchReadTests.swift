// A batch read from a database with one query equals its events read one by one.
import Testing
import WakeModel

@testable import WakeJournal

struct BatchReadTests {
    let scratch = Scratch()

    /// In the database and no longer in memory.
    private func backlog(_ count: UInt64, owners: (UInt64) -> [HandlerID] = { _ in [a] }) throws -> Journal {
        scratch.logBytes = 0
        let journal = try scratch.ready()
        for number in 1...count { journal.append(number...number, for: owners(number)) }
        _ = journal.commit()
        journal.close(clean: true)
        let later = try scratch.journal()
        _ = later.recover()
        _ = later.commit()
        return later
    }

    private func event(_ number: UInt64) -> DeviceEvent { data([UInt8(truncatingIfNeeded: number)]) }

    @Test("Each event of a batch is what was appended, with events of other handlers between them")
    func interleaved() throws {
        let journal = try backlog(400) { [[a], [b], [a, b]][Int($0 % 3)] }
        for numbers in [(1...400).filter { $0 % 3 != 1 }, (1...400).filter { $0 % 3 == 1 }] {
            for batch in stride(from: 0, to: numbers.count, by: 64) {
                let batch = numbers[batch..<min(batch + 64, numbers.count)]
                let last = Sequence(UInt64(batch.last ?? 0))
                for number in batch {
                    #expect(journal.event(Sequence(UInt64(number)), before: last) == event(UInt64(number)))
                }
            }
        }
    }

    @Test("Acknowledgements, updates and appends after a batch was read show in later reads")
    func changed() throws {
        let journal = try backlog(100)
        scratch.logBytes = 4_096
        #expect(journal.event(Sequence(1), before: Sequence(100)) == event(1))
        journal.acknowledge([Sequence(2)], by: a)
        journal.update(gap(7), as: Sequence(3))
        journal.append(101...101)
        _ = journal.commit()
        #expect(journal.event(Sequence(2), before: Sequence(101)) == nil)
        #expect(journal.event(Sequence(3), before: Sequence(101)) == gap(7))
        #expect(journal.event(Sequence(101), before: Sequence(101)) == event(101))
    }

    @Test("An event that moved into the database after its batch was read is found there")
    func moved() throws {
        var journal = try backlog(10)
        journal.close(clean: true)
        scratch.logBytes = 1 << 20
        journal = try scratch.journal()
        _ = journal.recover()
        _ = journal.commit()
        journal.append(11...20)
        _ = journal.commit()
        #expect(journal.event(Sequence(1), before: Sequence(20)) == event(1))
        // Enough to push the ten out of the cache.
        for number in UInt64(21)...60 {
            journal.append(
                data(Array(repeating: 1, count: 10_000)), as: Sequence(number), for: [b], durability: .run)
        }
        _ = journal.compact()
        for number in UInt64(2)...20 {
            #expect(journal.event(Sequence(number), before: Sequence(20)) == event(number))
        }
    }

    @Test("A damaged event in a batch is reported, and the others are returned")
    func damaged() throws {
        let journal = try backlog(64)
        try scratch.tamper(scratch.run, "UPDATE events SET payload=x'ff' WHERE seq=40")
        let found = (1...64).filter { journal.event(Sequence($0), before: Sequence(64)) == event($0) }
        #expect(found == (1...64).filter { $0 != 40 })
        let reported = journal.commit().filter {
            if case .lost(let loss) = $0 { loss.sentence.contains("event 40 ") } else { false }
        }
        #expect(reported.count == 1)
    }
}
