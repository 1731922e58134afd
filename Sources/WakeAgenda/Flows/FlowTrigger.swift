// Flows in the table of kinds: their key of a manifest, their orders, and what is reported about them.
import WakeModel

extension AgendaSource {
    public static let flow = AgendaSource(.flow)
}

/// The processes of a handler have so much of one processor from now on; nil for as much as there is.
public struct ProcessorShare: TriggerAction {
    public static let kind = TriggerKind.flow
    public var percent: Int?
}

extension FlowBook {
    static var kind: TriggerKind { .flow }

    static func read(_ value: JSONValue, into plan: inout AgendaPlan) throws(ProtocolFault) {
        plan.flows = try FlowRule.list(value)
    }

    /// A flow's event stays open for as long as data flows, and its socket is one that the daemon holds.
    static func contradictions(in plan: AgendaPlan, with program: ScheduledProgram) -> [PlanContradiction] {
        guard !plan.flows.isEmpty else { return [] }
        var faults: [String] = []
        if program.endsAfterBatch {
            faults.append(
                "flows do not fit lifecycle \"oneshot\", which cannot learn that a flow has ended; make it resident")
        }
        if program.acknowledgesByWrite {
            faults.append("flows do not fit ack \"delivery\", which ends each flow as it begins; make it explicit")
        }
        return (faults + unknownSockets(in: plan, program)).map { PlanContradiction(kind.manifestKey, $0) }
    }

    private static func unknownSockets(in plan: AgendaPlan, _ program: ScheduledProgram) -> [String] {
        // Sockets that cannot be read have a fault of their own.
        guard !program.declaredKeys.contains(TriggerKind.socket.manifestKey) || !plan.sockets.isEmpty else { return [] }
        return plan.flows.compactMap { flow in
            guard case .socket(let name) = flow.from, !plan.sockets.contains(where: { $0.name == name }) else {
                return nil
            }
            return
                "the flow \"\(flow.name)\" comes from \"\(flow.from.word)\", and sockets declares none of that name; declare it"
        }
    }

    static func carryOut(
        _ order: HandlerOrder, from sender: OrderSender, in agenda: inout Agenda, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> Agenda.OrderAnswer.Content {
        guard !step.facts(of: sender.handler).plan.flows.isEmpty else {
            throw .notInManifest("flow", key: "flows", example: FlowRule.manifestExample)
        }
        let flow = try FlowOrder(order.value)
        let word = try agenda.flows.order(flow, of: sender.handler, &step)
        return .word(word, [AgendaKey(sender.handler, .flow, flow.name)])
    }

    mutating func receive(_ input: AgendaInput, _ step: inout AgendaStep) {
        switch input {
        case .owed(let key, let sequence): if key.source == .flow { owe(key, sequence, step) }
        case .traffic(let origin): hear(origin, step)
        case .sleeping(let isAsleep): setMachineAsleep(isAsleep)
        default: break
        }
    }
}
