// The stored form of alarms and of their clocks: JSON from which an alarm of a later life continues.
import WakeModel

/// A row of the book. Beside its alarms, each handler has one without an id, for the clocks.
enum AlarmRow {
    case entry(AlarmEntry, seen: Instant)
    case clock(AlarmClock, seen: Instant)

    /// Nil where it cannot be read.
    init?(_ row: AgendaRow) {
        guard let value = try? JSONValue(parsing: row.value), let seen = value["seen"]?.instant else { return nil }
        if row.key.id.isEmpty {
            guard let clock = AlarmClock(stored: value) else { return nil }
            self = .clock(clock, seen: seen)
        } else {
            guard let entry = AlarmEntry(stored: value), entry.rule.id == row.key.id else { return nil }
            self = .entry(entry, seen: seen)
        }
    }
}

extension AlarmClock {
    fileprivate init?(stored value: JSONValue) {
        guard let boot = value["boot"]?.string, let offset = value["offset"]?.moderate,
            let isSynced = value["synced"]?.boolean, let furthest = value["furthest"]?.wallTime
        else { return nil }
        self.init(boot: boot, offset: TimeSpan(nanoseconds: offset), isSynced: isSynced, furthest: furthest)
    }

    func row(of handler: HandlerID, seen: Instant) -> AgendaRow {
        var writer = JSONWriter(reserving: 160)
        writer.object {
            $0.field("boot", boot)
            $0.field("offset", offset.nanoseconds)
            $0.field("synced", isSynced)
            $0.field("furthest", furthest.microseconds)
            $0.field("seen", seen.nanoseconds)
        }
        return AgendaRow(key: AgendaKey(handler, .alarm, ""), value: writer.bytes)
    }
}

extension AlarmEntry {
    fileprivate init?(stored value: JSONValue) {
        guard let stored = value["rule"], let rule = try? AlarmRule(stored, from: .order),
            let course = AlarmCourse(stored: value, of: rule.schedule), let since = value["since"]?.wallTime
        else { return nil }
        self.init(rule: rule, isDeclared: value["declared"] == .boolean(true), course: course, since: since)
        missed = value["missed"]?.moderate ?? 0
        isSpent = value["spent"] == .boolean(true)
        isRevoked = value["revoked"] == .boolean(true)
        if let run = value["run"] {
            guard let run = Run(stored: run) else { return nil }
            self.run = run
        }
        // Taken back before it had a number: nothing comes of it.
        if isRevoked, case .owed = run {
            guard !isSpent else { return nil }
            (run, isRevoked) = (.idle, false)
        }
        recall(value["history"]?.array?.compactMap { AlarmChange(stored: $0) } ?? [])
    }

    /// The last changes of its history, which a row keeps: they show how it fired last.
    private static let storedChanges = 4

    func row(of key: AgendaKey, seen: Instant) -> AgendaRow {
        var writer = JSONWriter(reserving: 768)
        writer.object {
            $0.key("rule")
            $0.fragment(storedRule)
            if isDeclared { $0.field("declared", true) }
            if isSpent { $0.field("spent", true) }
            if isRevoked { $0.field("revoked", true) }
            if missed != 0 { $0.field("missed", missed) }
            course.write(into: &$0)
            run.write(into: &$0)
            $0.field("since", since.microseconds)
            $0.field("seen", seen.nanoseconds)
            $0.list("history", history.suffix(Self.storedChanges)) { writer, change in change.write(into: &writer) }
        }
        return AgendaRow(key: key, value: writer.bytes)
    }
}

extension AlarmCourse {
    fileprivate init?(stored value: JSONValue, of schedule: AlarmRule.Schedule) {
        switch schedule {
        case .daily, .at:
            guard let accounted = value["accounted"]?.wallTime else { return nil }
            self = .calendar(
                CalendarCourse(
                    accounted: accounted, kept: value["kept"]?.wallTime,
                    isFromFalseClock: value["false_clock"] == .boolean(true)))
        case .every, .after:
            guard let due = value["due"]?.instant, let boot = value["boot"]?.string else { return nil }
            self = .interval(
                IntervalCourse(due: due, boot: boot, mend: value["mend"]?.wallTime))
        }
    }

