// The jobs of all handlers: raised when they are due and allowed, taken back when a condition goes, stored with each change.
import WakeModel

struct JobBook: AgendaBook {
    /// How many jobs that may take long run at a time, of all handlers.
    static let slots = 2
    /// The time without progress after which a job makes way for another: half of the time that it has without one
    /// waiting.
    static let patience = TimeSpan.seconds(30)

    var entries: [AgendaKey: JobEntry] = [:]
    var idsByHandler: [HandlerID: Set<String>] = [:]
    var index = EntryIndex()
    /// Jobs that hold a slot.
    var working: Set<AgendaKey> = []
    /// Jobs that wait only for a slot, since when.
    var slotWaiters: [AgendaKey: WallTime] = [:]
    /// Jobs whose instants wait for a synchronized clock.
    var assumed: Set<AgendaKey> = []
    var wallOffset = WallOffset()
    var registrations: [HandlerID: JobRegistrations] = [:]

    var nextBoottime: Instant? { index.next }
    var hasStoredEntries: Bool { !entries.isEmpty }

    func key(of sequence: Sequence, for handler: HandlerID) -> AgendaKey? {
        index.key(of: sequence).flatMap { $0.handler == handler ? $0 : nil }
    }

    func keys(of handler: HandlerID) -> [AgendaKey] {
        (idsByHandler[handler] ?? []).sorted().map { AgendaKey(handler, .job, $0) }
    }

    func raised(for handler: HandlerID) -> [Sequence] {
        keys(of: handler).compactMap { entries[$0]?.lending.sequence }
    }

    func startable(of handler: HandlerID, _ plan: AgendaPlan) -> [String] { plan.jobs.map(\.id) }

    mutating func cancel(_ key: AgendaKey, _ step: inout AgendaStep) { _ = cancel(key, by: .person, &step) }

    func add(_ handler: HandlerID, to outlook: inout AgendaOutlook, _ step: AgendaStep) {
        for id in idsByHandler[handler] ?? [] {
            guard let entry = entries[AgendaKey(handler, .job, id)] else { continue }
            outlook.add(due: entry.lending.isWaiting ? step.wallTime(at: entry.current.earliest) : nil, step)
            if let next = entry.next { outlook.add(due: step.wallTime(at: next.earliest), step) }
        }
    }

    func pending(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry] {
        keys(of: handler).flatMap { listed($0, step) }
    }

    func listed(_ key: AgendaKey, _ step: AgendaStep) -> [PendingEntry] {
        guard let entry = entries[key] else { return [] }
        var waits = entry.waits(step)
        if waits.isEmpty, let since = slotWaiters[key] { waits = [.init(.slot, since: since)] }
        return [entry.listed(waits: waits, step)] + (entry.listedNext(step).map { [$0] } ?? [])
    }

    /// How many more of a kind a handler has pending beside this one.
    func pendingCount(_ kind: JobRule.Kind, beside key: AgendaKey) -> Int {
        (idsByHandler[key.handler] ?? []).count { id in
            guard id != key.id, let entry = entries[AgendaKey(key.handler, .job, id)] else { return false }
            return entry.rule?.kind == kind && entry.isPending
        }
    }

    mutating func put(_ entry: JobEntry) {
        entries[entry.key] = entry
        idsByHandler[entry.key.handler, default: []].insert(entry.key.id)
        index.save(entry.key)
    }

    mutating func erase(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        idsByHandler[key.handler]?.remove(key.id)
        if idsByHandler[key.handler]?.isEmpty == true { idsByHandler[key.handler] = nil }
        index.forget(entry.lending.sequence)
        index.remove(key, &step)
        slotWaiters[key] = nil
        assumed.remove(key)
        freeSlot(of: key)
        step.emit(.erase(key))
    }

    mutating func freeSlot(of key: AgendaKey) {
        guard working.remove(key) != nil else { return }
        for waiter in slotWaiters.keys { index.touch(waiter) }
    }
}

// The passing of time.
extension JobBook {
    mutating func advance(_ step: inout AgendaStep) {
        mend(&step)
        for handler in step.changes.handlers.sorted() { meet(handler, &step) }
        var ready: [AgendaKey] = []
        for key in index.removeTouched(step) where look(at: key, &step) { ready.append(key) }
        raise(ready, &step)
        makeWay(&step)
        for key in index.removeUnsaved() {
            if let entry = entries[key] { step.emit(.store(entry.row(step))) }
        }
    }

