// Keeps the journal small and reserves its numbers, at times when no event waits for it.
import WakeJournal
import WakeModel

/// To be run only while all handlers are frozen, because it costs much.
struct JournalMaintenance {
    private var commits = 0
    /// Emptying the write-ahead log costs as much as a hundred commits, so it is done once for many.
    private static let commitsPerCompaction = 1_024
    /// Numbers reserved ahead of need.
    private static let reservation: UInt64 = 4_096

    mutating func countCommit() { commits += 1 }

    func isDue(for journal: Journal, next: Sequence) -> Bool {
        commits >= Self.commitsPerCompaction || journal.needsReservation(next: next)
    }

    /// Returns what went wrong, and the bytes by which the journal is over its cap.
    mutating func run(on journal: Journal, next: Sequence) -> (outcomes: [CommitOutcome], excess: Int) {
        var outcomes: [CommitOutcome] = []
        if journal.needsReservation(next: next) {
            // Synced to disk, which is not to happen on the way of an event.
            journal.reserve(upTo: Sequence(next.rawValue + Self.reservation))
            outcomes = journal.commit()
        }
        guard commits >= Self.commitsPerCompaction else { return (outcomes, 0) }
        commits = 0
        let compaction = journal.compact()
        return (outcomes + compaction.outcomes, compaction.excess)
    }
}
