// The sockets of all handlers: opened while their handler may run, watched while it sleeps, and its reason to wake.
import WakeModel

/// Decides; those who hold the sockets carry out ``SocketCommand`` and answer with ``SocketReport``.
struct SocketBook: AgendaBook {
    private(set) var entries: [AgendaKey: SocketEntry] = [:]
    /// In the order of the manifest.
    private(set) var names: [HandlerID: [String]] = [:]
    /// The memory of an earlier life, until the manifest is read.
    private var memories: [AgendaKey: SocketMemory] = [:]
    private var sequences: [Sequence: AgendaKey] = [:]
    private var due = DueQueue<Instant>()
    private var touched: Set<AgendaKey> = []
    private var cameUpAt: Instant?

    /// The wait before another call, if one was not answered as it should be.
    static let rest = TimeSpan.seconds(60)

    var nextBoottime: Instant? { due.next }

    func key(of sequence: Sequence, for handler: HandlerID) -> AgendaKey? {
        sequences[sequence].flatMap { $0.handler == handler ? $0 : nil }
    }

    func keys(of handler: HandlerID) -> [AgendaKey] { (names[handler] ?? []).map { AgendaKey(handler, .socket, $0) } }

    func raised(for handler: HandlerID) -> [Sequence] {
        keys(of: handler).compactMap { entries[$0]?.delivery.sequence }
    }

    /// Changes one entry and looks at it in this step.
    private mutating func change(_ key: AgendaKey, _ body: (inout SocketEntry) -> Void) {
        guard var entry = entries[key] else { return }
        body(&entry)
        entries[key] = entry
        touched.insert(key)
    }

    // MARK: Manifests

    mutating func restore(_ row: AgendaRow, _ step: inout AgendaStep) -> Bool {
        guard let memory = SocketMemory(row) else { return false }
        memories[row.key] = memory
        return true
    }

    mutating func configure(_ handler: HandlerID, _ plan: AgendaPlan, _ step: inout AgendaStep) {
        for key in keys(of: handler) where plan.sockets.first(where: { $0.name == key.id }) == nil {
            forget(key, &step)
        }
        names[handler] = plan.sockets.isEmpty ? nil : plan.sockets.map(\.name)
        for (place, rule) in plan.sockets.enumerated() {
            configure(AgendaKey(handler, .socket, rule.name), rule, SocketRule.firstNumber + Int32(place), &step)
        }
        for key in memories.keys where key.handler == handler {
            if memories.removeValue(forKey: key) != nil, entries[key] == nil { step.emit(.erase(key)) }
        }
    }

    private mutating func configure(
        _ key: AgendaKey, _ rule: SocketRule, _ number: Int32, _ step: inout AgendaStep
    ) {
        if let known = entries[key] {
            if known.number == number, known.rule.holds(rule) {
                return change(key) { entry in
                    if entry.rule.keepalive != rule.keepalive { entry.keepalive.period = rule.keepalive }
                    entry.rule = rule
                }
            }
            forget(key, &step)
        }
        var entry = SocketEntry(key, rule, number: number, since: step.wall)
        if let memory = memories[key], memory.bootID == step.bootID, memory.address == rule.address {
            entry.isMissed = memory.isOpen
            if let period = memory.period { entry.keepalive.period = period }
            if let heardAt = memory.heardAt { entry.keepalive.restart(at: heardAt) }
        }
        entries[key] = entry
        touched.insert(key)
    }

    mutating func remove(_ handler: HandlerID, _ step: inout AgendaStep) {
        for key in keys(of: handler) { forget(key, &step) }
        names[handler] = nil
        for key in memories.keys where key.handler == handler {
            memories[key] = nil
            step.emit(.erase(key))
        }
    }

    private mutating func forget(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        if let sequence = entry.delivery.sequence { sequences[sequence] = nil }
        entry.delivery.recall(key.handler, &step)
        due.set(key, at: nil)
        if !entry.isShut { step.emit(.act(key, SocketCommand.close)) }
        step.emit(.erase(key))
    }

    // MARK: Raised events

    mutating func recordRaised(_ key: AgendaKey, as sequence: Sequence, _ step: inout AgendaStep) {
        guard entries[key]?.delivery.phase == .raising else { return }
        sequences[sequence] = key
        change(key) { $0.delivery.phase = .raised(sequence) }
    }

