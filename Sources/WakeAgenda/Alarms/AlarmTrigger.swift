// Alarms in the table of kinds: their key of a manifest, and their orders.
import WakeModel

extension AgendaSource {
    public static let alarm = AgendaSource(.alarm)
}

/// For people: the handler is not attached.
public struct AlarmAlert: TriggerAction {
    public static let kind = TriggerKind.alarm
    public var text: String
}

extension AlarmBook {
    static var kind: TriggerKind { .alarm }

    static func read(_ value: JSONValue, into plan: inout AgendaPlan) throws(ProtocolFault) {
        plan.alarms = try AlarmRule.rules(value)
    }

    static func carryOut(
        _ order: HandlerOrder, from sender: OrderSender, in agenda: inout Agenda, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> Agenda.OrderAnswer.Content {
        try permit("alarm", sender.handler, step)
        let answer = try agenda.alarms.order(sender.handler, sender.epoch, order.value, ref: sender.ref, &step)
        return answer.map { .whole($0) } ?? .later
    }

    static func carryOut(
        _ cancellation: Cancellation, from sender: OrderSender, in agenda: inout Agenda, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> Agenda.OrderAnswer.Content {
        if !cancellation.isOfAll { _ = try cancellation.identifier() }
        try permit("cancel", sender.handler, step)
        return .whole(try agenda.alarms.cancel(sender.handler, cancellation.value, &step))
    }

    private static func permit(_ verb: String, _ handler: HandlerID, _ step: AgendaStep) throws(ProtocolFault) {
        guard step.facts(of: handler).plan.alarms == nil else { return }
        throw .notInManifest(verb, key: "alarms", example: "\"alarms\":[]")
    }
}