    private mutating func meet(_ handler: HandlerID, _ step: inout AgendaStep) {
        for key in keys(of: handler) {
            index.touch(key)
            guard var entry = entries[key], entry.lending.sequence != nil else { continue }
            // Other causes repeat their request by themselves.
            if entry.lending.removeUnheardPress(step.facts(of: handler).situation) == .cancelled {
                entry.lending.press(handler, because: .cancelled, &step)
            }
            entry.meet(step)
            entries[key] = entry
            followSlot(of: key, step)
            // It comes back by its withdrawal, and waits with others of its kind.
            if entry.isWork, entry.isBarred(step) { entry.lending.recall(handler, &step) }
        }
    }

    /// A job holds a slot while it runs, or runs as soon as its handler is woken. A running one has a slot, even beyond
    /// the limit.
    mutating func followSlot(of key: AgendaKey, _ step: AgendaStep) {
        guard var entry = entries[key], entry.lending.sequence != nil, entry.isWork else { return }
        let canRun = entry.canRun(step)
        guard canRun != entry.lending.holdsSlot, !canRun || entry.lending.isRunning else { return }
        entry.lending.holdsSlot = canRun
        if canRun { working.insert(key) } else { freeSlot(of: key) }
        put(entry)
    }

    mutating func mend(_ step: inout AgendaStep) {
        if step.stamp.isClockSynchronized {
            for key in assumed.sorted() {
                guard let zero = entries[key]?.assumedZero else { continue }
                entries[key]?.mend(by: BootShift.mending(zero, step))
                index.save(key)
            }
            assumed = []
        }
        let isMoved = wallOffset.hasMoved(step)
        guard step.changes.clock else { return }
        for key in entries.keys { isMoved ? index.save(key) : index.touch(key) }
    }

    /// Brings one entry up to date; true where nothing but a slot is missing.
    mutating func look(at key: AgendaKey, _ step: inout AgendaStep) -> Bool {
        guard let entry = entries[key] else { return false }
        guard entry.lending.isWaiting else {
            follow(entry, &step)
            return false
        }
        guard entry.rule != nil else { return false }
        if let next = entry.next, let overtaken = entry.overtakenAt, overtaken <= step.boottime {
            entries[key]?.order(next, step)
            index.save(key)
            return look(at: key, &step)
        }
        let requirement = entry.requirement(step)
        index.use(requirement.used(at: step.boottime), for: key, &step)
        let next = Instant.earlier(requirement.nextLook(after: step.boottime), entry.heldUntil(step))
        index.look(key, at: .earlier(next, entry.overtakenAt))
        let waits = entry.waits(step)
        if waits.isEmpty { return true }
        slotWaiters[key] = nil
        if skips(entry, step) {
            skip(key, waits.map(\.word), &step)
            return look(at: key, &step)
        }
        if step.boottime >= requirement.start {
            entries[key]?.history.add("waits for \(waits.map(\.word).joined(separator: ", "))", step)
        }
        return false
    }

    private func skips(_ entry: JobEntry, _ step: AgendaStep) -> Bool {
        entry.maySkip && step.boottime >= entry.current.deadline
    }

    /// Withdraws a queued or running job when it has lost a condition that it relies on.
    mutating func follow(_ former: JobEntry, _ step: inout AgendaStep) {
        var entry = former
        let restEnd = step.restEnd(of: entry.lending.sequence)
        if restEnd == nil, step.hasRested(entry.lending.sequence) { entry = giveAgain(entry, step) }
        index.look(entry.key, at: restEnd)
        index.use(entry.lending.relied, for: entry.key, &step)
        guard let lost = entry.lending.lost(deadline: entry.current.deadline, step) else { return }
        entry.lending.press(entry.key.handler, because: .condition, &step)
        entry.history.add("lost \(lost.word) while \(entry.lending.state.rawValue)", step)
        step.decide(entry.key, "lost \(lost.word)")
        entries[entry.key] = entry
    }

    /// Gives a refused job again: at once, if its handler is awake.
    private mutating func giveAgain(_ entry: JobEntry, _ step: AgendaStep) -> JobEntry {
        entries[entry.key]?.meet(step)
        followSlot(of: entry.key, step)
        return entries[entry.key] ?? entry
    }

