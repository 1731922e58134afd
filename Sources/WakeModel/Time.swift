// Time: spans, instants on one clock, the pair of clocks that a decision needs, and the wall clock for display.

/// A length of time in whole nanoseconds; about ±292 years.
public struct TimeSpan: Hashable, Comparable, Sendable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    public static let zero = TimeSpan(nanoseconds: 0)
    public static func microseconds(_ count: Int64) -> TimeSpan { TimeSpan(nanoseconds: saturating(count, 1000)) }
    public static func milliseconds(_ count: Int64) -> TimeSpan { TimeSpan(nanoseconds: saturating(count, 1_000_000)) }
    public static func seconds(_ count: Int64) -> TimeSpan { TimeSpan(nanoseconds: saturating(count, 1_000_000_000)) }

    /// Whole milliseconds, rounded towards zero.
    public var wholeMilliseconds: Int64 { nanoseconds / 1_000_000 }
    public var seconds: Double { Double(nanoseconds) / 1e9 }

    public static func < (left: TimeSpan, right: TimeSpan) -> Bool { left.nanoseconds < right.nanoseconds }
    public static func + (left: TimeSpan, right: TimeSpan) -> TimeSpan {
        TimeSpan(nanoseconds: left.nanoseconds.addingSaturating(right.nanoseconds))
    }
    public static func - (left: TimeSpan, right: TimeSpan) -> TimeSpan {
        TimeSpan(nanoseconds: left.nanoseconds.addingSaturating(-right.nanoseconds))
    }
    public static func * (left: TimeSpan, factor: Int64) -> TimeSpan {
        TimeSpan(nanoseconds: saturating(left.nanoseconds, factor))
    }

    private static func saturating(_ count: Int64, _ factor: Int64) -> Int64 {
        let (product, overflow) = count.multipliedReportingOverflow(by: factor)
        guard overflow else { return product }
        return (count < 0) == (factor < 0) ? .max : .min
    }
}

/// An instant on one clock, in nanoseconds since that clock's zero.
public struct Instant: Hashable, Comparable, Sendable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    public static let zero = Instant(nanoseconds: 0)

    /// The earlier of two instants on one clock; nil where both are nil.
    public static func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
    public static func + (left: Instant, right: TimeSpan) -> Instant {
        Instant(nanoseconds: left.nanoseconds.addingSaturating(right.nanoseconds))
    }
    public static func - (left: Instant, right: TimeSpan) -> Instant {
        Instant(nanoseconds: left.nanoseconds.addingSaturating(-right.nanoseconds))
    }
    public static func - (left: Instant, right: Instant) -> TimeSpan {
        TimeSpan(nanoseconds: left.nanoseconds.addingSaturating(-right.nanoseconds))
    }
}

/// Now, on the two clocks that decisions use: execution is measured on CLOCK_MONOTONIC, which stops in system sleep;
/// waiting is measured on CLOCK_BOOTTIME, which does not.
public struct Moment: Hashable, Sendable {
    public var monotonic: Instant
    public var boottime: Instant

    public init(monotonic: Instant, boottime: Instant) {
        self.monotonic = monotonic
        self.boottime = boottime
    }

    /// How long the system has slept since it was started.
    public var slept: TimeSpan { boottime - monotonic }

    /// Whether the system slept in between. The readings of the two clocks may lie up to 0.1 s apart.
    public func hasSlept(since earlier: Moment) -> Bool { slept - earlier.slept > .milliseconds(100) }

    public static func + (left: Moment, right: TimeSpan) -> Moment {
        Moment(monotonic: left.monotonic + right, boottime: left.boottime + right)
    }
}

/// The wall clock, for display only: microseconds since 1970-01-01T00:00:00Z.
public struct WallTime: Hashable, Comparable, Sendable {
    public var microseconds: Int64

    public init(microseconds: Int64) { self.microseconds = microseconds }

    public static func < (left: WallTime, right: WallTime) -> Bool { left.microseconds < right.microseconds }
    public static func + (left: WallTime, right: TimeSpan) -> WallTime {
        WallTime(microseconds: left.microseconds.addingSaturating(right.nanoseconds / 1000))
    }
    public static func - (left: WallTime, right: TimeSpan) -> WallTime {
        WallTime(microseconds: left.microseconds.addingSaturating(-(right.nanoseconds / 1000)))
    }
}

/// When an event arrived, on every clock that later decisions need.
public struct Stamp: Hashable, Sendable {
    public var moment: Moment
    public var wall: WallTime
    /// False until the wall clock is set after boot; a Raspberry Pi 4 has no battery-backed clock.
    public var isClockSynchronized: Bool

    public init(moment: Moment, wall: WallTime, isClockSynchronized: Bool = true) {
        self.moment = moment
        self.wall = wall
        self.isClockSynchronized = isClockSynchronized
    }
}

extension Int64 {
    fileprivate func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
