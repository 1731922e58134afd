// The jobs of all handlers: raised when they are due and allowed, taken back when a condition goes, stored with each change.
import WakeModel

struct JobBook: StoredBook {
    /// How many jobs that may take long run at a time, of all handlers.
    static let slots = 2
    /// The time without progress after which a job makes way for another: half of the time that it has without one
    /// waiting.
    static let patience = TimeSpan.seconds(30)

    var store = EntryStore<JobEntry>()
    /// Jobs that hold a slot.
    var working: Set<AgendaKey> = []
    /// Jobs that wait only for a slot, since when.
    var slotWaiters: [AgendaKey: WallTime] = [:]
    /// Jobs that need nothing but a slot, in this step.
    private var ready: [AgendaKey] = []
    var registrations: [HandlerID: JobRegistrations] = [:]

    func startable(of handler: HandlerID, _ plan: AgendaPlan) -> [String] { plan.jobs.map(\.id) }

    mutating func cancel(_ key: AgendaKey, _ step: inout AgendaStep) { _ = cancel(key, by: .person, &step) }

    func add(_ handler: HandlerID, to outlook: inout AgendaOutlook, _ step: AgendaStep) {
        for entry in store.entries(of: handler) {
            outlook.add(due: entry.delivery.isWaiting ? step.wallTime(at: entry.current.earliest) : nil, step)
            if let next = entry.next { outlook.add(due: step.wallTime(at: next.earliest), step) }
        }
    }

    func pending(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry] {
        store.keys(of: handler).flatMap { listed($0, step) }
    }

    func listed(_ key: AgendaKey, _ step: AgendaStep) -> [PendingEntry] {
        guard let entry = store[key] else { return [] }
        var waits = entry.waits(step)
        if waits.isEmpty, let since = slotWaiters[key] { waits = [.init(.slot, since: since)] }
        return [entry.listed(waits: waits, step)] + (entry.listedNext(step).map { [$0] } ?? [])
    }

    /// How many more of a kind a handler has pending beside this one.
    func pendingCount(_ kind: JobRule.Kind, beside key: AgendaKey) -> Int {
        store.entries(of: key.handler).count { $0.key != key && $0.rule?.kind == kind && $0.isPending }
    }

    mutating func erase(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard store.remove(key, &step) != nil else { return }
        slotWaiters[key] = nil
        freeSlot(of: key)
    }

    mutating func freeSlot(of key: AgendaKey) {
        guard working.remove(key) != nil else { return }
        for waiter in slotWaiters.keys { store.index.touch(waiter) }
    }
}

// The passing of time.
extension JobBook {
    mutating func look(at key: AgendaKey, _ step: inout AgendaStep) { if isReady(key, &step) { ready.append(key) } }

    mutating func arbitrate(_ step: inout AgendaStep) {
        raise(ready, &step)
        ready = []
        makeWay(&step)
    }

    mutating func meet(_ handler: HandlerID, _ step: inout AgendaStep) {
        for key in store.keys(of: handler) {
            store.index.touch(key)
            guard var entry = store[key], entry.delivery.sequence != nil else { continue }
            // Other causes repeat their request by themselves.
            if entry.delivery.removeUnheardPress(step.facts(of: handler).situation) == .cancelled {
                entry.delivery.press(handler, because: .cancelled, &step)
            }
            entry.meet(step)
            store[key] = entry
            followSlot(of: key, step)
            // It comes back by its withdrawal, and waits with others of its kind.
            if entry.isWork, entry.isBarred(step) { entry.delivery.recall(handler, &step) }
        }
    }

    /// A job holds a slot while it runs, or runs as soon as its handler is woken. A running one has a slot, even beyond
    /// the limit.
    mutating func followSlot(of key: AgendaKey, _ step: AgendaStep) {
        guard var entry = store[key], entry.delivery.sequence != nil, entry.isWork else { return }
        let canRun = entry.canRun(step)
        guard canRun != entry.delivery.holdsSlot, !canRun || entry.delivery.isRunning else { return }
        entry.delivery.holdsSlot = canRun
        if canRun { working.insert(key) } else { freeSlot(of: key) }
        store.put(entry)
    }

    /// Brings one entry up to date; true where nothing but a slot is missing.
    private mutating func isReady(_ key: AgendaKey, _ step: inout AgendaStep) -> Bool {
        guard let entry = store[key] else { return false }
        guard entry.delivery.isWaiting else {
            follow(entry, &step)
            return false
        }
        guard entry.rule != nil else { return false }
        if let next = entry.next, let overtaken = entry.overtakenAt, overtaken <= step.boottime {
            store[key]?.order(next, step)
            store.index.save(key)
            return isReady(key, &step)
        }
        let requirement = entry.requirement(step)
        store.index.use(requirement.used(at: step.boottime), for: key, &step)
        let next = Instant.earlier(requirement.nextLook(after: step.boottime), entry.heldUntil(step))
        store.index.look(key, at: .earlier(next, entry.overtakenAt))
        let waits = entry.waits(step)
        if waits.isEmpty { return true }
        slotWaiters[key] = nil
        if skips(entry, step) {
            skip(key, waits.map(\.word), &step)
            return isReady(key, &step)
        }
        if step.boottime >= requirement.start {
            store[key]?.history.add("waits for \(waits.map(\.word).joined(separator: ", "))", step)
        }
        return false
    }

