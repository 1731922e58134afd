// Counts wrong tokens by network in bounded memory: past ten in a minute their refusals are postponed.
import WakeModel
import WakeSystem

struct WrongTokens {
    /// The number of wrong tokens in a period that are refused at once.
    static let free = 10
    static let period = TimeSpan.seconds(60)
    /// Each further refusal is postponed for so long.
    static let delay = TimeSpan.seconds(1)
    /// The most refusals that wait at a time; further ones go out at once and close their connections.
    static let mostPostponed = 8
    /// How many networks are counted at most.
    static let capacity = 256

    enum Judgement: Hashable {
        case refuseNow
        /// The first that is postponed in this period.
        case refuseLaterAndLog
        case refuseLater
    }

    private struct Count {
        var wrong: Int
        var since: Instant
    }

    private var counts: [[UInt8]: Count] = [:]

    var networks: Int { counts.count }

    /// Counts one wrong token and decides about its refusal.
    mutating func count(from address: NetworkAddress?, at now: Instant) -> Judgement {
        let place = address?.network ?? []
        var count = counts[place] ?? Count(wrong: 0, since: now)
        if now - count.since > Self.period { count = Count(wrong: 0, since: now) }
        count.wrong += 1
        if counts[place] == nil { makeRoom(at: now) }
        counts[place] = count
        if count.wrong <= Self.free { return .refuseNow }
        return count.wrong == Self.free + 1 ? .refuseLaterAndLog : .refuseLater
    }

    private mutating func makeRoom(at now: Instant) {
        guard counts.count >= Self.capacity else { return }
        counts = counts.filter { now - $0.value.since <= Self.period }
        guard counts.count >= Self.capacity, let oldest = counts.min(by: { $0.value.since < $1.value.since }) else {
            return
        }
        counts[oldest.key] = nil
    }
}
