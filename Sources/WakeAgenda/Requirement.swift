// The conditions that must be true before an entry is raised, and those that its run relies on afterwards.
import WakeModel

struct Requirement {
    /// Not before this.
    var start: Instant
    /// From here on it may begin sooner, if its handler is awake anyway; nil where it may not.
    var earlyStart: Instant? = nil
    /// From here on its soft conditions are waived. Never before the start.
    var deadline: Instant
    /// Otherwise the deadline waives nothing: the entry is skipped there.
    var waives = true
    var conditions: [Condition]
    /// It goes along with a wake that something else causes.
    var needsWake = false

    /// The conditions watched by now: each as long before the start as it takes to settle.
    func used(at now: Instant) -> [Condition] { conditions.filter { watchStart($0) <= now } }

    private func watchStart(_ condition: Condition) -> Instant { min(start, earlyStart ?? start) - condition.settle }

    /// When more is watched, or it may begin, or conditions are waived; nil where only conditions decide.
    func nextLook(after now: Instant) -> Instant? {
        (conditions.map(watchStart) + [start, deadline]).filter { $0 > now }.min()
    }

    /// The conditions that it waits for, and those that it goes without.
    func missing(_ step: AgendaStep) -> (unmet: [Condition], waived: [Condition]) {
        let missing = conditions.filter { !step.conditions.isTrue($0) }
        guard waives, step.boottime >= deadline else { return (missing, []) }
        return (missing.filter(\.isHard), missing.filter { !$0.isHard })
    }

    /// Why nothing is raised yet: time, the handler, conditions.
    func waits(of handler: HandlerID, since: WallTime, _ step: AgendaStep) -> [PendingEntry.Wait] {
        var waits: [PendingEntry.Wait] = []
        if step.boottime < start { waits.append(.init(.time, since: since)) }
        if let obstacle = step.obstacle(of: handler) {
            waits.append(.init(word: obstacle, since: step.facts(of: handler).obstacleSince))
        }
        if needsWake, !step.isAwake(handler) {
            waits.append(.init(.wake, since: step.facts(of: handler).situationSince))
        }
        let used = used(at: step.boottime)
        for condition in missing(step).unmet where used.contains(condition) {
            waits.append(step.wait(for: condition))
        }
        return waits
    }

    /// When it may be raised if all it waits for comes true; nil where no time decides.
    func nextChance(_ step: AgendaStep) -> WallTime? {
        if step.boottime < start { return step.wallTime(at: start) }
        let unmet = missing(step).unmet
        let settled = step.settled(unmet)
        guard waives, !unmet.isEmpty, unmet.allSatisfy({ !$0.isHard }) else { return settled }
        let waived = step.wallTime(at: deadline)
        return settled.map { min($0, waived) } ?? waived
    }
}

extension AgendaStep {
    func wait(for condition: Condition) -> PendingEntry.Wait {
        PendingEntry.Wait(
            word: condition.word, since: conditions.since(condition) ?? wall,
            settles: conditions.settles(condition).map { wallTime(monotonic: $0) })
    }

    /// When the last of these counts as true; nil where one of them is not about to.
    func settled(_ unmet: [Condition]) -> WallTime? {
        let instants = unmet.compactMap(conditions.settles)
        guard instants.count == unmet.count else { return nil }
        return instants.max().map { wallTime(monotonic: $0) }
    }

    private func wallTime(monotonic instant: Instant) -> WallTime { wall + (instant - stamp.moment.monotonic) }
}

extension AgendaStep {
    /// Entries that were overdue when the system came up or resumed begin within this time, and not all at once.
    static let herd = TimeSpan.seconds(30)

    func spreadStart(of key: AgendaKey, due: Instant, deadline: Instant) -> Instant {
        guard let up = comeUps.first(after: due) else { return due }
        let spread = up + spread(of: key, upTo: Self.herd)
        return deadline > up ? min(spread, deadline) : spread
    }

    /// The conditions until which a handler handed something back. It gets a fault for each unknown word and each path
    /// too many.
    mutating func conditions(named words: [String], by handler: HandlerID) -> [Condition] {
        var (found, paths): ([Condition], Set<Condition>) = ([], orderedPaths)
        for word in words.prefix(Condition.mostInList) {
            do throws(ProtocolFault) {
                let condition = try Condition(word: word).asked(by: handler)
                guard permits(condition, beside: &paths, for: handler) else {
                    throw .tooManyPaths(condition, "nack")
                }
                if !found.contains(condition) { found.append(condition) }
            } catch {
                emit(.notify(handler, .error(error)))
            }
        }
        orderedPaths = paths
        return found
    }
}

/// Where an entry's occasion is.
struct Lending: Hashable, Sendable {
    enum Phase: Hashable, Sendable {
        case waiting
        /// Asked for, and not numbered yet.
        case raising
        case raised(Sequence)
    }

    var phase = Phase.waiting
    /// The handler has it, as far as can be known: it was awake meanwhile, or has reported progress.
    var isRunning = false
    /// Why it was withdrawn or pressed; nil where it was not.
    var pressed: Withdrawal?
    /// A person had the handler when it was pressed, so it was not asked to end.
    private var isPressUnheard = false
    /// It is one of the few that may run long at a time. What its handler cannot run now gives that up until it runs.
    var holdsSlot = false
    /// The conditions that it relies on while it is queued or runs.
    var relied: [Condition] = []

    init(_ phase: Phase = .waiting, holdingSlot: Bool = false, relyingOn conditions: [Condition] = []) {
        (self.phase, holdsSlot, relied) = (phase, holdingSlot, conditions)
    }

    var isWaiting: Bool { phase == .waiting }
    var sequence: Sequence? { if case .raised(let sequence) = phase { sequence } else { nil } }
    var state: PendingEntry.State { isWaiting ? .waiting : isRunning ? .running : .queued }

    mutating func begin(relyingOn conditions: [Condition], holdingSlot: Bool = false) {
        self = Lending(.raising, holdingSlot: holdingSlot, relyingOn: conditions)
    }

    /// Takes the occasion back once: out of the queue, or by pressing the handler that has it.
    mutating func press(_ handler: HandlerID, because reason: Withdrawal, _ step: inout AgendaStep) {
        guard let sequence, pressed == nil else { return }
        pressed = reason
        isPressUnheard = step.facts(of: handler).situation == .attached
        step.emit(isRunning ? .press(handler, sequence, reason) : .withdraw(handler, sequence))
    }

    /// A press while a person had the handler may be repeated after that person detaches; nil where there was none.
    mutating func removeUnheardPress(_ situation: HandlerSituation) -> Withdrawal? {
        guard isPressUnheard, situation != .attached else { return nil }
        defer { (pressed, isPressUnheard) = (nil, false) }
        return pressed
    }

    /// It was cancelled: whether the handler has it already, only the core knows.
    func recall(_ handler: HandlerID, _ step: inout AgendaStep) {
        if let sequence { step.emit(.recall(handler, sequence)) }
    }

    /// The condition whose loss ends it; soft ones count only before the deadline.
    func lost(deadline: Instant, _ step: AgendaStep) -> Condition? {
        guard sequence != nil, pressed == nil else { return nil }
        return relied.first { step.conditions.isLost($0) && ($0.isHard || step.boottime < deadline) }
    }

    /// The core delivers it again.
    mutating func restart() { (isRunning, pressed, isPressUnheard) = (false, nil, false) }
}

/// How long what was handed back rests at least: the bridge's own back-off after a refusal.
func handBackRest(_ times: Int64) -> TimeSpan {
    min(.seconds(30) * (1 << min(max(times - 1, 0), 20)), .seconds(5 * 3600))
}
