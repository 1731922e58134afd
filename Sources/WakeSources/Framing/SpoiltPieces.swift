// How often it is reported that bytes of a device are no message: handlers get the bytes each time.
import WakeModel

struct SpoiltPieces: Hashable, Sendable {
    private static let interval = TimeSpan.seconds(10)
    var reportedAt: Instant?
    /// How many came since.
    private var count = 0

    /// The sentence to report now; nil so soon after the last one.
    mutating func record(_ why: String, at now: Instant) -> String? {
        count += 1
        if let reportedAt, now - reportedAt < Self.interval { return nil }
        defer { (reportedAt, count) = (now, 0) }
        return count > 1 ? "\(why); \(count) pieces like it since the last report" : why
    }
}
