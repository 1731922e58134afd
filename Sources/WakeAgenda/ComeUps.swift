// When the machine came up or resumed: what was due before goes by the first time after it, however often it naps again.
import WakeModel

/// Instants of CLOCK_BOOTTIME.
struct ComeUps: Hashable, Sendable {
    private(set) var latest: Instant
    /// Instants whose spread may not be over yet, the earliest first.
    private var recent: [Instant]
    /// Entries that were due before this have had their spread.
    private var settled: Instant?

    init(at instant: Instant) { (latest, recent) = (instant, [instant]) }

    /// For a bridge that restarted in the same boot: entries due by now were spread before.
    init(settledAt instant: Instant) { (latest, recent, settled) = (.zero, [], instant) }

    mutating func add(_ instant: Instant) {
        let over = recent.prefix { $0 + AgendaStep.herd <= instant }
        settled = over.last ?? settled
        recent.removeFirst(over.count)
        recent.append(instant)
        latest = instant
    }

    /// Nil for what fell due since, and for what needs no spread any more.
    func first(after due: Instant) -> Instant? {
        if let settled, due < settled { return nil }
        return recent.first { due < $0 }
    }
}
