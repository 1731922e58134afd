// The inboxes of all handlers: each message is raised when its handler is awake, or when the inbox may wake it.
import WakeModel

struct InboxBook: AgendaBook {
    private(set) var entries: [HandlerID: InboxEntry] = [:]
    private var index = EntryIndex()
    /// Handlers whose instants wait for a synchronized clock.
    private var assumed: Set<HandlerID> = []
    private var wallOffset = WallOffset()
    /// The message that was accepted in this step, and not answered yet.
    private var accepted: (ticket: UInt64, handler: HandlerID, number: Int64, lifetime: TimeSpan)?

    var nextBoottime: Instant? { index.next }
    var hasStoredEntries: Bool { entries.values.contains { !$0.messages.isEmpty } }

    func key(of sequence: Sequence, for handler: HandlerID) -> AgendaKey? {
        index.key(of: sequence).flatMap { $0.handler == handler ? $0 : nil }
    }

    func raised(for handler: HandlerID) -> [Sequence] {
        (entries[handler]?.messages ?? []).compactMap(\.delivery.sequence)
    }

    func add(_ handler: HandlerID, to outlook: inout AgendaOutlook, _ step: AgendaStep) {
        outlook.messages = entries[handler]?.messages.count ?? 0
    }

    func pending(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry] {
        [entries[handler]?.listed(step)].compactMap { $0 }
    }

    static func key(_ handler: HandlerID) -> AgendaKey { AgendaKey(handler, .inbox, "") }
}

// Messages that arrive.
extension InboxBook {
    /// Its receipt follows at the end of the step.
    mutating func receive(_ message: InboxMessage, for handler: HandlerID, _ ticket: UInt64, _ step: inout AgendaStep) {
        guard var entry = entries[handler], let rule = entry.rule else {
            return step.emit(.act(Self.key(handler), InboxReceipt(ticket: ticket, .refused(.noInbox("The handler")))))
        }
        let lifetime = min(message.lifetime ?? rule.lifetime, rule.lifetime)
        let kept = Self.message(AgendaKey(handler, .inbox, String(entry.nextNumber)), message, lifetime, rule, step)
        step.decide(kept.key, "receive \(message.urgency.rawValue)")
        if entry.messages.allSatisfy({ !$0.isWaiting }) { entry.waitingSince = step.wall }
        entry.history.add("message \(kept.id) came", step)
        entry.insert(kept)
        collapse(&entry, into: kept, &step)
        index.save(kept.key)
        trim(&entry, rule, &step)
        put(entry)
        accepted = (ticket, handler, kept.number, lifetime)
    }

    /// A message that would expire before its wait for company does not wait.
    private static func message(
        _ key: AgendaKey, _ message: InboxMessage, _ lifetime: TimeSpan, _ rule: InboxRule, _ step: AgendaStep
    ) -> KeptMessage {
        let waits = message.urgency == .normal && lifetime > rule.maxLatency
        let wakesAt = step.boottime + (waits ? rule.maxLatency : .zero)
        return KeptMessage(
            key: key, message, received: step.wall, expires: step.boottime + lifetime,
            wakesAt: message.urgency.wakes ? wakesAt : nil)
    }

    /// Removes waiting messages of the same topic; recalls queued ones.
    private mutating func collapse(_ entry: inout InboxEntry, into kept: KeptMessage, _ step: inout AgendaStep) {
        guard let topic = kept.message.topic else { return }
        for older in entry.messages where older.number != kept.number && older.message.topic == topic && older.isKept {
            if older.isWaiting {
                remove(older, from: &entry, "collapse by=\(kept.id)", &step)
                entry.change(kept.number) { $0.collapsed += older.collapsed + 1 }
            } else {
                leave(older, of: &entry, .collapsed(by: kept.number))
            }
        }
    }

    /// The oldest make way.
    private mutating func trim(_ entry: inout InboxEntry, _ rule: InboxRule, _ step: inout AgendaStep) {
        let kept = entry.messages.filter(\.isKept)
        for oldest in kept.prefix(max(0, kept.count - Int(rule.keep))) {
            if oldest.isWaiting {
                entry.lose(oldest)
                remove(oldest, from: &entry, "overflow", &step)
            } else {
                leave(oldest, of: &entry, .overflow)
            }
        }
    }

    private mutating func leave(_ message: KeptMessage, of entry: inout InboxEntry, _ reason: KeptMessage.Leaving) {
        entry.change(message.number) { $0.leaving = reason }
        index.save(message.key)
    }

    private mutating func remove(
        _ message: KeptMessage, from entry: inout InboxEntry, _ decision: String, _ step: inout AgendaStep
    ) {
        let key = message.key
        index.forget(message.delivery.sequence)
        index.remove(key, &step)
        _ = entry.remove(message.number)
        step.decide(key, decision)
        step.emit(.erase(key))
    }

    private mutating func put(_ entry: InboxEntry) {
        entries[entry.key.handler] = entry
        index.save(entry.key)
    }

