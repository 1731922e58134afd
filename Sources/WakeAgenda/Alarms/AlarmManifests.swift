// Inputs of the book from outside: stored rows, manifests, conclusions, and persons who want an alarm now.
import WakeModel

extension AlarmBook: AgendaBook {
    mutating func restore(_ row: AgendaRow, _ step: inout AgendaStep) -> Bool {
        switch AlarmRow(row) {
        case nil: return false
        case .clock(let clock, let seen):
            // The later one of two rows from one boot knows better.
            if seen >= seenBefore[clock.boot] ?? seen || clocksBefore[clock.boot] == nil {
                clocksBefore[clock.boot] = clock
            }
            recordSeen(seen, in: clock.boot)
        case .entry(let entry, let seen):
            if case .interval(let course) = entry.course { recordSeen(seen, in: course.boot) }
            drop(row.key)
            insert(entry, as: row.key)
        }
        return true
    }

    private mutating func recordSeen(_ seen: Instant, in boot: String) {
        seenBefore[boot] = max(seen, seenBefore[boot] ?? seen)
    }

    mutating func configure(_ handler: HandlerID, _ plan: AgendaPlan, _ step: inout AgendaStep) {
        readClocks(&step)
        own(handler)
        handlers[handler]?.isConfigured = true
        handlers[handler]?.mayOrder = plan.alarms != nil
        readObstacle(of: handler, &step)
        let declared = Set((plan.alarms ?? []).map(\.id))
        for key in presentKeys(of: handler) where !declared.contains(key.id) {
            if entries[key]?.isDeclared == true {
                withdraw(key, "undeclared", &step)
            } else if plan.alarms == nil {
                withdraw(key, "unpermitted", &step)
            } else {
                consider(key, &step)
            }
        }
        handlers[handler]?.refused = []
        for rule in plan.alarms ?? [] { declare(rule, handler, &step) }
        if let refused = handlers[handler]?.refused, !refused.isEmpty { refusing.insert(handler) }
        readZones(&step)
    }

    private mutating func withdraw(_ key: AgendaKey, _ word: String, _ step: inout AgendaStep) {
        step.decide(key, "\(word) alarm \(key.id)")
        revoke(key, &step)
    }

    /// Cancels all of it. While the core has it, a mark stays, so that it does not come again after a crash.
    mutating func revoke(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard case .raised = entries[key]?.run else { return forget(key, &step) }
        place(key, .nowhere)
        entries[key]?.isSpent = true
        entries[key]?.isRevoked = true
        store(key, &step)
        recall(key, &step)
    }

    /// Recalls the occurrence that its handler does not have yet.
    private func recall(_ key: AgendaKey, _ step: inout AgendaStep) {
        if case .raised(_, let sequence?) = entries[key]?.run { step.emit(.recall(key.handler, sequence)) }
    }

    /// Keeps its progress if its schedule stays.
    private mutating func declare(_ rule: AlarmRule, _ handler: HandlerID, _ step: inout AgendaStep) {
        let key = AgendaKey(handler, .alarm, rule.id)
        guard var entry = entries[key], !entry.isLeaving else {
            guard hasRoom(for: handler) else { return refuse(rule, key, &step) }
            var entry = begun(rule, isDeclared: true, .set, step)
            if let former = entries[key] { entry.inherit(from: former) }
            return add(entry, as: key, &step)
        }
        guard entry.rule != rule || !entry.isDeclared else { return consider(key, &step) }
        if entry.rule.schedule != rule.schedule || !entry.isDeclared {
            let former = entry
            entry = begun(rule, isDeclared: true, .changed, step)
            entry.inherit(from: former)
        }
        entry.rule = rule
        step.decide(key, "changed alarm \(key.id)")
        add(entry, as: key, &step)
    }

    /// It is set once there is room.
    private mutating func refuse(_ rule: AlarmRule, _ key: AgendaKey, _ step: inout AgendaStep) {
        handlers[key.handler]?.refused.append(rule)
        step.decide(key, "too-many alarm \(key.id)")
        step.emit(.notify(key.handler, .error(.tooManyAlarms(besideDeclared: key.id))))
    }

    /// Sets declared alarms that found no room before, where there is some now.
    mutating func declareRefused(_ step: inout AgendaStep) {
        for handler in refusing.sorted() {
            while let rule = handlers[handler]?.refused.first, hasRoom(for: handler) {
                handlers[handler]?.refused.removeFirst()
                declare(rule, handler, &step)
            }
            if handlers[handler]?.refused.isEmpty ?? true { refusing.remove(handler) }
        }
    }

