// Regions in the table of kinds: their key of a manifest, their orders, and what is reported about them.
import WakeModel

extension AgendaSource {
    public static let region = AgendaSource(.region)
}

extension RegionBook {
    static var kind: TriggerKind { .region }

    static func read(_ value: JSONValue, into plan: inout AgendaPlan) throws(ProtocolFault) {
        plan.regions = try RegionRule.list(value)
    }

    static func carryOut(
        _ order: HandlerOrder, from sender: OrderSender, in agenda: inout Agenda, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> Agenda.OrderAnswer.Content {
        let rules = step.facts(of: sender.handler).plan.regions
        guard !rules.isEmpty else { throw .notInManifest("state", key: "regions", example: RegionRule.manifestExample) }
        let object = try RuleObject(
            order.value, owner: "\"state\"", keys: ["region"], example: "{\"state\":{\"region\":\"home\"}}")
        let id = try object.identifier("region")
        guard let rule = rules.first(where: { $0.id == id }) else {
            throw .notDeclared(id, "state", .region, known: rules.map(\.id))
        }
        return .word(agenda.regions.presence(of: rule.beacon).rawValue, [])
    }

    mutating func receive(_ input: AgendaInput, _ step: inout AgendaStep) {
        if case .region(let beacon, let presence) = input { hear(beacon, presence) }
    }
}
