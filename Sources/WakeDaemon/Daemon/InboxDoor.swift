// Takes messages in: each goes to the agenda with a ticket, and is answered once it is committed.
import WakeAgenda
import WakeControl
import WakeEngine
import WakeModel
import WakeSystem

/// Owns the answers that are owed to senders.
final class InboxDoor: TurnObserver {
    private let bridge: Bridge
    private var lastTicket: UInt64 = 0
    private var owed: [UInt64: (ControlResponse) -> Void] = [:]
    private var allowances = SenderAllowances()

    init(of bridge: Bridge) {
        self.bridge = bridge
        bridge.turn.listeners.observe(self)
    }

    func send(
        _ message: InboxMessage, to handler: HandlerID, named name: String, by token: String?
    ) throws(ControlRefusal) -> ControlResponse {
        guard let inbox = bridge.catalog.handlers[handler]?.agenda.inbox else {
            throw ControlRefusal(.noInbox("Handler \"\(name)\""), .notFound)
        }
        // Each attempt would be one more message.
        if case .degraded(let sentence) = bridge.journal.health.disk {
            throw .unkept("no message is taken: \(sentence)")
        }
        if let token { try charge(token, handler, named: name, inbox.acceptance) }
        return .later { [self] respond in
            lastTicket += 1
            owed[lastTicket] = respond
            bridge.turn.schedule(.message(handler, message, ticket: lastTicket))
        }
    }

    /// Counts a message of a token, since each is a write to the disk at the demand of another machine.
    private func charge(
        _ token: String, _ handler: HandlerID, named name: String, _ rate: InboxRule.Frequency
    ) throws(ControlRefusal) {
        let sender = SenderAllowances.Sender(token: token, handler: handler)
        guard let delay = allowances.delay(sender, rate, at: SystemClock.boottime()) else { return }
        throw .tooMany(rate.text, to: name, token: token, after: delay)
    }

    func perform(_ effect: AgendaEffect) {
        guard case .receipt(let receipt) = effect, let respond = owed.removeValue(forKey: receipt.ticket) else {
            return
        }
        respond(response(to: receipt))
    }

    /// The bridge does not promise a message that only memory holds: the sender tries again.
    private func response(to receipt: InboxReceipt) -> ControlResponse {
        switch (receipt.outcome, bridge.journal.health.disk) {
        case (.refused(let fault), _): .refusal(ControlRefusal(fault, .notFound))
        case (.accepted, .degraded(let sentence)):
            .refusal(.unkept("the message is kept in memory alone: \(sentence)"))
        case (.accepted(let id, let lifetime, let wakesIn), .ok): Self.accepted(id, lifetime, wakesIn)
        }
    }

    /// The header `TTL` contains the granted time, as RFC 8030 has it.
    private static func accepted(_ id: String, _ lifetime: TimeSpan, _ wakesIn: TimeSpan?) -> ControlResponse {
        let seconds = lifetime.wholeMilliseconds / 1_000
        let json = JSONWriter.line { writer in
            writer.field("id", id)
            writer.field("ttl_s", seconds)
            writer.field("wakes_in_ms", wakesIn?.wholeMilliseconds)
        }
        var content = ControlContent(status: 201, type: "application/json", json)
        content.headers.append(.init(InboxMessage.Header.lifetime.rawValue, String(seconds)))
        return .content(content)
    }
}

extension ControlRefusal {
    fileprivate static func unkept(_ message: String) -> ControlRefusal {
        ControlRefusal(
            .failed, code: "unavailable", message: message,
            advice: "make room for the state directory, and send it again")
    }
}
