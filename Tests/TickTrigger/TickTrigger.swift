// A kind of event that ticks, as the smallest example of one: the whole of it is this file, and its registration is one line.
import WakeAgenda
import WakeModel

/// Wakes each handler whose manifest has `"tick":{"every":"5m"}` that often, and goes on after a reboot where it was.
package struct TickBook: AgendaBook {
    package static let kind = TriggerKind(
        "tick", nouns: "ticks", manifestKey: "tick", events: [EventShape("tick.due")],
        traits: [.isPending, .isScheduled, .isStored, .comesUnasked])

    private struct Entry {
        var period: TimeSpan
        /// By CLOCK_BOOTTIME.
        var due: Instant
        var count: Int64 = 0
        var sequence: Sequence?
        var isRaising = false
        /// Its handler may not run, so only a change of that decides.
        var isBarred = false
        var since: WallTime

        var isWaiting: Bool { sequence == nil && !isRaising }
    }

    private var entries: [HandlerID: Entry] = [:]

    package init() {}

    private static func key(_ handler: HandlerID) -> AgendaKey { AgendaKey(handler, AgendaSource(kind), "") }

    // MARK: Manifests and rows

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
        if entries[handler]?.period == period { return }
        entries[handler] = Entry(period: period, due: step.boottime + period, since: step.wall)
        store(handler, &step)
    }

    package mutating func remove(_ handler: HandlerID, _ step: inout AgendaStep) {
        if entries.removeValue(forKey: handler) != nil { step.emit(.erase(Self.key(handler))) }
    }

    /// Instants of another boot mean nothing, so the row has times of the wall clock.
    private func store(_ handler: HandlerID, _ step: inout AgendaStep) {
        guard let entry = entries[handler] else { return }
        let row = JSONWriter.whole {
            $0.field("every_ns", entry.period.nanoseconds)
            $0.field("due", (step.wall + (entry.due - step.boottime)).microseconds)
            $0.field("count", entry.count)
            if let sequence = entry.sequence { $0.field("event", sequence.rawValue) }
        }
        step.emit(.store(AgendaRow(key: Self.key(handler), value: row)))
    }

    package mutating func restore(_ row: AgendaRow, _ step: inout AgendaStep) -> Bool {
        guard let value = try? JSONValue(parsing: row.value), let period = value["every_ns"]?.integer,
            let due = value["due"]?.integer, let count = value["count"]?.integer
        else { return false }
        let left = TimeSpan.microseconds(due - step.wall.microseconds)
        entries[row.key.handler] = Entry(
            period: TimeSpan(nanoseconds: period), due: step.boottime + max(.zero, left), count: count,
            sequence: value["event"]?.integer.map { Sequence(UInt64($0)) }, since: step.wall)
        return true
    }

    // MARK: Ticks

    package var nextBoottime: Instant? { entries.values.filter { $0.isWaiting && !$0.isBarred }.map(\.due).min() }
    package var hasStoredEntries: Bool { !entries.isEmpty }

    package mutating func advance(_ step: inout AgendaStep) {
        for handler in entries.keys.sorted() {
            entries[handler]?.isBarred = step.obstacle(of: handler) != nil
            guard let entry = entries[handler], entry.isWaiting, !entry.isBarred, entry.due <= step.boottime else {
                continue
            }
            entries[handler]?.isRaising = true
            step.decide(Self.key(handler), "raise tick.due")
            let payload = JSONWriter.whole { $0.field("count", entry.count + 1) }
            step.emit(.raise(Self.key(handler), Occasion(name: "tick.due", budgetClass: .data, payload: payload)))
        }
    }

    package mutating func recordRaised(_ key: AgendaKey, as sequence: Sequence, _ step: inout AgendaStep) {
        entries[key.handler]?.isRaising = false
        entries[key.handler]?.sequence = sequence
        store(key.handler, &step)
    }

    package mutating func conclude(
        _ key: AgendaKey, _ conclusion: Conclusion, awake: TimeSpan, cpu: TimeSpan, _ step: inout AgendaStep
    ) {
        guard conclusion.isFinal, var entry = entries[key.handler] else { return }
        (entry.sequence, entry.isRaising, entry.since) = (nil, false, step.wall)
        (entry.count, entry.due) = (entry.count + 1, step.boottime + entry.period)
        entries[key.handler] = entry
        store(key.handler, &step)
    }

    package func key(of sequence: Sequence, for handler: HandlerID) -> AgendaKey? {
        entries[handler]?.sequence == sequence ? Self.key(handler) : nil
    }

    package func raised(for handler: HandlerID) -> [Sequence] { [entries[handler]?.sequence].compactMap { $0 } }

    // MARK: What people see

    package func pending(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry] {
        guard let entry = entries[handler] else { return [] }
        let due = step.wall + (entry.due - step.boottime)
        return [
            PendingEntry(
                key: Self.key(handler), state: entry.isWaiting ? .waiting : .queued, due: due,
                waitsFor: entry.isWaiting ? [.init(.time, since: entry.since)] : [],
                nextChance: entry.isWaiting ? due : nil, sequence: entry.sequence, interval: entry.period)
        ]
    }

    package func add(_ handler: HandlerID, to outlook: inout AgendaOutlook, _ step: AgendaStep) {
        guard let entry = entries[handler] else { return }
        outlook.add(due: step.wall + (entry.due - step.boottime), step)
    }
}
