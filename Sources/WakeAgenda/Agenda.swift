// The agenda: the entries of all handlers of which events come without a device. Pure.
import WakeModel

public struct Agenda: Sendable {
    private let seed: UInt64
    private var boot = Boot()
    private var seen = SeenBook()
    private var latest: Stamp?
    /// As it was asked for last.
    private var machineWake = MachineWake()
    private(set) var handlers: [HandlerID: HandlerFacts] = [:]
    private var zones: [String: Zone?] = [:]
    private(set) var conditions = ConditionBook()
    private(set) var gates = GateBook()
    private var rests: [Sequence: Rest] = [:]
    var alarms = AlarmBook()
    var polls = PollBook()
    var jobs = JobBook()
    var regions = RegionBook()
    var inboxes = InboxBook()
    var flows = FlowBook()
    var transfers = TransferBook()
    var sockets = SocketBook()
    var peripherals = PeripheralBook()
    /// The books of kinds that other modules registered, by their words.
    var registered: [String: any AgendaBook] = [:]

    private struct Boot {
        var id = ""
        var comeUps = ComeUps(at: .zero)
    }

    /// - Parameter seed: of all that is spread: two agendas with one seed decide alike.
    public init(seed: UInt64) { self.seed = seed }

    /// Settling and losing conditions takes time in which the machine is awake, and so does silence.
    public var nextMonotonicDeadline: Instant? {
        Self.rows.reduce(conditions.next) { .earlier($0, $1.nextMonotonic(self)) }
    }
    public var nextBoottimeDeadline: Instant? {
        Self.rows.reduce(seen.next) { .earlier($0, $1.nextBoottime(self)) }
    }
    /// Only alarms follow the wall clock; polls and jobs count the time that passes.
    public var nextWallDeadline: WallTime? { Self.rows.compactMap { $0.nextWall(self) }.min() }

    /// Returns the effects of the input, in the order in which they are performed.
    public mutating func step(_ input: AgendaInput, at stamp: Stamp) -> [AgendaEffect] {
        let input = input.asked
        var changes = AgendaChanges()
        changes.conditions = conditions.settle(at: stamp)
        followClocks(input, stamp, &changes)
        absorb(input, stamp, &changes)
        changes.conditions.formUnion(conditions.settle(at: stamp))
        var step = makeStep(stamp, changes)
        let answer = dispatch(input, &step)
        gates.advance(&step)
        for row in Self.rows { row.advance(&self, &step) }
        seen.advance(isNeeded: hasEntries, &step)
        followMachineWake(&step)
        leaveZones(&step)
        if let answer, let whole = composed(answer, step) {
            step.emit(.answer(answer.handler, answer.epoch, whole, ref: answer.ref))
        }
        handlers = step.handlers
        latest = stamp
        let (effects, uses) = (step.effects, step.uses)
        return effects + conditions.use(uses, at: stamp)
    }

    /// Everything that is pending of one handler, or of all, by handler, source and name.
    public func pending(of handler: HandlerID?, at stamp: Stamp) -> [PendingEntry] {
        let step = look(at: stamp)
        let wanted = handler.map { [$0] } ?? handlers.keys.sorted()
        return wanted.flatMap { pending(of: $0, step) }
    }

    /// The step that answers queries. Entries due since the last step still wait for time, for no input has reported
    /// that it passed.
    func look(at stamp: Stamp) -> AgendaStep {
        var known = latest ?? stamp
        known.wall = stamp.wall - (stamp.moment.boottime - known.moment.boottime)
        return makeStep(known, AgendaChanges())
    }

    /// - Parameter sources: nil for all.
    func pending(
        of handler: HandlerID, from sources: Set<AgendaSource>? = nil, _ step: AgendaStep
    ) -> [PendingEntry] {
        let rows = Self.rows.filter { sources?.contains($0.source) ?? true }
        let entries = rows.flatMap { $0.entries(in: self).pending(of: handler, step) }
        return entries.map { $0.isIndependent ? $0 : hindered($0, step) }
    }

