// Journals without a file, one after the other, as the lives of a replayed bridge have them.
import Testing
import WakeModel

@testable import WakeJournal

struct JournalMemoryTests {
    private let memory = JournalMemory()

    private func journal(boot: String) throws -> Journal {
        try Journal(
            opening: JournalSettings(runtimeDirectory: nil, stateDirectory: nil), bootID: boot, memory: memory)
    }

    private func numbers(_ recovery: Recovery) -> [UInt64] { recovery.pending[a, default: []].map(\.sequence.rawValue) }

    @Test("A journal in memory goes on where the one before ended; a reboot loses what the runtime directory had")
    func goesOn() throws {
        let first = try journal(boot: "one")
        _ = first.recover()
        _ = first.origin(of: accessory)
        #expect(first.handlerID(named: "h") == a)
        for (number, durability) in [(1, Durability.ram), (2, .run), (3, .disk)] as [(UInt64, Durability)] {
            first.append(data([7]), as: Sequence(number), for: [a], durability: durability)
        }
        first.setEntry(StoredEntry(key: StoredEntry.Key(handler: a, source: "alarm", id: "tea"), value: [1]))
        #expect(first.commit() == [.committed])
        first.close(clean: true)

        let second = try journal(boot: "one")
        let found = second.recover()
        #expect(numbers(found) == [2, 3] && found.lost != nil && found.next > Sequence(3))
        #expect(second.handlerName(of: a) == "h" && second.entries().count == 1)
        second.recordLossesReported()
        second.close(clean: true)

        memory.forgetRun()
        let third = try journal(boot: "two")
        let left = third.recover()
        #expect(numbers(left) == [3] && left.lost != nil)
        #expect(third.handlerName(of: a) == "h" && third.entries().count == 1)
    }
}