    func begun(_ rule: AlarmRule, isDeclared: Bool, _ word: AlarmChange.Word, _ step: AgendaStep) -> AlarmEntry {
        let course = AlarmCourse.begin(rule.schedule, step, isSynced: clock?.isSynced ?? false)
        var entry = AlarmEntry(rule: rule, isDeclared: isDeclared, course: course, since: step.wall)
        entry.record(word, at: step.wall)
        return entry
    }

    /// For one more alarm. Only those count that can fire once more.
    func hasRoom(for handler: HandlerID) -> Bool {
        guard let ids = handlers[handler]?.ids, ids.count >= AlarmRule.limit else { return true }
        return ids.count { entries[AgendaKey(handler, .alarm, $0)]?.isSpent == false } < AlarmRule.limit
    }

    mutating func remove(_ handler: HandlerID, _ step: inout AgendaStep) {
        for key in keys(of: handler) { forget(key, &step) }
        waiting.removeAll { $0.handler == handler }
        disown(handler)
    }

    mutating func recordRaised(_ key: AgendaKey, as sequence: Sequence, _ step: inout AgendaStep) {
        guard case .raised(let occurrence, _) = entries[key]?.run else { return }
        entries[key]?.run = .raised(occurrence, sequence)
        handlers[key.handler]?.sequences[sequence] = key.id
        store(key, &step)
        if entries[key]?.isRevoked == true { recall(key, &step) }
    }

    func key(of sequence: Sequence, for handler: HandlerID) -> AgendaKey? {
        handlers[handler]?.sequences[sequence].map { AgendaKey(handler, .alarm, $0) }
    }

    mutating func conclude(
        _ key: AgendaKey, _ conclusion: Conclusion, awake: TimeSpan, cpu: TimeSpan, _ step: inout AgendaStep
    ) {
        readClocks(&step)
        guard let entry = entries[key], case .raised(let occurrence, let sequence) = entry.run else { return }
        entries[key]?.record(conclusion.word, at: step.wall)
        guard conclusion.isFinal else {
            if entry.isRevoked { recall(key, &step) }
            return store(key, &step)
        }
        if let sequence { handlers[key.handler]?.sequences[sequence] = nil }
        if case .handedBack(let words) = conclusion, !entry.isRevoked {
            handBack(occurrence, until: words, key, &step)
        } else if entry.isSpent {
            return forget(key, &step)
        } else {
            entries[key]?.endRun()
        }
        store(key, &step)
        consider(key, &step)
    }

    /// It is to come again when all of these are true, and not at once: conditions that are true already would make a
    /// loop.
    private mutating func handBack(
        _ occurrence: AlarmEntry.Occurrence, until words: [String], _ key: AgendaKey, _ step: inout AgendaStep
    ) {
        let conditions = step.conditions(named: words, by: key.handler)
        entries[key]?.run = .owed(occurrence, until: conditions.map(\.word))
        let times = (entries[key]?.handBacks ?? 0) + 1
        entries[key]?.handBacks = times
        entries[key]?.restsUntil = step.boottime + handBackRest(times)
    }

    /// Raises an occurrence again that was handed back, whatever its conditions.
    mutating func raiseOwed(_ key: AgendaKey, _ step: inout AgendaStep) {
        readClocks(&step)
        guard case .owed(let occurrence, _) = entries[key]?.run else { return }
        entries[key]?.run = .owed(occurrence, until: [])
        entries[key]?.restsUntil = nil
        consider(key, &step)
    }

    /// Raises it beside its schedule, and so without a trace in it. An occurrence that is on its way is not doubled.
    mutating func raiseNow(_ key: AgendaKey, _ step: inout AgendaStep) -> Bool {
        readClocks(&step)
        guard let entry = entries[key], !entry.isLeaving else { return false }
        if case .owed = entry.run { raiseOwed(key, &step) }
        guard entry.run == .idle, !entry.isSpent else { return true }
        if let obstacle = obstacle(of: key.handler, step) {
            step.decide(key, "not-raised alarm \(key.id) \(obstacle)")
            return true
        }
        entries[key]?.record(.operated, at: step.wall)
        raise(AlarmEntry.Occurrence(due: step.wall, missed: 0), of: key, again: false, &step)
        place(key, .nowhere)
        return true
    }
}

extension Conclusion {
    fileprivate var word: AlarmChange.Word {
        switch self {
        case .acknowledged: .acknowledged
        case .handedBack: .handedBack
        case .withdrawn, .ended: .withdrawn
        case .overrun: .overrun
        case .crashed: .crashed
        case .givenBack: .givenBack
        case .deadLettered: .deadLettered
        case .dropped: .dropped
        }
    }
}
