// A kind of event that ticks, as the smallest example of one: the whole of it is this file, and its registration is one line.
import WakeAgenda
import WakeModel

/// Wakes each handler whose manifest has `"tick":{"every":"5m"}` that often, and goes on after a reboot where it was.
package struct TickBook: StoredBook {
    package static let kind = TriggerKind(
        "tick", nouns: "ticks", manifestKey: "tick", events: [EventShape("tick.due")],
        traits: [.isPending, .isScheduled, .isStored, .comesUnasked])

    package var store = EntryStore<TickEntry>()

    package init() {}

    private static func key(_ handler: HandlerID) -> AgendaKey { AgendaKey(handler, AgendaSource(kind), "") }

    // MARK: Manifests

    package static func read(_ value: JSONValue, into plan: inout AgendaPlan) throws(ProtocolFault) {
        _ = try period(value)
        plan.registered[kind.word] = value
    }

    private static func period(_ value: JSONValue) throws(ProtocolFault) -> TimeSpan {
        let example = "{\"every\":\"5m\"}"
        let rule = try RuleObject(value, owner: "\"tick\"", keys: [], spans: ["every"], example: example)
        let given = rule.span("every", from: .seconds(1))
        try rule.conclude()
        guard let period = given else {
            throw ProtocolFault(.malformed, "\"tick\" lacks \"every\".", advice: "Write \(example).")
        }
        return period
    }

    package mutating func configure(_ handler: HandlerID, _ plan: AgendaPlan, _ step: inout AgendaStep) {
        guard let value = plan.registered[Self.kind.word], let period = try? Self.period(value) else {
            return remove(handler, &step)
        }
        var entry = store[Self.key(handler)] ?? TickEntry(key: Self.key(handler))
        if entry.period != period {
            (entry.period, entry.due, entry.since) = (period, step.boottime + period, step.wall)
        }
        entry.isDeclared = true
        store.put(entry)
    }

    package mutating func remove(_ handler: HandlerID, _ step: inout AgendaStep) {
        store.remove(Self.key(handler), &step)
    }

    // MARK: Ticks

    package mutating func look(at key: AgendaKey, _ step: inout AgendaStep) {
        guard var entry = store[key] else { return }
        let isReady = entry.isDeclared && entry.delivery.isWaiting && step.obstacle(of: key.handler) == nil
        store.index.look(key, at: isReady && step.boottime < entry.due ? entry.due : nil)
        guard isReady, entry.due <= step.boottime else { return }
        entry.delivery.begin()
        store.put(entry)
        step.decide(key, "raise tick.due")
        let payload = JSONWriter.whole { $0.field("count", entry.count + 1) }
        step.emit(.raise(key, Occasion(name: "tick.due", budgetClass: .data, payload: payload)))
    }

    package mutating func conclude(
        _ key: AgendaKey, _ conclusion: Conclusion, awake: TimeSpan, cpu: TimeSpan, _ step: inout AgendaStep
    ) {
        guard conclusion.isFinal, var entry = store[key] else { return }
        store.conclude(&entry)
        (entry.count, entry.due, entry.since) = (entry.count + 1, step.boottime + entry.period, step.wall)
        store.put(entry)
    }

    // MARK: What people see

    package func pending(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry] {
        store.entries(of: handler).map { entry in
            let (isWaiting, due) = (entry.delivery.isWaiting, step.wall + (entry.due - step.boottime))
            return PendingEntry(
                key: entry.key, state: entry.delivery.state, due: due,
                waitsFor: isWaiting ? [.init(.time, since: entry.since)] : [], nextChance: isWaiting ? due : nil,
                sequence: entry.delivery.sequence, interval: entry.period)
        }
    }

    package func add(_ handler: HandlerID, to outlook: inout AgendaOutlook, _ step: AgendaStep) {
        for entry in store.entries(of: handler) { outlook.add(due: step.wall + (entry.due - step.boottime), step) }
    }
}

package struct TickEntry: TriggerEntry {
    package let key: AgendaKey
    var period = TimeSpan.zero
    /// By CLOCK_BOOTTIME.
    var due = Instant.zero
    var count: Int64 = 0
    var since = WallTime(microseconds: 0)
    /// Its manifest was read in this life.
    var isDeclared = false
    package var delivery = DeliveryState()
    package var assumedZero: WallTime?

    package static let shape = RowShape<TickEntry>([
        .required("every_ns", \.period), .required("due_ns", \.due), .count("count", \.count),
        .required("since_us", \.since), .optional("seq", \.delivery.sequence),
    ])

    init(key: AgendaKey) { self.key = key }
    package init(key: AgendaKey, row: JSONValue) { self.init(key: key) }
    package mutating func shift(by span: TimeSpan) { due = due + span }
}