    mutating func conclude(
        _ key: AgendaKey, _ conclusion: Conclusion, awake: TimeSpan, cpu: TimeSpan, _ step: inout AgendaStep
    ) {
        guard conclusion.isFinal, let entry = entries[key] else { return }
        if let sequence = entry.delivery.sequence { sequences[sequence] = nil }
        let again = step.boottime + Self.rest
        let isUnsent = entry.call == .keepalive && !conclusion.isAnswer
        let isBehind = entry.call == .traffic && entry.isWatched
        change(key) { entry in
            (entry.delivery, entry.call) = (DeliveryState(), nil)
            if isUnsent { entry.keepalive.postpone(to: again) }
        }
        // Bytes that came during the call counted as left by its handler, so the socket is looked at again.
        if isBehind { step.emit(.act(key, SocketCommand.look)) }
    }

    // MARK: Orders

    /// The time begins again, for the handler has just sent something.
    /// - Parameter period: from now on; nil for that of before.
    mutating func keepAlive(_ key: AgendaKey, every period: TimeSpan?, _ step: inout AgendaStep) {
        change(key) { entry in
            if let period { entry.keepalive.period = period }
            if entry.isOpen { entry.keepalive.restart(at: step.boottime) }
            entry.history.add("the handler set its keep-alive", step)
        }
        store(key, &step)
    }

    mutating func reconnect(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard let entry = entries[key] else { return }
        change(key) { entry in
            entry.failures = 0
            entry.history.add("the handler asked for another connection", step)
        }
        switch entry.link {
        case .open: lose(key, tells: nil, at: step.boottime, &step)
        case .retrying: change(key) { $0.move(to: .retrying(at: step.boottime), step) }
        case .shut, .opening: break
        }
    }

    // MARK: Reports

    mutating func hear(_ key: AgendaKey, _ report: SocketReport, _ step: inout AgendaStep) {
        guard let entry = entries[key] else { return }
        switch (report, entry.link) {
        case (.held(let entrance), .opening): adopt(key, entrance, &step)
        case (.opened(let entrance), .opening): open(key, entrance, &step)
        case (.failed(let failure), .opening): fail(key, failure, &step)
        case (.traffic(let traffic), .open): hear(key, traffic, &step)
        case (.wayChanged, .open): probe(key, &step)
        case (.orphaned, _): orphan(key, &step)
        case (.wayChanged, .retrying): change(key) { $0.move(to: .retrying(at: step.boottime), step) }
        // The report of an attempt or a connection that was given up meanwhile.
        case (.held, _), (.opened, _), (.failed, _), (.traffic, _), (.wayChanged, _): break
        }
    }

    private mutating func adopt(_ key: AgendaKey, _ entrance: SocketEntrance, _ step: inout AgendaStep) {
        change(key) { entry in
            entry.move(to: .open(.handlers), step)
            (entry.isUntried, entry.isMissed, entry.openedAt) = (false, false, step.boottime)
            entry.isPassed = entrance == .passed
            if entrance == .passed { entry.tell(.opened) }
            if entry.keepalive.heardAt == nil { entry.keepalive.restart(at: step.boottime) }
            entry.history.add("it stayed open over the restart of the daemon", step)
        }
        // Its pending event began a process before this was found.
        if entrance == .afterRestart { step.emit(.restart(key.handler)) }
        store(key, &step)
    }

    private mutating func open(_ key: AgendaKey, _ entrance: SocketEntrance, _ step: inout AgendaStep) {
        change(key) { entry in
            entry.tellIfMissed()
            entry.move(to: .open(.handlers), step)
            (entry.isUntried, entry.isPassed) = (false, entrance == .passed)
            (entry.openedAt, entry.probesUntil) = (step.boottime, nil)
            entry.unread.reset()
            entry.keepalive.restart(at: step.boottime)
            entry.tell(.opened)
            entry.history.add("it was opened", step)
        }
        if entrance == .afterRestart { step.emit(.restart(key.handler)) }
        store(key, &step)
    }

