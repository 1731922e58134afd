// Takes messages in: each goes to the agenda, and is answered once it is committed.
import WakeAgenda
import WakeControl
import WakeEngine
import WakeModel
import WakeSystem

/// Owns the allowances of senders.
final class InboxDoor {
    private let bridge: Bridge
    private var allowances = SenderAllowances()

    init(of bridge: Bridge) { self.bridge = bridge }

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
            bridge.receipts.send(message, to: handler) { respond(self.response(to: $0)) }
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

    /// The bridge does not promise a message that only memory holds: the sender tries again.
    private func response(to outcome: InboxReceipt.Outcome) -> ControlResponse {
        switch (outcome, bridge.journal.health.disk) {
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
