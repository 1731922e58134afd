// The book of all alarms: their due times on both clocks, and whether an occurrence is raised, counted or postponed.
import WakeModel

struct AlarmBook: Sendable {
    var entries: [AgendaKey: AlarmEntry] = [:]
    var handlers: [HandlerID: AlarmOwner] = [:]
    /// The keys of `handlers`, in order: effects never follow the order of a hash.
    private(set) var owners: [HandlerID] = []
    private var wall = DueQueue<WallTime>()
    private var boottime = DueQueue<Instant>()
    /// The same for alarms that end the sleep of the machine.
    private var wakingWall = DueQueue<WallTime>()
    private var wakingBoottime = DueQueue<Instant>()
    var zones = AlarmZones()
    /// Nil until the first step.
    var clock: AlarmClock?
    /// From the rows of an earlier life, by boot.
    var clocksBefore: [String: AlarmClock] = [:]
    var seenBefore: [String: Instant] = [:]
    /// Occurrences that were handed back, by the conditions that they wait for.
    private var handedBack = EntryIndex()
    /// Orders whose zone is not known yet.
    var waiting: [WaitingOrder] = []
    /// Handlers whose manifest declares alarms for which there was no room.
    var refusing: Set<HandlerID> = []
    /// Handlers with alarms that wait for another reason to wake.
    private var ridingOwners: Set<HandlerID> = []
    /// The handlers' facts at the last step.
    private var facts: [HandlerID: HandlerFacts] = [:]
    /// How many alarms go by the calendar: while there are any, the end of the wait for the clock is a deadline.
    private var calendarCount = 0

    /// Beyond its leeway: an alarm that is later was missed, for `"catch_up":"skip"`.
    static let punctuality = TimeSpan.seconds(60)
}

/// The book's facts of one handler beside its alarms.
struct AlarmOwner: Hashable, Sendable {
    var ids: Set<String> = []
    var parked: Set<String> = []
    var riding: Set<String> = []
    var sequences: [Sequence: String] = [:]
    /// Its manifest is known.
    var isConfigured = false
    /// Its manifest lets it order alarms.
    var mayOrder = false
    /// Alarms that its manifest declares beyond the limit.
    var refused: [AlarmRule] = []
    /// Why no alarm is raised for it.
    var obstacle: PendingEntry.Wait?
}

// The place of each alarm.
extension AlarmBook {
    /// Adds a new alarm, or a new form of a known one.
    mutating func add(_ entry: AlarmEntry, as key: AgendaKey, _ step: inout AgendaStep) {
        drop(key)
        own(key.handler)
        if handlers[key.handler]?.ids.isEmpty ?? true { storeClock(of: key.handler, &step) }
        insert(entry, as: key)
        store(key, &step)
        consider(key, &step)
    }

    mutating func insert(_ entry: AlarmEntry, as key: AgendaKey) {
        entries[key] = entry
        if case .calendar = entry.course { calendarCount += 1 }
        zones.use(entry.rule.zoneName, by: key)
        own(key.handler)
        handlers[key.handler]?.ids.insert(key.id)
        if case .raised(_, let sequence?) = entry.run { handlers[key.handler]?.sequences[sequence] = key.id }
    }

    /// Takes it out of everything but the database.
    mutating func drop(_ key: AgendaKey) {
        unplace(key)
        guard let entry = entries.removeValue(forKey: key) else { return }
        if case .calendar = entry.course { calendarCount -= 1 }
        zones.leave(entry.rule.zoneName, key)
        if case .raised(_, let sequence?) = entry.run { handlers[key.handler]?.sequences[sequence] = nil }
        handlers[key.handler]?.ids.remove(key.id)
    }

    mutating func forget(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard entries[key] != nil else { return }
        drop(key)
        handedBack.remove(key, &step)
        step.emit(.erase(key))
        if handlers[key.handler]?.ids.isEmpty ?? true { step.emit(.erase(AgendaKey(key.handler, .alarm, ""))) }
    }

    mutating func own(_ handler: HandlerID) {
        guard handlers[handler] == nil else { return }
        handlers[handler] = AlarmOwner()
        owners.insert(handler, at: owners.firstIndex { $0 > handler } ?? owners.endIndex)
    }