    private mutating func fail(_ key: AgendaKey, _ failure: SocketFailure, _ step: inout AgendaStep) {
        change(key) { entry in
            // A repeated failure is reported once.
            if entry.isUntried, !entry.tellIfMissed() { entry.tell(.closed(failure.rawValue)) }
            entry.isUntried = false
            let instant = entry.retry(after: step.boottime)
            entry.move(to: .retrying(at: instant), step)
            entry.history.add("it could not be opened: \(failure.rawValue)", step)
        }
    }

    private mutating func hear(_ key: AgendaKey, _ traffic: SocketTraffic, _ step: inout AgendaStep) {
        guard let entry = entries[key] else { return }
        if let end = traffic.end, traffic.unread == 0 || entry.unread.fruitless >= UnreadBackOff.patience {
            let reason = entry.probesUntil == nil ? end.rawValue : "route"
            return lose(key, tells: reason, at: nil, &step)
        }
        var isLost = false
        change(key) { isLost = $0.unread.look(traffic, at: step.boottime) }
        guard isLost else { return }
        let sentence = "\(entry.amount(of: traffic)) stay unread in three wakes in a row"
        change(key) { $0.history.add(sentence, step) }
        step.decide(key, "attention unread")
        step.emit(.act(key, SocketCommand.warn(sentence: sentence)))
    }

    /// A peer that the machine reaches by another route may not receive its packets any more.
    private mutating func probe(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard let rule = entries[key]?.rule, rule.isConnection else { return }
        switch rule.place {
        case .unix: break
        case .udp: lose(key, tells: "route", at: step.boottime, &step)
        case .tcp:
            step.emit(.act(key, SocketCommand.probe(true)))
            change(key) { entry in
                entry.probesUntil = step.boottime + SocketEntry.probe
                entry.history.add("the way to its peer changed, so the peer is asked whether it is there", step)
            }
        }
    }

    /// The connection is gone, or is given up; another one follows.
    /// - Parameters:
    ///   - reason: nil if the handler need not know.
    ///   - instant: when the next attempt is made; nil leaves it to the number of failures.
    private mutating func lose(_ key: AgendaKey, tells reason: String?, at instant: Instant?, _ step: inout AgendaStep)
    {
        step.emit(.act(key, SocketCommand.close))
        change(key) { entry in
            if step.boottime - entry.openedAt >= SocketEntry.lastsFrom { entry.failures = 0 }
            let next = instant ?? entry.retry(after: step.boottime)
            entry.move(to: .retrying(at: next), step)
            entry.keepalive.stop()
            entry.probesUntil = nil
            if let reason { entry.tell(.closed(reason)) }
            entry.history.add("it closed: \(reason ?? "given up")", step)
        }
        store(key, &step)
    }

    /// The keys of a TLS connection ended with the process. The next process inherits any other.
    private mutating func orphan(_ key: AgendaKey, _ step: inout AgendaStep) {
        change(key) { $0.isPassed = false }
        if let entry = entries[key], entry.rule.isTLS, entry.isOpen {
            lose(key, tells: nil, at: step.boottime, &step)
        }
    }

    private func store(_ key: AgendaKey, _ step: inout AgendaStep) {
        if let entry = entries[key] { step.emit(.store(SocketMemory(entry, step).row(key))) }
    }
}

// The changes of each step.
extension SocketBook {
    mutating func advance(_ step: inout AgendaStep) {
        probeAfterSleep(&step)
        for handler in step.changes.handlers { touched.formUnion(keys(of: handler)) }
        touched.formUnion(due.removeDue(by: step.boottime))
        let keys = touched.sorted()
        touched = []
        for key in keys { follow(key, &step) }
        // After all: a socket of a handler may have waited for another.
        for key in Set(keys.map(\.handler)).sorted().flatMap(self.keys) { raise(key, &step) }
        touched = []
    }

    /// A peer may have given up a machine that slept.
    private mutating func probeAfterSleep(_ step: inout AgendaStep) {
        guard let before = cameUpAt else {
            cameUpAt = step.cameUpAt
            return
        }
        guard step.cameUpAt > before else { return }
        cameUpAt = step.cameUpAt
        for key in entries.keys.sorted() where entries[key]?.isOpen == true {
            if case .tcp = entries[key]?.rule.place { probe(key, &step) }
        }
    }

