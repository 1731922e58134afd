// How many messages each token may still send to each inbox: so many a minute, hour or day, as the manifest has it.
import WakeAgenda
import WakeModel

struct SenderAllowances {
    struct Sender: Hashable {
        var token: String
        var handler: HandlerID
    }

    /// When each may send all that it may in one period again. Each message puts that off by its part of the period.
    private var wholeAt: [Sender: Instant] = [:]

    /// There are fewer tokens than this; those that were revoked make room.
    static let capacity = 1_024

    /// Counts one. Nil where it may come; else after how long, and it is not counted.
    mutating func delay(_ sender: Sender, _ rate: InboxRule.Frequency, at now: Instant) -> TimeSpan? {
        let begun = max(wholeAt[sender] ?? now, now)
        let next = begun - rate.interval * (rate.count - 1)
        guard next <= now else { return next - now }
        if wholeAt[sender] == nil { makeRoom(at: now) }
        wholeAt[sender] = begun + rate.interval
        return nil
    }

    private mutating func makeRoom(at now: Instant) {
        guard wholeAt.count >= Self.capacity else { return }
        wholeAt = wholeAt.filter { $0.value > now }
        guard wholeAt.count >= Self.capacity, let first = wholeAt.min(by: { $0.value < $1.value }) else { return }
        wholeAt[first.key] = nil
    }
}
