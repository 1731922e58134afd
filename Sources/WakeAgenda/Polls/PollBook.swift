// The polls of all handlers: one each, raised when it is due and allowed, or along with another wake.
import WakeModel

struct PollBook: AgendaBook {
    private(set) var entries: [HandlerID: PollEntry] = [:]
    private var index = EntryIndex()
    /// Handlers whose instants wait for a synchronized clock.
    private var assumed: Set<HandlerID> = []
    private var wallOffset = WallOffset()

    var nextBoottime: Instant? { index.next }
    var hasStoredEntries: Bool { !entries.isEmpty }

    func key(of sequence: Sequence, for handler: HandlerID) -> AgendaKey? {
        index.key(of: sequence).flatMap { $0.handler == handler ? $0 : nil }
    }

    func raised(for handler: HandlerID) -> [Sequence] {
        [entries[handler]?.lending.sequence].compactMap { $0 }
    }

    func startable(of handler: HandlerID, _ plan: AgendaPlan) -> [String] { plan.poll == nil ? [] : [""] }

    func add(_ handler: HandlerID, to outlook: inout AgendaOutlook, _ step: AgendaStep) {
        guard let entry = entries[handler], !entry.isNever else { return }
        outlook.add(due: entry.lending.isWaiting ? step.wallTime(at: entry.due) : nil, step)
    }

    func pending(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry] {
        guard let entry = entries[handler], !entry.isNever else { return [] }
        return [entry.listed(step)]
    }

    static func key(_ handler: HandlerID) -> AgendaKey { AgendaKey(handler, .poll, "") }

    private mutating func put(_ entry: PollEntry) {
        entries[entry.key.handler] = entry
        index.save(entry.key)
    }
}

// The passing of time.
extension PollBook {
    mutating func advance(_ step: inout AgendaStep) {
        mend(&step)
        for handler in step.changes.handlers where entries[handler] != nil {
            index.touch(Self.key(handler))
            // Drops a withdrawal that an attached handler ignored; a condition that is still lost causes another.
            _ = entries[handler]?.lending.removeUnheardPress(step.facts(of: handler).situation)
            entries[handler]?.meet(step)
        }
        for key in index.removeTouched(step) { look(at: key.handler, &step) }
        for key in index.removeUnsaved() {
            if let entry = entries[key.handler] { step.emit(.store(entry.row(step))) }
        }
    }

    private mutating func mend(_ step: inout AgendaStep) {
        if step.stamp.isClockSynchronized {
            for handler in assumed.sorted() {
                guard let zero = entries[handler]?.assumedZero else { continue }
                entries[handler]?.shift(by: BootShift.mending(zero, step))
                entries[handler]?.assumedZero = nil
                index.save(Self.key(handler))
            }
            assumed = []
        }
        let isMoved = wallOffset.hasMoved(step)
        guard step.changes.clock else { return }
        for (handler, entry) in entries {
            isMoved ? index.save(entry.key) : index.touch(entry.key)
            if isMoved { reckonAnew(handler, step) }
        }
    }

    /// Quiet hours move once the wall clock was set.
    private mutating func reckonAnew(_ handler: HandlerID, _ step: AgendaStep) {
        guard let entry = entries[handler], entry.rule != nil, entry.lending.isWaiting, !entry.isReturned,
            !entry.isOperated, entry.due > step.boottime
        else { return }
        entries[handler]?.reckon(step)
    }

    private mutating func look(at handler: HandlerID, _ step: inout AgendaStep) {
        guard let entry = entries[handler] else { return }
        guard entry.lending.isWaiting else { return follow(entry, &step) }
        guard entry.rule != nil, !entry.isNever else {
            index.use([], for: entry.key, &step)
            return index.look(entry.key, at: nil)
        }
        let requirement = entry.requirement(step)
        index.use(requirement.used(at: step.boottime), for: entry.key, &step)
        index.look(entry.key, at: requirement.nextLook(after: step.boottime))
        let waits = entry.waits(step)
        if waits.isEmpty { return raise(entry, waived: requirement.missing(step).waived, &step) }
        if step.boottime >= requirement.start {
            entries[handler]?.history.add("waits for \(waits.map(\.word).joined(separator: ", "))", step)
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
        entry.lending.begin(relyingOn: (entry.rule?.require ?? []).filter { !waived.contains($0) })
        (entry.until, entry.raisedAt, entry.assumedZero) = ([], step.boottime, nil)
        put(entry)
        follow(entry, &step)
    }

    /// Withdraws a queued or running poll when it has lost a condition that it relies on.
    private mutating func follow(_ entry: PollEntry, _ step: inout AgendaStep) {
        var entry = entry
        let restEnd = step.restEnd(of: entry.lending.sequence)
        if restEnd == nil, step.hasRested(entry.lending.sequence) {
            entry.meet(step)
            entries[entry.key.handler] = entry
        }
        index.look(entry.key, at: restEnd)
        index.use(entry.lending.relied, for: entry.key, &step)
        // Its deadline is known only with its manifest.
        guard entry.rule != nil,
            let lost = entry.lending.lost(deadline: entry.due + entry.limits.ceiling, step)
        else { return }
        entry.lending.press(entry.key.handler, because: .condition, &step)
        entry.history.add("lost \(lost.word) while \(entry.lending.state.rawValue)", step)
        step.decide(entry.key, "lost \(lost.word)")
        entries[entry.key.handler] = entry
    }

    mutating func raiseNow(_ key: AgendaKey, _ step: inout AgendaStep) -> Bool {
        guard var entry = entries[key.handler], key.id.isEmpty else { return false }
        guard entry.lending.isWaiting else { return true }
        (entry.due, entry.isOperated, entry.assumedZero) = (step.boottime, true, nil)
        entry.history.add("made due by a person", step)
        put(entry)
        return true
    }
}

// Reports of the core on raised polls.
extension PollBook {
    mutating func recordRaised(_ key: AgendaKey, as sequence: Sequence, _ step: inout AgendaStep) {
        guard var entry = entries[key.handler], entry.lending.phase == .raising else { return }
        entry.lending.phase = .raised(sequence)
        entry.lending.isRunning = step.isAwake(key.handler)
        index.number(key, sequence)
        put(entry)
    }

