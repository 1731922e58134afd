// Limits the messages of each token to each inbox, to as many a minute, hour or day as the manifest accepts.
import WakeAgenda
import WakeModel

struct SenderAllowances {
    struct Sender: Hashable {
        var token: String
        var handler: HandlerID
    }

    /// When each sender has its whole allowance again. Each message postpones that by its share of the period.
    private var wholeAt: [Sender: Instant] = [:]

    /// There are fewer valid tokens than this, so revoked ones make room.
    static let capacity = 1_024

    /// Counts a message and returns nil where it is allowed. Otherwise returns how long the sender must wait, and
    /// counts nothing.
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
