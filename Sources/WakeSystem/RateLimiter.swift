// A token bucket: a burst, a rate, and a count of refusals.
import WakeModel

public struct RateLimiter: Sendable {
    private let perSecond: Int64
    private let burst: Int64
    /// In billionths of a token, so that even the shortest time between two calls counts.
    private var level: Int64
    private var last: Instant
    private var turnedAway = 0

    /// - Parameters:
    ///   - perSecond: tokens added each second, 1 to 1,000,000.
    ///   - burst: the most tokens that the bucket holds, 1 to 1,000,000,000; it starts full.
    public init(perSecond: Int, burst: Int, now: Instant) {
        self.perSecond = Int64(min(max(perSecond, 1), 1_000_000))
        self.burst = Int64(min(max(burst, 1), 1_000_000_000)) * 1_000_000_000
        level = self.burst
        last = now
    }

    /// Consumes one token, or `count` of them together; false, and none consumed, where there are not enough.
    public mutating func consume(_ count: Int = 1, now: Instant) -> Bool {
        refill(now: now)
        let cost = Int64(count) * 1_000_000_000
        guard cost <= level else {
            turnedAway += 1
            return false
        }
        level -= cost
        return true
    }

    /// Whether there is less than one whole token.
    public mutating func isEmpty(now: Instant) -> Bool {
        refill(now: now)
        return level < 1_000_000_000
    }

    /// Consumes tokens that may not be there yet: the level becomes negative, and new tokens fill that up first.
    public mutating func draw(_ count: Int = 1, now: Instant) {
        refill(now: now)
        level -= Int64(count) * 1_000_000_000
    }

    /// The refusals since the last call.
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
