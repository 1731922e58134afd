// The last line of a TZif file: a POSIX TZ string, the rule of the offset's yearly changes from the table's end on.
import WakeModel

struct ZoneRule: Hashable, Sendable {
    /// Seconds east of UTC.
    var standard: Int64
    var saving: Saving?

    /// Daylight-saving time.
    struct Saving: Hashable, Sendable {
        var offset: Int64
        var begins: Turn
        var ends: Turn
    }

    /// A day of each year, and a time on it by the clock that is used until then.
    struct Turn: Hashable, Sendable {
        enum Day: Hashable, Sendable {
            /// 1 to 365; February 29 is never counted.
            case julian(Int64)
            /// 0 to 365; February 29 is counted.
            case ofYear(Int64)
            /// `week` 5 is the last; `weekday` 0 is Sunday.
            case weekday(Int64, week: Int64, month: Int64)
        }

        var day: Day
        /// Seconds from the day's midnight on; up to a week before or after it.
        var time: Int64
    }
}

extension ZoneRule {
    func offset(at instant: Int64) -> Int64 {
        guard saving != nil else { return standard }
        return changes(around: instant).last { $0.at <= instant }?.offset ?? standard
    }

    func shift(after instant: Int64) -> Zone.Shift? {
        // A change later than a year from now may lack the one that undoes it.
        shifts(around: instant).first { $0.at > instant && $0.at < instant + 600 * CivilTime.secondsOfDay }
    }
    func shift(notAfter instant: Int64) -> Zone.Shift? { shifts(around: instant).last { $0.at <= instant } }

    private func shifts(around instant: Int64) -> [Zone.Shift] {
        let changes = changes(around: instant)
        return zip(changes, changes.dropFirst()).compactMap { former, change in
            guard former.offset != change.offset else { return nil }
            return Zone.Shift(at: change.at, before: former.offset, after: change.offset)
        }
    }

    /// The changes of the year before, its own and the next two, in order. The later of two at one instant stays: a
    /// zone that saves daylight all year long ends and begins it at once.
    private func changes(around instant: Int64) -> [(at: Int64, offset: Int64)] {
        guard let saving else { return [] }
        let year = civilDate(daysSinceEpoch: instant.dividedFlooring(by: CivilTime.secondsOfDay).quotient).year
        var result: [(at: Int64, offset: Int64)] = []
        for year in (year - 1)...(year + 2) {
            let begin = (at: saving.begins.civilSecond(in: year) - standard, offset: saving.offset)
            let end = (at: saving.ends.civilSecond(in: year) - saving.offset, offset: standard)
            for change in begin.at < end.at ? [begin, end] : [end, begin] {
                while let last = result.last, last.at >= change.at { result.removeLast() }
                result.append(change)
            }
        }
        return result
    }
}

extension ZoneRule.Turn {
    fileprivate func civilSecond(in year: Int64) -> Int64 { date(in: year) * CivilTime.secondsOfDay + time }

    private func date(in year: Int64) -> Int64 {
        let newYear = daysSinceEpoch(year: year, month: 1, day: 1)
        switch day {
        case .julian(let number):
            let isLeap = daysSinceEpoch(year: year, month: 3, day: 1) - newYear == 60
            return newYear + number - 1 + (isLeap && number >= 60 ? 1 : 0)
        case .ofYear(let number): return newYear + number
        case .weekday(let weekday, let week, let month):
            let first = daysSinceEpoch(year: year, month: month, day: 1)
            let next =
                month == 12
                ? daysSinceEpoch(year: year + 1, month: 1, day: 1)
                : daysSinceEpoch(year: year, month: month + 1, day: 1)
            // 1970-01-01 was a Thursday, which is 4.
            let untilFirst = (weekday - first - 4).dividedFlooring(by: 7).remainder
            var date = first + untilFirst + (week - 1) * 7
            while date >= next { date -= 7 }
            return date
        }
    }
}

// Reading it: `CET-1CEST,M3.5.0,M10.5.0/3`, with the longer times of TZif version 3.
extension ZoneRule {
    init(_ text: ArraySlice<UInt8>) throws(ZoneFault) {
        var reader = ZoneRuleReader(text)
        self = try reader.rule()
    }
}

private struct ZoneRuleReader {
    private let text: [UInt8]
    private var position = 0

    init(_ text: ArraySlice<UInt8>) { self.text = Array(text) }

    mutating func rule() throws(ZoneFault) -> ZoneRule {
        try name()
        let standard = -(try span(upTo: 24))
        guard next != nil else { return ZoneRule(standard: standard) }
        try name()
        let hasOffset = next.map { $0 != UInt8(ascii: ",") } ?? false
        let offset = hasOffset ? -(try span(upTo: 24)) : standard + 3_600
        try expect(",")
        let begins = try turn()
        try expect(",")
        let ends = try turn()
        guard next == nil else { throw fault }
        guard Zone.offsets.contains(standard), Zone.offsets.contains(offset) else { throw .offsetOutOfRange }
        return ZoneRule(standard: standard, saving: .init(offset: offset, begins: begins, ends: ends))
    }

    private var next: UInt8? { position < text.count ? text[position] : nil }
    private var fault: ZoneFault { .unreadableRule }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(ZoneFault) {
        guard take(character) else { throw fault }
    }

    /// `CET`, or `<+1030>`.
    private mutating func name() throws(ZoneFault) {
        let start = position
        if take("<") {
            while let byte = next, byte != UInt8(ascii: ">") { position += byte > 0x20 && byte < 0x7f ? 1 : text.count }
            return try expect(">")
        }
        while let byte = next, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) { position += 1 }
        guard position - start >= 3 else { throw fault }
    }

    private mutating func number(in range: ClosedRange<Int64>) throws(ZoneFault) -> Int64 {
        var value: Int64 = 0
        let start = position
        while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9"), position - start < 4 {
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            position += 1
        }
        guard position > start, range.contains(value) else { throw fault }
        return value
    }

    /// `-3`, `10:30` or `1:02:03`, in seconds.
    private mutating func span(upTo hours: Int64) throws(ZoneFault) -> Int64 {
        let isNegative = take("-")
        if !isNegative { _ = take("+") }
        var seconds = try number(in: 0...hours) * 3_600
        if take(":") { seconds += try number(in: 0...59) * 60 }
        if take(":") { seconds += try number(in: 0...59) }
        return isNegative ? -seconds : seconds
    }

    /// `M3.5.0`, `J60` or `59`, with `/3` where it is not 02:00.
    private mutating func turn() throws(ZoneFault) -> ZoneRule.Turn {
        let day: ZoneRule.Turn.Day
        if take("M") {
            let month = try number(in: 1...12)
            try expect(".")
            let week = try number(in: 1...5)
            try expect(".")
            day = .weekday(try number(in: 0...6), week: week, month: month)
        } else if take("J") {
            day = .julian(try number(in: 1...365))
        } else {
            day = .ofYear(try number(in: 0...365))
        }
        return ZoneRule.Turn(day: day, time: take("/") ? try span(upTo: 167) : 7_200)
    }
}
