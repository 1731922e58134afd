// The alarms as `pending` and `why` list them: their waits, since when, and the next chance.
import WakeModel

extension AlarmBook {
    func raised(for handler: HandlerID) -> [Sequence] { handlers[handler]?.sequences.keys.sorted() ?? [] }

    func startable(of handler: HandlerID, _ plan: AgendaPlan) -> [String] { presentKeys(of: handler).map(\.id) }

    func add(_ handler: HandlerID, to outlook: inout AgendaOutlook, _ step: AgendaStep) {
        for id in handlers[handler]?.ids ?? [] {
            guard let entry = entries[AgendaKey(handler, .alarm, id)], !entry.isLeaving else { continue }
            let due: WallTime? =
                switch entry.place {
                case .wall(let time): time
                case .boottime(let instant): step.wallTime(at: instant)
                case .riding(let until): until.map(step.wallTime)
                case .nowhere, .parked: nil
                }
            outlook.add(due: due, step)
        }
    }

    func pending(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry] {
        presentKeys(of: handler).compactMap { pendingEntry($0, step) }
    }

    func pendingEntry(_ key: AgendaKey, _ step: AgendaStep) -> PendingEntry? {
        guard let entry = entries[key] else { return nil }
        let finding = entry.rule.zoneName.map { zones[$0] }
        let overdue = entry.isSpent ? nil : entry.overdue(step, in: finding?.zone)
        let next = entry.isSpent ? nil : wall(of: entry.next(in: finding?.zone), step)
        var result = PendingEntry(
            key: key, state: .waiting, due: overdue?.wall ?? next, interval: entry.rule.period,
            history: entry.history.map { PendingEntry.Change(at: $0.at, sentence: $0.sentence) })
        switch entry.run {
        case .raised(let occurrence, let sequence):
            (result.state, result.sequence) = (.queued, sequence)
            result.due = overdue?.wall ?? occurrence.due
            if overdue != nil { result.waitsFor = [wait(.earlierRun, entry)] }
        case .owed(let occurrence, let conditions):
            result.due = occurrence.due
            result.waitsFor = waits(of: entry, until: conditions, key.handler, step)
            result.nextChance = nextChanceAgain(of: entry, waits: result.waitsFor, step)
        case .idle:
            let isZoneKnown = finding.map { $0.zone != nil } ?? true
            result.waitsFor = waits(of: entry, isZoneKnown: isZoneKnown, isOverdue: overdue != nil, key.handler, step)
            result.nextChance = nextChance(of: entry, waits: result.waitsFor, next, step)
        }
        return result
    }

    private func wait(_ reason: WaitReason, _ entry: AlarmEntry) -> PendingEntry.Wait {
        PendingEntry.Wait(reason, since: entry.since)
    }

    /// The waits of an alarm that was handed back; never none.
    private func waits(
        of entry: AlarmEntry, until words: [String], _ handler: HandlerID, _ step: AgendaStep
    ) -> [PendingEntry.Wait] {
        let unmet = Condition.known(words, to: handler).filter { !step.conditions.isTrue($0) }
        let conditions = unmet.map(step.wait)
        let waits = conditions + obstacles(of: handler, step)
        let isResting = entry.restsUntil.map { step.boottime < $0 } ?? false
        return (isResting || waits.isEmpty ? [wait(.time, entry)] : []) + waits
    }

    /// All of them must come true; never none.
    private func waits(
        of entry: AlarmEntry, isZoneKnown: Bool, isOverdue: Bool, _ handler: HandlerID, _ step: AgendaStep
    ) -> [PendingEntry.Wait] {
        var waits = obstacles(of: handler, step)
        if !isZoneKnown { waits.append(wait(.zone, entry)) }
        if !mayRun(entry) { waits.append(wait(.clock, entry)) }
        if entry.place == .riding(until: nil) { return waits + [wait(.wake, entry)] }
        // An overdue alarm without another wait was postponed.
        if !isOverdue && isZoneKnown || waits.isEmpty { waits.append(wait(.time, entry)) }
        return waits
    }

    private func obstacles(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry.Wait] {
        guard let word = obstacle(of: handler, step) else { return [] }
        if let known = handlers[handler]?.obstacle, known.word == word { return [known] }
        return [PendingEntry.Wait(word: word, since: step.wall)]
    }

    /// For an alarm that was handed back: when it has rested, or its schedule comes to its next occurrence.
    private func nextChanceAgain(
        of entry: AlarmEntry, waits: [PendingEntry.Wait], _ step: AgendaStep
    ) -> WallTime? {
        let rested = entry.restsUntil.map { step.wallTime(at: $0) } ?? step.wall
        let again = waits.first?.word == WaitReason.time.word ? rested : nil
        let settled = waits.allSatisfy { $0.settles != nil } ? waits.compactMap(\.settles).max() : nil
        let chances = [again, settled, wall(of: entry.place, step)].compactMap { $0 }
        return chances.min().map { max($0, step.wall) }
    }

    /// The next chance, if only time is missing, or the end of the wait for the clock is known.
    private func nextChance(
        of entry: AlarmEntry, waits: [PendingEntry.Wait], _ next: WallTime?, _ step: AgendaStep
    ) -> WallTime? {
        switch waits.first?.word {
        case WaitReason.time.word: wall(of: entry.place, step) ?? next.map { max($0, step.wall) }
        case WaitReason.clock.word: step.wallTime(at: max(AlarmClock.patience, step.boottime))
        default: nil
        }
    }

    private func wall(of place: AlarmEntry.Place, _ step: AgendaStep) -> WallTime? {
        switch place {
        case .wall(let time): time
        case .boottime(let instant): step.wallTime(at: instant)
        case .riding(let until): until.map(step.wallTime)
        case .nowhere, .parked: nil
        }
    }
}

extension AlarmRule {
    /// Where it has one: a day is not always as long.
    fileprivate var period: TimeSpan? { if case .every(let period, _) = schedule { period } else { nil } }
}