    mutating func conclude(
        _ key: AgendaKey, _ conclusion: Conclusion, awake: TimeSpan, cpu: TimeSpan, _ step: inout AgendaStep
    ) {
        guard var entry = entries[key.handler], !entry.lending.isWaiting else { return }
        entry.history.add(conclusion.sentence, step)
        if awake > .zero { entry.pace.measure(awake: awake, cpu: cpu) }
        entry.pace.keep(within: entry.limits)
        switch conclusion {
        case .acknowledged(let result): learn(&entry, PollOutcome(result), awake, step)
        case .overrun: restart(&entry, .overrun)
        case .crashed: restart(&entry, .crashed)
        case .givenBack: entry.lending.restart()
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
        put(entry)
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
        index.forget(entry.lending.sequence)
        (entry.lending, entry.isReturned, entry.waitingSince) = (Lending(), true, step.wall)
    }

    /// The core delivers it again.
    private func restart(_ entry: inout PollEntry, _ outcome: PollOutcome) {
        entry.pace.learn(outcome, entry.limits)
        entry.lending.restart()
    }
}

// Manifests, rows and orders.
extension PollBook {
    mutating func restore(_ row: AgendaRow, _ step: inout AgendaStep) -> Bool {
        guard row.key.id.isEmpty, let (entry, isMoved) = PollEntry.read(row, step) else { return false }
        entries[row.key.handler] = entry
        if let sequence = entry.lending.sequence { index.number(row.key, sequence) }
        if entry.assumedZero != nil { assumed.insert(row.key.handler) }
        isMoved ? index.save(row.key) : index.touch(row.key)
        return true
    }

    mutating func configure(_ handler: HandlerID, _ plan: AgendaPlan, _ step: inout AgendaStep) {
        guard let rule = plan.poll else { return remove(handler, &step) }
        guard var entry = entries[handler] else {
            var entry = PollEntry(key: Self.key(handler), rule: rule, step)
            entry.reckon(step)
            return put(entry)
        }
        guard entry.rule != rule else { return }
        // The first manifest after a start mostly has no change: the stored poll continues.
        let isStored = entry.rule == nil
        let interval = entry.pace.interval
        entry.rule = rule
        entry.pace.keep(within: entry.limits)
        if entry.lending.isWaiting, !entry.isReturned, !entry.isOperated, !isStored || interval != entry.pace.interval {
            entry.reckon(step)
        }
        put(entry)
    }

    mutating func remove(_ handler: HandlerID, _ step: inout AgendaStep) {
        guard let entry = entries.removeValue(forKey: handler) else { return }
        entry.lending.recall(handler, &step)
        index.forget(entry.lending.sequence)
        index.remove(entry.key, &step)
        assumed.remove(handler)
        step.decide(entry.key, "cancel manifest")
        step.emit(.erase(entry.key))
    }

    /// Answers with `set` or `never`. The handler must be configured with a poll.
    mutating func order(_ order: PollOrder, of handler: HandlerID, _ step: AgendaStep) -> String {
        guard var entry = entries[handler] else { return "never" }
        let wasNever = entry.isNever
        entry.order = order
        entry.pace.keep(within: entry.limits)
        if entry.lending.isWaiting, !entry.isReturned, !entry.isOperated {
            if wasNever { (entry.base, entry.waitingSince, entry.assumedZero) = (step.boottime, step.wall, nil) }
            entry.reckon(step)
        }
        put(entry)
        return order == .never ? "never" : "set"
    }
}