    mutating func disown(_ handler: HandlerID) {
        handlers[handler] = nil
        owners.removeAll { $0 == handler }
    }

    func keys(of handler: HandlerID) -> [AgendaKey] {
        (handlers[handler]?.ids ?? []).sorted().map { AgendaKey(handler, .alarm, $0) }
    }

    /// Without cancelled alarms, which stay only until the core has released them.
    func presentKeys(of handler: HandlerID) -> [AgendaKey] {
        keys(of: handler).filter { entries[$0]?.isLeaving == false }
    }

    func store(_ key: AgendaKey, _ step: inout AgendaStep) {
        if let entry = entries[key] { step.emit(.store(entry.row(of: key, seen: step.boottime))) }
    }

    mutating func place(_ key: AgendaKey, _ place: AlarmEntry.Place) {
        unplace(key)
        guard let entry = entries[key] else { return }
        entries[key]?.place = place
        let wakes = entry.rule.wakesMachine && handlers[key.handler]?.obstacle == nil
        switch place {
        case .nowhere: break
        case .wall(let time):
            wall.set(key, at: time)
            if wakes { wakingWall.set(key, at: time) }
        case .boottime(let instant):
            boottime.set(key, at: instant)
            if wakes { wakingBoottime.set(key, at: instant) }
        case .riding(let until):
            boottime.set(key, at: until)
            if wakes { wakingBoottime.set(key, at: until) }
            handlers[key.handler]?.riding.insert(key.id)
            ridingOwners.insert(key.handler)
        case .parked: handlers[key.handler]?.parked.insert(key.id)
        }
    }

    private mutating func unplace(_ key: AgendaKey) {
        guard let entry = entries[key] else { return }
        switch entry.place {
        case .nowhere: return
        case .wall:
            wall.set(key, at: nil)
            wakingWall.set(key, at: nil)
        case .boottime, .riding:
            boottime.set(key, at: nil)
            wakingBoottime.set(key, at: nil)
            handlers[key.handler]?.riding.remove(key.id)
            if handlers[key.handler]?.riding.isEmpty ?? true { ridingOwners.remove(key.handler) }
        case .parked: handlers[key.handler]?.parked.remove(key.id)
        }
        entries[key]?.place = .nowhere
    }

    /// The alarms that are due on either clock, in order.
    fileprivate mutating func removeDue(_ step: AgendaStep) -> [AgendaKey] {
        (wall.removeDue(by: step.wall) + boottime.removeDue(by: step.boottime)).sorted()
    }

    var nextBoottime: Instant? {
        let next = Instant.earlier(boottime.next, handedBack.next)
        guard calendarCount > 0, let clock, !clock.isReleased else { return next }
        return Instant.earlier(next, AlarmClock.patience)
    }

    var nextWall: WallTime? { wall.next }
    var hasStoredEntries: Bool { !entries.isEmpty }

    var machineWake: MachineWake { MachineWake(boottime: wakingBoottime.next, wall: wakingWall.next) }
}

// The passing of time.
extension AlarmBook {
    mutating func advance(_ step: inout AgendaStep) {
        readClocks(&step)
        readZones(&step)
        readObstacles(&step)
        for key in removeDue(step) + handedBack.removeTouched(step) { consider(key, &step) }
        letRide(&step)
        declareRefused(&step)
    }

    private mutating func readObstacles(_ step: inout AgendaStep) {
        // Nearly always the same: then this costs nothing, however many handlers there are.
        guard facts != step.handlers else { return }
        facts = step.handlers
        for handler in owners { readObstacle(of: handler, &step) }
    }

    /// Raises the alarms that had to wait for their handler, once there is no obstacle.
    mutating func readObstacle(of handler: HandlerID, _ step: inout AgendaStep) {
        let word = obstacle(of: handler, step)
        let former = handlers[handler]?.obstacle?.word
        if word != former {
            handlers[handler]?.obstacle = word.map { PendingEntry.Wait(word: $0, since: step.wall) }
        }
        if (word == nil) != (former == nil) { placeWaking(of: handler) }
        guard word == nil, let parked = handlers[handler]?.parked, !parked.isEmpty else { return }
        for id in parked.sorted() { consider(AgendaKey(handler, .alarm, id), &step) }
    }

