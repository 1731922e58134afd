// Sockets in the table of kinds: their key of a manifest, their orders, and what is reported about them.
import WakeModel

extension AgendaSource {
    public static let socket = AgendaSource(.socket)
}

extension SocketBook {
    static var kind: TriggerKind { .socket }

    static func read(_ value: JSONValue, into plan: inout AgendaPlan) throws(ProtocolFault) {
        plan.sockets = try SocketRule.list(value)
    }

    static func contradictions(in plan: AgendaPlan, with program: ScheduledProgram) -> [PlanContradiction] {
        guard program.endsAfterBatch, !plan.sockets.isEmpty else { return [] }
        let sentence =
            "sockets do not fit lifecycle \"oneshot\", whose process is gone after each batch; make it \"resident\""
        return [PlanContradiction(kind.manifestKey, sentence)]
    }

    static func carryOut(
        _ order: HandlerOrder, from sender: OrderSender, in agenda: inout Agenda, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> Agenda.OrderAnswer.Content {
        order.verb == .keepalive
            ? try agenda.keepAlive(order.value, of: sender.handler, &step)
            : try agenda.reconnect(order.value, of: sender.handler, &step)
    }

    mutating func receive(_ input: AgendaInput, _ step: inout AgendaStep) {
        if case .socket(let key, let report) = input { hear(key, report, &step) }
    }
}
