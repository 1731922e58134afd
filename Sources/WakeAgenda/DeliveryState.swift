// How far an entry's occasion is: asked for, numbered, with its handler, and taken back.
import WakeModel

/// Where an entry's occasion is.
package struct DeliveryState: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
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

    package init() {}

    private init(_ phase: Phase, holdingSlot: Bool = false, relyingOn conditions: [Condition] = []) {
        (self.phase, holdsSlot, relied) = (phase, holdingSlot, conditions)
    }

    package var isWaiting: Bool { phase == .waiting }
    package var sequence: Sequence? {
        get { if case .raised(let sequence) = phase { sequence } else { nil } }
        set { if let newValue { phase = .raised(newValue) } }
    }
    /// As rows contain it: nothing is relied on before it is raised.
    var storedReliance: [Condition]? {
        get { sequence == nil ? nil : relied }
        set { relied = newValue ?? [] }
    }
    var storedSlot: Bool? {
        get { sequence == nil ? nil : holdsSlot }
        set { holdsSlot = newValue ?? false }
    }
    package var state: PendingEntry.State { isWaiting ? .waiting : isRunning ? .running : .queued }

    package mutating func begin() { self = DeliveryState(.raising) }

    mutating func begin(relyingOn conditions: [Condition], holdingSlot: Bool = false) {
        self = DeliveryState(.raising, holdingSlot: holdingSlot, relyingOn: conditions)
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
    package func recall(_ handler: HandlerID, _ step: inout AgendaStep) {
        if let sequence { step.emit(.recall(handler, sequence)) }
    }

    /// The condition whose loss ends it; soft ones count only before the deadline.
    func lost(deadline: Instant, _ step: AgendaStep) -> Condition? {
        guard sequence != nil, pressed == nil else { return nil }
        return relied.first { step.conditions.isLost($0) && ($0.isHard || step.boottime < deadline) }
    }

    /// The core delivers it again.
    package mutating func restart() { (isRunning, pressed, isPressUnheard) = (false, nil, false) }
}

/// How long what was handed back rests at least: the bridge's own back-off after a refusal.
func handBackRest(_ times: Int64) -> TimeSpan {
    min(.seconds(30) * (1 << min(max(times - 1, 0), 20)), .seconds(5 * 3600))
}
