// How often messages may wake a handler: a bucket of wakes that fills as time passes.
import WakeModel

/// A bucket as one instant: when it is full again. Each wake postpones that by the interval.
struct MessageBucket: Hashable, Sendable {
    /// On CLOCK_BOOTTIME.
    var fullAt: Instant

    /// When there is a wake in it: now, or later.
    func nextWake(_ rule: InboxRule, at now: Instant) -> Instant {
        max(now, fullAt - rule.interval * (rule.burst - 1))
    }

    /// It never owes more than a whole bucket contains, whatever it had under another rule.
    mutating func keep(within rule: InboxRule, at now: Instant) {
        fullAt = min(fullAt, now + rule.interval * rule.burst)
    }

    /// Its message was never delivered.
    mutating func returnWake(_ rule: InboxRule) { fullAt = fullAt - rule.interval }

    mutating func removeWake(_ rule: InboxRule, at now: Instant) {
        fullAt = max(fullAt, now) + rule.interval
        keep(within: rule, at: now)
    }
}
