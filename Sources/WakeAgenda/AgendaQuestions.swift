// Answers people's questions about the agenda: the state of conditions, what is scheduled, and what they can start by
// hand.
import WakeModel

/// The state of one condition, and the handlers that wait for it.
public struct ConditionStanding: Hashable, Sendable {
    public var condition: Condition
    /// Something waits for it or relies on it; otherwise its source is not asked.
    public var isOpen = false
    /// The last state that its source reported; nil before the first report.
    public var raw: Bool?
    /// Whether its source has reported this state for long enough.
    public var isSettled = false
    /// The state that a person simulates in place of its source.
    public var played: Bool?
    /// Since when it has been as it counts; nil where nothing is known of it.
    public var since: WallTime?
    /// The entries that wait for it. For the gates of a handler, the key of its gate.
    public var waiting: [AgendaKey] = []

    public init(_ condition: Condition) { self.condition = condition }

    /// Whether it counts as true.
    public var isTrue: Bool { played ?? isSettled }

    /// Joins the states of one condition for two handlers: it is true where it is true for both.
    fileprivate func joined(with other: ConditionStanding) -> ConditionStanding {
        var joined = self
        joined.isOpen = isOpen || other.isOpen
        joined.raw = raw.map { own in own && other.raw != false } ?? other.raw
        joined.isSettled = isSettled && other.isSettled
        joined.since = [since, other.since].compactMap { $0 }.max()
        return joined
    }
}

/// How much is scheduled for a handler.
public struct AgendaOutlook: Hashable, Sendable {
    public var count = 0
    /// The next due time; nil where no entry is due by time alone.
    public var next: WallTime?
    /// The number of messages of its inbox that wait or are on their way.
    public var messages = 0
    /// The names of open-ended entries that hold it awake.
    public var holdingAwake: [String] = []
    public var transfers = TransferProgress()

    public init() {}

    package mutating func add(due: WallTime?, _ step: AgendaStep) {
        count += 1
        guard let due, due > step.wall else { return }
        next = next.map { min($0, due) } ?? due
    }
}

/// How far the open transfers of a handler are, all together.
public struct TransferProgress: Hashable, Sendable {
    public var open = 0
    public var moving = 0
    /// Bytes.
    public var done: Int64 = 0
    /// Bytes; nil where that is not known of each.
    public var total: Int64? = 0

    public init() {}

    mutating func add(_ entry: TransferEntry) {
        open += 1
        if entry.phase == .moving { moving += 1 }
        done += entry.status.done
        total = total.flatMap { sum in entry.total.map { sum + $0 } }
    }
}

/// Why a person cannot have an entry raised now.
public enum OperationObstacle: Hashable, Sendable {
    /// The handler has no such entry, but these.
    case unknown(known: [String])
    case stopped
    /// It crashed too often.
    case quarantined
    /// The gates of its handler are closed: it waits for these.
    case gated([Condition])
    /// It is raised already.
    case underWay(PendingEntry.State)
}

extension Agenda {
    /// Every condition without a path, and each that something uses or a person plays, by word.
    public func conditions(at stamp: Stamp) -> [ConditionStanding] {
        var waiting: [String: [AgendaKey]] = [:]
        for entry in pending(of: nil, at: stamp) {
            for wait in entry.waitsFor { waiting[wait.word, default: []].append(entry.key) }
        }
        for handler in handlers.keys.sorted() {
            for condition in gates.closed(of: handler, conditions) {
                waiting[condition.word, default: []].append(AgendaKey(handler, .gate, ""))
            }
        }
        let known = Dictionary(grouping: Set(Condition.plain).union(conditions.present), by: \.ofAnyHandler)
        return known.sorted { $0.key < $1.key }.map { all, asked in
            let keys = waiting[all.word] ?? []
            let each = asked.filter(conditions.isOpen).sorted().map { standing($0, keys) }
            return each.dropFirst().reduce(each.first ?? standing(all, keys)) { $0.joined(with: $1) }
        }
    }

    private func standing(_ condition: Condition, _ waiting: [AgendaKey]) -> ConditionStanding {
        var standing = ConditionStanding(condition.ofAnyHandler)
        standing.isOpen = conditions.isOpen(condition)
        standing.raw = conditions.raw(condition)
        standing.isSettled = conditions.isSettled(condition)
        standing.played = conditions.played(condition)
        standing.since = conditions.since(condition)
        standing.waiting = waiting
        return standing
    }

    /// The conditions that a handler's gates wait for; empty where they are open, or it has none.
    public func closedGates(of handler: HandlerID, at stamp: Stamp) -> [PendingEntry.Wait] {
        gates.closed(of: handler, conditions).map {
            PendingEntry.Wait(word: $0.word, since: conditions.since($0) ?? stamp.wall)
        }
    }

    /// The name of an open transfer; nil where none has this number.
    public func transferName(of handler: HandlerID, _ number: Int64) -> String? {
        transfers.keysByNumber[handler]?[number].flatMap { transfers.store[$0]?.isOpen == true ? $0.id : nil }
    }

    /// The number of the open transfer of this name; nil where there is none.
    public func transferNumber(of handler: HandlerID, _ name: String) -> Int64? {
        transfers.store[AgendaKey(handler, .transfer, name)].flatMap { $0.isOpen ? $0.number : nil }
    }

    public func outlook(of handler: HandlerID, at stamp: Stamp) -> AgendaOutlook {
        let step = look(at: stamp)
        var outlook = AgendaOutlook()
        for book in books { book.add(handler, to: &outlook, step) }
        return outlook
    }

    /// The names of a source's entries that a person may have raised; of a poll, the empty text.
    public func startable(_ source: AgendaSource, of handler: HandlerID) -> [String] {
        let plan = handlers[handler]?.plan ?? AgendaPlan()
        return Self.row(of: source)?.entries(in: self).startable(of: handler, plan) ?? []
    }

    /// Nil where ``AgendaInput/operated(_:ref:)`` has the entry raised, as soon as its hard conditions and a slot let it.
    public func obstacle(to key: AgendaKey, at stamp: Stamp) -> OperationObstacle? {
        let known = startable(key.source, of: key.handler)
        guard known.contains(key.id) else { return .unknown(known: known) }
        let facts = look(at: stamp).facts(of: key.handler)
        switch facts.situation {
        case .stopped: return .stopped
        case .quarantined: return .quarantined
        case .unread, .held, .asleep, .awake, .attached: break
        }
        guard facts.isGateOpen else { return .gated(gates.closed(of: key.handler, conditions)) }
        let state = pending(of: key.handler, at: stamp).first { $0.key == key }?.state
        return state.flatMap { $0 == .waiting ? nil : .underWay($0) }
    }
}

extension PendingEntry {
    /// Whether its wait or its work is independent of whether its handler can run.
    var isIndependent: Bool { isWaiting || (key.source == .transfer && state == .running) }
}