    /// Alarms that could not be raised do not wake the machine.
    private mutating func placeWaking(of handler: HandlerID) {
        for key in keys(of: handler) {
            guard let entry = entries[key], entry.rule.wakesMachine else { continue }
            place(key, entry.place)
        }
    }

    /// In the words of ``PendingEntry/Wait``.
    func obstacle(of handler: HandlerID, _ step: AgendaStep) -> String? {
        handlers[handler]?.isConfigured == true ? step.obstacle(of: handler) : WaitReason.manifest.word
    }

    /// Raises alarms that may wait for another wake of their handler, when there is one.
    private mutating func letRide(_ step: inout AgendaStep) {
        for handler in ridingOwners.sorted() {
            guard let riding = handlers[handler]?.riding, !riding.isEmpty else { continue }
            guard isAwake(handler, step) || step.raises(for: handler) else { continue }
            for id in riding.sorted() { consider(AgendaKey(handler, .alarm, id), mayRide: false, &step) }
        }
    }

    private func isAwake(_ handler: HandlerID, _ step: AgendaStep) -> Bool {
        switch step.facts(of: handler).situation {
        case .awake, .attached: true
        case .asleep, .held, .stopped, .quarantined, .unread: false
        }
    }

    /// Decides the alarm's next step, and its place in the queues.
    mutating func consider(_ key: AgendaKey, mayRide: Bool = true, _ step: inout AgendaStep) {
        place(key, .nowhere)
        guard let entry = entries[key] else { return }
        switch entry.run {
        case .raised: return
        case .owed(let occurrence, let words):
            if isAgain(occurrence, until: words, of: key, &step) { return }
        case .idle: break
        }
        let zone = entry.rule.zoneName.map { zones.look(for: $0, &step) }
        guard !entry.isSpent, mayRun(entry) else { return }
        guard let overdue = entry.overdue(step, in: zone?.zone) else {
            entries[key]?.forgetDelays()
            return place(key, entry.next(in: zone?.zone))
        }
        guard obstacle(of: key.handler, step) == nil else { return place(key, .parked) }
        settle(overdue, of: key, mayRide: mayRide, &step)
    }

    /// An occurrence that was handed back rests, and waits for conditions; meanwhile its schedule goes on.
    /// - Returns: whether it has come again, or does as soon as its handler may have it.
    private mutating func isAgain(
        _ occurrence: AlarmEntry.Occurrence, until words: [String], of key: AgendaKey, _ step: inout AgendaStep
    ) -> Bool {
        let conditions = Condition.known(words, to: key.handler)
        handedBack.use(conditions, for: key, &step)
        let rest = entries[key]?.restsUntil.flatMap { step.boottime < $0 ? $0 : nil }
        handedBack.look(key, at: rest)
        guard rest == nil, conditions.allSatisfy(step.conditions.isTrue) else { return false }
        if obstacle(of: key.handler, step) == nil {
            raise(occurrence, of: key, again: true, &step)
        } else {
            place(key, .parked)
        }
        return true
    }

    /// Alarms of the calendar wait until the clock is true, or has been waited for long enough.
    func mayRun(_ entry: AlarmEntry) -> Bool {
        switch entry.course {
        case .calendar: clock?.isReleased ?? false
        case .interval: true
        }
    }

    private mutating func settle(
        _ overdue: Overdue, of key: AgendaKey, mayRide: Bool, _ step: inout AgendaStep
    ) {
        guard let entry = entries[key] else { return }
        let late = overdue.late(at: step.boottime)
        if entry.rule.catchUp == .skip, late > entry.rule.leeway + Self.punctuality {
            return count(overdue, of: key, as: .skipped, &step)
        }
        // The catch-up of a weekly alarm on the eve of the next one would come twice in two days. An alarm that waits
        // for another wake may find none earlier.
        if entry.rule.wakes, let gap = overdue.gap, gap - late < gap.quarter {
            return count(overdue, of: key, as: .folded, &step)
        }
        let latest = entry.rideEnd ?? overdue.boottime + leeway(of: entry.rule, until: overdue.gap)
        entries[key]?.rideEnd = latest
        let earliest = earliest(of: overdue, of: key, step)
        guard earliest <= step.boottime else { return place(key, .boottime(earliest)) }
        if !entry.rule.wakes, mayRide, !isAwake(key.handler, step) { return place(key, .riding(until: nil)) }
        if mayRide, latest > step.boottime, !isAwake(key.handler, step) { return place(key, .riding(until: latest)) }
        entries[key]?.account(for: overdue)
        entries[key]?.missed = 0
        entries[key]?.isSpent = !entry.rule.schedule.isRepeating
        let missed = entry.missed + entry.handedBackCount + overdue.count - 1
        raise(AlarmEntry.Occurrence(due: overdue.wall, missed: missed), of: key, again: false, &step)
    }

