// The flows of all handlers: each begins with data, ends without, and gives way to another of its group that comes first.
import WakeModel

/// Flows are not stored: none outlives the bridge. Only the end of an earlier life's flow is still raised.
struct FlowBook: AgendaBook {
    /// The key of a data source.
    private enum Spring: Hashable {
        case device(String)
        case socket(HandlerID, String)
    }

    private(set) var entries: [AgendaKey: FlowEntry] = [:]
    private var keysBySpring: [Spring: [AgendaKey]] = [:]
    private var sequences: [Sequence: AgendaKey] = [:]
    /// The shares that were last requested, in percent of one processor.
    private var shares: [HandlerID: Int] = [:]
    private var isMachineAsleep = false
    /// The state has changed since the last look.
    private var isTouched = false

    /// The delay before a dropped flow restarts.
    private static let rest = TimeSpan.seconds(1)

    /// Idleness takes time in which the machine is awake. Data moves the end later, which the next look finds.
    private(set) var nextMonotonic: Instant?
    private(set) var nextBoottime: Instant?

    func key(of sequence: Sequence, for handler: HandlerID) -> AgendaKey? {
        sequences[sequence].flatMap { $0.handler == handler ? $0 : nil }
    }

    func keys(of handler: HandlerID) -> [AgendaKey] { entries.keys.filter { $0.handler == handler }.sorted() }

    func isUnderWay(_ key: AgendaKey) -> Bool { entries[key]?.isUnderWay ?? false }

    private mutating func change(_ key: AgendaKey, _ body: (inout FlowEntry) -> Void) {
        guard var entry = entries[key] else { return }
        body(&entry)
        entries[key] = entry
        isTouched = true
    }

    // MARK: Manifests

    func restore(_ row: AgendaRow, _ step: inout AgendaStep) -> Bool { false }

    /// The beginning that an earlier life of the bridge gave its handler is being taken back by the core.
    mutating func owe(_ key: AgendaKey, _ sequence: Sequence, _ step: AgendaStep) {
        var entry = FlowEntry(key: key, since: step.wall)
        entry.phase = .leaving(sequence, .restarted)
        entries[key] = entry
        sequences[sequence] = key
    }

    mutating func configure(_ handler: HandlerID, _ plan: AgendaPlan, _ step: inout AgendaStep) {
        let declared = Set(plan.flows.map(\.name))
        for key in keys(of: handler) where !declared.contains(key.id) { undeclare(key, &step) }
        for rule in plan.flows {
            let key = AgendaKey(handler, .flow, rule.name)
            let former = entries[key]?.rule
            if let former, former.from != rule.from { undeclare(key, &step) }
            if entries[key] == nil { entries[key] = FlowEntry(key: key, since: step.wall) }
            change(key) { $0.rule = rule }
        }
        findSprings()
    }

    mutating func remove(_ handler: HandlerID, _ step: inout AgendaStep) {
        for key in keys(of: handler) { forget(key, &step) }
        findSprings()
    }

    /// Ends a begun flow at once, and notifies the handler.
    private mutating func undeclare(_ key: AgendaKey, _ step: inout AgendaStep) {
        if isUnderWay(key) { step.emit(.notify(key.handler, .error(.flowUndeclared(key.id)))) }
        forget(key, &step)
    }

    private mutating func forget(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        isTouched = true
        guard let sequence = entry.sequence else { return }
        sequences[sequence] = nil
        if case .open = entry.phase { step.emit(.release(key.handler, sequence)) }
    }

    private mutating func findSprings() {
        keysBySpring = [:]
        for key in entries.keys.sorted() {
            switch entries[key]?.rule?.from {
            case .device(let name): keysBySpring[.device(name), default: []].append(key)
            case .socket(let name): keysBySpring[.socket(key.handler, name), default: []].append(key)
            case .handler, nil: break
            }
        }
    }

    // MARK: Data

    mutating func hear(_ origin: TrafficOrigin, _ step: AgendaStep) {
        let springs: [Spring] =
            switch origin {
            case .device(let alias, let uri): [.device(alias), .device(uri)]
            case .socket(let handler, let name): [.socket(handler, name)]
            }
        for spring in springs { for key in keysBySpring[spring] ?? [] { feed(key, step) } }
    }

