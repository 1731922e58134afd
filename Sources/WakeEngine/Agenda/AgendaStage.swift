// The agenda in the turn: inputs of the core and the handlers go in, its effects become events, rows and answers.
import WakeAgenda
import WakeCore
import WakeJournal
import WakeModel

/// Owns the agenda, the origins of its entries, and its pending inputs. The turn steps it until it is quiet.
final class AgendaStage {
    private var agenda: Agenda
    private let journal: Journal
    private let catalog: Catalog
    private var inputs: [AgendaInput] = []
    /// Handlers that have a plan, or had one: the agenda needs no inputs about the others.
    private var concerned: Set<HandlerID> = []
    /// Events that the journal owes to handlers of which something is stored, until their manifests are read.
    private var unread: [HandlerID: [RecoveredEvent]] = [:]
    /// The processor time of polled handlers at their wake: a poll that costs much comes less often.
    private var processorTimes: [HandlerID: TimeSpan] = [:]
    private var polled: Set<HandlerID> = []
    private var origins = EntryOrigins()
    /// Origins that the core knows the owner of.
    private var introduced: Set<EventOrigin> = []
    private var outward: [AgendaEffect] = []
    /// Effects that release results that are only in memory here, until the disk has them.
    private var confirmations: [AgendaEffect] = []
    private var traffic = TrafficGauge()
    /// The entry whose occasion is being raised, until it has a number.
    private var raising: AgendaKey?

    /// - Parameter seed: of all that is spread.
    init(journal: Journal, catalog: Catalog, seed: UInt64) {
        agenda = Agenda(seed: seed)
        self.journal = journal
        self.catalog = catalog
    }

    // MARK: Telling

    func receive(_ input: AgendaInput) { inputs.append(input) }

    func configure(_ handler: HandlerID, _ plan: AgendaPlan, at stamp: Stamp) {
        guard !plan.isEmpty || concerned.contains(handler) else { return }
        concerned.insert(handler)
        if plan.poll == nil { polled.remove(handler) } else { polled.insert(handler) }
        traffic.configure(handler, plan.dataSources)
        receive(.configured(handler, plan))
        if let owed = unread.removeValue(forKey: handler) { recover(owed, of: handler, at: stamp) }
    }

    /// After its manifest, for what becomes of an entry depends on that.
    private func recover(_ events: [RecoveredEvent], of handler: HandlerID, at stamp: Stamp) {
        receive(.recovered(handler, owed: Set(events.map(\.sequence))))
        for event in events {
            guard case .occasion = event.content, let left = event.rest(at: stamp.wall) else { continue }
            let end = Conclusion.givenBack(until: stamp.moment.boottime + left)
            receive(.concluded(handler, event.sequence, end, awake: .zero, cpu: .zero))
        }
    }

    /// Handlers of which something is stored, and no manifest was read in this life.
    var unreadHandlers: [HandlerID] { unread.keys.sorted() }

    func isPolled(_ handler: HandlerID) -> Bool { polled.contains(handler) }

    func recordWake(of handler: HandlerID, processorTime: TimeSpan?) {
        processorTimes[handler] = processorTime ?? .zero
    }

    /// The processor time that the handler has used since the wake.
    func used(_ processorTime: TimeSpan?, by handler: HandlerID) -> TimeSpan {
        guard let processorTime, let before = processorTimes[handler] else { return .zero }
        return max(.zero, processorTime - before)
    }

    func remove(_ handler: HandlerID) {
        guard concerned.remove(handler) != nil else { return }
        polled.remove(handler)
        traffic.configure(handler, [])
        unread[handler] = nil
        receive(.removed(handler))
    }

    func isConcerned(_ handler: HandlerID) -> Bool { concerned.contains(handler) }

    var hasInputs: Bool { !inputs.isEmpty }
    var isOutwardEmpty: Bool { outward.isEmpty }

    /// Every value that a device sends passes through here, and mostly causes no input.
    func hearTraffic(of device: EventOrigin, at stamp: Stamp) {
        guard traffic.hasDevices, let device = catalog.entry(device)?.device else { return }
        let origin = TrafficOrigin.device(alias: device.alias, uri: device.uri)
        if isNews(origin, at: stamp) { receive(.traffic(origin)) }
    }

    func isNews(_ origin: TrafficOrigin, at stamp: Stamp) -> Bool {
        traffic.isNews(origin, at: stamp.moment.monotonic)
    }

