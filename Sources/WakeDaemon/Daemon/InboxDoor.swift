// Where messages come in: each goes to the agenda with a ticket, and is answered once the commit holds it.
import WakeAgenda
import WakeControl
import WakeEngine
import WakeModel

/// Owns the answers that are owed to senders.
final class InboxDoor: TurnObserver {
    private let bridge: Bridge
    private var lastTicket: UInt64 = 0
    private var owed: [UInt64: (ControlResponse) -> Void] = [:]

    init(of bridge: Bridge) {
        self.bridge = bridge
        bridge.turn.listeners.observe(self)
    }

    func send(
        _ message: InboxMessage, to handler: HandlerID, named name: String
    ) throws(ControlRefusal) -> ControlResponse {
        guard bridge.catalog.handlers[handler]?.agenda.inbox != nil else {
            throw ControlRefusal(.noInbox("Handler \"\(name)\""), .notFound)
        }
        return .later { [self] respond in
            lastTicket += 1
            owed[lastTicket] = respond
            bridge.turn.schedule(.message(handler, message, ticket: lastTicket))
        }
    }

    func perform(_ effect: AgendaEffect) {
        guard case .receipt(let receipt) = effect, let respond = owed.removeValue(forKey: receipt.ticket) else {
            return
        }
        respond(response(to: receipt))
    }

    /// What only memory holds is not promised: the sender tries again.
    private func response(to receipt: InboxReceipt) -> ControlResponse {
        switch (receipt.outcome, bridge.journal.health.disk) {
        case (.refused(let fault), _): .refusal(ControlRefusal(fault, .notFound))
        case (.accepted, .degraded(let sentence)):
            .refusal(
                ControlRefusal(
                    .failed, code: "unavailable", message: "the message is kept in memory alone: \(sentence)",
                    advice: "make room for the state directory, and send it again"))
        case (.accepted(let id, let lifetime, let wakesIn), .ok): Self.accepted(id, lifetime, wakesIn)
        }
    }

    private static func accepted(_ id: String, _ lifetime: TimeSpan, _ wakesIn: TimeSpan?) -> ControlResponse {
        let json = JSONWriter.line { writer in
            writer.field("id", id)
            writer.field("ttl_s", lifetime.wholeMilliseconds / 1_000)
            writer.field("wakes_in_ms", wakesIn?.wholeMilliseconds)
        }
        return .json(status: 201, json)
    }
}
