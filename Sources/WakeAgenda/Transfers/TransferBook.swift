// The transfers of all handlers: started when they may move, reported when they have ended, and their session when none
// is open.
import WakeModel
import WakeTransfer

struct TransferBook: StoredBook {
    /// Open transfers of one handler.
    static let mostOpen = 1_000
    /// The wait before an undelivered event is raised again.
    static let rest = TimeSpan.seconds(60)
    /// A transfer with a longer wait before its retry leaves its place to others of its session.
    static let longRetry = TimeSpan.seconds(60)

    var store = EntryStore<TransferEntry>()
    var sessions = EntryStore<TransferSession>()
    /// The entries of each session, by number.
    var members: [AgendaKey: [Int64: AgendaKey]] = [:]
    var keysByNumber: [HandlerID: [Int64: AgendaKey]] = [:]
    var limiters: [HandlerID: TransferLimiter] = [:]
    var unsavedLimiters: Set<HandlerID> = []
    /// Sessions that changed in this step.
    var touched: Set<AgendaKey> = []
    var lastNumber: Int64 = 0

    var nextBoottime: Instant? { .earlier(store.index.next, sessions.index.next) }

    func key(of sequence: Sequence, for handler: HandlerID) -> AgendaKey? {
        store.key(of: sequence, for: handler) ?? sessions.key(of: sequence, for: handler)
    }

    func keys(of handler: HandlerID) -> [AgendaKey] {
        (keysByNumber[handler] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    }

    private func entries(of handler: HandlerID) -> [TransferEntry] { keys(of: handler).compactMap { store[$0] } }
    func openEntries(of handler: HandlerID) -> [TransferEntry] { entries(of: handler).filter(\.isOpen) }

    func raised(for handler: HandlerID) -> [Sequence] { store.raised(for: handler) + sessions.raised(for: handler) }

    func add(_ handler: HandlerID, to outlook: inout AgendaOutlook, _ step: AgendaStep) {
        for entry in openEntries(of: handler) {
            outlook.add(due: entry.phase == .waiting ? step.wallTime(at: entry.earliest) : nil, step)
            outlook.transfers.add(entry)
        }
    }

    mutating func cancel(_ key: AgendaKey, _ step: inout AgendaStep) { fail(key, .cancelled, &step) }

    func pending(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry] {
        entries(of: handler).map { $0.listed(step) }
    }

    /// It is stored at the end of the step.
    mutating func put(_ entry: TransferEntry) {
        store.put(entry)
        enlist(entry)
    }

    mutating func enlist(_ entry: TransferEntry) {
        members[entry.session, default: [:]][entry.number] = entry.key
        keysByNumber[entry.key.handler, default: [:]][entry.number] = entry.key
        touched.insert(entry.session)
    }

    mutating func erase(_ entry: TransferEntry, _ step: inout AgendaStep) {
        store.remove(entry.key, &step)
        members[entry.session]?[entry.number] = nil
        keysByNumber[entry.key.handler]?[entry.number] = nil
        touched.insert(entry.session)
    }

    /// The entries of a session, the oldest first.
    private func entries(ofSession key: AgendaKey) -> [TransferEntry] {
        (members[key] ?? [:]).sorted { $0.key < $1.key }.compactMap { store[$0.value] }
    }
}

// The passing of time.
extension TransferBook {
    mutating func arbitrate(_ step: inout AgendaStep) {
        touched.formUnion(sessions.index.removeTouched(step).filter { sessions[$0] != nil })
        wakeRested(step)
        for session in touched.sorted() {
            start(session, &step)
            tell(session, &step)
        }
        touched = []
        sessions.save(&step)
        saveLimiters(&step)
    }

    mutating func meet(_ handler: HandlerID, _ step: inout AgendaStep) {
        follow(step.facts(of: handler).situation, of: handler)
        for key in keys(of: handler) { store.index.touch(key) }
        touched.formUnion(sessions.keys(of: handler))
    }