    // MARK: Stepping

    /// Everything that it asks for now.
    func step(at stamp: Stamp) -> [AgendaEffect] {
        let next = inputs
        inputs.removeAll(keepingCapacity: true)
        let effects = next.flatMap { agenda.step($0, at: stamp) }
        nextMonotonicDeadline = agenda.nextMonotonicDeadline
        nextBoottimeDeadline = agenda.nextBoottimeDeadline
        nextWallDeadline = agenda.nextWallDeadline
        return effects
    }

    func keep(_ row: AgendaRow) {
        journal.setEntry(StoredEntry(key: StoredEntry.Key(row.key), value: row.value))
    }

    func erase(_ key: AgendaKey) {
        journal.removeEntry(StoredEntry.Key(key))
        if key == key.origin { origins.release(key) }
    }

    /// Restores the state of an earlier life: its rows, and the names under which events may still be owed.
    func restore(_ recovery: Recovery) {
        let rows = journal.entries().compactMap(AgendaRow.init)
        var known: [(origin: EventOrigin, key: AgendaKey)] = []
        for (origin, device) in journal.devices() {
            guard let source = AgendaSource(rawValue: device.kind.rawValue) else { continue }
            catalog.set(entry: device, as: origin)
            if let key = key(of: device, source) { known.append((origin, key)) }
        }
        let owed = recovery.pending.values.flatMap { $0.map(\.origin) } + journal.deadLetters().map(\.event.origin)
        origins.restore(known, keeping: Set(owed))
        origins.releaseAll(but: rows)
        for handler in Set(rows.map(\.key.handler)) {
            concerned.insert(handler)
            unread[handler] = recovery.pending[handler] ?? []
            if let name = journal.handlerName(of: handler) { catalog.introduce(handler, name) }
        }
        receive(.restored(rows, bootID: journal.bootID))
        for (key, sequence) in openEnded(recovery, known) { receive(.owed(key, sequence)) }
    }

    /// No open-ended event outlives the bridge: the core ends them as it recovers them, and notifies their handlers.
    private func openEnded(
        _ recovery: Recovery, _ known: [(origin: EventOrigin, key: AgendaKey)]
    ) -> [(AgendaKey, Sequence)] {
        let keys = Dictionary(known.map { ($0.origin, $0.key) }) { first, _ in first }
        let events = recovery.pending.values.joined().filter(\.isOpenEnded).sorted { $0.sequence < $1.sequence }
        return events.compactMap { event in keys[event.origin].map { ($0, event.sequence) } }
    }

    private func key(of device: Device, _ source: AgendaSource) -> AgendaKey? {
        let parts = device.uri.dropFirst(source.deviceKind.uriPrefix.count).split(separator: "/", maxSplits: 1)
        guard let name = parts.first, let handler = journal.knownHandlerID(named: String(name)) else { return nil }
        return AgendaKey(handler, source, parts.count > 1 ? String(parts[1]) : "")
    }

    /// The origin of an entry's events, made where it has none yet; `isNew` where the core must learn of its owner.
    func origin(of entry: AgendaKey) -> (origin: EventOrigin, isNew: Bool) {
        let key = entry.origin
        if let known = origins[key] { return (known, introduced.insert(known).inserted) }
        // Not what people call it, which may change.
        let owner = journal.handlerName(of: key.handler) ?? catalog.name(of: key.handler)
        let device = Device(
            uri: "\(key.source.deviceKind.uriPrefix)\(owner)" + (key.id.isEmpty ? "" : "/\(key.id)"),
            alias: key.id.isEmpty ? key.source.rawValue : key.id, profile: nil, kind: key.source.deviceKind)
        let origin: EventOrigin
        if let reused = origins.reuse(for: key) {
            journal.rename(reused, to: device)
            origin = reused
        } else {
            origin = journal.origin(of: device)
        }
        catalog.set(entry: device, as: origin)
        origins.set(origin, for: key)
        return (origin, introduced.insert(origin).inserted)
    }

    /// An event that `body` makes the core append is the entry's occasion; if it appends none, the core knows no such
    /// handler.
    func raise(_ key: AgendaKey, _ body: () -> Void) {
        raising = key
        body()
        if raising != nil {
            // The core forgets the owner of an entry whose handler it does not know yet.
            if let origin = origins[key.origin] { introduced.remove(origin) }
            receive(.refused(key))
        }
        raising = nil
    }

