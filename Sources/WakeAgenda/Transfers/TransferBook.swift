// The transfers of all handlers: started when they may move, reported when they have ended, and their session when none
// is open.
import WakeModel
import WakeTransfer

struct TransferBook: AgendaBook {
    /// Open transfers of one handler.
    static let mostOpen = 1_000
    /// The wait before an undelivered event is raised again.
    static let rest = TimeSpan.seconds(60)
    /// A transfer with a longer wait before its retry leaves its place to others of its session.
    static let longRetry = TimeSpan.seconds(60)

    var entries: [AgendaKey: TransferEntry] = [:]
    var sessions: [AgendaKey: TransferSession] = [:]
    /// The entries of each session, by number.
    var members: [AgendaKey: [Int64: AgendaKey]] = [:]
    var keysByNumber: [HandlerID: [Int64: AgendaKey]] = [:]
    var limiters: [HandlerID: TransferLimiter] = [:]
    var index = EntryIndex()
    /// Sessions that changed in this step.
    var touched: Set<AgendaKey> = []
    /// Entries whose instants wait for a synchronized clock.
    var assumed: Set<AgendaKey> = []
    var lastNumber: Int64 = 0
    var wallOffset = WallOffset()

    var nextBoottime: Instant? { index.next }
    var hasStoredEntries: Bool { !entries.isEmpty }

    func key(of sequence: Sequence, for handler: HandlerID) -> AgendaKey? {
        index.key(of: sequence).flatMap { $0.handler == handler ? $0 : nil }
    }

    func keys(of handler: HandlerID) -> [AgendaKey] {
        (keysByNumber[handler] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    }

    func sessionKeys(of handler: HandlerID) -> [AgendaKey] {
        sessions.keys.filter { $0.handler == handler }.sorted()
    }

    func openCount(of handler: HandlerID) -> Int { keys(of: handler).count { entries[$0]?.isOpen ?? false } }

    func raised(for handler: HandlerID) -> [Sequence] {
        let ofEntries = keys(of: handler).compactMap { entries[$0]?.sequence }
        return ofEntries + sessionKeys(of: handler).compactMap { sessions[$0]?.sequence }
    }

    func add(_ handler: HandlerID, to outlook: inout AgendaOutlook, _ step: AgendaStep) {
        for key in keys(of: handler) {
            guard let entry = entries[key], entry.isOpen else { continue }
            outlook.add(due: entry.phase == .waiting ? step.wallTime(at: entry.earliest) : nil, step)
            outlook.transfers.add(entry)
        }
    }

    mutating func cancel(_ key: AgendaKey, _ step: inout AgendaStep) { fail(key, .cancelled, &step) }

    func pending(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry] {
        keys(of: handler).compactMap { entries[$0]?.listed(step) }
    }

    /// It is stored at the end of the step.
    mutating func put(_ entry: TransferEntry) {
        keep(entry)
        index.save(entry.key)
    }

    mutating func keep(_ entry: TransferEntry) {
        entries[entry.key] = entry
        members[entry.session, default: [:]][entry.number] = entry.key
        keysByNumber[entry.key.handler, default: [:]][entry.number] = entry.key
        touched.insert(entry.session)
    }

    mutating func erase(_ entry: TransferEntry, _ step: inout AgendaStep) {
        entries[entry.key] = nil
        members[entry.session]?[entry.number] = nil
        keysByNumber[entry.key.handler]?[entry.number] = nil
        index.forget(entry.sequence)
        index.remove(entry.key, &step)
        assumed.remove(entry.key)
        touched.insert(entry.session)
        step.emit(.erase(entry.key))
    }
}

// The passing of time.
extension TransferBook {
    mutating func advance(_ step: inout AgendaStep) {
        mend(&step)
        for handler in step.changes.handlers.sorted() { meet(handler, step) }
        for key in index.removeTouched(step) {
            if key.id.contains("/") { look(at: key, &step) } else if sessions[key] != nil { touched.insert(key) }
        }
        wakeRested(step)
        for session in touched.sorted() {
            start(session, &step)
            tell(session, &step)
        }
        touched = []
        store(&step)
    }

    private mutating func meet(_ handler: HandlerID, _ step: AgendaStep) {
        follow(step.facts(of: handler).situation, of: handler)
        for key in keys(of: handler) { index.touch(key) }
        touched.formUnion(sessionKeys(of: handler))
    }

    /// A chain may be over with it.
    private mutating func follow(_ situation: HandlerSituation, of handler: HandlerID) {
        guard limiters[handler]?.isIdle == false else { return }
        limiters[handler]?.follow(situation)
        if limiters[handler]?.isIdle == true { index.save(AgendaKey(handler, .transfer, "")) }
    }