    /// A chain may be over with it.
    private mutating func follow(_ situation: HandlerSituation, of handler: HandlerID) {
        guard limiters[handler]?.isIdle == false else { return }
        limiters[handler]?.follow(situation)
        if limiters[handler]?.isIdle == true { unsavedLimiters.insert(handler) }
    }

    /// Sessions whose rest is over.
    private mutating func wakeRested(_ step: AgendaStep) {
        for session in sessions.all {
            guard let end = session.restsUntil, end <= step.boottime else { continue }
            sessions[session.key]?.restsUntil = nil
            touched.insert(session.key)
        }
    }

    private mutating func saveLimiters(_ step: inout AgendaStep) {
        for handler in unsavedLimiters.sorted() {
            guard let limiter = limiters[handler] else { continue }
            let key = AgendaKey(handler, .transfer, "")
            if limiter.isIdle { limiters[handler] = nil }
            step.emit(limiter.isIdle ? .erase(key) : .store(limiter.row(key, step)))
        }
        unsavedLimiters = []
    }

    mutating func look(at key: AgendaKey, _ step: inout AgendaStep) {
        guard var entry = store[key] else { return }
        if let end = entry.restsUntil, end <= step.boottime { entry.restsUntil = nil }
        store[key] = entry
        touched.insert(entry.session)
        if let failure = overdue(entry, step) { return end(entry, TransferResult(failure: failure), &step) }
        store.index.use(entry.watched(step), for: key, &step)
        switch entry.phase {
        case .ended: break
        case .waiting:
            let words = entry.waits(step).map(\.word)
            if step.boottime >= entry.earliest, !words.isEmpty {
                store[key]?.history.add("waits for \(words.joined(separator: ", "))", step)
            }
        case .moving: follow(entry, &step)
        }
        store.index.look(key, at: store[key]?.nextLook(step))
    }

    /// Why nothing more is to be expected of it; nil where there is.
    private func overdue(_ entry: TransferEntry, _ step: AgendaStep) -> TransferFailure? {
        guard entry.isOpen, entry.rule != nil else { return nil }
        if step.facts(of: entry.key.handler).situation == .stopped { return .stopped }
        if entry.giveUp <= step.boottime { return .gaveUp }
        guard let challenge = entry.challenge, challenge.until <= step.boottime else { return nil }
        return .unauthorized
    }

    /// Pauses a moving transfer if it has lost a condition that it relies on.
    private mutating func follow(_ entry: TransferEntry, _ step: inout AgendaStep) {
        guard let reason = entry.lost(step).map({ "lost \($0.word)" }) else { return }
        var entry = entry
        entry.phase = .waiting
        // The cause of its failure may be over when that is there again.
        entry.status.tryAgain()
        entry.history.add("stands still: \(reason)", step)
        step.decide(entry.key, "pause \(reason)")
        step.emit(.act(AgendaKey(entry.key.handler, .transfer, ""), TransferAction(entry.number, .pause)))
        put(entry)
    }

    /// As many of a session move as may, the oldest first.
    private mutating func start(_ session: AgendaKey, _ step: inout AgendaStep) {
        guard let rule = sessions[session]?.rule else { return }
        let all = entries(ofSession: session)
        var free = rule.parallel - all.count { $0.phase == .moving && $0.challenge == nil }
        for entry in all where free > 0 && entry.phase == .waiting && entry.waits(step).isEmpty {
            free -= 1
            start(entry, &step)
        }
    }

