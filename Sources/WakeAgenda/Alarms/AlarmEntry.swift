// An alarm and its progress: the occurrences that are accounted for, the one on its way, and the count of missed ones.
import WakeModel

struct AlarmEntry: Hashable, Sendable {
    var rule: AlarmRule { didSet { storedRule = rule.json } }
    /// Made once: a row is written at every firing.
    private(set) var storedRule: [UInt8]
    /// By the manifest; otherwise the handler ordered it.
    var isDeclared: Bool
    var course: AlarmCourse
    var run = Run.idle
    /// Occurrences that no event has reported yet.
    var missed: Int64 = 0
    /// It is not raised any more: it came once, or was cancelled while the core had it.
    var isSpent = false
    /// The occurrence in the core was cancelled: it does not come again.
    var isRevoked = false
    /// How often in a row it was handed back, and until when it rests for that, on CLOCK_BOOTTIME. A restart ends the rest.
    var handBacks: Int64 = 0
    var restsUntil: Instant?
    /// The earliest and the latest time for an overdue occurrence, as first computed: later naps do not postpone it
    /// again.
    var spreadStart: Instant?
    var rideEnd: Instant?
    /// Since when it is in its present state.
    var since: WallTime
    private(set) var history: [AlarmChange] = []
    var place = Place.nowhere

    /// An occurrence is outstanding at a time: others that fall due meanwhile are counted when it has been concluded.
    enum Run: Hashable, Sendable {
        case idle
        case raised(Occurrence, Sequence?)
        /// To be raised again when these conditions are true.
        case owed(Occurrence, until: [String])
    }

    /// The contents of one event.
    struct Occurrence: Hashable, Sendable {
        /// The last nominal instant that it covers.
        var due: WallTime
        /// The others.
        var missed: Int64
    }

    /// The place at which the book finds it again.
    enum Place: Hashable, Sendable {
        case nowhere
        case wall(WallTime)
        case boottime(Instant)
        /// Overdue: until then, or without end, it waits for another reason to wake the handler.
        case riding(until: Instant?)
        /// Overdue, and nothing may be raised for the handler.
        case parked
    }

    init(rule: AlarmRule, isDeclared: Bool, course: AlarmCourse, since: WallTime) {
        (self.rule, self.isDeclared, self.course, self.since) = (rule, isDeclared, course, since)
        storedRule = rule.json
    }

    static let historyLimit = 32

    mutating func record(_ word: AlarmChange.Word, _ count: Int64 = 0, due: WallTime? = nil, at now: WallTime) {
        since = now
        if history.count == Self.historyLimit { history.removeFirst() }
        history.append(AlarmChange(at: now, word: word, count: count, due: due))
    }

    mutating func recall(_ changes: [AlarmChange]) { history = changes.suffix(Self.historyLimit) }

    /// The occurrences of an event that was handed back and did not come again yet.
    var handedBackCount: Int64 { if case .owed(let occurrence, _) = run { 1 + occurrence.missed } else { 0 } }

    /// It was cancelled, and stays only until the core has released it.
    var isLeaving: Bool { isSpent && isRevoked }

    /// The core's occurrence is over.
    mutating func endRun() { (run, isRevoked, handBacks) = (.idle, false, 0) }

    /// Keeps the core's occurrence, and the rest of a hand-back, from before it got another rule.
    mutating func inherit(from former: AlarmEntry) {
        (run, isRevoked) = (former.run, former.isRevoked)
        (handBacks, restsUntil) = (former.handBacks, former.restsUntil)
    }
}

/// Nominal instants go by the wall clock, or by real time.
enum AlarmCourse: Hashable, Sendable {
    case calendar(CalendarCourse)
    case interval(IntervalCourse)

