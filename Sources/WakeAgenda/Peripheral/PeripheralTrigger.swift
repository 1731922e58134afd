// Peripherals in the table of kinds: their key of a manifest, their order, and what is reported about them.
import WakeModel

extension AgendaSource {
    public static let peripheral = AgendaSource(.peripheral)
}

extension PeripheralBook {
    static var kind: TriggerKind { .peripheral }

    static func read(_ value: JSONValue, into plan: inout AgendaPlan) throws(ProtocolFault) {
        plan.peripheral = try PeripheralRule(value)
    }

    static func contradictions(in plan: AgendaPlan, with program: ScheduledProgram) -> [PlanContradiction] {
        guard program.endsAfterBatch, plan.peripheral != nil else { return [] }
        let sentence =
            "peripheral does not fit lifecycle \"oneshot\", whose process is gone before a central reads; make it \"resident\""
        return [PlanContradiction(kind.manifestKey, sentence)]
    }

    static func carryOut(
        _ order: HandlerOrder, from sender: OrderSender, in agenda: inout Agenda, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> Agenda.OrderAnswer.Content {
        guard step.facts(of: sender.handler).plan.peripheral != nil else {
            throw .notInManifest("serve", key: "peripheral", example: PeripheralRule.manifestExample)
        }
        let word = try agenda.peripherals.serve(try ServeOrder(order.value), of: sender.handler, &step)
        return .whole(.done(.serve, word: word, []))
    }

    mutating func receive(_ input: AgendaInput, _ step: inout AgendaStep) {
        if case .peripheral(let handler, let report) = input { hear(handler, report, &step) }
    }
}

/// A handler's peripheral, for `restored` and `status`.
public struct PeripheralStanding: Hashable, Sendable {
    public var isRegistered: Bool
    public var isAdvertised: Bool
    /// Why it cannot be found or used, as a sentence; nil where it can.
    public var hindrance: String?
    public var subscribers: [PeripheralSubscription]
}

extension Agenda {
    /// Nil where its manifest has none.
    public func peripheral(of handler: HandlerID) -> PeripheralStanding? {
        peripherals.machines[handler].map { machine in
            PeripheralStanding(
                isRegistered: machine.link == .registered, isAdvertised: machine.isAdvertised,
                hindrance: machine.standing == .served ? nil : machine.standing.sentence,
                subscribers: machine.subscribers.keys.sorted())
        }
    }
}
