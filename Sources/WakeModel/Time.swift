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

    /// Whether the system slept in between. The readings of the two clocks may be up to 0.1 s apart.
    public func hasSlept(since earlier: Moment) -> Bool { slept - earlier.slept > .milliseconds(100) }

    public static func + (left: Moment, right: TimeSpan) -> Moment {
        Moment(monotonic: left.monotonic + right, boottime: left.boottime + right)
    }
}

/// The wall clock, for people and their calendars: microseconds since 1970-01-01T00:00:00Z.
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
    package func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}

// The written form of wall-clock time, RFC 3339: read with any offset, written in UTC with microseconds.
extension WallTime {
    /// Reads `2026-11-21T07:42:46.727125Z` or `2026-11-21T08:42:46+01:00`; the fraction may have up to nine digits, of
    /// which six are kept. Nil for anything else, and for a day that its month does not have.
    public init?(rfc3339 text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, let offset = secondsEast(of: bytes),
            let fraction = fractionMicroseconds(bytes[19..<(bytes.count - (bytes.last == UInt8(ascii: "Z") ? 1 : 6))]),
            bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"), bytes[10] == UInt8(ascii: "T"),
            bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
            let year = decimal(bytes[0..<4]), let month = decimal(bytes[5..<7]), let day = decimal(bytes[8..<10]),
            let hour = decimal(bytes[11..<13]), let minute = decimal(bytes[14..<16]),
            let second = decimal(bytes[17..<19]), hour < 24, minute < 60, second < 60
        else { return nil }
        let days = daysSinceEpoch(year: year, month: month, day: day)
        guard (1...12).contains(month), civilDate(daysSinceEpoch: days) == (year, month, day) else { return nil }
        let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset
        self.init(microseconds: seconds * 1_000_000 + fraction)
    }

    /// `2026-11-21T07:42:46.727125Z`.
    public var rfc3339: String {
        var bytes: [UInt8] = []
        bytes.appendRFC3339(self)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension [UInt8] {
    /// Appends the RFC 3339 form without building a string: every event line has one.
    mutating func appendRFC3339(_ time: WallTime) {
        let (seconds, fraction) = time.microseconds.dividedFlooring(by: 1_000_000)
        let (days, secondOfDay) = seconds.dividedFlooring(by: 86_400)
        let (year, month, day) = civilDate(daysSinceEpoch: days)
        append(contentsOf: "0000-00-00T00:00:00.000000Z".utf8)
        let end = count
        put(year, width: 4, before: end - 23)
        put(month, width: 2, before: end - 20)
        put(day, width: 2, before: end - 17)
        put(secondOfDay / 3_600, width: 2, before: end - 14)
        put(secondOfDay / 60 % 60, width: 2, before: end - 11)
        put(secondOfDay % 60, width: 2, before: end - 8)
        put(fraction, width: 6, before: end - 1)
    }

    private mutating func put(_ value: Int64, width: Int, before end: Int) {
        var rest = UInt32(truncatingIfNeeded: value)
        var place = end
        while place > end - width {
            place -= 1
            self[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}

/// Reads the offset that `Z`, `+01:00` or `-03:30` at the end means; nil where the text ends otherwise.
private func secondsEast(of text: [UInt8]) -> Int64? {
    if text.last == UInt8(ascii: "Z") { return 0 }
    let offset = text.suffix(6)
    guard text.count >= 25, let sign = offset.first, offset[offset.startIndex + 3] == UInt8(ascii: ":"),
        sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"),
        let hours = decimal(offset.dropFirst().prefix(2)), let minutes = decimal(offset.suffix(2)), hours < 24,
        minutes < 60
    else { return nil }
    return (sign == UInt8(ascii: "-") ? -1 : 1) * (hours * 3_600 + minutes * 60)
}

/// Reads `.727125`, or nothing, which is zero.
private func fractionMicroseconds(_ text: ArraySlice<UInt8>) -> Int64? {
    if text.isEmpty { return 0 }
    let digits = text.dropFirst()
    guard text.first == UInt8(ascii: "."), (1...9).contains(digits.count), decimal(digits) != nil else { return nil }
    return decimal(digits.prefix(6) + Array(repeating: UInt8(ascii: "0"), count: max(0, 6 - digits.count)))
}

private func decimal(_ digits: ArraySlice<UInt8>) -> Int64? {
    var value: Int64 = 0
    for digit in digits {
        guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
        value = value * 10 + Int64(digit - UInt8(ascii: "0"))
    }
    return value
}

/// Proleptic Gregorian calendar, after Howard Hinnant's "chrono-compatible low-level date algorithms".
package func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = shifted.dividedFlooring(by: 400)
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}

package func civilDate(daysSinceEpoch days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = (days + 719_468).dividedFlooring(by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
}

extension Int64 {
    package func dividedFlooring(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