    /// Mostly it flows already, and then nothing else changes.
    mutating func feed(_ key: AgendaKey, _ step: AgendaStep) {
        if entries[key]?.feed(step) ?? false { isTouched = true }
    }

    mutating func close(_ rule: FlowRule, of handler: HandlerID, _ step: inout AgendaStep) -> String {
        change(AgendaKey(handler, .flow, rule.name)) { entry in
            if entry.isUnderWay { entry.change("closed by its handler", step) }
            entry.decline()
        }
        return "closed"
    }

    mutating func setMachineAsleep(_ isAsleep: Bool) { (isMachineAsleep, isTouched) = (isAsleep, true) }

    // MARK: The look

    mutating func advance(_ step: inout AgendaStep) {
        if step.changes.hasSlept { isTouched = true }
        guard isTouched || isDue(step) || !step.changes.handlers.isEmpty else { return }
        isTouched = false
        let keys = entries.keys.sorted()
        for key in keys { look(at: key, &step) }
        for rivals in groups(of: keys) { arbitrate(rivals, &step) }
        for handler in Set(keys.map(\.handler)).union(shares.keys).sorted() { followShare(of: handler, &step) }
        nextMonotonic = entries.values.compactMap(\.idleAt).min()
        nextBoottime = entries.values.compactMap(\.restsUntil).min()
    }

    private func isDue(_ step: AgendaStep) -> Bool {
        nextMonotonic.map { $0 <= step.stamp.moment.monotonic } ?? false
            || nextBoottime.map { $0 <= step.boottime } ?? false
    }

    /// Ends a flow that is over by itself, and raises pending ends.
    private mutating func look(at key: AgendaKey, _ step: inout AgendaStep) {
        guard var entry = entries[key] else { return }
        if let rest = entry.restsUntil, rest <= step.boottime { entry.restsUntil = nil }
        let isIdle = entry.idleAt.map { $0 <= step.stamp.moment.monotonic } ?? false
        let hasSlept = isMachineAsleep || step.changes.hasSlept
        if isIdle || hasSlept {
            if isIdle, !entry.isUnderWay, entry.lastData != nil { entry.change("nothing flows", step) }
            (entry.lastData, entry.isDeclined) = (nil, false)
        }
        entries[key] = entry
        switch entry.phase {
        case .open where hasSlept: leave(key, because: .slept, &step)
        case .open where isIdle: leave(key, because: .idle, &step)
        case .open where !entry.isWanted: leave(key, because: nil, &step)
        case .open: if let word = bar(on: key, step) { leave(key, because: .barred(word), &step) }
        case .owing(let end): tell(key, end, &step)
        case .closed, .raising, .leaving, .telling: break
        }
    }

    /// Why its handler cannot run, in the words of ``PendingEntry/Wait``; nil where it can.
    private func bar(on key: AgendaKey, _ step: AgendaStep) -> String? {
        if let word = step.obstacle(of: key.handler), !step.isAwake(key.handler) { return word }
        return step.holdEnd(of: key.handler) == nil ? nil : WaitReason.held.word
    }

    private mutating func leave(_ key: AgendaKey, because end: FlowEnd?, _ step: inout AgendaStep) {
        guard var entry = entries[key], case .open(let sequence) = entry.phase else { return }
        entry.phase = .leaving(sequence, end)
        if let end {
            entry.change(end.sentence(entry.rule), step)
            step.decide(key, "\(end.isInterruption ? "interrupt" : "end") \(end.reason)")
        } else {
            step.decide(key, "end handler")
        }
        entries[key] = entry
        step.emit(.release(key.handler, sequence))
    }

    /// A stopped handler learns of the end with its process.
    private mutating func tell(_ key: AgendaKey, _ end: FlowEnd, _ step: inout AgendaStep) {
        guard let rule = entries[key]?.rule else { return }
        guard step.obstacle(of: key.handler) == nil else {
            entries[key]?.phase = .closed
            return
        }
        entries[key]?.phase = .telling(nil)
        step.emit(.raise(key, end.occasion(named: rule.name)))
    }
}