    private mutating func answer(_ step: inout AgendaStep) {
        guard let (ticket, handler, number, lifetime) = accepted else { return }
        accepted = nil
        let wakesIn = entries[handler]?.wakesIn(number, step)
        let receipt = InboxReceipt(
            ticket: ticket, .accepted(id: String(number), lifetime: lifetime, wakesIn: wakesIn))
        step.emit(.act(Self.key(handler), receipt))
    }
}

// The passing of time.
extension InboxBook {
    mutating func advance(_ step: inout AgendaStep) {
        mend(&step)
        for handler in step.changes.handlers where entries[handler] != nil {
            index.touch(Self.key(handler))
            entries[handler]?.meet(step)
        }
        for handler in Set(index.removeTouched(step).map(\.handler)).sorted() { look(at: handler, &step) }
        for key in index.removeUnsaved() { store(key, &step) }
        answer(&step)
    }

    private func store(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard let entry = entries[key.handler] else { return }
        if key.id.isEmpty { return step.emit(.store(entry.row(step))) }
        if let message = Int64(key.id).flatMap({ entry[$0] }) { step.emit(.store(message.row(step))) }
    }

    private mutating func mend(_ step: inout AgendaStep) {
        if step.stamp.isClockSynchronized {
            for handler in assumed.sorted() { mend(handler, step) }
            assumed = []
        }
        let isMoved = wallOffset.hasMoved(step)
        guard step.changes.clock else { return }
        for (handler, entry) in entries {
            index.touch(Self.key(handler))
            if isMoved { saveAll(of: entry) }
        }
    }

    private mutating func mend(_ handler: HandlerID, _ step: AgendaStep) {
        guard var entry = entries[handler] else { return }
        if let zero = entry.assumedZero {
            entry.mend(by: BootShift.mending(zero, step))
        }
        entry.changeAll { message in
            guard let zero = message.assumedZero else { return }
            message.mend(by: BootShift.mending(zero, step))
        }
        entries[handler] = entry
        saveAll(of: entry)
    }

    private mutating func saveAll(of entry: InboxEntry) {
        index.save(entry.key)
        for message in entry.messages { index.save(message.key) }
    }

    private mutating func look(at handler: HandlerID, _ step: inout AgendaStep) {
        guard var entry = entries[handler] else { return }
        returnRested(&entry, step)
        recall(&entry, &step)
        raise(&entry, &step)
        if expire(&entry, &step) { recall(&entry, &step) }
        entries[handler] = entry
        index.use(entry.conditionsNeeded, for: entry.key, &step)
        index.look(entry.key, at: entry.nextLook(step))
    }

    /// Redelivers refused messages after their back-off.
    private func returnRested(_ entry: inout InboxEntry, _ step: AgendaStep) {
        if entry.messages.contains(where: { step.hasRested($0.delivery.sequence) }) { entry.meet(step) }
    }

    // MARK: Raising

    private mutating func raise(_ entry: inout InboxEntry, _ step: inout AgendaStep) {
        guard let rule = entry.rule, entry.mayRaise(step) else { return }
        let ready = entry.messages.filter { entry.isReady($0, step) }
        guard !ready.isEmpty else { return }
        var isPaidFor = false
        switch entry.wake(for: ready, step) {
        case .none: return
        case .rides: step.decide(entry.key, "ride \(ready.ids)")
        case .wakes(let isCounted):
            if isCounted { entry.bucket.removeWake(rule, at: step.boottime) }
            isPaidFor = isCounted
            step.decide(entry.key, "wake \(ready.ids)")
        }
        entry.history.add("raised \(ready.count.counted("message"))", step)
        reportLoss(&entry, &step)
        for message in ready { raise(message, of: &entry, &step) }
        if isPaidFor { entry.change(ready[0].number) { $0.isPaidFor = true } }
        index.save(entry.key)
    }

    private mutating func raise(_ message: KeptMessage, of entry: inout InboxEntry, _ step: inout AgendaStep) {
        let key = message.key
        step.emit(.raise(key, message.occasion()))
        entry.change(message.number) { raised in
            raised.delivery.begin(relyingOn: [])
            (raised.raisedAt, raised.until, raised.restsUntil) = (step.boottime, [], nil)
        }
        index.save(key)
    }

    /// Raises the gap of lost messages; to be called before later messages are raised.
    private func reportLoss(_ entry: inout InboxEntry, _ step: inout AgendaStep) {
        guard let lost = entry.lost else { return }
        entry.lost = nil
        let gap = Gap(
            cause: .overflow, count: UInt64(lost.count), first: nil, last: nil, from: lost.from, to: lost.to)
        step.decide(entry.key, "gap count=\(lost.count)")
        step.emit(.lose(entry.key, gap))
    }

    // MARK: Unwanted messages

    /// Whether any message has to be recalled.
    private mutating func expire(_ entry: inout InboxEntry, _ step: inout AgendaStep) -> Bool {
        var isAnyQueued = false
        for message in entry.messages where message.isKept && message.end <= step.boottime {
            if message.isWaiting {
                remove(message, from: &entry, "expire", &step)
                entry.history.add("message \(message.id) expired", step)
                index.save(entry.key)
            } else {
                leave(message, of: &entry, .expired)
                isAnyQueued = true
            }
        }
        return isAnyQueued
    }