    /// A raised entry of any source waits for its handler alone: where that cannot run, the entry lists why.
    private func hindered(_ entry: PendingEntry, _ step: AgendaStep) -> PendingEntry {
        var entry = entry
        let handler = entry.key.handler
        let facts = step.facts(of: handler)
        if let word = step.obstacle(of: handler), facts.situation.obstacle != nil || !step.isAwake(handler) {
            entry.waitsFor.append(.init(word: word, since: facts.obstacleSince))
        }
        let holdEnd = step.holdEnd(of: handler)
        if holdEnd != nil { entry.waitsFor.append(.init(.held, since: facts.situationSince)) }
        let restEnd = step.restEnd(of: entry.sequence)
        if restEnd != nil, let rest = entry.sequence.flatMap({ step.rests[$0] }) {
            entry.waitsFor.append(.init(.time, since: rest.since))
        }
        if let end = [holdEnd, restEnd].compactMap({ $0 }).max() { entry.nextChance = step.wallTime(at: end) }
        return entry
    }

    private var hasEntries: Bool { books.contains { $0.hasStoredEntries } }

    private mutating func leaveZones(_ step: inout AgendaStep) {
        for name in alarms.removeUnusedZones() {
            zones[name] = nil
            step.emit(.leaveZone(name))
        }
    }

    private mutating func followMachineWake(_ step: inout AgendaStep) {
        guard alarms.machineWake != machineWake else { return }
        machineWake = alarms.machineWake
        step.emit(.wakeMachine(machineWake))
    }

    private func makeStep(_ stamp: Stamp, _ changes: AgendaChanges) -> AgendaStep {
        AgendaStep(
            stamp: stamp, bootID: boot.id, zones: zones, handlers: handlers, seed: seed, comeUps: boot.comeUps,
            seen: seen.former, conditions: conditions, rests: rests, changes: changes)
    }
}

// The agenda's knowledge of the machine and of handlers.
extension Agenda {
    private mutating func followClocks(_ input: AgendaInput, _ stamp: Stamp, _ changes: inout AgendaChanges) {
        if let latest, stamp.moment.hasSlept(since: latest.moment) {
            boot.comeUps.add(stamp.moment.boottime)
            (changes.clock, changes.hasSlept) = (true, true)
        }
        if case .clockChanged = input { changes.clock = true }
    }

    private mutating func absorb(_ input: AgendaInput, _ stamp: Stamp, _ changes: inout AgendaChanges) {
        switch input {
        case .restored(let rows, let bootID):
            boot.id = bootID
            for row in rows where row.key.source != .seen { know(row.key.handler, stamp) }
            // A bridge that only restarted finds rows of this boot: nothing was missed for long.
            let isSameBoot = rows.contains { $0.isOf(bootID) }
            boot.comeUps = isSameBoot ? ComeUps(settledAt: stamp.moment.boottime) : ComeUps(at: stamp.moment.boottime)
            // Before the other rows, which are carried over by it.
            for row in rows where row.key.source == .seen { _ = seen.restore(row) }
            seen.begin(bootID, at: stamp.moment.boottime)
        case .configured(let handler, let plan):
            know(handler, stamp)
            handlers[handler]?.plan = plan
            changes.handlers.insert(handler)
        case .removed(let handler):
            handlers[handler]?.plan = AgendaPlan()
            changes.handlers.insert(handler)
        case .situated(let handler, let situation):
            know(handler, stamp)
            if handlers[handler]?.situation != situation {
                handlers[handler]?.situation = situation
                handlers[handler]?.situationSince = stamp.wall
            } else if situation.obstacle == nil {
                return
            }
            // A handler that is stopped again is so with less: its process has ended, and its occasions are queued.
            changes.handlers.insert(handler)
        case .condition(let condition, let isTrue):
            changes.conditions.formUnion(conditions.hear(condition, isTrue, at: stamp))
        case .overridden(let condition, let isTrue):
            changes.conditions.formUnion(conditions.play(condition, isTrue, at: stamp))
        case .zone(let name, let bytes):
            guard alarms.zones.isWanted(name) else { return }
            zones[name] = .some(bytes.flatMap { try? Zone(tzif: $0) })
            changes.zones.insert(name)
        case .concluded(_, let sequence, let conclusion, _, _):
            rests[sequence] = nil
            guard case .givenBack(let until?) = conclusion else { return }
            rests = rests.filter { $0.value.until > stamp.moment.boottime }
            rests[sequence] = Rest(until: until, since: stamp.wall)
        case .recovered, .owed, .ordered, .raised, .region, .message, .socket, .peripheral, .traffic, .sleeping,
            .transfer,
            .refused,
            .progressed, .clockChanged, .operated, .cancelled, .ending, .tick:
            break
        }
    }

