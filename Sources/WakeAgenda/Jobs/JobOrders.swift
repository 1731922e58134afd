// The orders of handlers for their jobs, each with an answer or a fault.
import WakeModel

extension JobBook {
    /// Answers with `submitted` or `replaced`.
    mutating func submit(
        _ order: JobOrder, of handler: HandlerID, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> String {
        let rule = try declared(order.job, "submit", of: handler, step)
        let key = AgendaKey(handler, .job, order.job)
        let earliest = step.boottime + order.notBefore
        let request = JobRequest(
            earliest: earliest, deadline: order.deadline.map { step.boottime + $0 } ?? earliest + rule.deadline,
            require: order.require, isOrdered: true)
        guard pendingCount(rule.kind, beside: key) < rule.kind.mostPending else { throw .tooManyJobs(rule) }
        var entry = store[key] ?? JobEntry(key: key, rule: rule, current: request, waitingSince: step.wall)
        let isReplaced = store[key]?.hasOrder ?? false
        entry.order(request, step)
        if order.strategy == .fail { try refuseUnlessStartable(entry, rule, step) }
        entry.history.add(isReplaced ? "replaced" : "submitted", step)
        store.put(entry)
        return isReplaced ? "replaced" : "submitted"
    }

    /// A condition of which nothing is known yet is waited for.
    private func refuseUnlessStartable(
        _ entry: JobEntry, _ rule: JobRule, _ step: AgendaStep
    ) throws(ProtocolFault) {
        let unmet = entry.required.filter { step.conditions.isKnown($0) && !step.conditions.isTrue($0) }.map(\.word)
        let isFull = rule.kind.isWork && working.count >= Self.slots
        let words =
            [step.obstacle(of: entry.key.handler)].compactMap { $0 } + entry.ownWaits(step).map(\.word) + unmet
            + (isFull ? [WaitReason.slot.word] : []) + (entry.delivery.isWaiting ? [] : [WaitReason.earlierRun.word])
        guard !words.isEmpty else { return }
        throw ProtocolFault(
            .unavailable, "submit \"\(entry.key.id)\": it cannot start now, for it would wait for \(words.listed).",
            advice: "Submit it again later, or with \"strategy\":\"queue\".")
    }

    /// True where something of it was pending.
    mutating func cancel(
        _ id: String, of handler: HandlerID, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> Bool {
        _ = try declared(id, "cancel", of: handler, step)
        return cancel(AgendaKey(handler, .job, id), by: .handler, &step)
    }

    /// The manifest's schedule continues: with its next occurrence if no order was pending, because the occurrence is
    /// cancelled then.
    mutating func cancel(_ key: AgendaKey, by canceller: JobCanceller, _ step: inout AgendaStep) -> Bool {
        guard var entry = store[key] else { return false }
        entry.history.add(canceller.sentence, step)
        let wasBeside = entry.delivery.isWaiting && !entry.current.isOrdered && entry.next != nil
        entry.next = nil
        store[key] = entry
        step.decide(key, canceller.wireName)
        if wasBeside {
            store.index.save(key)
            return true
        }
        guard entry.delivery.isWaiting, let schedule = entry.schedule else {
            revoke(key, asks: canceller == .person, &step)
            return true
        }
        if !entry.current.isOrdered, schedule.nominal > step.boottime {
            store[key]?.schedule?.nominal = schedule.nominal + schedule.period
        }
        goOn(key, &step)
        return true
    }

    /// The manifest registers; this only checks that it did. A second registration in one process is a mistake.
    mutating func register(
        _ id: String, of handler: HandlerID, _ epoch: Epoch, _ step: AgendaStep
    ) throws(ProtocolFault) {
        _ = try declared(id, "register", of: handler, step)
        var known = registrations[handler] ?? JobRegistrations(epoch: epoch)
        if known.epoch != epoch { known = JobRegistrations(epoch: epoch) }
        guard known.ids.insert(id).inserted else {
            throw ProtocolFault(
                .conflict, "register \"\(id)\": this process registered it already.",
                advice: "Register each job once, before ready.")
        }
        registrations[handler] = known
    }

    private func declared(
        _ id: String, _ verb: String, of handler: HandlerID, _ step: AgendaStep
    ) throws(ProtocolFault) -> JobRule {
        let rules = step.facts(of: handler).plan.jobs
        guard let rule = rules.first(where: { $0.id == id }) else {
            throw .notDeclared(job: id, verb: verb, known: rules.map(\.id))
        }
        return rule
    }
}

enum JobCanceller: Hashable, Sendable {
    /// It ends its run in its own time.
    case handler
    case person

    /// For a history.
    var sentence: String {
        switch self {
        case .handler: "cancelled"
        case .person: "cancelled by an operator"
        }
    }

    var wireName: String {
        switch self {
        case .handler: "cancel"
        case .person: "cancel operator"
        }
    }
}

/// The registrations of one process of a handler.
struct JobRegistrations: Sendable {
    var epoch: Epoch
    var ids: Set<String> = []
}
