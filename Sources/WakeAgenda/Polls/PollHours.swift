// In which hours of the week polls find something: learned from their results, and slowly forgotten.
import WakeModel

struct PollHours: Hashable, Sendable {
    struct Bin: Hashable, Sendable {
        /// In thousandths, of polls with a result.
        var polls: Int64 = 0
        var useful: Int64 = 0
        /// Different weeks that gave a sample.
        var weeks: Int64 = 0
        /// The week up to which the rest is faded.
        var week: Int64

        /// Each week counts four fifths of the next.
        mutating func fade(to now: Int64) {
            for _ in 0..<min(max(now - week, 0), 64) {
                polls = polls * 4 / 5
                useful = useful * 4 / 5
            }
            week = max(week, now)
            if polls < 100 { (polls, useful, weeks) = (0, 0, 0) }
        }

        /// A bin that has faded to less than one poll proves nothing any more: then the hour is tried again.
        var isQuiet: Bool { weeks >= 4 && polls >= 1000 && useful * 20 < polls }
    }

    static let count: Int64 = 168
    private static let hour: Int64 = 3_600_000_000
    /// By the hour of the week in UTC; the first is Thursday's midnight, as 1970 began.
    private(set) var bins: [Int64: Bin] = [:]

    mutating func learn(isUseful: Bool, at time: WallTime) {
        let (index, week) = Self.place(of: time)
        var bin = bins[index] ?? Bin(week: week)
        let isNewWeek = bin.polls == 0 || week > bin.week
        bin.fade(to: week)
        bin.polls += 1000
        if isUseful { bin.useful += 1000 }
        if isNewWeek { bin.weeks += 1 }
        bins[index] = bin
    }

    func isQuiet(_ time: WallTime) -> Bool {
        let (index, week) = Self.place(of: time)
        guard var bin = bins[index] else { return false }
        bin.fade(to: week)
        return bin.isQuiet
    }

    /// The pace of the hour that a poll is due in.
    func pace(at time: WallTime, slot: TimeSpan) -> PendingEntry.Pace {
        let (index, week) = Self.place(of: time)
        var bin = bins[index] ?? Bin(week: week)
        bin.fade(to: week)
        return PendingEntry.Pace(
            slot: slot, hour: Self.name(of: time), polls: bin.polls, useful: bin.useful, isQuiet: bin.isQuiet)
    }

    /// The end of the quiet hours around `time`; nil if it is in none.
    func quietEnd(of time: WallTime) -> WallTime? {
        var end = time
        for _ in 0..<Self.count where isQuiet(end) {
            end = WallTime(microseconds: (end.microseconds.flooredDivision(by: Self.hour) + 1) * Self.hour)
        }
        return end == time ? nil : end
    }

    /// `Tue 03:00`, in UTC.
    static func name(of time: WallTime) -> String {
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let index = Int(place(of: time).index)
        let hour = index % 24
        return "\(days[index / 24]) \(hour < 10 ? "0" : "")\(hour):00"
    }

    private static func place(of time: WallTime) -> (index: Int64, week: Int64) {
        let hours = time.microseconds.flooredDivision(by: hour)
        let week = hours.flooredDivision(by: count)
        return (hours - week * count, week)
    }
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> Int64 {
        self >= 0 ? self / divisor : (self + 1) / divisor - 1
    }
}
