// A date and a time of day without a zone, and the days of the week.
import WakeModel

/// The time of a clock on the wall with a calendar beside it. A ``Zone`` maps it to an instant.
public struct CivilTime: Hashable, Comparable, Sendable {
    /// Since 1970-01-01T00:00:00 of the same clock, as if its offset never changed.
    package var seconds: Int64

    package init(seconds: Int64) { self.seconds = seconds }

    public init(year: Int64, month: Int64, day: Int64, hour: Int64 = 0, minute: Int64 = 0, second: Int64 = 0) {
        let days = daysSinceEpoch(year: year, month: month, day: day)
        seconds = days * CivilTime.secondsOfDay + hour * 3_600 + minute * 60 + second
    }

    package static let secondsOfDay: Int64 = 86_400

    public static func < (left: CivilTime, right: CivilTime) -> Bool { left.seconds < right.seconds }
}

/// In the order of ISO 8601, so that the raw value is the number of days since Monday.
public enum Weekday: Int64, Hashable, Sendable, CaseIterable, Comparable {
    case monday, tuesday, wednesday, thursday, friday, saturday, sunday

    /// 1970-01-01 was a Thursday.
    init(daysSinceEpoch days: Int64) {
        self = Self(rawValue: (days + 3).dividedFlooring(by: 7).remainder) ?? .monday
    }

    /// `mon`, as alarms write it.
    public var word: String {
        switch self {
        case .monday: "mon"
        case .tuesday: "tue"
        case .wednesday: "wed"
        case .thursday: "thu"
        case .friday: "fri"
        case .saturday: "sat"
        case .sunday: "sun"
        }
    }

    init?(word: String) {
        guard let day = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = day
    }

    public static func < (left: Weekday, right: Weekday) -> Bool { left.rawValue < right.rawValue }
}
