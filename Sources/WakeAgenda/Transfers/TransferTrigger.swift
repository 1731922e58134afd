// Transfers in the table of kinds: their key of a manifest, their orders, and what is reported about them.
import WakeModel
import WakeTransfer

extension AgendaSource {
    public static let transfer = AgendaSource(.transfer)
}

/// For `wakebridge-transferd` of the handler's user.
public struct TransferAction: TriggerAction {
    public static let kind = TriggerKind.transfer
    /// The order's.
    public var number: Int64
    public var command: TransferCommand

    public init(_ number: Int64, _ command: TransferCommand) { (self.number, self.command) = (number, command) }
}

extension TransferBook {
    static var kind: TriggerKind { .transfer }

    static func read(_ value: JSONValue, into plan: inout AgendaPlan) throws(ProtocolFault) {
        plan.transfers = try TransferRule.list(value)
    }

    static func carryOut(
        _ order: HandlerOrder, from sender: OrderSender, in agenda: inout Agenda, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> Agenda.OrderAnswer.Content {
        let handler = sender.handler
        try permit(order.verb.rawValue, handler, step)
        switch order.verb {
        case .resume:
            let name = try TransferName(order.value, of: "\"resume\"")
            let word = try agenda.transfers.resume(name, of: handler, &step)
            return .transfer(word, AgendaKey(handler, .transfer, name.text), startsIn: nil)
        case .credential:
            let answer = try CredentialOrder(order.value)
            try agenda.transfers.answer(answer, of: handler, &step)
            return .transfer("given", AgendaKey(handler, .transfer, answer.name.text), startsIn: nil)
        default:
            let request = try TransferRequest(order.value)
            let (word, startsIn) = try agenda.transfers.order(request, of: handler, &step)
            return .transfer(word, AgendaKey(handler, .transfer, request.name.text), startsIn: startsIn)
        }
    }

    static func carryOut(
        _ cancellation: Cancellation, from sender: OrderSender, in agenda: inout Agenda, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> Agenda.OrderAnswer.Content {
        let handler = sender.handler
        guard cancellation.isOfAll else {
            let name = try TransferName(cancellation.named, of: "\"transfer\" of \"cancel\"")
            try permit("cancel", handler, step)
            let key = AgendaKey(handler, .transfer, name.text)
            return .transfer(agenda.transfers.cancel(key, &step) ? "cancelled" : "not-pending", key, startsIn: nil)
        }
        try permit("cancel", handler, step)
        let cancelled = agenda.transfers.keys(of: handler).filter { agenda.transfers.cancel($0, &step) }
        return .word(cancelled.isEmpty ? "not-pending" : "cancelled", cancelled)
    }

    private static func permit(_ verb: String, _ handler: HandlerID, _ step: AgendaStep) throws(ProtocolFault) {
        guard step.facts(of: handler).plan.transfers.isEmpty else { return }
        throw .notInManifest(verb, key: "transfers", example: TransferRule.manifestExample)
    }

    mutating func receive(_ input: AgendaInput, _ step: inout AgendaStep) {
        if case .transfer(let handler, let number, let news) = input { hear(handler, number, news, &step) }
    }
}