    static func begin(_ schedule: AlarmRule.Schedule, _ step: AgendaStep, isSynced: Bool) -> AlarmCourse {
        switch schedule {
        case .daily: .calendar(CalendarCourse(accounted: step.wall, isFromFalseClock: !isSynced))
        case .at: .calendar(CalendarCourse(accounted: WallTime(microseconds: 0), isFromFalseClock: !isSynced))
        case .every(let period, let phase):
            .interval(IntervalCourse(due: step.boottime + (phase ?? period), boot: step.bootID))
        case .after(let span): .interval(IntervalCourse(due: step.boottime + span, boot: step.bootID))
        }
    }
}

struct CalendarCourse: Hashable, Sendable {
    /// Nominal instants up to here have been raised or counted. It grows, until a correction of the clock takes it back.
    var accounted: WallTime
    /// The value of `accounted` before a false clock took it back: from there it goes on once the clock is true.
    var kept: WallTime?
    /// It was set while the clock was not synchronized: instants before the synchronization were never due.
    var isFromFalseClock = false
}

struct IntervalCourse: Hashable, Sendable {
    /// The next nominal instant, on CLOCK_BOOTTIME of `boot`. Its phase stays what it was.
    var due: Instant
    var boot: String
    /// The wall time of `due`, if an estimate took it over from an earlier boot.
    var mend: WallTime?
}

/// Nominal instants that have passed and are not accounted for.
struct Overdue: Hashable, Sendable {
    /// The last of them, on both clocks.
    var wall: WallTime
    var boottime: Instant
    var count: Int64
    /// From the last of them to the next one; nil where none comes.
    var gap: TimeSpan?

    func late(at now: Instant) -> TimeSpan { now - boottime }
}

extension AlarmEntry {
    /// - Parameter zone: nil only where the schedule needs none.
    func overdue(_ step: AgendaStep, in zone: Zone?) -> Overdue? {
        switch (rule.schedule, course) {
        case (.daily(let times, _), .calendar(let course)):
            guard let zone, let passed = times.passed(after: course.accounted, upTo: step.wall, in: zone) else {
                return nil
            }
            let gap = times.next(after: passed.last, in: zone).elapsed(since: passed.last)
            return Overdue(
                wall: passed.last, boottime: step.boottime - step.wall.elapsed(since: passed.last), count: passed.count,
                gap: gap)
        case (.at(let time), .calendar):
            guard time <= step.wall else { return nil }
            return Overdue(wall: time, boottime: step.boottime - step.wall.elapsed(since: time), count: 1)
        case (.every(let period, _), .interval(let course)):
            guard course.due <= step.boottime else { return nil }
            let more = (step.boottime - course.due).nanoseconds / period.nanoseconds
            let last = course.due + period * more
            return Overdue(wall: step.wallTime(at: last), boottime: last, count: more + 1, gap: period)
        case (.after, .interval(let course)):
            guard course.due <= step.boottime else { return nil }
            return Overdue(wall: step.wallTime(at: course.due), boottime: course.due, count: 1)
        case (.daily, .interval), (.at, .interval), (.every, .calendar), (.after, .calendar): return nil
        }
    }

    /// The next nominal instant that is not accounted for; as a place, on the clock that it goes by.
    func next(in zone: Zone?) -> Place {
        switch (rule.schedule, course) {
        case (.daily(let times, _), .calendar(let course)):
            zone.map { .wall(times.next(after: course.accounted, in: $0)) } ?? .nowhere
        case (.at(let time), .calendar): .wall(time)
        case (_, .interval(let course)): .boottime(course.due)
        case (.every, .calendar), (.after, .calendar): .nowhere
        }
    }

    /// It has no overdue occurrence any more.
    mutating func forgetDelays() { (spreadStart, rideEnd) = (nil, nil) }

    mutating func account(for overdue: Overdue) {
        forgetDelays()
        switch course {
        case .calendar(var former):
            former.accounted = overdue.wall
            course = .calendar(former)
        case .interval(var former):
            guard let period = overdue.gap else { return }
            let passed = overdue.boottime + period - former.due
            former.due = former.due + passed
            former.mend = former.mend.map { $0 + passed }
            course = .interval(former)
        }
    }
}
