// Messages in the table of kinds: their key of a manifest, and what is reported about them.
import WakeModel

extension AgendaSource {
    public static let inbox = AgendaSource(.inbox)
}

extension InboxBook {
    static var kind: TriggerKind { .inbox }

    static func read(_ value: JSONValue, into plan: inout AgendaPlan) throws(ProtocolFault) {
        plan.inbox = try InboxRule(value)
    }

    mutating func receive(_ input: AgendaInput, _ step: inout AgendaStep) {
        guard case .message(let handler, let message, let ticket) = input else { return }
        receive(message, for: handler, ticket, &step)
    }
}