// Arbitration: one flow of each group is open.
extension FlowBook {
    /// Without a group each is alone.
    private func groups(of keys: [AgendaKey]) -> [[AgendaKey]] {
        let alone = keys.filter { entries[$0]?.rule?.group == nil }.map { [$0] }
        let named = Dictionary(grouping: keys.filter { entries[$0]?.rule?.group != nil }) { entries[$0]?.rule?.group }
        return alone + named.values.sorted { $0[0] < $1[0] }
    }

    private mutating func arbitrate(_ rivals: [AgendaKey], _ step: inout AgendaStep) {
        guard let first = first(of: rivals, step) else { return }
        for key in rivals where key != first {
            leave(key, because: .outranked(by: first, group: entries[key]?.rule?.group ?? ""), &step)
        }
        guard entries[first]?.isClosed ?? false, !rivals.contains(where: holdsBack) else { return }
        begin(first, &step)
    }

    /// A flow without a number leaves at the next look; the handler of an ending one is notified. Then another begins.
    private func holdsBack(_ key: AgendaKey) -> Bool {
        guard let entry = entries[key] else { return false }
        return entry.phase == .raising || entry.isEnding
    }

    /// The flow whose turn it is; nil if none can begin.
    private func first(of rivals: [AgendaKey], _ step: AgendaStep) -> AgendaKey? {
        guard !isMachineAsleep else { return nil }
        return rivals.filter { (entries[$0]?.competes ?? false) && bar(on: $0, step) == nil }
            .max { isBehind($0, $1, step) }
    }

    /// Attached handlers come first, then by priority; then an open flow goes on; else the one whose data flows longest
    /// begins.
    private func isBehind(_ left: AgendaKey, _ right: AgendaKey, _ step: AgendaStep) -> Bool {
        guard let one = entries[left], let other = entries[right] else { return false }
        let (ranks, others) = (rank(of: one, step), rank(of: other, step))
        guard ranks == others else { return ranks < others }
        return (one.flowsSince, left) > (other.flowsSince, right)
    }

    private func rank(of entry: FlowEntry, _ step: AgendaStep) -> (attached: Int, priority: Int, underWay: Int) {
        let isAttached = step.facts(of: entry.key.handler).situation == .attached
        return (isAttached ? 1 : 0, entry.rule?.priority ?? 0, entry.isUnderWay ? 1 : 0)
    }

    private mutating func begin(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard var entry = entries[key], let occasion = entry.started else { return }
        entry.phase = .raising
        entry.change("began", step)
        entries[key] = entry
        step.decide(key, "raise flow.started")
        step.emit(.raise(key, occasion))
    }

    /// While a flow holds the handler awake it has no more than the largest share of its flows. A flow without a share
    /// has no limit, and neither has an attached handler.
    private mutating func followShare(of handler: HandlerID, _ step: inout AgendaStep) {
        let rules = keys(of: handler).filter(isUnderWay).compactMap { entries[$0]?.rule }
        let isLimited =
            !rules.isEmpty && rules.allSatisfy { $0.processorShare != nil }
            && step.facts(of: handler).situation != .attached
        let share = isLimited ? rules.compactMap(\.processorShare).max() : nil
        guard shares[handler] != share else { return }
        shares[handler] = share
        step.emit(.act(AgendaKey(handler, .flow, ""), ProcessorShare(percent: share)))
    }
}

// Reports of the core on raised events.
extension FlowBook {
    mutating func recordRaised(_ key: AgendaKey, as sequence: Sequence, _ step: inout AgendaStep) {
        guard let entry = entries[key] else {
            // The manifest lost it meanwhile.
            return step.emit(.release(key.handler, sequence))
        }
        switch entry.phase {
        case .raising: change(key) { $0.phase = .open(sequence) }
        case .telling(nil): change(key) { $0.phase = .telling(sequence) }
        case .closed, .open, .leaving, .owing, .telling: return
        }
        sequences[sequence] = key
    }

    mutating func conclude(
        _ key: AgendaKey, _ conclusion: Conclusion, awake: TimeSpan, cpu: TimeSpan, _ step: inout AgendaStep
    ) {
        guard let entry = entries[key] else { return }
        switch entry.phase {
        case .raising, .open: concludeBeginning(of: key, conclusion, &step)
        case .leaving(_, let end) where conclusion.isFinal:
            let owed = conclusion == .ended ? end : nil
            settle(key, entry.sequence, into: owed.map { .owing($0) } ?? .closed)
        case .telling where conclusion.isFinal: settle(key, entry.sequence, into: .closed)
        case .closed, .leaving, .owing, .telling: break
        }
    }