    private mutating func recall(_ entry: inout InboxEntry, _ step: inout AgendaStep) {
        for message in entry.messages where message.leaving != nil && message.isQueued && message.recalledAt == nil {
            message.delivery.recall(entry.key.handler, &step)
            entry.change(message.number) { $0.recalledAt = step.boottime }
        }
    }
}

// Reports of the core on raised messages.
extension InboxBook {
    mutating func recordRaised(_ key: AgendaKey, as sequence: Sequence, _ step: inout AgendaStep) {
        guard var entry = entries[key.handler], let number = Int64(key.id), entry[number]?.delivery.phase == .raising
        else { return }
        entry.change(number) { message in
            message.delivery.phase = .raised(sequence)
            message.delivery.isRunning = step.isAwake(key.handler)
        }
        index.number(key, sequence)
        index.save(key)
        entries[key.handler] = entry
    }

    mutating func conclude(
        _ key: AgendaKey, _ conclusion: Conclusion, awake: TimeSpan, cpu: TimeSpan, _ step: inout AgendaStep
    ) {
        guard var entry = entries[key.handler], let number = Int64(key.id), let message = entry[number],
            !message.isWaiting
        else { return }
        entry.history.add("message \(message.id): \(conclusion.sentence)", step)
        switch conclusion {
        case .acknowledged, .ended, .deadLettered, .dropped:
            remove(message, from: &entry, conclusion.word, &step)
        case .withdrawn:
            entry.returnWake(of: message)
            discard(message, of: &entry, &step)
        // The handler had it when it was recalled, and does not want it either.
        case .handedBack where message.leaving != nil: discard(message, of: &entry, &step)
        case .handedBack(let words):
            index.forget(message.delivery.sequence)
            let conditions = step.conditions(named: words, by: key.handler)
            entry.change(number) { $0.comeBack(until: conditions, step) }
            entry.waitingSince = step.wall
            index.save(key)
        case .overrun, .crashed, .givenBack:
            entry.change(number) { message in
                message.delivery.restart()
                message.recalledAt = nil
            }
            index.save(key)
        }
        put(entry)
    }

    /// The reason of its recall decides its end.
    private mutating func discard(_ message: KeptMessage, of entry: inout InboxEntry, _ step: inout AgendaStep) {
        switch message.leaving {
        case .collapsed(let number):
            remove(message, from: &entry, "collapse by=\(number)", &step)
            entry.change(number) { $0.collapsed += message.collapsed + 1 }
            index.save(AgendaKey(entry.key.handler, .inbox, String(number)))
        case .overflow:
            remove(message, from: &entry, "overflow", &step)
            entry.lose(message)
        case .expired, nil: remove(message, from: &entry, "expire", &step)
        }
    }
}

extension Conclusion {
    /// The word of the decision log for a message that is over.
    fileprivate var word: String {
        switch self {
        case .deadLettered: "dead-lettered"
        case .dropped: "dropped"
        case .acknowledged, .handedBack, .withdrawn, .ended, .overrun, .crashed, .givenBack: "done"
        }
    }
}

extension [KeptMessage] {
    /// For the decision log.
    fileprivate var ids: String { map(\.id).joined(separator: ",") }
}

// Manifests and rows.
extension InboxBook {
    mutating func restore(_ row: AgendaRow, _ step: inout AgendaStep) -> Bool {
        let handler = row.key.handler
        var entry = entries[handler] ?? InboxEntry(key: Self.key(handler), fullAt: step.boottime, since: step.wall)
        if row.key.id.isEmpty {
            guard let (found, isMoved) = InboxEntry.read(row, step) else { return false }
            let messages = entry.messages
            entry = found
            for message in messages { entry.insert(message) }
            isMoved ? index.save(row.key) : index.touch(row.key)
        } else {
            guard let (message, isMoved) = KeptMessage.read(row, step) else { return false }
            entry.insert(message)
            if let sequence = message.delivery.sequence { index.number(row.key, sequence) }
            if message.assumedZero != nil { assumed.insert(handler) }
            isMoved ? index.save(row.key) : index.touch(row.key)
        }
        if entry.assumedZero != nil { assumed.insert(handler) }
        entries[handler] = entry
        return true
    }

    mutating func configure(_ handler: HandlerID, _ plan: AgendaPlan, _ step: inout AgendaStep) {
        guard let rule = plan.inbox else { return remove(handler, &step) }
        var entry = entries[handler] ?? InboxEntry(key: Self.key(handler), fullAt: step.boottime, since: step.wall)
        guard entry.rule != rule else { return }
        entry.rule = rule
        entry.bucket.keep(within: rule, at: step.boottime)
        trim(&entry, rule, &step)
        put(entry)
    }

    mutating func remove(_ handler: HandlerID, _ step: inout AgendaStep) {
        guard var entry = entries.removeValue(forKey: handler) else { return }
        for message in entry.messages {
            message.delivery.recall(handler, &step)
            remove(message, from: &entry, "cancel manifest", &step)
        }
        index.remove(entry.key, &step)
        assumed.remove(handler)
        step.emit(.erase(entry.key))
    }
}
