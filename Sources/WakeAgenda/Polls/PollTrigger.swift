// Polls in the table of kinds: their key of a manifest, and their orders.
import WakeModel

extension AgendaSource {
    public static let poll = AgendaSource(.poll)
}

extension PollBook {
    static var kind: TriggerKind { .poll }

    static func read(_ value: JSONValue, into plan: inout AgendaPlan) throws(ProtocolFault) {
        plan.poll = try PollRule(value)
    }

    static func carryOut(
        _ order: HandlerOrder, from sender: OrderSender, in agenda: inout Agenda, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> Agenda.OrderAnswer.Content {
        guard let rule = step.facts(of: sender.handler).plan.poll else {
            throw .notInManifest("poll", key: "poll", example: "\"poll\":{\"min_interval\":\"15m\"}")
        }
        let poll = try PollOrder(order.value, rule)
        return .word(agenda.polls.order(poll, of: sender.handler, step), [PollBook.key(sender.handler)])
    }
}
