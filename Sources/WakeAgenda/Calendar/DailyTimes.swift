// Times of day on certain days of the week: which comes next, and how many are in a stretch of time, computed without a
// look at each.
import WakeModel

public struct DailyTimes: Hashable, Sendable {
    /// Seconds since midnight; in order, each once, never empty.
    public let times: [Int64]
    /// Never empty.
    public let days: Set<Weekday>

    /// Nil where there is no time or no day.
    public init?(times: some Collection<Int64>, days: Set<Weekday> = Set(Weekday.allCases)) {
        self.times = Set(times).sorted()
        self.days = days
        guard !self.times.isEmpty, !days.isEmpty else { return nil }
    }
}

// By civil seconds, as if every day had 24 hours.
extension DailyTimes {
    /// How many there are up to the civil second and with it, counted from an arbitrary one on.
    func count(through civil: Int64) -> Int64 {
        let (day, second) = civil.dividedFlooring(by: CivilTime.secondsOfDay)
        let today = days.contains(Weekday(daysSinceEpoch: day)) ? Int64(times.prefix { $0 <= second }.count) : 0
        return daysBefore(day) * Int64(times.count) + today
    }

    /// Counted from a Monday on.
    private func daysBefore(_ day: Int64) -> Int64 {
        let (weeks, weekday) = (day + 3).dividedFlooring(by: 7)
        return weeks * Int64(days.count) + Int64(days.count { $0.rawValue < weekday })
    }

    func next(after civil: Int64) -> Int64 {
        let (today, second) = civil.dividedFlooring(by: CivilTime.secondsOfDay)
        for day in today...(today + 7) where days.contains(Weekday(daysSinceEpoch: day)) {
            if let time = times.first(where: { day > today || $0 > second }) {
                return day * CivilTime.secondsOfDay + time
            }
        }
        return .max
    }

    func last(notAfter civil: Int64) -> Int64 {
        let (today, second) = civil.dividedFlooring(by: CivilTime.secondsOfDay)
        for day in stride(from: today, through: today - 7, by: -1) where days.contains(Weekday(daysSinceEpoch: day)) {
            if let time = times.last(where: { day < today || $0 <= second }) {
                return day * CivilTime.secondsOfDay + time
            }
        }
        return .min
    }
}

// In a zone. Times that its clock leaves out fall together at the end of their gap, and count once there.
extension DailyTimes {
    func next(after time: WallTime, in zone: Zone) -> WallTime {
        WallTime(seconds: zone.instant(reaching: next(after: zone.furthest(by: time.wholeSeconds))))
    }

    /// The last one after `start` and up to `end`, and how many there are; nil where there is none.
    func passed(after start: WallTime, upTo end: WallTime, in zone: Zone) -> Passage<WallTime>? {
        let (first, last) = (zone.furthest(by: start.wholeSeconds), zone.furthest(by: end.wholeSeconds))
        let count = count(through: last) - count(through: first)
        guard start < end, count > 0 else { return nil }
        let joined = joined(after: start.wholeSeconds, upTo: end.wholeSeconds, in: zone)
        let due = zone.instant(reaching: self.last(notAfter: last))
        return Passage(last: WallTime(seconds: due), count: count - joined)
    }

    /// How many fall together with another one.
    private func joined(after start: Int64, upTo end: Int64, in zone: Zone) -> Int64 {
        var result: Int64 = 0
        var shift = zone.shift(after: start)
        while let found = shift, found.at <= end {
            if found.isForward {
                let before = zone.furthest(by: found.at - 1)
                let inGap = count(through: max(before, found.at + found.after)) - count(through: before)
                result += max(0, inGap - 1)
            }
            shift = zone.shift(after: found.at)
        }
        return result
    }
}

/// Nominal instants that have passed.
struct Passage<Time: Hashable & Sendable>: Hashable, Sendable {
    var last: Time
    /// At least 1.
    var count: Int64
}
