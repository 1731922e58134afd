// Jobs in the table of kinds: their key of a manifest, their orders, and what is reported about them.
import WakeModel

extension AgendaSource {
    public static let job = AgendaSource(.job)
}

extension JobBook {
    static var kind: TriggerKind { .job }

    static func read(_ value: JSONValue, into plan: inout AgendaPlan) throws(ProtocolFault) {
        plan.jobs = try JobRule.list(value)
    }

    static func carryOut(
        _ order: HandlerOrder, from sender: OrderSender, in agenda: inout Agenda, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> Agenda.OrderAnswer.Content {
        let handler = sender.handler
        try permit(order.verb.rawValue, handler, step)
        guard order.verb == .submit else {
            let id = try order.value.identifier("register", of: "an order")
            try agenda.jobs.register(id, of: handler, sender.epoch, step)
            return .word("registered", [AgendaKey(handler, .job, id)])
        }
        let submission = try JobOrder(order.value).asked(by: handler)
        try agenda.permitPaths(of: submission, handler, step)
        return .word(
            try agenda.jobs.submit(submission, of: handler, &step), [AgendaKey(handler, .job, submission.job)])
    }

    static func carryOut(
        _ cancellation: Cancellation, from sender: OrderSender, in agenda: inout Agenda, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> Agenda.OrderAnswer.Content {
        let handler = sender.handler
        guard cancellation.isOfAll else {
            let id = try cancellation.identifier()
            try permit("cancel", handler, step)
            let isCancelled = try agenda.jobs.cancel(id, of: handler, &step)
            return .word(isCancelled ? "cancelled" : "not-pending", [AgendaKey(handler, .job, id)])
        }
        try permit("cancel", handler, step)
        let keys = agenda.jobs.store.keys(of: handler)
        for key in keys { _ = agenda.jobs.cancel(key, by: .handler, &step) }
        return .word(keys.isEmpty ? "not-pending" : "cancelled", keys)
    }

    private static func permit(_ verb: String, _ handler: HandlerID, _ step: AgendaStep) throws(ProtocolFault) {
        guard step.facts(of: handler).plan.jobs.isEmpty else { return }
        throw .notInManifest(verb, key: "jobs", example: "\"jobs\":[{\"id\":\"backup\",\"kind\":\"processing\"}]")
    }

    mutating func receive(_ input: AgendaInput, _ step: inout AgendaStep) {
        guard case .progressed(let handler, let sequence, let done, let total) = input,
            let key = key(of: sequence, for: handler)
        else { return }
        progress(key, done: done, total: total, step)
    }
}
