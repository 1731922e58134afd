// The polls of all handlers: one each, raised when it is due and allowed, or along with another wake.
import WakeModel

struct PollBook: StoredBook {
    var store = EntryStore<PollEntry>()

    func startable(of handler: HandlerID, _ plan: AgendaPlan) -> [String] { plan.poll == nil ? [] : [""] }

    func add(_ handler: HandlerID, to outlook: inout AgendaOutlook, _ step: AgendaStep) {
        guard let entry = store[Self.key(handler)], !entry.isNever else { return }
        outlook.add(due: entry.delivery.isWaiting ? step.wallTime(at: entry.due) : nil, step)
    }

    func pending(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry] {
        guard let entry = store[Self.key(handler)], !entry.isNever else { return [] }
        return [entry.listed(step)]
    }

    static func key(_ handler: HandlerID) -> AgendaKey { AgendaKey(handler, .poll, "") }
}

// The passing of time.
extension PollBook {
    mutating func meet(_ handler: HandlerID, _ step: inout AgendaStep) {
        let facts = step.facts(of: handler)
        store.change(Self.key(handler)) { entry in
            // Drops a withdrawal that an attached handler ignored; a condition that is still lost causes another.
            _ = entry.delivery.removeUnheardPress(facts.situation)
            entry.meet(step)
        }
    }

    mutating func followClock(_ step: AgendaStep) { for entry in store.all { reckonAnew(entry, step) } }

    /// Quiet hours move once the wall clock was set.
    private mutating func reckonAnew(_ entry: PollEntry, _ step: AgendaStep) {
        guard entry.rule != nil, entry.delivery.isWaiting, !entry.isReturned, !entry.isOperated,
            entry.due > step.boottime
        else { return }
        store[entry.key]?.reckon(step)
    }

    mutating func look(at key: AgendaKey, _ step: inout AgendaStep) {
        guard let entry = store[key] else { return }
        guard entry.delivery.isWaiting else { return follow(entry, &step) }
        guard entry.rule != nil, !entry.isNever else {
            store.index.use([], for: key, &step)
            return store.index.look(key, at: nil)
        }
        let requirement = entry.requirement(step)
        store.index.use(requirement.used(at: step.boottime), for: key, &step)
        store.index.look(key, at: requirement.nextLook(after: step.boottime))
        let waits = entry.waits(step)
        if waits.isEmpty { return raise(entry, waived: requirement.missing(step).waived, &step) }
        if step.boottime >= requirement.start {
            store[key]?.history.add("waits for \(waits.map(\.word).joined(separator: ", "))", step)
        }
    }

    private mutating func raise(_ entry: PollEntry, waived: [Condition], _ step: inout AgendaStep) {
        var entry = entry
        step.emit(.raise(entry.key, entry.occasion(waived: waived)))
        let isRide = step.boottime < entry.due
        let words = waived.map(\.word).joined(separator: ",")
        step.decide(entry.key, (isRide ? "ride" : "raise") + (words.isEmpty ? "" : " without=\(words)"))
        let missing = waived.isEmpty ? "" : ", without \(waived.map(\.word).joined(separator: ", "))"
        entry.history.add((isRide ? "rode along with a wake" : "raised") + missing, step)
        entry.delivery.begin(relyingOn: (entry.rule?.require ?? []).filter { !waived.contains($0) })
        (entry.until, entry.raisedAt, entry.assumedZero) = ([], step.boottime, nil)
        store.put(entry)
        follow(entry, &step)
    }

    /// Withdraws a queued or running poll when it has lost a condition that it relies on.
    private mutating func follow(_ entry: PollEntry, _ step: inout AgendaStep) {
        var entry = entry
        let restEnd = step.restEnd(of: entry.delivery.sequence)
        if restEnd == nil, step.hasRested(entry.delivery.sequence) {
            entry.meet(step)
            store[entry.key] = entry
        }
        store.index.look(entry.key, at: restEnd)
        store.index.use(entry.delivery.relied, for: entry.key, &step)
        // Its deadline is known only with its manifest.
        guard entry.rule != nil,
            let lost = entry.delivery.lost(deadline: entry.due + entry.limits.ceiling, step)
        else { return }
        entry.delivery.press(entry.key.handler, because: .condition, &step)
        entry.history.add("lost \(lost.word) while \(entry.delivery.state.rawValue)", step)
        step.decide(entry.key, "lost \(lost.word)")
        store[entry.key] = entry
    }

    mutating func raiseNow(_ key: AgendaKey, _ step: inout AgendaStep) -> Bool {
        guard var entry = store[key] else { return false }
        guard entry.delivery.isWaiting else { return true }
        (entry.due, entry.isOperated, entry.assumedZero) = (step.boottime, true, nil)
        entry.history.add("made due by a person", step)
        store.put(entry)
        return true
    }
}