    private func skips(_ entry: JobEntry, _ step: AgendaStep) -> Bool {
        entry.maySkip && step.boottime >= entry.current.deadline
    }

    /// Withdraws a queued or running job when it has lost a condition that it relies on.
    mutating func follow(_ former: JobEntry, _ step: inout AgendaStep) {
        var entry = former
        let restEnd = step.restEnd(of: entry.delivery.sequence)
        if restEnd == nil, step.hasRested(entry.delivery.sequence) { entry = giveAgain(entry, step) }
        store.index.look(entry.key, at: restEnd)
        store.index.use(entry.delivery.relied, for: entry.key, &step)
        guard let lost = entry.delivery.lost(deadline: entry.current.deadline, step) else { return }
        entry.delivery.press(entry.key.handler, because: .condition, &step)
        entry.history.add("lost \(lost.word) while \(entry.delivery.state.rawValue)", step)
        step.decide(entry.key, "lost \(lost.word)")
        store[entry.key] = entry
    }

    /// Gives a refused job again: at once, if its handler is awake.
    private mutating func giveAgain(_ entry: JobEntry, _ step: AgendaStep) -> JobEntry {
        store[entry.key]?.meet(step)
        followSlot(of: entry.key, step)
        return store[entry.key] ?? entry
    }

    /// For each job that waits for a slot, a job without progress gives up its own: first the one without progress for
    /// longest.
    private mutating func makeWay(_ step: inout AgendaStep) {
        let leaving = working.count { store[$0]?.delivery.pressed != nil }
        let wanted = max(0, slotWaiters.count - leaving)
        let still = working.compactMap { key in store[key]?.makesWay(step).map { (at: $0, key: key) } }
        for (at, key) in still.sorted(by: { ($0.at, $0.key) < ($1.at, $1.key) }).prefix(wanted) {
            guard at <= step.boottime, var entry = store[key] else {
                store.index.look(key, at: at)
                continue
            }
            entry.delivery.press(key.handler, because: .stalled, &step)
            entry.history.add("stood still while another job waited for its slot", step)
            step.decide(key, "makes way")
            store[key] = entry
        }
    }
}

// Raising, and skipping.
extension JobBook {
    /// The nearest deadline goes first if slots are few; a job that made way comes after all others.
    mutating func raise(_ ready: [AgendaKey], _ step: inout AgendaStep) {
        let ordered = ready.compactMap { key in
            store[key].map { (turn: $0.madeWay ? 1 : 0, deadline: $0.current.deadline, key: key) }
        }
        for (_, _, key) in ordered.sorted(by: { ($0.turn, $0.deadline, $0.key) < ($1.turn, $1.deadline, $1.key) }) {
            guard let entry = store[key], let rule = entry.rule else { continue }
            if !rule.kind.isWork || working.count < Self.slots {
                raise(entry, rule, &step)
            } else if skips(entry, step) {
                skip(key, ["slot"], &step)
                _ = isReady(key, &step)
            } else if slotWaiters.updateValue(slotWaiters[key] ?? step.wall, forKey: key) == nil {
                store[key]?.history.add("waits for slot", step)
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
        entry.delivery.begin(
            relyingOn: entry.required.filter { !waived.contains($0) }, holdingSlot: rule.kind.isWork)
        (entry.until, entry.returned) = ([], nil)
        slotWaiters[entry.key] = nil
        if entry.delivery.holdsSlot { working.insert(entry.key) }
        store.put(entry)
        follow(entry, &step)
    }

    mutating func skip(_ key: AgendaKey, _ words: [String], _ step: inout AgendaStep) {
        let others = words.filter { $0 != "time" }
        let cause = others.isEmpty ? "the machine was off or asleep" : "it waited for \(others.listed)"
        step.decide(key, "skip waits=\(words.joined(separator: ","))")
        store[key]?.history.add("skipped: its deadline passed while \(cause)", step)
        store[key]?.schedule?.skip()
        goOn(key, &step)
    }

    /// The run is over, or given up: a later order follows, or the schedule, or no run.
    mutating func goOn(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard var entry = store[key] else { return }
        store.index.forget(entry.delivery.sequence)
        freeSlot(of: key)
        entry.schedule?.end(at: step.boottime)
        guard let request = entry.removeFollowing(step) else { return erase(key, &step) }
        entry.wait(for: request, step)
        store.put(entry)
    }

    mutating func raiseNow(_ key: AgendaKey, _ step: inout AgendaStep) -> Bool {
        guard let rule = step.facts(of: key.handler).plan.jobs.first(where: { $0.id == key.id }) else { return false }
        let now = JobRequest(earliest: step.boottime, deadline: step.boottime, require: nil, isOrdered: true)
        var entry = store[key] ?? JobEntry(key: key, rule: rule, current: now, waitingSince: step.wall)
        guard entry.delivery.isWaiting else { return true }
        (entry.current.earliest, entry.current.deadline, entry.isOperated) = (step.boottime, step.boottime, true)
        entry.current.isAssumed = false
        entry.history.add("wanted now by a person", step)
        store.put(entry)
        return true
    }
}
