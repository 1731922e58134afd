// A time of the wall clock, to the microsecond.
internal import WakeModel

/// A time of the wall clock in UTC, in whole microseconds.
///
/// With Foundation, `Date(timeIntervalSince1970: timestamp.secondsSince1970)` is the same time.
public struct Timestamp: Comparable, Hashable, Sendable, CustomStringConvertible {
    /// Microseconds since 1970-01-01T00:00:00Z; negative before that.
    public let microsecondsSince1970: Int64

    /// A time so many microseconds after 1970-01-01T00:00:00Z.
    public init(microsecondsSince1970: Int64) { self.microsecondsSince1970 = microsecondsSince1970 }

    /// Now, as the wall clock shows it.
    public static var now: Timestamp { Timestamp(microsecondsSince1970: wallNow()) }

    /// Reads RFC 3339 in UTC, such as `2026-11-21T07:42:46.727125Z`. Nil for anything else.
    public init?(_ text: String) {
        guard let time = WallTime(rfc3339: text) else { return nil }
        microsecondsSince1970 = time.microseconds
    }

    /// Seconds since 1970-01-01T00:00:00Z, with the fraction.
    public var secondsSince1970: Double { Double(microsecondsSince1970) / 1e6 }

    /// RFC 3339 in UTC with microseconds: `2026-11-21T07:42:46.727125Z`.
    public var description: String { WallTime(microseconds: microsecondsSince1970).rfc3339 }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microsecondsSince1970 < right.microsecondsSince1970
    }

    /// Adds the duration; the result is earlier where that is negative.
    public static func + (left: Timestamp, right: Duration) -> Timestamp {
        let (seconds, attoseconds) = min(max(right, .seconds(-1 << 40)), .seconds(1 << 40)).components
        return Timestamp(
            microsecondsSince1970: left.microsecondsSince1970 + seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    }

    /// The time from `right` to `left`; negative where `left` is earlier.
    public static func - (left: Timestamp, right: Timestamp) -> Duration {
        .microseconds(left.microsecondsSince1970 - right.microsecondsSince1970)
    }
}