    private mutating func settle(_ key: AgendaKey, _ sequence: Sequence?, into phase: FlowEntry.Phase) {
        if let sequence { sequences[sequence] = nil }
        change(key) { $0.phase = phase }
    }

    private mutating func concludeBeginning(of key: AgendaKey, _ conclusion: Conclusion, _ step: inout AgendaStep) {
        guard let entry = entries[key] else { return }
        change(key) { $0.change(conclusion.sentence, step) }
        switch conclusion {
        case .givenBack(let until?):
            // Its handler refused it: another of its group need not wait for that.
            change(key) { $0.restsUntil = until }
        case .givenBack(nil), .overrun, .crashed: break
        case .acknowledged, .handedBack, .deadLettered:
            settle(key, entry.sequence, into: .closed)
            change(key) { $0.decline() }
        // No event was raised: another attempt at once would fail too.
        case .dropped where entry.sequence == nil: change(key) { ($0.phase, $0.isDeclined) = (.closed, true) }
        // Its handler is being stopped, which the core reports next.
        case .dropped:
            settle(key, entry.sequence, into: .closed)
            change(key) { $0.restsUntil = step.boottime + Self.rest }
        case .withdrawn, .ended: settle(key, entry.sequence, into: .closed)
        }
    }
}

// The view for people and handlers.
extension FlowBook {
    func add(_ handler: HandlerID, to outlook: inout AgendaOutlook, _ step: AgendaStep) {
        outlook.holdingAwake = running(of: handler)
    }

    func pending(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry] {
        keys(of: handler).compactMap { key in
            entries[key].flatMap { entry in entry.rule.map { listed(entry, $0, step) } }
        }
    }

    private func listed(_ entry: FlowEntry, _ rule: FlowRule, _ step: AgendaStep) -> PendingEntry {
        var listed = PendingEntry(key: entry.key, state: state(of: entry, step), history: entry.history.changes)
        listed.processorShare = rule.processorShare
        guard listed.isWaiting else {
            listed.sequence = entry.sequence
            return listed
        }
        let holder = holder(ofGroup: rule.group, beside: entry.key)
        listed.holder = holder
        listed.waitsFor = waits(entry, rule, holder, step)
        if let rest = entry.restsUntil { listed.nextChance = step.wallTime(at: rest) }
        return listed
    }

    private func state(of entry: FlowEntry, _ step: AgendaStep) -> PendingEntry.State {
        guard entry.isUnderWay else { return .waiting }
        return step.isAwake(entry.key.handler) ? .running : .queued
    }

    /// The flow that has the group.
    private func holder(ofGroup group: String?, beside key: AgendaKey) -> AgendaKey? {
        guard let group else { return nil }
        let others = entries.values.filter { $0.key != key && $0.rule?.group == group }
        return (others.first(where: \.isUnderWay) ?? others.first(where: \.isEnding))?.key
    }

    private func waits(
        _ entry: FlowEntry, _ rule: FlowRule, _ holder: AgendaKey?, _ step: AgendaStep
    ) -> [PendingEntry.Wait] {
        var words = [bar(on: entry.key, step)].compactMap { $0 }
        if isMachineAsleep { words.append(WaitReason.machine.word) }
        if entry.lastData == nil {
            words.append((rule.from == .handler ? WaitReason.open : .data).word)
        } else if entry.isDeclined {
            words.append(WaitReason.pause.word)
        }
        if entry.restsUntil != nil { words.append(WaitReason.time.word) }
        if let group = rule.group, holder != nil { words.append("group:\(group)") }
        if words.isEmpty { words = [WaitReason.earlierRun.word] }
        return words.map { PendingEntry.Wait(word: $0, since: entry.since) }
    }

    /// The names of those that hold a handler awake.
    func running(of handler: HandlerID) -> [String] { keys(of: handler).filter(isUnderWay).map(\.id) }
}

extension Agenda {
    /// Data comes without a pause, and silence will end that.
    public var hasTraffic: Bool { flows.nextMonotonic != nil }
}