    private mutating func follow(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard let entry = entries[key] else { return }
        switch (entry.link, step.obstacle(of: key.handler) == nil) {
        case (.shut, false): break
        case (_, false): shut(key, &step)
        case (.shut, true): begin(key, &step)
        case (.retrying(let instant), true): if instant <= step.boottime { begin(key, &step) }
        case (.opening, true): break
        case (.open(let watch), true): follow(key, watch, &step)
        }
    }

    private mutating func begin(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard let entry = entries[key] else { return }
        change(key) { $0.move(to: .opening, step) }
        step.decide(key, "open")
        step.emit(.act(key, SocketCommand.open(entry.rule, number: entry.number)))
    }

    /// A stopped handler serves no peer: each notices, and the handler's pending news is of no use.
    private mutating func shut(_ key: AgendaKey, _ step: inout AgendaStep) {
        step.emit(.act(key, SocketCommand.close))
        change(key) { entry in
            entry.move(to: .shut, step)
            entry.news = []
            (entry.isUntried, entry.failures, entry.probesUntil) = (true, 0, nil)
            entry.keepalive.stop()
            entry.history.add("it was shut, for its handler may not run", step)
        }
        store(key, &step)
    }

    private mutating func follow(_ key: AgendaKey, _ watch: SocketEntry.Watch, _ step: inout AgendaStep) {
        if let end = entries[key]?.probesUntil, end <= step.boottime {
            step.emit(.act(key, SocketCommand.probe(false)))
            change(key) { $0.probesUntil = nil }
        }
        switch (watch, step.isAwake(key.handler)) {
        case (.handlers, true), (.ours, false): break
        case (.handlers, false):
            change(key) { $0.move(to: .open(.ours), step) }
            step.emit(.act(key, SocketCommand.watch))
        case (.ours, true):
            change(key) { $0.move(to: .open(.handlers), step) }
            step.emit(.act(key, SocketCommand.unwatch))
        }
    }

    /// Raises calls one at a time: news first, so that the handler knows the socket of a call.
    private mutating func raise(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard let entry = entries[key] else { return }
        if entry.delivery.isWaiting, step.obstacle(of: key.handler) == nil, let call = call(of: entry, step) {
            raise(key, call, &step)
        }
        due.set(key, at: entries[key]?.nextLook)
    }

    private func call(of entry: SocketEntry, _ step: AgendaStep) -> SocketEntry.Call? {
        if !entry.news.isEmpty { return isTrying(entry.key.handler) ? nil : .news }
        guard entry.isOpen else { return nil }
        if let due = entry.keepalive.dueAt, due <= step.boottime { return .keepalive }
        guard entry.isWatched, let due = entry.unread.wakesAt, due <= step.boottime else { return nil }
        return .traffic
    }

    /// A process that begins with one socket would have to begin again for the next.
    private func isTrying(_ handler: HandlerID) -> Bool {
        keys(of: handler).contains { key in
            entries[key].map { $0.isUntried && $0.link == .opening } ?? false
        }
    }

    private mutating func raise(_ key: AgendaKey, _ call: SocketEntry.Call, _ step: inout AgendaStep) {
        guard var entry = entries[key] else { return }
        let occasion: Occasion
        switch call {
        case .news: occasion = entry.occasion(of: entry.news.removeFirst())
        case .traffic:
            occasion = entry.occasionOfTraffic
            entry.unread.wake()
        case .keepalive:
            occasion = entry.occasionOfKeepalive(at: step.boottime)
            entry.keepalive.restart(at: step.boottime)
        }
        entry.delivery.begin()
        entry.call = call
        entries[key] = entry
        step.decide(key, "raise \(occasion.name)")
        step.emit(.raise(key, occasion))
        if call == .keepalive { store(key, &step) }
    }
}

extension SocketRule {
    /// A socket that is open for one is good for the other.
    fileprivate func holds(_ other: SocketRule) -> Bool {
        address == other.address && passing == other.passing && isTLS == other.isTLS
    }
}

extension SocketEntry {
    /// False if no change is missed: the handler knows the state of the socket.
    @discardableResult
    fileprivate mutating func tellIfMissed() -> Bool {
        guard isMissed else { return false }
        isMissed = false
        news = [.closed("bridge-restart")]
        return true
    }
}

extension Conclusion {
    fileprivate var isAnswer: Bool { if case .acknowledged = self { true } else { false } }
}