    /// Sessions whose rest is over.
    private mutating func wakeRested(_ step: AgendaStep) {
        for (key, session) in sessions {
            guard let end = session.restsUntil, end <= step.boottime else { continue }
            sessions[key]?.restsUntil = nil
            touched.insert(key)
        }
    }

    private mutating func store(_ step: inout AgendaStep) {
        for key in index.removeUnsaved() {
            if let entry = entries[key] {
                step.emit(.store(entry.row(step)))
            } else if let session = sessions[key] {
                step.emit(session.isIdle ? .erase(key) : .store(session.row(step)))
            } else if key.id.isEmpty, let limiter = limiters[key.handler] {
                if limiter.isIdle { limiters[key.handler] = nil }
                step.emit(limiter.isIdle ? .erase(key) : .store(limiter.row(key, step)))
            }
        }
    }

    mutating func mend(_ step: inout AgendaStep) {
        if step.stamp.isClockSynchronized {
            for key in assumed.sorted() {
                guard let zero = entries[key]?.assumedZero else { continue }
                entries[key]?.shift(by: BootShift.mending(zero, step))
                entries[key]?.assumedZero = nil
                index.save(key)
            }
            assumed = []
        }
        let isMoved = wallOffset.hasMoved(step)
        guard step.changes.clock else { return }
        for key in entries.keys { isMoved ? index.save(key) : index.touch(key) }
    }

    private mutating func look(at key: AgendaKey, _ step: inout AgendaStep) {
        guard var entry = entries[key] else { return }
        if let end = entry.restsUntil, end <= step.boottime { entry.restsUntil = nil }
        entries[key] = entry
        touched.insert(entry.session)
        if let failure = overdue(entry, step) { return end(entry, TransferResult(failure: failure), &step) }
        index.use(entry.watched(step), for: key, &step)
        switch entry.phase {
        case .ended: break
        case .waiting:
            let words = entry.waits(step).map(\.word)
            if step.boottime >= entry.earliest, !words.isEmpty {
                entries[key]?.history.add("waits for \(words.joined(separator: ", "))", step)
            }
        case .moving: follow(entry, &step)
        }
        index.look(key, at: entries[key]?.nextLook(step))
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
        step.emit(.transfer(entry.key.handler, entry.number, .pause))
        put(entry)
    }

    /// As many of a session move as may, the oldest first.
    private mutating func start(_ session: AgendaKey, _ step: inout AgendaStep) {
        guard let rule = sessions[session]?.rule else { return }
        let all = (members[session] ?? [:]).sorted { $0.key < $1.key }.compactMap { entries[$0.value] }
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
        step.emit(.transfer(entry.key.handler, entry.number, .start(entry.order)))
        put(entry)
        index.use(entry.watched(step), for: entry.key, &step)
        index.look(entry.key, at: entry.nextLook(step))
    }
}

// Reports of transferd.
extension TransferBook {
    mutating func hear(_ handler: HandlerID, _ number: Int64, _ news: TransferNews, _ step: inout AgendaStep) {
        guard let key = keysByNumber[handler]?[number], var entry = entries[key] else {
            // A report on an order that is not wanted any more, or whose end was reported.
            return step.emit(.transfer(handler, number, .cancel))
        }
        // It was paused, and transferd could not be reached for that.
        if entry.phase == .waiting, news.isOfOneThatMoves { step.emit(.transfer(handler, number, .pause)) }
        switch news {
        case .ended(let result):
            // A transfer that has ended here is in the journal by now.
            guard entry.isOpen else { return step.emit(.transfer(handler, number, .confirm)) }
            return end(entry, result, &step)
        case .held:
            if !entry.isOpen { step.emit(.transfer(handler, number, .confirm)) }
            return
        case .moved(let done, let total): entry.status.move(done: done, total: total)
        case .retries(let wait, let why):
            guard entry.phase == .moving else { return }
            entry.status.fail(why, until: step.boottime + wait, since: step.wall)
            entry.history.add("failed for now: \(why)", step)
            if wait >= Self.longRetry {
                entry.phase = .waiting
                step.emit(.transfer(handler, number, .pause))
                put(entry)
            }
        case .challenged(let realm):
            guard entry.isOpen, entry.challenge == nil else { return }
            entry.challenge = .init(realm: realm, until: step.boottime + TransferEntry.patience)
            (entry.until, entry.handBacks) = ([], 0)
            entry.history.add("asked for a credential", step)
            put(entry)
        }
        entries[key] = entry
    }