    /// Facts that no input reports of this handler have been so since now.
    private mutating func know(_ handler: HandlerID, _ stamp: Stamp) {
        if handlers[handler] == nil { handlers[handler] = HandlerFacts(since: stamp.wall) }
    }
}

// Which book an input is for.
extension Agenda {
    private mutating func dispatch(_ input: AgendaInput, _ step: inout AgendaStep) -> OrderAnswer? {
        switch input {
        case .restored(let rows, _): for row in rows { restore(row, &step) }
        case .recovered(let handler, let owed):
            for sequence in books.flatMap({ $0.raised(for: handler) }) where !owed.contains(sequence) {
                if let key = key(of: sequence, for: handler) { conclude(key, .dropped, .zero, .zero, &step) }
            }
        case .configured(let handler, let plan): configure(handler, plan, &step)
        case .removed(let handler): remove(handler, &step)
        case .ordered(let handler, let epoch, let order, let ref):
            return answer(order, of: handler, epoch, ref, &step)
        case .raised(let key, let sequence):
            Self.row(of: key.source)?.recordRaised(key, as: sequence, in: &self, &step)
        case .refused(let key): conclude(key, .dropped, .zero, .zero, &step)
        case .concluded(let handler, let sequence, let conclusion, let awake, let cpu):
            guard let key = key(of: sequence, for: handler) else { break }
            if conclusion.namesPath { step.orderedPaths = orderedPaths(of: handler) }
            conclude(key, conclusion, max(awake, .zero), max(cpu, .zero), &step)
        case .owed, .progressed, .region, .message, .traffic, .sleeping, .transfer, .socket, .peripheral:
            for row in Self.rows { row.receive(input, in: &self, &step) }
        case .operated(let key, _): operate(key, &step)
        case .cancelled(let key): Self.row(of: key.source)?.cancel(key, in: &self, &step)
        case .ending: if hasEntries { seen.store(&step) }
        case .situated, .condition, .overridden, .zone, .clockChanged, .tick: break
        }
        return nil
    }

    private mutating func restore(_ row: AgendaRow, _ step: inout AgendaStep) {
        let isReadable =
            switch row.key.source {
            case .gate: gates.restore(row, bootID: boot.id)
            case .seen: seen.restore(row)
            default: Self.row(of: row.key.source)?.restore(row, in: &self, &step) ?? false
            }
        guard !isReadable else { return }
        step.decide(row.key, "drop unreadable")
        step.emit(.erase(row.key))
    }

    private mutating func configure(_ handler: HandlerID, _ plan: AgendaPlan, _ step: inout AgendaStep) {
        gates.configure(handler, plan.gates, &step)
        for row in Self.rows { row.configure(handler, plan, in: &self, &step) }
    }

    private mutating func remove(_ handler: HandlerID, _ step: inout AgendaStep) {
        gates.remove(handler, &step)
        for row in Self.rows { row.remove(handler, from: &self, &step) }
    }

    private mutating func conclude(
        _ key: AgendaKey, _ conclusion: Conclusion, _ awake: TimeSpan, _ cpu: TimeSpan, _ step: inout AgendaStep
    ) {
        Self.row(of: key.source)?.conclude(key, conclusion, awake: awake, cpu: cpu, in: &self, &step)
    }

    private mutating func operate(_ key: AgendaKey, _ step: inout AgendaStep) {
        let isKnown = Self.row(of: key.source)?.raiseNow(key, in: &self, &step) ?? false
        step.decide(key, isKnown ? "operate" : "operate unknown")
    }

    private func key(of sequence: Sequence, for handler: HandlerID) -> AgendaKey? {
        for row in Self.rows {
            if let key = row.key(of: sequence, for: handler, in: self) { return key }
        }
        return nil
    }
}

extension AgendaInput {
    /// The same with the manifest's conditions bound to its handler.
    fileprivate var asked: AgendaInput {
        if case .configured(let handler, let plan) = self {
            .configured(handler, plan.asked(by: handler))
        } else {
            self
        }
    }
}

extension AgendaRow {
    /// Whether the row was stored in this boot: every row contains `boot`.
    fileprivate func isOf(_ bootID: String) -> Bool {
        (try? JSONValue(parsing: value))?["boot"]?.string == bootID
    }
}
