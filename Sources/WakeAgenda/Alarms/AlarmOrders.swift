// Orders of handlers on descriptor 3: alarms of their own, and the end of those.
import WakeModel

/// An order that waits for the table of its zone.
struct WaitingOrder: Hashable, Sendable {
    var handler: HandlerID
    var epoch: Epoch
    var rule: AlarmRule
    var reference: Reference?
}

extension AlarmBook {
    /// - Parameter value: of `{"alarm":{"id":"pill","daily":["07:30"]}}`.
    /// - Returns: nil where the answer follows as an effect, once the zone is known.
    mutating func order(
        _ handler: HandlerID, _ epoch: Epoch, _ value: JSONValue, ref: Reference?, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> AgendaAnswer? {
        readClocks(&step)
        try permit(handler, verb: "alarm")
        let rule = try AlarmRule(value, from: .order)
        try admit(rule, handler, step)
        guard let name = rule.zoneName else { return set(rule, handler, &step) }
        switch zones.look(for: name, &step) {
        case .known: return set(rule, handler, &step)
        case .missing: throw .noSuchZone(name, rule)
        case .unknown:
            waiting.append(WaitingOrder(handler: handler, epoch: epoch, rule: rule, reference: ref))
            return nil
        }
    }

    /// - Parameter value: `{"alarm":"pill"}` or `{"alarms":true}`.
    mutating func cancel(
        _ handler: HandlerID, _ value: JSONValue, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> AgendaAnswer {
        readClocks(&step)
        try permit(handler, verb: "cancel")
        guard case .object(let members) = value, members.count == 1, let member = members.first else {
            throw Self.malformedCancel(value)
        }
        switch member.name {
        case "alarm": try cancelOne(try AlarmRule.id(member.value, of: "\"alarm\" of \"cancel\""), of: handler, &step)
        case "alarms":
            guard member.value == .boolean(true) else { throw Self.malformedCancel(value) }
            waiting.removeAll { $0.handler == handler }
            for key in keys(of: handler) where entries[key].map({ !$0.isDeclared && !$0.isLeaving }) ?? false {
                cancel(key, &step)
            }
        default: throw .unknownKey(member.name, of: "\"cancel\"", known: Self.cancelKeys)
        }
        return .done(.cancel, word: "cancelled", [])
    }

    /// The keys of `cancel` that are about alarms.
    static let cancelKeys = ["alarm", "alarms"]

    private static func malformedCancel(_ value: JSONValue) -> ProtocolFault {
        .malformed(
            "\"cancel\" must be an object with one key; got \(value.excerpt).",
            advice:
                "Write {\"cancel\":{\"alarm\":\"pill\"}}, or {\"cancel\":{\"alarms\":true}} for all that were ordered.")
    }

    private mutating func cancelOne(
        _ id: String, of handler: HandlerID, _ step: inout AgendaStep
    ) throws(ProtocolFault) {
        let key = AgendaKey(handler, .alarm, id)
        let isWaiting = waiting.contains { $0.handler == handler && $0.rule.id == id }
        guard let entry = entries[key], !entry.isLeaving else {
            guard isWaiting else { throw .noSuchAlarm(id, known: presentKeys(of: handler).map(\.id)) }
            return waiting.removeAll { $0.handler == handler && $0.rule.id == id }
        }
        guard !entry.isDeclared else {
            throw ProtocolFault(
                .notPermitted, "cancel \"\(id)\": the manifest declares that alarm.",
                advice: "Take it out of \"alarms\" in the manifest, and order it where the program is to decide.")
        }
        waiting.removeAll { $0.handler == handler && $0.rule.id == id }
        cancel(key, &step)
    }

    private mutating func cancel(_ key: AgendaKey, _ step: inout AgendaStep) {
        step.decide(key, "cancelled alarm \(key.id)")
        revoke(key, &step)
    }

    private func permit(_ handler: HandlerID, verb: String) throws(ProtocolFault) {
        guard handlers[handler]?.mayOrder == true else {
            throw ProtocolFault(
                .notPermitted, "\(verb): this handler's manifest has no \"alarms\".",
                advice: "Write \"alarms\": [] in the manifest to permit alarms that the handler orders.")
        }
    }

    private func admit(_ rule: AlarmRule, _ handler: HandlerID, _ step: AgendaStep) throws(ProtocolFault) {
        let former = entries[AgendaKey(handler, .alarm, rule.id)]
        if let former, former.isDeclared, !former.isLeaving {
            throw ProtocolFault(
                .conflict, "alarm \"\(rule.id)\": the manifest declares an alarm of that id.",
                advice: "Give this one another id, or take the other out of the manifest.")
        }
        if former.map(\.isSpent) ?? true, !hasRoom(for: handler) { throw .tooManyAlarms }
        // A clock that is not synchronized cannot show which instants are over.
        if case .at(let time) = rule.schedule, time <= step.wall, clock?.isSynced == true {
            throw ProtocolFault(
                .tooLate, "alarm \"\(rule.id)\": \(time.rfc3339) is over; the clock shows \(step.wall.rfc3339).",
                advice: "Name an instant that is still to come, with its offset.")
        }
    }

    private mutating func set(_ rule: AlarmRule, _ handler: HandlerID, _ step: inout AgendaStep) -> AgendaAnswer {
        let key = AgendaKey(handler, .alarm, rule.id)
        let former = entries[key]
        let isReplaced = former?.isSpent == false
        var entry = begun(rule, isDeclared: false, isReplaced ? .replaced : .set, step)
        if let former { entry.inherit(from: former) }
        let word = isReplaced ? "replaced" : "set"
        step.decide(key, "\(word) alarm \(key.id)")
        add(entry, as: key, &step)
        return .done(.alarm, word: word, [pendingEntry(key, step)].compactMap { $0 })
    }

    /// The names of zones that neither an alarm nor an order needs any more.
    mutating func removeUnusedZones() -> [String] { zones.removeUnused(besides: waiting) }

    /// Answers the orders whose zones have come.
    mutating func answerWaiting(_ step: inout AgendaStep) {
        guard !waiting.isEmpty else { return }
        let orders = waiting
        waiting = []
        for order in orders {
            guard let name = order.rule.zoneName, zones[name] == .unknown else {
                let answer = late(order, &step)
                step.emit(.answer(order.handler, order.epoch, answer, ref: order.reference))
                continue
            }
            waiting.append(order)
        }
    }

    private mutating func late(_ order: WaitingOrder, _ step: inout AgendaStep) -> AgendaAnswer {
        do throws(ProtocolFault) {
            try permit(order.handler, verb: "alarm")
            try admit(order.rule, order.handler, step)
            if let name = order.rule.zoneName, zones[name] == .missing { throw .noSuchZone(name, order.rule) }
            return set(order.rule, order.handler, &step)
        } catch {
            return .fault(error)
        }
    }
}

extension ProtocolFault {
    fileprivate static func noSuchZone(_ name: String, _ rule: AlarmRule) -> ProtocolFault {
        ProtocolFault(
            .unavailable, "alarm \"\(rule.id)\": this machine has no time zone \"\(name)\".",
            advice: "Write a name that `timedatectl list-timezones` shows, or install tzdata.")
    }

    fileprivate static func noSuchAlarm(_ id: String, known: [String]) -> ProtocolFault {
        ProtocolFault(
            .notRegistered, "cancel \"\(id)\": this handler has no such alarm\(nearest(to: id, in: known)).",
            advice: "See what is set with {\"pending\":true}; an alarm that comes once is gone when it has fired.")
    }
}
