// A flow of a handler: whether data flows, its event in the core, and why it ended last.
import WakeModel

/// Why a flow is over for now.
enum FlowEnd: Hashable, Sendable {
    /// No data came for the flow's `idle`.
    case idle
    /// The bridge that had begun it ended.
    case restarted
    /// Another one of its group comes first.
    case outranked(by: AgendaKey, group: String)
    /// The machine slept.
    case slept
    /// Its handler cannot run, in the words of ``PendingEntry/Wait``.
    case barred(String)

    /// It begins again by itself when its cause has gone and data still flows.
    var isInterruption: Bool {
        switch self {
        case .idle, .restarted: false
        case .outranked, .slept, .barred: true
        }
    }

    var reason: String {
        switch self {
        case .idle: "idle"
        case .restarted: "bridge-restart"
        case .outranked: "group"
        case .slept: "system-sleep"
        case .barred(let word): word
        }
    }

    /// For a history.
    func sentence(_ rule: FlowRule?) -> String {
        switch self {
        case .idle: "ended: no data for \(rule?.idle.spoken ?? "a while")"
        case .restarted: "ended: the bridge was started again"
        case .outranked(_, let group): "interrupted: another flow of the group \(group) came first"
        case .slept: "interrupted: the machine slept"
        case .barred(let word): "interrupted: its handler cannot run (\(word))"
        }
    }

    func occasion(named name: String) -> Occasion {
        let payload = JSONWriter.whole {
            $0.field("name", name)
            $0.field("reason", reason)
            if case .outranked(_, let group) = self { $0.field("group", group) }
        }
        return Occasion(name: isInterruption ? "flow.interrupted" : "flow.ended", budgetClass: .data, payload: payload)
    }
}

struct FlowEntry: Sendable {
    enum Phase: Hashable, Sendable {
        case closed
        /// `flow.started` is requested, and not numbered yet.
        case raising
        case open(Sequence)
        /// The core is to end it. The handler gets the reason, if it had begun with it; nil raises no event.
        case leaving(Sequence, FlowEnd?)
        /// The handler's event is pending.
        case owing(FlowEnd)
        /// Its event is raised; nil until that is numbered.
        case telling(Sequence?)
    }

    let key: AgendaKey
    /// Nil after a restart until its manifest is read.
    var rule: FlowRule?
    var phase = Phase.closed
    /// On CLOCK_MONOTONIC; nil while no data flows.
    var lastData: Instant?
    /// Since when it flows without a pause.
    var flowsSince = Instant.zero
    /// The handler is done with it: it begins again after a pause.
    var isDeclined = false
    /// Refused until then, by CLOCK_BOOTTIME.
    var restsUntil: Instant?
    /// Since when it is in its present state.
    var since: WallTime
    var history = ChangeHistory()

    init(key: AgendaKey, since: WallTime) { (self.key, self.since) = (key, since) }

    var sequence: Sequence? {
        switch phase {
        case .closed, .raising, .owing, .telling(nil): nil
        case .open(let sequence), .leaving(let sequence, _), .telling(let sequence?): sequence
        }
    }

    /// The core has its beginning.
    var isUnderWay: Bool {
        switch phase {
        case .raising, .open: true
        case .closed, .leaving, .owing, .telling: false
        }
    }

    /// It is over by itself, and its handler does not know yet: no other of its group begins before that.
    var isEnding: Bool {
        switch phase {
        case .leaving(_, let end): !(end?.isInterruption ?? false)
        case .owing(let end): !end.isInterruption
        case .closed, .raising, .open, .telling: false
        }
    }

    var isClosed: Bool { phase == .closed }
    var isWanted: Bool { lastData != nil && !isDeclined && restsUntil == nil }
    /// It can begin, or goes on, as far as it is up to this one alone.
    var competes: Bool { isWanted && (isClosed || isUnderWay) }

    /// When it is over unless more data comes.
    var idleAt: Instant? {
        guard let lastData, let rule else { return nil }
        return lastData + rule.idle + (rule.from == .handler ? .zero : TrafficOrigin.grain)
    }

    /// True where that begins a stretch.
    mutating func feed(_ step: AgendaStep) -> Bool {
        let begins = lastData == nil
        lastData = step.stamp.moment.monotonic
        guard begins else { return false }
        (flowsSince, since) = (step.stamp.moment.monotonic, step.wall)
        history.add("data flows", step)
        return true
    }

    /// The handler has ended it: further data of its device or socket does not begin it again.
    mutating func decline() {
        if rule?.from == .handler { lastData = nil } else { isDeclined = lastData != nil }
    }

    mutating func change(_ sentence: String, _ step: AgendaStep) {
        since = step.wall
        history.add(sentence, step)
    }

    var started: Occasion? {
        guard let rule else { return nil }
        let payload = JSONWriter.whole {
            $0.field("name", rule.name)
            $0.field("from", rule.from.word)
        }
        return Occasion(name: "flow.started", budgetClass: .openEnded(idle: rule.idle), payload: payload)
    }
}
