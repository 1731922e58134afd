// The orders `keepalive` and `reconnect`: which socket of the manifest they are for.
import WakeModel

/// The value of the order `keepalive`.
struct KeepaliveOrder: Hashable, Sendable {
    var socket: String
    /// Nil for the period of before.
    var period: TimeSpan?

    init(_ value: JSONValue) throws(ProtocolFault) {
        let object = try RuleObject(
            value, owner: "\"keepalive\"", keys: ["socket"], spans: ["within"],
            example: "{\"keepalive\":{\"socket\":\"sip\",\"within_s\":900}}")
        socket = try object.identifier("socket")
        period = object.span("within", from: SocketRule.shortestKeepalive)
        try object.conclude()
    }
}

extension Agenda {
    mutating func keepAlive(
        _ value: JSONValue, of handler: HandlerID, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> OrderAnswer.Content {
        let order = try KeepaliveOrder(value)
        let rule = try socket(order.socket, of: handler, "keepalive", step)
        guard rule.isConnection else {
            throw ProtocolFault(
                .conflict, "keepalive \"\(rule.name)\": the socket listens, and has no peer.",
                advice: "Order it for a socket with \"connect\".")
        }
        let key = AgendaKey(handler, .socket, rule.name)
        sockets.keepAlive(key, every: order.period, &step)
        return .word("set", [key])
    }

    mutating func reconnect(
        _ value: JSONValue, of handler: HandlerID, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> OrderAnswer.Content {
        let rule = try socket(try value.identifier("reconnect", of: "an order"), of: handler, "reconnect", step)
        let key = AgendaKey(handler, .socket, rule.name)
        sockets.reconnect(key, &step)
        return .word("reconnecting", [key])
    }

    private func socket(
        _ name: String, of handler: HandlerID, _ verb: String, _ step: AgendaStep
    ) throws(ProtocolFault) -> SocketRule {
        let rules = step.facts(of: handler).plan.sockets
        guard !rules.isEmpty else {
            throw .notInManifest(verb, key: "sockets", example: SocketRule.manifestExample)
        }
        guard let rule = rules.first(where: { $0.name == name }) else {
            throw .notDeclared(name, verb, .socket, known: rules.map(\.name))
        }
        return rule
    }
}
