// A job as its row in the database: written and read here alone.
import WakeModel

extension JobEntry {
    func row(_ step: AgendaStep) -> AgendaRow {
        let value = JSONWriter.whole { writer in
            BootAnchor(step, zero: assumedZero).write(into: &writer)
            writer.object("current") { current.write(into: &$0) }
            if let next { writer.object("next") { next.write(into: &$0) } }
            if let schedule { writer.object("schedule") { schedule.write(into: &$0) } }
            if let sequence = lending.sequence {
                writer.field("seq", sequence.rawValue)
                writer.field("slot", lending.holdsSlot)
                writer.field("relied", lending.relied.map(\.word))
            }
            if !until.isEmpty { writer.field("until", until.map(\.word)) }
            if handBacks > 0 { writer.field("handed_back", handBacks) }
            if let returned { writer.field("returned", returned.rawValue) }
            if isCancelled { writer.field("cancelled", true) }
            if isOperated { writer.field("operated", true) }
            if failures > 0 { writer.field("failures", failures) }
            writer.field("since_us", waitingSince.microseconds)
            history.write(into: &writer)
        }
        return AgendaRow(key: key, value: value)
    }

    /// The entry, and whether its instants are others in this boot; nil where the row cannot be read.
    static func read(_ row: AgendaRow, _ step: AgendaStep) -> (entry: JobEntry, isMoved: Bool)? {
        guard let value = try? JSONValue(parsing: row.value), let anchor = BootAnchor(value),
            var entry = JobEntry(value, row.key)
        else { return nil }
        entry.carry(over: anchor.shift(to: step), isAnchorAssumed: anchor.isAssumed)
        return (entry, anchor.bootID != step.bootID)
    }

    /// Its rule comes with the manifest.
    private init?(_ value: JSONValue, _ key: AgendaKey) {
        guard let current = value["current"].flatMap({ JobRequest($0, of: key.handler) }),
            let since = value.bounded("since_us"),
            let relied = value.conditions("relied", of: key.handler),
            let until = value.conditions("until", of: key.handler)
        else { return nil }
        self.init(key: key, rule: nil, current: current, waitingSince: WallTime(microseconds: since))
        if let stored = value["next"] {
            guard let request = JobRequest(stored, of: key.handler) else { return nil }
            next = request
        }
        if let stored = value["schedule"] {
            guard let found = JobSchedule(stored) else { return nil }
            schedule = found
        }
        if let number = value.count("seq") {
            lending = Lending(
                .raised(Sequence(UInt64(number))), holdingSlot: value.flag("slot"), relyingOn: relied)
        }
        self.until = until
        (handBacks, failures) = (value.count("handed_back") ?? 0, value.count("failures") ?? 0)
        returned = value["returned"]?.string.flatMap(JobReturn.init)
        (isCancelled, isOperated) = (value.flag("cancelled"), value.flag("operated"))
        history = ChangeHistory(value)
    }
}

extension JobRequest {
    fileprivate func write(into writer: inout JSONWriter) {
        writer.field("earliest_ns", earliest.nanoseconds)
        writer.field("deadline_ns", deadline.nanoseconds)
        if let require { writer.field("require", require.map(\.word)) }
        writer.field("ordered", isOrdered)
        if isAssumed { writer.field("assumed", true) }
    }

    fileprivate init?(_ value: JSONValue, of handler: HandlerID) {
        guard let earliest = value.instant("earliest_ns"), let deadline = value.instant("deadline_ns"),
            let isOrdered = value["ordered"]?.boolean, let require = value.conditions("require", of: handler)
        else { return nil }
        self.init(
            earliest: earliest, deadline: deadline, require: value["require"] == nil ? nil : require,
            isOrdered: isOrdered, isAssumed: value.flag("assumed"))
    }
}

extension JobSchedule {
    fileprivate func write(into writer: inout JSONWriter) {
        writer.field("period_ns", period.nanoseconds)
        writer.field("nominal_ns", nominal.nanoseconds)
        if missed > 0 { writer.field("missed", missed) }
        if isCounted { writer.field("counted", true) }
        if isAssumed { writer.field("assumed", true) }
    }

    fileprivate init?(_ value: JSONValue) {
        guard let period = value.span("period_ns"), period >= JobRule.shortestPeriod,
            let nominal = value.instant("nominal_ns")
        else { return nil }
        self.init(
            period: period, nominal: nominal, missed: value.count("missed") ?? 0, isCounted: value.flag("counted"),
            isAssumed: value.flag("assumed"))
    }
}

extension JSONValue {
    /// Empty where there are none; nil where they cannot be read.
    func conditions(_ name: String, of handler: HandlerID) -> [Condition]? {
        guard let list = self[name] else { return [] }
        return (try? Condition.list(list, for: name))?.map { $0.asked(by: handler) }
    }
}
