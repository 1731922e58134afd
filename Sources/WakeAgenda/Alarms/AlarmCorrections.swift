// The book's corrections when clocks are set, when they become true, and when a new boot or a new zone begins.
import WakeModel

extension AlarmBook {
    /// Every step begins here.
    mutating func readClocks(_ step: inout AgendaStep) {
        if clock == nil { begin(&step) }
        let isNowSynced = step.stamp.isClockSynchronized && clock?.isSynced == false
        if isNowSynced { synchronize(&step) }
        if clock?.isSet(step) == true || isNowSynced {
            clock?.offset = step.clockOffset
            storeClocks(&step)
        }
        release(&step)
        follow(&step)
    }

    /// The first step of this life: after a restart of the bridge alone, or in a new boot.
    private mutating func begin(_ step: inout AgendaStep) {
        let isSynced = step.stamp.isClockSynchronized
        if var former = clocksBefore[step.bootID] {
            // The clock went on meanwhile, and may have been set.
            let mayRun = former.isSynced || step.boottime >= AlarmClock.patience
            let expected = WallTime(microseconds: step.boottime.nanoseconds / 1_000) + former.offset
            if mayRun { former.furthest = max(former.furthest, expected) }
            // No alarm is spread again: the machine did not come up.
            former.releasedAt = mayRun ? .zero : nil
            clock = former
        } else {
            let furthest = clocksBefore.values.map(\.furthest).max() ?? step.wall
            clock = AlarmClock(
                boot: step.bootID, offset: step.clockOffset, isSynced: isSynced, furthest: furthest)
            if isSynced { correctCalendar(&step) }
            storeClocks(&step)
        }
        inheritIntervals(&step)
        (clocksBefore, seenBefore) = ([:], [:])
    }

    private mutating func synchronize(_ step: inout AgendaStep) {
        clock?.isSynced = true
        if clock?.isReleased == true { clock?.releasedAt = step.boottime }
        correctCalendar(&step)
        if let furthest = clock?.furthest, furthest > step.wall + AlarmClock.correction { clock?.furthest = step.wall }
        for key in entries.keys.sorted() {
            guard case .interval(var course) = entries[key]?.course, let wall = course.mend else { continue }
            // An estimate counts no time before the boot, so that it can only be too late.
            course.due = min(course.due, step.boottime + wall.elapsed(since: step.wall))
            course.mend = nil
            change(key, to: .interval(course), .mended, &step)
        }
    }

    private mutating func change(
        _ key: AgendaKey, to course: AlarmCourse, _ word: AlarmChange.Word, _ step: inout AgendaStep
    ) {
        entries[key]?.course = course
        entries[key]?.record(word, at: step.wall)
        step.decide(key, "\(word.rawValue) alarm \(key.id)")
        store(key, &step)
        consider(key, &step)
    }

    func storeClocks(_ step: inout AgendaStep) {
        for handler in owners where handlers[handler]?.ids.isEmpty == false { storeClock(of: handler, &step) }
    }

    func storeClock(of handler: HandlerID, _ step: inout AgendaStep) {
        if let clock { step.emit(.store(clock.row(of: handler, seen: step.boottime))) }
    }
}

// The calendar.
extension AlarmBook {
    /// The clock is true now: alarms of a false one continue from the true time.
    private mutating func correctCalendar(_ step: inout AgendaStep) {
        let latest = step.wall + AlarmClock.correction
        for key in entries.keys.sorted() {
            guard case .calendar(let former) = entries[key]?.course, entries[key]?.rule.zoneName != nil else {
                continue
            }
            var course = former
            if let kept = former.kept, !(former.accounted > kept && former.accounted <= latest) {
                course.accounted = kept
            }
            if former.isFromFalseClock { course.accounted = max(course.accounted, step.wall) }
            if course.accounted > latest { course.accounted = step.wall }
            (course.kept, course.isFromFalseClock) = (nil, false)
            if course != former { change(key, to: .calendar(course), .rebased, &step) }
        }
    }

    /// Lets the calendar go, once in a boot.
    private mutating func release(_ step: inout AgendaStep) {
        guard let clock, !clock.isReleased, clock.isSynced || step.boottime >= AlarmClock.patience else { return }
        self.clock?.releasedAt = step.boottime
        for key in entries.keys.sorted() {
            if case .calendar = entries[key]?.course { consider(key, &step) }
        }
    }

    /// Records how far the clock has come; a clock that is far behind that counts as corrected.
    private mutating func follow(_ step: inout AgendaStep) {
        guard let furthest = clock?.furthest, clock?.isReleased == true else { return }
        guard furthest > step.wall + AlarmClock.correction else {
            clock?.furthest = max(furthest, step.wall)
            return
        }
        clock?.furthest = step.wall
        storeClocks(&step)
        for key in entries.keys.sorted() {
            guard case .calendar(var course) = entries[key]?.course, course.accounted > step.wall else { continue }
            if clock?.isSynced == false, !course.isFromFalseClock { course.kept = course.kept ?? course.accounted }
            course.accounted = step.wall
            change(key, to: .calendar(course), .corrected, &step)
        }
    }

    mutating func readZones(_ step: inout AgendaStep) {
        for (name, former) in zones.readChanges(step) {
            for key in zones.users(of: name) {
                if former.zone != nil { move(key, &step) }
                consider(key, &step)
            }
        }
        answerWaiting(&step)
    }

    /// A new zone makes nothing overdue that was ahead.
    private mutating func move(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard case .calendar(var course) = entries[key]?.course, case .wall(let due) = entries[key]?.place,
            due > step.wall, course.accounted < step.wall
        else { return }
        course.accounted = step.wall
        entries[key]?.course = .calendar(course)
        entries[key]?.record(.moved, at: step.wall)
        store(key, &step)
    }
}

// Real time, over a reboot.
extension AlarmBook {
    /// CLOCK_BOOTTIME began at zero: what is due goes on by the wall clock where that was true before and is now. Otherwise
    /// what remained runs from the boot on, and is mended when the clock becomes true.
    private mutating func inheritIntervals(_ step: inout AgendaStep) {
        for key in entries.keys.sorted() {
            guard case .interval(let former) = entries[key]?.course, former.boot != step.bootID else { continue }
            let remaining = max(.zero, former.due - (seen(in: former.boot, step) ?? former.due))
            var course = IntervalCourse(due: .zero + remaining, boot: step.bootID, mend: wallDue(former))
            if clock?.isSynced == true, let wall = course.mend {
                // A clock that was set back while the machine was off must not put it off.
                course.due = min(step.boottime + wall.elapsed(since: step.wall), step.boottime + remaining)
                course.mend = nil
            }
            entries[key]?.course = .interval(course)
            store(key, &step)
        }
    }

    private func seen(in boot: String, _ step: AgendaStep) -> Instant? {
        guard let seen = step.seen, seen.bootID == boot else { return seenBefore[boot] }
        return max(seen.boottime, seenBefore[boot] ?? seen.boottime)
    }

    private func wallDue(_ course: IntervalCourse) -> WallTime? {
        if let mend = course.mend { return mend }
        guard let former = clocksBefore[course.boot], former.isSynced else { return nil }
        return WallTime(microseconds: course.due.nanoseconds / 1_000) + former.offset
    }
}