    mutating func start(_ entry: TransferEntry, _ step: inout AgendaStep) {
        var entry = entry
        entry.phase = .moving
        entry.status.tryAgain()
        let waived = entry.requirement.missing(step).waived.map(\.word)
        entry.history.add("moves" + (waived.isEmpty ? "" : ", without \(waived.joined(separator: ", "))"), step)
        step.decide(entry.key, "start")
        step.emit(.act(AgendaKey(entry.key.handler, .transfer, ""), TransferAction(entry.number, .start(entry.order))))
        put(entry)
        store.index.use(entry.watched(step), for: entry.key, &step)
        store.index.look(entry.key, at: entry.nextLook(step))
    }
}

// Reports of transferd.
extension TransferBook {
    mutating func hear(_ handler: HandlerID, _ number: Int64, _ news: TransferNews, _ step: inout AgendaStep) {
        guard let key = keysByNumber[handler]?[number], var entry = store[key] else {
            // A report on an order that is not wanted any more, or whose end was reported.
            return step.emit(.act(AgendaKey(handler, .transfer, ""), TransferAction(number, .cancel)))
        }
        // It was paused, and transferd could not be reached for that.
        if entry.phase == .waiting, news.isOfOneThatMoves {
            step.emit(.act(AgendaKey(handler, .transfer, ""), TransferAction(number, .pause)))
        }
        switch news {
        case .ended(let result):
            // A transfer that has ended here is in the journal by now.
            guard entry.isOpen else {
                return step.emit(.act(AgendaKey(handler, .transfer, ""), TransferAction(number, .confirm)))
            }
            return end(entry, result, &step)
        case .held:
            if !entry.isOpen { step.emit(.act(AgendaKey(handler, .transfer, ""), TransferAction(number, .confirm))) }
            return
        case .moved(let done, let total): entry.status.move(done: done, total: total)
        case .retries(let wait, let why):
            guard entry.phase == .moving else { return }
            entry.status.fail(why, until: step.boottime + wait, since: step.wall)
            entry.history.add("failed for now: \(why)", step)
            if wait >= Self.longRetry {
                entry.phase = .waiting
                step.emit(.act(AgendaKey(handler, .transfer, ""), TransferAction(number, .pause)))
                put(entry)
            }
        case .challenged(let realm):
            guard entry.isOpen, entry.challenge == nil else { return }
            entry.challenge = .init(realm: realm, until: step.boottime + TransferEntry.patience)
            (entry.until, entry.handBacks) = ([], 0)
            entry.history.add("asked for a credential", step)
            put(entry)
        }
        store[key] = entry
    }

    /// It is over, whether it moved or waited.
    mutating func end(_ entry: TransferEntry, _ result: TransferResult, _ step: inout AgendaStep) {
        var entry = entry
        let isOwn = result.failure?.isOfDaemon ?? false
        entry.phase = .ended(result)
        if entry.telling == .challenge { entry.delivery.recall(entry.key.handler, &step) }
        (entry.challenge, entry.isPaused, entry.until, entry.handBacks) = (nil, false, [], 0)
        entry.history.add(result.failure.map { "failed: \($0.sentence)" } ?? "done", step)
        step.decide(entry.key, result.failure.map { "failed \($0.rawValue)" } ?? "done")
        var session = sessions[entry.session] ?? TransferSession(key: entry.session)
        session.tally.count(result)
        sessions.put(session)
        store.index.use([], for: entry.key, &step)
        step.emit(
            .act(AgendaKey(entry.key.handler, .transfer, ""), TransferAction(entry.number, isOwn ? .cancel : .confirm)))
        put(entry)
    }
}

// Events for handlers.
extension TransferBook {
    /// Ends are raised while the handler is awake, or when the session has no open transfer: then all of them in one
    /// wake.
    private mutating func tell(_ session: AgendaKey, _ step: inout AgendaStep) {
        let handler = session.handler
        guard let rule = sessions[session]?.rule, step.obstacle(of: handler) == nil else { return }
        let all = entries(ofSession: session)
        for entry in all where entry.mayBeTold(step) {
            if let challenge = entry.challenge, !challenge.isTold { raise(entry, .challenge, &step) }
        }
        let isOver = !all.contains(where: \.isOpen)
        let isSettled = isOver && sessions[session]?.tally.isEmpty == false
        // An end that was handed back wakes by itself, for its session's end may have been raised without it.
        let isDue = isSettled || (isOver && !all.allSatisfy(\.isEndTold))
        guard step.isAwake(handler) || (isDue && rule.wakes) else { return }
        for entry in all where entry.mayBeTold(step) && !entry.isOpen { raise(entry, .finished, &step) }
        let isTold = all.allSatisfy { store[$0.key]?.isEndLeft ?? true }
        if isSettled, isTold { settle(session, &step) }
    }

