// How much a handler may say: what its events call for, and beyond that so many lines and KiB a second.
import WakeModel
import WakeSystem

/// Lines, and each KiB of them, are paid for first out of a bucket that time fills, then out of what the events given to the process
/// are worth. So a handler that answers what it is given always can, at any rate, and a flood costs the others next to nothing,
/// whether its lines are many or long.
package struct LineAllowance {
    /// Far more than a program has to say by itself, such as checkpoints, tasks and requests to a device at 1 kHz; at some
    /// 10 µs a line, one hundredth of a processor. As KiB it is 1 MiB a second.
    package static let linesPerSecond = 1_000
    /// A start-up may say all it knows at once.
    static let burst = 4_000
    /// An acknowledgement, a checkpoint, a task's begin and end, a read and a write are six.
    package static let linesPerEvent = 8
    /// What the largest batch is worth, so that years of well-paid silence do not pay for a flood.
    static let creditLimit = linesPerEvent * 1_024

    private var bucket: RateLimiter
    private var credit = 0
    /// Bytes that were read and are less than a KiB together.
    private var unpaidBytes = 0

    init(now: Instant) { bucket = RateLimiter(perSecond: Self.linesPerSecond, burst: Self.burst, now: now) }

    mutating func grant(events: Int) { credit = min(credit + events * Self.linesPerEvent, Self.creditLimit) }

    mutating func isSpent(now: Instant) -> Bool { credit == 0 && bucket.isEmpty(now: now) }

    /// Pays for a line that is heard in any case; where nothing is left to pay with, it is owed.
    mutating func payLine(now: Instant) { pay(1, now: now) }

    /// Pays for bytes that were read, whatever lines they make.
    mutating func pay(bytes: Int, now: Instant) {
        let (kibibytes, rest) = (unpaidBytes + bytes).quotientAndRemainder(dividingBy: 1_024)
        unpaidBytes = rest
        if kibibytes > 0 { pay(kibibytes, now: now) }
    }

    private mutating func pay(_ count: Int, now: Instant) {
        guard credit > 0, bucket.isEmpty(now: now) else { return bucket.draw(count, now: now) }
        credit = max(credit - count, 0)
    }
}
