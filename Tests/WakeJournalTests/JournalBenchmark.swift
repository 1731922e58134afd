// Prints what the hot path costs; asserts nothing, because the machine is shared.
import Testing
import WakeModel

@testable import WakeJournal

struct JournalBenchmark {
    @Test("The cost of one event, and of an event in batches of 64, is printed")
    func cost() throws {
        let scratch = Scratch()
        let journal = try scratch.journal()
        let handler = journal.handlerID(named: "a")
        var next = journal.recover().next
        for size in [1, 64] {
            let turns = 20_000 / size
            let time = ContinuousClock().measure {
                for turn in 1...turns {
                    let seqs = (0..<size).map { Sequence(next.rawValue + UInt64($0)) }
                    for seq in seqs { journal.append(data([0, 72]), as: seq, owedTo: [handler], durability: .run) }
                    journal.lease(seqs, to: handler)
                    _ = journal.commit()
                    journal.acknowledge(seqs, by: handler)
                    _ = journal.commit()
                    next = Sequence(next.rawValue + UInt64(size))
                    if turn % (512 / size) == 0 { _ = journal.compact() }
                }
            }
            print("journal, batches of \(size): \(time / (turns * size)) an event")
        }
    }
}