    /// It is over, whether it moved or waited.
    mutating func end(_ entry: TransferEntry, _ result: TransferResult, _ step: inout AgendaStep) {
        var entry = entry
        let isOwn = result.failure?.isOfDaemon ?? false
        entry.phase = .ended(result)
        if case .raised(let sequence, .challenge) = entry.run {
            step.emit(.recall(entry.key.handler, sequence))
        }
        (entry.challenge, entry.isPaused, entry.until, entry.handBacks) = (nil, false, [], 0)
        entry.history.add(result.failure.map { "failed: \($0.sentence)" } ?? "done", step)
        step.decide(entry.key, result.failure.map { "failed \($0.rawValue)" } ?? "done")
        sessions[entry.session, default: TransferSession(key: entry.session)].tally.count(result)
        index.save(entry.session)
        index.use([], for: entry.key, &step)
        step.emit(.transfer(entry.key.handler, entry.number, isOwn ? .cancel : .confirm))
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
        let all = (members[session] ?? [:]).sorted { $0.key < $1.key }.compactMap { entries[$0.value] }
        for entry in all where entry.mayBeTold(step) {
            if let challenge = entry.challenge, !challenge.isTold { raise(entry, .challenge, &step) }
        }
        let isOver = !all.contains(where: \.isOpen)
        let isSettled = isOver && sessions[session]?.tally.isEmpty == false
        // An end that was handed back wakes by itself, for its session's end may have been raised without it.
        let isDue = isSettled || (isOver && !all.allSatisfy(\.isEndTold))
        guard step.isAwake(handler) || (isDue && rule.wakes) else { return }
        for entry in all where entry.mayBeTold(step) && !entry.isOpen { raise(entry, .finished, &step) }
        let isTold = all.allSatisfy { entries[$0.key]?.isEndLeft ?? true }
        if isSettled, isTold { settle(session, &step) }
    }

    private mutating func raise(_ entry: TransferEntry, _ telling: TransferEntry.Telling, _ step: inout AgendaStep) {
        var entry = entry
        entry.run = .raising(telling)
        entry.until = []
        entry.challenge?.isTold = true
        if telling == .finished { recordWake(of: entry.key.handler, step) }
        step.decide(entry.key, "raise transfer.\(telling.rawValue)")
        step.emit(.raise(entry.key, entry.occasion(telling)))
        put(entry)
    }

    private mutating func settle(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard var session = sessions[key], session.mayBeTold(step) else { return }
        (session.told, session.tally, session.run, session.until) = (session.tally, TransferTally(), .raising, [])
        index.use([], for: key, &step)
        step.decide(key, "raise transfer.settled")
        step.emit(.raise(key, session.occasion()))
        sessions[key] = session
        index.save(key)
        recordWake(of: key.handler, step)
    }

    /// An end wakes the handler, if it is not awake.
    private mutating func recordWake(of handler: HandlerID, _ step: AgendaStep) {
        guard !step.isAwake(handler) else { return }
        limiters[handler, default: TransferLimiter()].wake(at: step.boottime)
        index.save(AgendaKey(handler, .transfer, ""))
    }
}

// Reports of the core on raised events.
extension TransferBook {
    mutating func recordRaised(_ key: AgendaKey, as sequence: Sequence, _ step: inout AgendaStep) {
        if var entry = entries[key], case .raising(let telling) = entry.run {
            entry.run = .raised(sequence, telling)
            put(entry)
        } else if sessions[key]?.run == .raising {
            sessions[key]?.run = .raised(sequence)
            index.save(key)
        } else {
            return
        }
        index.number(key, sequence)
    }

    mutating func conclude(
        _ key: AgendaKey, _ conclusion: Conclusion, awake: TimeSpan, cpu: TimeSpan, _ step: inout AgendaStep
    ) {
        guard conclusion.isFinal else { return }
        if let entry = entries[key] {
            conclude(entry, conclusion, &step)
        } else {
            concludeSession(key, conclusion, &step)
        }
    }

    private mutating func conclude(_ entry: TransferEntry, _ conclusion: Conclusion, _ step: inout AgendaStep) {
        var entry = entry
        let telling: TransferEntry.Telling
        switch entry.run {
        case .idle: return
        case .raising(let word), .raised(_, let word): telling = word
        }
        index.forget(entry.sequence)
        if telling == .finished, !conclusion.isLoss { return erase(entry, &step) }
        entry.run = .idle
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
        guard var session = sessions[key], session.run != .idle else { return }
        index.forget(session.sequence)
        if conclusion.isLoss {
            session.tally.add(session.told)
            session.restsUntil = step.boottime + Self.rest
        }
        if case .handedBack(let words) = conclusion {
            session.until = step.conditions(named: words, by: key.handler)
            index.use(session.until, for: key, &step)
        }
        (session.told, session.run) = (TransferTally(), .idle)
        sessions[key] = session
        index.save(key)
        index.look(key, at: session.restsUntil)
        touched.insert(key)
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
