// A time zone as data: when its offset changes, which instant a civil time is, and how far its clock has come.
import WakeModel

public struct Zone: Hashable, Sendable {
    /// A change of the offset. Offsets are seconds east of UTC, and instants seconds since 1970-01-01T00:00:00Z.
    struct Shift: Hashable, Sendable {
        var at: Int64
        var before: Int64
        var after: Int64

        /// The clock is set forward: civil times are missing.
        var isForward: Bool { after > before }
    }

    /// The changes of the offset, in order.
    private let shifts: [Shift]
    /// Before all shifts.
    private let first: Int64
    /// The rule from `ruleBegins` on.
    private let rule: ZoneRule?
    private let ruleBegins: Int64

    public static let utc = Zone(offset: 0)

    /// The offsets that RFC 8536 allows.
    static let offsets: ClosedRange<Int64> = -89_999...93_599
    /// No clock is set by more than this at once, and so none is behind where it has been for longer.
    private static let largestShift = offsets.upperBound - offsets.lowerBound

    init(offset: Int64) { (shifts, first, rule, ruleBegins) = ([], offset, nil, .min) }

    /// - Parameter changes: in strict order, with the offset from there on.
    init(first: Int64, changes: [(at: Int64, offset: Int64)], rule: ZoneRule?) {
        var shifts: [Shift] = []
        var offset = first
        for change in changes {
            let after = change.at == changes.last?.at ? rule?.offset(at: change.at) ?? change.offset : change.offset
            if after != offset { shifts.append(Shift(at: change.at, before: offset, after: after)) }
            offset = after
        }
        (self.shifts, self.first, self.rule, ruleBegins) = (shifts, first, rule, changes.last?.at ?? .min)
    }
}

// By the second, as tables are written.
extension Zone {
    func offset(at instant: Int64) -> Int64 {
        if let rule, instant >= ruleBegins { return rule.offset(at: instant) }
        let index = listed(after: instant)
        return index == 0 ? first : shifts[index - 1].after
    }

    /// The first one later than the instant.
    func shift(after instant: Int64) -> Shift? {
        let index = listed(after: instant)
        if index < shifts.count { return shifts[index] }
        return rule?.shift(after: max(instant, ruleBegins))
    }

    /// The last one at the instant or before it.
    func shift(notAfter instant: Int64) -> Shift? {
        if let rule, instant > ruleBegins, let shift = rule.shift(notAfter: instant), shift.at > ruleBegins {
            return shift
        }
        let index = listed(after: instant)
        return index == 0 ? nil : shifts[index - 1]
    }

    /// How many listed shifts are not later than the instant.
    private func listed(after instant: Int64) -> Int {
        var (low, high) = (0, shifts.count)
        while low < high {
            let middle = (low + high) / 2
            if shifts[middle].at <= instant { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The latest civil second that the clock has shown up to the instant: while an hour is repeated, its last second.
    func furthest(by instant: Int64) -> Int64 {
        var result = instant + offset(at: instant)
        var shift = shift(notAfter: instant)
        while let found = shift, found.at > instant - Self.largestShift {
            result = max(result, found.at + found.before - 1)
            shift = self.shift(notAfter: found.at - 1)
        }
        return result
    }

    /// The first instant at which the clock shows the civil second or a later one. So a missing time is the end of its
    /// gap, and of a doubled one it is the first.
    func instant(reaching civil: Int64) -> Int64 {
        var start = civil - Self.offsets.upperBound
        var offset = offset(at: start)
        while let next = shift(after: start), max(start, civil - offset) >= next.at {
            (start, offset) = (next.at, next.after)
        }
        return max(start, civil - offset)
    }
}

extension Zone {
    /// East of UTC.
    public func offset(at time: WallTime) -> TimeSpan { .seconds(offset(at: time.wholeSeconds)) }

    public func civilTime(at time: WallTime) -> CivilTime {
        CivilTime(seconds: time.wholeSeconds + offset(at: time.wholeSeconds))
    }

    /// A time that the zone leaves out is the first instant after its gap; of two that it repeats, the first counts.
    public func instant(of civil: CivilTime) -> WallTime { WallTime(seconds: instant(reaching: civil.seconds)) }
}

extension WallTime {
    init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        self.init(microseconds: overflow ? (seconds < 0 ? .min : .max) : product)
    }

    /// Rounded down.
    var wholeSeconds: Int64 { microseconds.dividedFlooring(by: 1_000_000).quotient }
}