    /// For each job that waits for a slot, a job without progress gives up its own: first the one without progress for
    /// longest.
    private mutating func makeWay(_ step: inout AgendaStep) {
        let leaving = working.count { entries[$0]?.lending.pressed != nil }
        let wanted = max(0, slotWaiters.count - leaving)
        let still = working.compactMap { key in entries[key]?.makesWay(step).map { (at: $0, key: key) } }
        for (at, key) in still.sorted(by: { ($0.at, $0.key) < ($1.at, $1.key) }).prefix(wanted) {
            guard at <= step.boottime, var entry = entries[key] else {
                index.look(key, at: at)
                continue
            }
            entry.lending.press(key.handler, because: .stalled, &step)
            entry.history.add("stood still while another job waited for its slot", step)
            step.decide(key, "makes way")
            entries[key] = entry
        }
    }
}

// Raising, and skipping.
extension JobBook {
    /// The nearest deadline goes first if slots are few; a job that made way comes after all others.
    mutating func raise(_ ready: [AgendaKey], _ step: inout AgendaStep) {
        let ordered = ready.compactMap { key in
            entries[key].map { (turn: $0.madeWay ? 1 : 0, deadline: $0.current.deadline, key: key) }
        }
        for (_, _, key) in ordered.sorted(by: { ($0.turn, $0.deadline, $0.key) < ($1.turn, $1.deadline, $1.key) }) {
            guard let entry = entries[key], let rule = entry.rule else { continue }
            if !rule.kind.isWork || working.count < Self.slots {
                raise(entry, rule, &step)
            } else if skips(entry, step) {
                skip(key, ["slot"], &step)
                _ = look(at: key, &step)
            } else if slotWaiters.updateValue(slotWaiters[key] ?? step.wall, forKey: key) == nil {
                entries[key]?.history.add("waits for slot", step)
            }
        }
    }

    mutating func raise(_ entry: JobEntry, _ rule: JobRule, _ step: inout AgendaStep) {
        var entry = entry
        let waived = entry.requirement(step).missing(step).waived
        entry.schedule?.begin(at: step.boottime)
        step.emit(.raise(entry.key, entry.occasion(rule, waived: waived, step)))
        let words = waived.map(\.word).joined(separator: ",")
        step.decide(entry.key, words.isEmpty ? "raise" : "raise without=\(words)")
        entry.history.add(entry.begun(without: waived), step)
        entry.lending.begin(
            relyingOn: entry.required.filter { !waived.contains($0) }, holdingSlot: rule.kind.isWork)
        (entry.until, entry.returned) = ([], nil)
        slotWaiters[entry.key] = nil
        if entry.lending.holdsSlot { working.insert(entry.key) }
        put(entry)
        follow(entry, &step)
    }

    mutating func skip(_ key: AgendaKey, _ words: [String], _ step: inout AgendaStep) {
        let others = words.filter { $0 != "time" }
        let cause = others.isEmpty ? "the machine was off or asleep" : "it waited for \(others.listed)"
        step.decide(key, "skip waits=\(words.joined(separator: ","))")
        entries[key]?.history.add("skipped: its deadline passed while \(cause)", step)
        entries[key]?.schedule?.skip()
        goOn(key, &step)
    }

    /// The run is over, or given up: a later order follows, or the schedule, or no run.
    mutating func goOn(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard var entry = entries[key] else { return }
        index.forget(entry.lending.sequence)
        freeSlot(of: key)
        entry.schedule?.end(at: step.boottime)
        guard let request = entry.removeFollowing(step) else { return erase(key, &step) }
        entry.wait(for: request, step)
        put(entry)
    }

    mutating func raiseNow(_ key: AgendaKey, _ step: inout AgendaStep) -> Bool {
        guard let rule = step.facts(of: key.handler).plan.jobs.first(where: { $0.id == key.id }) else { return false }
        let now = JobRequest(earliest: step.boottime, deadline: step.boottime, require: nil, isOrdered: true)
        var entry = entries[key] ?? JobEntry(key: key, rule: rule, current: now, waitingSince: step.wall)
        guard entry.lending.isWaiting else { return true }
        (entry.current.earliest, entry.current.deadline, entry.isOperated) = (step.boottime, step.boottime, true)
        entry.current.isAssumed = false
        entry.history.add("wanted now by a person", step)
        put(entry)
        return true
    }
}
