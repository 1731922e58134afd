// A step of the agenda: when it happens, the known state of the machine, and the requests of the books.
import WakeModel

/// Changes since the step before, beside the passing of time.
struct AgendaChanges {
    /// The conditions of which `ConditionBook` reports a change.
    var conditions: Set<Condition> = []
    /// The handlers whose situation, plan or gate changed.
    var handlers: Set<HandlerID> = []
    /// The wall clock was set or became synchronized, or the system came up or resumed.
    var clock = false
    /// The machine has slept since.
    var hasSlept = false
    /// The tables of these zones came.
    var zones: Set<String> = []
}

/// The queries and effects of a book while it handles one input. `Agenda` makes it, and performs nothing in between.
package struct AgendaStep {
    package let stamp: Stamp
    /// The kernel's; instants of CLOCK_BOOTTIME of another boot mean nothing.
    let bootID: String
    /// Zones whose tables are known; a name without a zone has no table and a nil value.
    let zones: [String: Zone?]
    private(set) var handlers: [HandlerID: HandlerFacts]
    /// The one seed of all that is spread: no randomness.
    let seed: UInt64
    /// When the system came up or resumed: what was missed is spread from there on.
    let comeUps: ComeUps
    /// Until when an earlier life ran.
    let seen: SeenBook.Seen?
    let conditions: ConditionBook
    /// By the number of the occasion.
    let rests: [Sequence: Rest]
    private(set) var changes: AgendaChanges
    private(set) var effects: [AgendaEffect] = []
    /// Paths that the orders of the concluding handler wait for; empty where the conclusion names no path.
    var orderedPaths: Set<Condition> = []
    /// By how much more or less each condition is used from now on.
    private(set) var uses: [Condition: Int] = [:]

    init(
        stamp: Stamp, bootID: String, zones: [String: Zone?], handlers: [HandlerID: HandlerFacts], seed: UInt64,
        comeUps: ComeUps, seen: SeenBook.Seen? = nil, conditions: ConditionBook = ConditionBook(),
        rests: [Sequence: Rest] = [:], changes: AgendaChanges = AgendaChanges()
    ) {
        (self.stamp, self.bootID, self.zones, self.handlers) = (stamp, bootID, zones, handlers)
        (self.seed, self.comeUps, self.seen, self.rests) = (seed, comeUps, seen, rests)
        (self.conditions, self.changes) = (conditions, changes)
    }

    package var boottime: Instant { stamp.moment.boottime }
    package var wall: WallTime { stamp.wall }
    /// Last, on CLOCK_BOOTTIME.
    var cameUpAt: Instant { comeUps.latest }

    /// The time that the wall clock will show at an instant of CLOCK_BOOTTIME, at its present rate.
    func wallTime(at instant: Instant) -> WallTime { wall + (instant - boottime) }

    package mutating func emit(_ effect: AgendaEffect) { effects.append(effect) }

    package mutating func decide(_ key: AgendaKey, _ wireName: String) {
        emit(.decision(key.handler, AgendaDecision(key, wireName)))
    }

    /// An entry or a gate begins or ceases to use the condition.
    mutating func use(_ condition: Condition, _ change: Int) { uses[condition, default: 0] += change }

    mutating func setGate(of handler: HandlerID, isOpen: Bool) {
        let since = wall
        handlers[handler, default: HandlerFacts(since: since)].isGateOpen = isOpen
        handlers[handler]?.gateSince = since
        changes.handlers.insert(handler)
        emit(.gate(handler, isOpen: isOpen))
    }

    func facts(of handler: HandlerID) -> HandlerFacts { handlers[handler] ?? HandlerFacts(since: wall) }

    /// Why nothing is raised for the handler at all, in the words of ``PendingEntry/Wait``; nil where it may be.
    package func obstacle(of handler: HandlerID) -> String? {
        let facts = facts(of: handler)
        return facts.situation.obstacle ?? (facts.isGateOpen ? nil : WaitReason.gate.word)
    }

    /// When a handler that failed may run again; nil where nothing holds it.
    func holdEnd(of handler: HandlerID) -> Instant? {
        guard case .held(let until) = facts(of: handler).situation, boottime < until else { return nil }
        return until
    }

    /// When an occasion that was refused is given again; nil where it does not rest.
    func restEnd(of sequence: Sequence?) -> Instant? {
        sequence.flatMap { rests[$0]?.until }.flatMap { boottime < $0 ? $0 : nil }
    }

    /// It was refused, and its rest is over.
    func hasRested(_ sequence: Sequence?) -> Bool {
        sequence.flatMap { rests[$0]?.until }.map { $0 <= boottime } ?? false
    }

    /// Up to `longest`, by the seed and the key: the same at each call, and no entry is last on every machine.
    func spread(of key: AgendaKey, upTo longest: TimeSpan) -> TimeSpan {
        spread(of: "\(key.handler.rawValue)/\(key.source.rawValue)/\(key.id)", upTo: longest)
    }

    /// The one offset that all polls of this machine share: they wake it together, and not together with other machines.
    func gridOffset(upTo longest: TimeSpan) -> TimeSpan { spread(of: "", upTo: longest) }

    private func spread(of text: String, upTo longest: TimeSpan) -> TimeSpan {
        guard longest > .zero else { return .zero }
        var hash = FNV1a(seed: seed)
        hash.add(text.utf8)
        let folded = hash.value ^ hash.value >> 32
        return TimeSpan(nanoseconds: Int64(folded % UInt64(longest.nanoseconds)))
    }
}

/// The agenda's knowledge of one handler beside its entries.
struct HandlerFacts: Hashable, Sendable {
    var plan = AgendaPlan()
    var situation = HandlerSituation.asleep
    var situationSince: WallTime
    /// All of its gates have been open since boot.
    var isGateOpen = true
    var gateSince: WallTime

    /// - Parameter since: when the agenda first knew of it.
    init(since: WallTime = WallTime(microseconds: 0)) { (situationSince, gateSince) = (since, since) }

    /// Since when ``AgendaStep/obstacle(of:)`` is what it is.
    var obstacleSince: WallTime { situation.obstacle == nil ? gateSince : situationSince }
}

/// The back-off after a refusal: its handler gets it no sooner than an instant of CLOCK_BOOTTIME.
struct Rest: Hashable, Sendable {
    var until: Instant
    var since: WallTime
}

extension HandlerSituation {
    /// Why nothing is raised for the handler, in the words of ``PendingEntry/Wait``; nil where it may be.
    var obstacle: String? {
        switch self {
        case .stopped: WaitReason.stopped.word
        case .quarantined: WaitReason.quarantined.word
        case .unread: WaitReason.manifest.word
        case .held, .asleep, .awake, .attached: nil
        }
    }
}