    /// Records the number of the occasion that is being raised, before any input about that occasion.
    func recordRaised(as sequence: Sequence) {
        guard let key = raising else { return }
        raising = nil
        origins.raise(key.origin, as: sequence)
        receive(.raised(key, sequence))
    }

    func conclude(
        _ handler: HandlerID, _ sequence: Sequence, _ conclusion: Conclusion, awake: TimeSpan, cpu: TimeSpan
    ) {
        origins.conclude(sequence, conclusion)
        receive(.concluded(handler, sequence, conclusion, awake: awake, cpu: cpu))
    }

    func hold(_ effect: AgendaEffect) { outward.append(effect) }

    /// Removes and returns the effects to perform, after the commit of their cause.
    func removeOutward() -> [AgendaEffect] {
        guard !outward.isEmpty || !confirmations.isEmpty else { return [] }
        defer { outward.removeAll(keepingCapacity: true) }
        switch journal.health.disk {
        case .ok:
            defer { confirmations = [] }
            return confirmations + outward
        case .degraded:
            confirmations += outward.filter(\.isConfirmation)
            return outward.filter { !$0.isConfirmation }
        }
    }

    // MARK: Asking

    /// Every turn asks for them, so they are kept.
    private(set) var nextMonotonicDeadline: Instant?
    private(set) var nextBoottimeDeadline: Instant?
    private(set) var nextWallDeadline: WallTime?
    var hasTraffic: Bool { agenda.hasTraffic }

    func isDue(at stamp: Stamp) -> Bool {
        nextMonotonicDeadline.map { $0 <= stamp.moment.monotonic } ?? false
            || nextBoottimeDeadline.map { $0 <= stamp.moment.boottime } ?? false
            || nextWallDeadline.map { $0 <= stamp.wall } ?? false
    }

    func pending(of handler: HandlerID?, at stamp: Stamp) -> [PendingEntry] {
        if let handler, !concerned.contains(handler) { return [] }
        return agenda.pending(of: handler, at: stamp)
    }

    func outlook(of handler: HandlerID, at stamp: Stamp) -> AgendaOutlook {
        concerned.contains(handler) ? agenda.outlook(of: handler, at: stamp) : AgendaOutlook()
    }

    func closedGates(of handler: HandlerID, at stamp: Stamp) -> [PendingEntry.Wait] {
        agenda.closedGates(of: handler, at: stamp)
    }

    func conditions(at stamp: Stamp) -> [ConditionStanding] { agenda.conditions(at: stamp) }

    func peripheral(of handler: HandlerID) -> PeripheralStanding? { agenda.peripheral(of: handler) }

    func transferName(of handler: HandlerID, _ number: Int64) -> String? {
        agenda.transferName(of: handler, number)
    }

    func transferNumber(of handler: HandlerID, _ name: String) -> Int64? {
        agenda.transferNumber(of: handler, name)
    }

    func startable(_ source: AgendaSource, of handler: HandlerID) -> [String] {
        agenda.startable(source, of: handler)
    }

    func obstacle(to key: AgendaKey, at stamp: Stamp) -> OperationObstacle? { agenda.obstacle(to: key, at: stamp) }
}

extension AgendaEffect {
    fileprivate var isConfirmation: Bool { action(TransferAction.self)?.action.command == .confirm }
}

extension AgendaSource {
    /// The kind of its entries where they are listed beside devices.
    var deviceKind: SourceKind { kind?.source ?? SourceKind(rawValue, uriPrefix: "/\(rawValue)/") }
}

extension AgendaKey {
    /// The entry under whose name events come: those of some kinds all come in one order.
    var origin: AgendaKey {
        source.kind?.traits.contains(.sharesOrigin) ?? false ? AgendaKey(handler, source, "") : self
    }
}

extension RecoveredEvent {
    fileprivate var isOpenEnded: Bool { if case .occasion(.openEnded, _) = content { true } else { false } }
}

extension StoredEntry.Key {
    init(_ key: AgendaKey) { self.init(handler: key.handler, source: key.source.rawValue, id: key.id) }
}

extension AgendaRow {
    /// Nil for a source of a later version, whose entry stays as it is.
    init?(_ stored: StoredEntry) {
        guard let source = AgendaSource(rawValue: stored.key.source) else { return nil }
        self.init(key: AgendaKey(stored.key.handler, source, stored.key.id), value: stored.value)
    }
}
