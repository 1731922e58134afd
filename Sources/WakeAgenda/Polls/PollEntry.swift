// The poll of a handler: when it is due, its event in the core, and its learned pace.
import WakeModel

struct PollEntry: TriggerEntry {
    let key: AgendaKey
    /// Nil from the start of the bridge until its manifest was read.
    var rule: PollRule?
    /// The handler's last order.
    var order: PollOrder?
    var pace: PollPace
    var hours = PollHours()
    /// From here on the interval counts: when the last poll was delivered.
    var base: Instant
    var due: Instant
    var raisedAt: Instant
    var delivery = DeliveryState()
    /// The conditions with which it was handed back, in addition.
    var until: [Condition] = []
    var handBacks: Int64 = 0
    /// It was raised before, and is the same poll again: neither floor nor ride counts for it.
    var isReturned = false
    /// A person made it due.
    var isOperated = false
    var waitingSince: WallTime
    /// As ``BootShift/zero``: its instants wait for a synchronized clock.
    var assumedZero: WallTime?
    var history = ChangeHistory()

    init(key: AgendaKey, rule: PollRule, _ step: AgendaStep) {
        (self.key, self.rule) = (key, rule)
        pace = PollPace(Self.limits(rule, nil))
        (base, due, raisedAt) = (step.boottime, step.boottime, step.boottime)
        waitingSince = step.wall
    }

    init(key: AgendaKey, row: JSONValue) {
        self.key = key
        (base, due, raisedAt, waitingSince) = (.zero, .zero, .zero, WallTime(microseconds: 0))
        pace = PollPace(Self.limits(PollRule(minInterval: nil), nil))
    }

    /// No poll is to be raised: the manifest leaves it to the handler, or the handler ordered none.
    var isNever: Bool {
        guard !isOperated, delivery.isWaiting, let rule else { return false }
        switch order {
        case .never: return true
        case .floor: return false
        case nil: return rule.minInterval == nil
        }
    }

    var limits: PollLimits { Self.limits(rule ?? PollRule(minInterval: nil), order) }

    private static func limits(_ rule: PollRule, _ order: PollOrder?) -> PollLimits {
        var floor = rule.minInterval ?? PollRule.shortestInterval
        if case .floor(let ordered) = order { floor = max(floor, ordered) }
        return PollLimits(floor: floor, ceiling: max(rule.maxInterval, floor), adapts: rule.adapts)
    }

    /// An awake handler is processing its poll, unless it refused that.
    mutating func meet(_ step: AgendaStep) {
        guard let sequence = delivery.sequence, step.restEnd(of: sequence) == nil else { return }
        if step.isAwake(key.handler) { delivery.isRunning = true }
        if step.holdEnd(of: key.handler) != nil { delivery.isRunning = false }
    }

    /// The conditions that it waits for beside time.
    private var conditions: [Condition] {
        let required = rule?.require ?? []
        return required + until.filter { !required.contains($0) }
    }

    func requirement(_ step: AgendaStep) -> Requirement {
        if isOperated { return Requirement(start: due, deadline: due, conditions: conditions) }
        let deadline = due + limits.ceiling
        var start = step.spreadStart(of: key, due: due, deadline: deadline)
        let ride = isReturned ? nil : base + pace.ride(limits)
        if let ride, step.isAwake(key.handler) { start = min(start, ride) }
        return Requirement(
            start: start, earlyStart: ride, deadline: max(start, deadline), conditions: conditions,
            needsWake: rule?.wakes == false)
    }

    mutating func shift(by span: TimeSpan) {
        (base, due, raisedAt) = (base + span, due + span, raisedAt + span)
    }

    /// It waits for the next poll, one interval after `base`: out of quiet hours, and on the grid.
    mutating func reckon(_ step: AgendaStep) {
        let limits = limits
        pace.keep(within: limits)
        let latest = base + limits.ceiling
        var next = base + pace.interval
        var words = ["every \(pace.interval.spoken)", "on the grid of \(pace.grid.spoken)"]
        let wall = step.wallTime(at: next)
        if step.stamp.isClockSynchronized, limits.adapts, let end = hours.quietEnd(of: wall) {
            words.append("out of the quiet hour \(PollHours.name(of: wall))")
            next = next + end.elapsed(since: wall)
        }
        due = min(next.roundedUp(to: pace.grid, offset: step.gridOffset(upTo: .seconds(1024))), latest)
        history.add(words.joined(separator: ", "), step)
    }

    func occasion(waived: [Condition]) -> Occasion {
        let payload = JSONWriter.whole { writer in
            writer.field("interval_s", pace.interval.wholeMilliseconds / 1000)
            writer.field("last", pace.last?.rawValue)
            if !waived.isEmpty { writer.field("waived", waived.map(\.word)) }
        }
        return Occasion(name: "poll.due", budgetClass: .content, payload: payload)
    }

    func waits(_ step: AgendaStep) -> [PendingEntry.Wait] {
        let own = rule == nil ? [PendingEntry.Wait(.manifest, since: waitingSince)] : []
        return requirement(step).waits(of: key.handler, since: waitingSince, step) + own
    }

    func listed(_ step: AgendaStep) -> PendingEntry {
        let isWaiting = delivery.isWaiting
        var entry = PendingEntry(
            key: key, state: delivery.state, due: step.wallTime(at: due),
            deadline: step.wallTime(at: due + limits.ceiling),
            waitsFor: isWaiting ? waits(step) : [], nextChance: isWaiting ? requirement(step).nextChance(step) : nil,
            sequence: delivery.sequence, interval: pace.interval, history: history.changes)
        if isWaiting { entry.requires = conditions }
        entry.pace = hours.pace(at: step.wallTime(at: due), slot: pace.grid)
        return entry
    }
}

extension AgendaStep {
    func isAwake(_ handler: HandlerID) -> Bool {
        switch facts(of: handler).situation {
        case .awake, .attached: true
        case .asleep, .held, .stopped, .quarantined, .unread: false
        }
    }
}
