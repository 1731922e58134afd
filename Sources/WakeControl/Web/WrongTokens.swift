// How many wrong tokens came from where: bounded in memory, and the right token is never kept out by wrong ones.
import WakeModel
import WakeSystem

struct WrongTokens {
    /// So many in a period are answered at once.
    static let free = 10
    static let period = TimeSpan.seconds(60)
    /// After those, every refusal is postponed for so long.
    static let delay = TimeSpan.seconds(1)
    /// The addresses that are remembered.
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

    var addresses: Int { counts.count }

    /// Counts one, and says what becomes of it.
    mutating func count(from address: NetworkAddress?, at now: Instant) -> Judgement {
        let place = Self.place(of: address)
        var count = counts[place] ?? Count(wrong: 0, since: now)
        if now - count.since > Self.period { count = Count(wrong: 0, since: now) }
        count.wrong += 1
        if counts[place] == nil { makeRoom(at: now) }
        counts[place] = count
        if count.wrong <= Self.free { return .refuseNow }
        return count.wrong == Self.free + 1 ? .refuseLaterAndLog : .refuseLater
    }

    /// One who has IPv6 has a network of it.
    private static func place(of address: NetworkAddress?) -> [UInt8] {
        guard let bytes = address?.bytes else { return [] }
        return bytes.count == 4 ? bytes : Array(bytes.prefix(8))
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