    private mutating func raise(_ entry: TransferEntry, _ telling: TransferEntry.Telling, _ step: inout AgendaStep) {
        var entry = entry
        entry.delivery.begin()
        (entry.telling, entry.until) = (telling, [])
        entry.challenge?.isTold = true
        if telling == .finished { recordWake(of: entry.key.handler, step) }
        step.decide(entry.key, "raise transfer.\(telling.rawValue)")
        step.emit(.raise(entry.key, entry.occasion(telling)))
        put(entry)
    }

    private mutating func settle(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard var session = sessions[key], session.mayBeTold(step) else { return }
        (session.told, session.tally, session.until) = (session.tally, TransferTally(), [])
        session.delivery.begin()
        sessions.index.use([], for: key, &step)
        step.decide(key, "raise transfer.settled")
        step.emit(.raise(key, session.occasion()))
        sessions.put(session)
        recordWake(of: key.handler, step)
    }

    /// An end wakes the handler, if it is not awake.
    private mutating func recordWake(of handler: HandlerID, _ step: AgendaStep) {
        guard !step.isAwake(handler) else { return }
        limiters[handler, default: TransferLimiter()].wake(at: step.boottime)
        unsavedLimiters.insert(handler)
    }
}

// Reports of the core on raised events.
extension TransferBook {
    mutating func recordRaised(_ key: AgendaKey, as sequence: Sequence, _ step: inout AgendaStep) {
        if !sessions.recordRaised(key, as: sequence, step), store.recordRaised(key, as: sequence, step) {
            touched.formUnion(store[key].map { [$0.session] } ?? [])
        }
    }

    mutating func conclude(
        _ key: AgendaKey, _ conclusion: Conclusion, awake: TimeSpan, cpu: TimeSpan, _ step: inout AgendaStep
    ) {
        guard conclusion.isFinal else { return }
        if let entry = store[key] {
            conclude(entry, conclusion, &step)
        } else {
            concludeSession(key, conclusion, &step)
        }
    }

    private mutating func conclude(_ entry: TransferEntry, _ conclusion: Conclusion, _ step: inout AgendaStep) {
        guard !entry.delivery.isWaiting else { return }
        var entry = entry
        if entry.telling == .finished, !conclusion.isLoss { return erase(entry, &step) }
        entry.telling = nil
        store.conclude(&entry)
        if conclusion.isLoss {
            entry.challenge?.isTold = false
            entry.restsUntil = step.boottime + Self.rest
        }
        if case .handedBack(let words) = conclusion {
            entry.until = step.conditions(named: words, by: entry.key.handler)
            entry.handBacks += 1
            entry.restsUntil = step.boottime + handBackRest(entry.handBacks)
            entry.history.add(conclusion.sentence, step)
        }
        put(entry)
    }

    private mutating func concludeSession(_ key: AgendaKey, _ conclusion: Conclusion, _ step: inout AgendaStep) {
        guard var session = sessions[key], !session.delivery.isWaiting else { return }
        sessions.conclude(&session)
        if conclusion.isLoss {
            session.tally.add(session.told)
            session.restsUntil = step.boottime + Self.rest
        }
        if case .handedBack(let words) = conclusion {
            session.until = step.conditions(named: words, by: key.handler)
            sessions.index.use(session.until, for: key, &step)
        }
        session.told = TransferTally()
        sessions.put(session)
        sessions.index.look(key, at: session.restsUntil)
    }
}

extension Conclusion {
    /// The handler does not know the event.
    fileprivate var isLoss: Bool {
        switch self {
        case .dropped, .handedBack: true
        case .acknowledged, .withdrawn, .ended, .overrun, .crashed, .givenBack, .deadLettered: false
        }
    }
}
