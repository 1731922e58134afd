// An order of a handler for its flows: the value of `flow`, and the answer to each order.
import WakeModel

/// The value of `flow`.
struct FlowOrder: Hashable, Sendable {
    var name: String
    /// Data flows now; otherwise it is over.
    var isOpen: Bool

    private static let example = "{\"flow\":{\"name\":\"ecg\",\"open\":true}}"

    init(_ value: JSONValue) throws(ProtocolFault) {
        let object = try RuleObject(value, owner: "\"flow\"", keys: ["name", "open"], example: Self.example)
        name = try object.identifier("name")
        let given = object.flag("open")
        try object.conclude()
        guard let open = given else {
            throw .malformed("\"flow\" of \"\(name)\" lacks \"open\".", advice: "Write \(Self.example).")
        }
        isOpen = open
    }
}

extension FlowBook {
    /// Answers with `open`, `waiting` where the flow cannot begin yet, or `closed`.
    mutating func order(
        _ order: FlowOrder, of handler: HandlerID, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> String {
        let rules = step.facts(of: handler).plan.flows
        guard let rule = rules.first(where: { $0.name == order.name }) else {
            throw .notDeclared(order.name, "flow", .flow, known: rules.map(\.name))
        }
        guard order.isOpen else { return close(rule, of: handler, &step) }
        guard rule.from == .handler else { throw .notYours(rule) }
        let key = AgendaKey(handler, .flow, rule.name)
        feed(key, step)
        advance(&step)
        return isUnderWay(key) ? "open" : "waiting"
    }
}

extension ProtocolFault {
    fileprivate static func notYours(_ rule: FlowRule) -> ProtocolFault {
        ProtocolFault(
            .notPermitted,
            "flow \"\(rule.name)\": it comes from \"\(rule.from.word)\", and only data of that opens it.",
            advice: "Write \"from\":\"self\" in the manifest for a flow of your own; \"open\":false closes any.")
    }

    static func flowUndeclared(_ name: String) -> ProtocolFault {
        ProtocolFault(
            .notRegistered, "The flow \"\(name)\" has ended: the manifest declares it no more.",
            advice: "Declare it in \"flows\" of the manifest again.")
    }
}