    /// The leeway is at most half of the way to the next occurrence. An alarm that wakes the machine has none.
    private func leeway(of rule: AlarmRule, until gap: TimeSpan?) -> TimeSpan {
        guard !rule.wakesMachine else { return .zero }
        return gap.map { min(rule.leeway, TimeSpan(nanoseconds: $0.nanoseconds / 2)) } ?? rule.leeway
    }

    /// Spreads alarms that were overdue when the machine came up, or when alarms of the calendar were released.
    private mutating func earliest(of overdue: Overdue, of key: AgendaKey, _ step: AgendaStep) -> Instant {
        guard let entry = entries[key], !entry.rule.wakesMachine else { return overdue.boottime }
        if let known = entry.spreadStart { return known }
        var start = step.comeUps.first(after: overdue.boottime) ?? overdue.boottime
        if case .calendar = entry.course, let released = clock?.releasedAt { start = max(start, released) }
        let isSpread = overdue.boottime < start
        let first = isSpread ? start + step.spread(of: key, upTo: AgendaStep.herd) : overdue.boottime
        entries[key]?.spreadStart = first
        return first
    }

    /// Counts occurrences as missed; the next event reports their number.
    private mutating func count(
        _ overdue: Overdue, of key: AgendaKey, as word: AlarmChange.Word, _ step: inout AgendaStep
    ) {
        step.decide(key, "\(word.rawValue) alarm \(key.id) missed \(overdue.count) last \(overdue.wall.rfc3339)")
        guard entries[key]?.rule.schedule.isRepeating == true else { return forget(key, &step) }
        entries[key]?.account(for: overdue)
        entries[key]?.missed += overdue.count
        entries[key]?.record(word, overdue.count, at: step.wall)
        store(key, &step)
        consider(key, &step)
    }
}

// Firing.
extension AlarmBook {
    mutating func raise(
        _ occurrence: AlarmEntry.Occurrence, of key: AgendaKey, again: Bool, _ step: inout AgendaStep
    ) {
        guard let rule = entries[key]?.rule else { return }
        handedBack.remove(key, &step)
        entries[key]?.run = .raised(occurrence, nil)
        let word: AlarmChange.Word = again ? .raisedAgain : .raised
        entries[key]?.record(word, occurrence.missed, due: occurrence.due, at: step.wall)
        step.decide(key, "raised alarm \(key.id) due \(occurrence.due.rfc3339) missed \(occurrence.missed)")
        store(key, &step)
        step.emit(
            .raise(key, Occasion(name: "alarm.fired", budgetClass: .data, payload: payload(occurrence, rule, step))))
        if !again, let alert = rule.alert, step.facts(of: key.handler).situation != .attached {
            step.emit(.act(key, AlarmAlert(text: alert)))
        }
    }

    private func payload(_ occurrence: AlarmEntry.Occurrence, _ rule: AlarmRule, _ step: AgendaStep) -> [UInt8] {
        var writer = JSONWriter(reserving: 128 + rule.data.count)
        writer.object {
            $0.field("id", rule.id)
            $0.field("due", occurrence.due)
            $0.field("late_s", max(0, step.wall.elapsed(since: occurrence.due).nanoseconds / 1_000_000_000))
            $0.field("missed", occurrence.missed)
            $0.key("data")
            $0.fragment(rule.data)
            if let alert = rule.alert { $0.field("alert", alert) }
        }
        return writer.bytes
    }
}

extension AgendaStep {
    /// Whether something is raised for the handler in this step.
    fileprivate func raises(for handler: HandlerID) -> Bool {
        effects.contains { if case .raise(let key, _) = $0 { key.handler == handler } else { false } }
    }
}

extension TimeSpan {
    fileprivate var quarter: TimeSpan { TimeSpan(nanoseconds: nanoseconds / 4) }
}