// Reports of the core on raised polls.
extension PollBook {
    mutating func conclude(
        _ key: AgendaKey, _ conclusion: Conclusion, awake: TimeSpan, cpu: TimeSpan, _ step: inout AgendaStep
    ) {
        guard var entry = store[key], !entry.delivery.isWaiting else { return }
        entry.history.add(conclusion.sentence, step)
        if awake > .zero { entry.pace.measure(awake: awake, cpu: cpu) }
        entry.pace.keep(within: entry.limits)
        switch conclusion {
        case .acknowledged(let result): learn(&entry, PollOutcome(result), awake, step)
        case .overrun: restart(&entry, .overrun)
        case .crashed: restart(&entry, .crashed)
        case .givenBack: entry.delivery.restart()
        case .deadLettered, .dropped:
            step.decide(key, conclusion == .dropped ? "dropped" : "dead-lettered")
            goOn(&entry, awake, step)
        case .withdrawn, .ended: comeBack(&entry, step)
        case .handedBack(let words):
            comeBack(&entry, step)
            entry.handBacks += 1
            entry.until = step.conditions(named: words, by: key.handler)
            entry.due = step.boottime + handBackRest(entry.handBacks)
        }
        store.put(entry)
    }

    private mutating func learn(
        _ entry: inout PollEntry, _ outcome: PollOutcome, _ awake: TimeSpan, _ step: AgendaStep
    ) {
        entry.pace.learn(outcome, entry.limits)
        let delivered = max(entry.raisedAt, step.boottime - awake)
        if step.stamp.isClockSynchronized, outcome == .useful || outcome == .nothing {
            entry.hours.learn(isUseful: outcome == .useful, at: step.wallTime(at: delivered))
        }
        goOn(&entry, awake, step)
    }

    /// The poll is over: the next one counts from when this one was delivered.
    private mutating func goOn(_ entry: inout PollEntry, _ awake: TimeSpan, _ step: AgendaStep) {
        entry.base = max(entry.raisedAt, step.boottime - awake)
        (entry.handBacks, entry.isReturned, entry.isOperated) = (0, false, false)
        comeBack(&entry, step)
        entry.isReturned = false
        if entry.rule != nil { entry.reckon(step) }
    }

    /// The same poll waits again.
    private mutating func comeBack(_ entry: inout PollEntry, _ step: AgendaStep) {
        store.conclude(&entry)
        (entry.isReturned, entry.waitingSince) = (true, step.wall)
    }

    /// The core delivers it again.
    private func restart(_ entry: inout PollEntry, _ outcome: PollOutcome) {
        entry.pace.learn(outcome, entry.limits)
        entry.delivery.restart()
    }
}

// Manifests and orders.
extension PollBook {
    mutating func configure(_ handler: HandlerID, _ plan: AgendaPlan, _ step: inout AgendaStep) {
        guard let rule = plan.poll else { return remove(handler, &step) }
        guard var entry = store[Self.key(handler)] else {
            var entry = PollEntry(key: Self.key(handler), rule: rule, step)
            entry.reckon(step)
            return store.put(entry)
        }
        guard entry.rule != rule else { return }
        // The first manifest after a start mostly has no change: the stored poll continues.
        let isStored = entry.rule == nil
        let interval = entry.pace.interval
        entry.rule = rule
        entry.pace.keep(within: entry.limits)
        if entry.delivery.isWaiting, !entry.isReturned, !entry.isOperated, !isStored || interval != entry.pace.interval
        {
            entry.reckon(step)
        }
        store.put(entry)
    }

    mutating func remove(_ handler: HandlerID, _ step: inout AgendaStep) {
        guard let entry = store.remove(Self.key(handler), &step) else { return }
        entry.delivery.recall(handler, &step)
        step.decide(entry.key, "cancel manifest")
    }

    /// Answers with `set` or `never`. The handler must be configured with a poll.
    mutating func order(_ order: PollOrder, of handler: HandlerID, _ step: AgendaStep) -> String {
        guard var entry = store[Self.key(handler)] else { return "never" }
        let wasNever = entry.isNever
        entry.order = order
        entry.pace.keep(within: entry.limits)
        if entry.delivery.isWaiting, !entry.isReturned, !entry.isOperated {
            if wasNever { (entry.base, entry.waitingSince, entry.assumedZero) = (step.boottime, step.wall, nil) }
            entry.reckon(step)
        }
        store.put(entry)
        return order == .never ? "never" : "set"
    }
}
