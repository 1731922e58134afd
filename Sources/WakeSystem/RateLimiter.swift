// A token bucket: so many at once, so many a second, and a count of what was turned away.
import WakeModel

public struct RateLimiter: Sendable {
    private let perSecond: Int64
    private let burst: Int64
    /// In billionths of a token, so that no time between two calls is too short to count.
    private var level: Int64
    private var last: Instant
    private var turnedAway = 0

    /// - Parameters:
    ///   - perSecond: tokens that flow in a second, 1 to 1,000,000.
    ///   - burst: how many the bucket holds, 1 to 1,000,000,000; it starts full.
    public init(perSecond: Int, burst: Int, now: Instant) {
        self.perSecond = Int64(min(max(perSecond, 1), 1_000_000))
        self.burst = Int64(min(max(burst, 1), 1_000_000_000)) * 1_000_000_000
        level = self.burst
        last = now
    }

    /// Takes one token, or `count` of them together; false, and nothing taken, where there are not enough.
    public mutating func take(_ count: Int = 1, now: Instant) -> Bool {
        refill(now: now)
        let cost = Int64(count) * 1_000_000_000
        guard cost <= level else {
            turnedAway += 1
            return false
        }
        level -= cost
        return true
    }

    /// Whether there is not one whole token.
    public mutating func isEmpty(now: Instant) -> Bool {
        refill(now: now)
        return level < 1_000_000_000
    }

    /// Takes tokens that may not be there: then they are owed, and what flows in pays for them first.
    public mutating func draw(_ count: Int = 1, now: Instant) {
        refill(now: now)
        level -= Int64(count) * 1_000_000_000
    }

    /// How often tokens were refused since this was last asked.
    public mutating func drainRefused() -> Int {
        defer { turnedAway = 0 }
        return turnedAway
    }

    private mutating func refill(now: Instant) {
        let elapsed = max((now - last).nanoseconds, 0)
        last = max(now, last)
        let (gained, overflow) = elapsed.multipliedReportingOverflow(by: perSecond)
        level = overflow || gained >= burst - level ? burst : level + gained
    }
}
