// Limits a handler's replies: eight for each event, and beyond that a number of lines and KiB a second.
import WakeModel
import WakeSystem

/// Each line and each KiB is paid from a token bucket first, then from the credit of the delivered events. So a handler can always
/// answer its events, at any rate. A flood of many or of long lines costs the other handlers next to nothing.
package struct LineAllowance {
    /// Enough for checkpoints, tasks and device requests at 1 kHz. At some 10 µs a line it is one hundredth of a processor. As KiB it
    /// is 1 MiB a second.
    package static let linesPerSecond = 1_000
    /// For the replies of a start.
    static let burst = 4_000
    /// An acknowledgement, a checkpoint, a task's begin and end, a read and a write are six.
    package static let linesPerEvent = 8
    /// The credit of the largest batch, so that years of events do not pay for a flood.
    static let creditLimit = linesPerEvent * 1_024

    private var bucket: RateLimiter
    private var credit = 0
    /// Bytes read, less than a KiB together.
    private var unpaidBytes = 0

    init(now: Instant) { bucket = RateLimiter(perSecond: Self.linesPerSecond, burst: Self.burst, now: now) }

    mutating func grant(events: Int) { credit = min(credit + events * Self.linesPerEvent, Self.creditLimit) }

    mutating func isSpent(now: Instant) -> Bool { credit == 0 && bucket.isEmpty(now: now) }

    /// Pays for a line that is read in any case, even below zero.
    mutating func payLine(now: Instant) { pay(1, now: now) }

    /// Pays for bytes, whatever lines they make.
    mutating func pay(bytes: Int, now: Instant) {
        let (kibibytes, rest) = (unpaidBytes + bytes).quotientAndRemainder(dividingBy: 1_024)
        unpaidBytes = rest
        if kibibytes > 0 { pay(kibibytes, now: now) }
    }

    /// Pays for the bytes of an answer beyond a KiB, which its question has paid for.
    mutating func payAnswer(bytes: Int, now: Instant) {
        if bytes > Self.freeAnswer { pay(bytes: bytes - Self.freeAnswer, now: now) }
    }

    private static let freeAnswer = 1_024

    private mutating func pay(_ count: Int, now: Instant) {
        guard credit > 0, bucket.isEmpty(now: now) else { return bucket.draw(count, now: now) }
        credit = max(credit - count, 0)
    }
}