    fileprivate func write(into writer: inout JSONWriter) {
        switch self {
        case .calendar(let course):
            writer.field("accounted", course.accounted.microseconds)
            if let kept = course.kept { writer.field("kept", kept.microseconds) }
            if course.isFromFalseClock { writer.field("false_clock", true) }
        case .interval(let course):
            writer.field("due", course.due.nanoseconds)
            writer.field("boot", course.boot)
            if let mend = course.mend { writer.field("mend", mend.microseconds) }
        }
    }
}

extension AlarmEntry.Run {
    fileprivate init?(stored value: JSONValue) {
        guard let due = value["due"]?.wallTime, let missed = value["missed"]?.moderate else { return nil }
        let occurrence = AlarmEntry.Occurrence(due: due, missed: missed)
        if let sequence = value["seq"]?.integer.flatMap({ UInt64(exactly: $0) }) {
            self = .raised(occurrence, Sequence(sequence))
        } else {
            // Without its number it is not known whether it was raised: rather twice than never.
            self = .owed(occurrence, until: value["until"]?.array?.compactMap(\.string) ?? [])
        }
    }

    fileprivate func write(into writer: inout JSONWriter) {
        switch self {
        case .idle: break
        case .raised(let occurrence, let sequence):
            writer.object("run") {
                occurrence.write(into: &$0)
                if let sequence { $0.field("seq", sequence.rawValue) }
            }
        case .owed(let occurrence, let conditions):
            writer.object("run") {
                occurrence.write(into: &$0)
                $0.field("until", conditions)
            }
        }
    }
}

extension AlarmEntry.Occurrence {
    fileprivate func write(into writer: inout JSONWriter) {
        writer.field("due", due.microseconds)
        writer.field("missed", missed)
    }
}

extension AlarmChange {
    fileprivate init?(stored value: JSONValue) {
        guard let parts = value.array, parts.count >= 3, let at = parts[0].wallTime,
            let word = parts[1].string.flatMap({ Word(rawValue: $0) }), let count = parts[2].integer
        else { return nil }
        self.init(at: at, word: word, count: count, due: parts.count > 3 ? parts[3].wallTime : nil)
    }

    fileprivate func write(into writer: inout JSONWriter) {
        writer.beginArray()
        writer.integer(at.microseconds)
        writer.string(word.rawValue)
        writer.integer(count)
        if let due { writer.integer(due.microseconds) }
        writer.endArray()
    }
}

extension AlarmRule {
    /// As an order writes it, so that one reader reads both.
    var json: [UInt8] {
        var writer = JSONWriter(reserving: 256)
        writer.object {
            $0.field("id", id)
            schedule.write(into: &$0)
            if catchUp != .once { $0.field("catch_up", catchUp.rawValue) }
            if leeway > .zero { $0.field("leeway", leeway.text) }
            if !wakes { $0.field("wake", false) }
            if wakesMachine { $0.field("wakes_machine", true) }
            $0.key("data")
            $0.fragment(data)
            if let alert { $0.field("alert", alert) }
        }
        return writer.bytes
    }
}

extension AlarmRule.Schedule {
    fileprivate func write(into writer: inout JSONWriter) {
        switch self {
        case .daily(let daily, let zone):
            writer.field("daily", daily.times.map(Self.timeOfDay))
            writer.field("days", daily.days.sorted().map(\.word))
            if let zone { writer.field("zone", zone) }
        case .every(let period, let phase):
            writer.field("every", period.text)
            if let phase { writer.field("phase", phase.text) }
        case .at(let time): writer.field("at", time.rfc3339)
        case .after(let span): writer.field("in", span.text)
        }
    }

    private static func timeOfDay(_ seconds: Int64) -> String {
        [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }
}

extension JSONValue {
    fileprivate var wallTime: WallTime? { moderate.map { WallTime(microseconds: $0) } }
    fileprivate var instant: Instant? { moderate.map { Instant(nanoseconds: $0) } }

    /// No clock reaches further, and sums of such numbers stay numbers, whatever a broken card made of a row.
    fileprivate var moderate: Int64? { integer.flatMap { (-(1 << 61)...(1 << 61)).contains($0) ? $0 : nil } }
}
