// What is scheduled: kept on disk, in one commit with the events that it causes, over crashes, full disks and damage.
import TestBench
import Testing
import WakeModel

@testable import WakeJournal

struct AgendaRowTests {
    let scratch = Scratch()

    private func entry(_ id: String, _ value: String = "{}") -> StoredEntry {
        StoredEntry(key: StoredEntry.Key(handler: a, source: "alarm", id: id), value: Array(value.utf8))
    }

    private func fired(_ name: String = "alarm.fired", _ budgetClass: BudgetClass = .data) -> DeviceEvent {
        var event = data([])
        event.kind = .occasion(Occasion(name: name, budgetClass: budgetClass, payload: Array("{\"id\":\"é\"}".utf8)))
        return event
    }

    @Test("an entry that is set, changed and removed is so after a crash")
    func survives() throws {
        var journal: Journal? = try scratch.ready()
        for id in ["pill", "tea", "bus"] { journal?.setEntry(entry(id)) }
        _ = journal?.commit()
        journal?.setEntry(entry("tea", "{\"due\":1}"))
        journal?.removeEntry(entry("bus").key)
        _ = journal?.commit()
        journal?.setEntry(entry("never"))
        journal = nil
        #expect(try scratch.journal().entries() == [entry("pill"), entry("tea", "{\"due\":1}")])
        scratch.reboot()
        #expect(try scratch.journal(boot: "next").entries().count == 2)
    }

    @Test("an alarm that has fired and its next time are on disk together, or neither is")
    func isOneCommit() throws {
        let library = try scratch.crashLibrary()
        var most = 0
        for write in stride(from: 1, through: 600, by: 13) {
            let scratch = Scratch()
            shell("DEATH_AFTER=\(write) LD_PRELOAD=\(library) '\(try crasher())' \(scratch.path) agenda")
            let journal = try scratch.journal()
            let rows = journal.entries().map { String(decoding: $0.value, as: UTF8.self) }
            let pending = journal.recover().pending[a]?.count ?? 0
            #expect(rows == [] && pending == 0 || rows == ["\(pending)"], "killed before write \(write)")
            most = max(most, pending)
        }
        #expect(most > 5)
    }

    @Test(
        "an event of any class is read as it was written",
        arguments: [BudgetClass.data, .content, .work(longest: .seconds(600)), .openEnded(idle: .seconds(5))],
        [Durability.ram, .run, .disk])
    func events(budgetClass: BudgetClass, durability: Durability) throws {
        let event = fired("job.due", budgetClass)
        var journal: Journal? = try scratch.ready()
        journal?.append(event, as: Sequence(1), for: [a], durability: durability)
        _ = journal?.commit()
        #expect(journal?.event(Sequence(1)) == event)
        guard durability != .ram else { return }
        journal = nil
        let next = try scratch.journal()
        let recovered = next.recover().pending[a]
        #expect(
            recovered?.map(\.content) == [.occasion(budgetClass, Occasion.Reason(rawValue: "job"))]
                && next.event(Sequence(1)) == event)
    }

    @Test("while the disk cannot be written, entries wait in memory, and are written when it can")
    func waitsInMemory() throws {
        var journal: Journal? = try scratch.ready()
        let locks = [try scratch.lock(scratch.disk)]
        journal?.setEntry(entry("pill"))
        _ = journal?.commit()
        scratch.free(locks)
        _ = journal?.compact()
        journal = nil
        #expect(try scratch.journal().entries() == [entry("pill")])
    }

    @Test("an entry that is not what was written is not believed, and the operator is told")
    func damaged() throws {
        var journal: Journal? = try scratch.ready()
        for id in ["pill", "tea"] { journal?.setEntry(entry(id)) }
        journal?.close(clean: true)
        journal = nil
        try scratch.tamper(scratch.disk, "UPDATE agenda SET value='{\"due\":9}' WHERE id='tea'")
        let next = try scratch.journal()
        #expect(next.entries() == [entry("pill")])
        #expect(next.recover().losses.contains { $0.sentence.contains("cannot be believed and do not come due") })
    }
}
