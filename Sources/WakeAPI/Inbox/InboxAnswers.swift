// Takes messages in: each goes to the agenda, and is answered once it is committed.
import WakeAgenda
import WakeControl
import WakeEngine
import WakeJournal
import WakeModel
import WakeSystem

extension Endpoint {
    /// The only one that a token for an inbox opens by a header.
    static let inboxAddress = "/v1/handlers/ID/inbox"

    static let inbox: [Endpoint] = [
        Endpoint(
            .post(inboxAddress, .operate, takesInboxTokens: true, bodyLimit: InboxMessage.payloadLimit),
            "sends a message", takesBytes: true, status: 201, .json(.named(.accepted)),
            reads: { asked throws(ControlRefusal) in try InboxMessage(asked.request) },
            answers: { api, asked, message throws(ControlRefusal) in
                try api.inbox.send(message, to: asked.first, by: asked.request.token)
            }),
        Endpoint(
            .post("/v1/\(Route.hooks)/TOKEN", nil, bodyLimit: InboxMessage.payloadLimit),
            "sends a message, by a token for an inbox, over TCP", takesBytes: true, status: 201,
            .json(.named(.accepted)),
            reads: { asked throws(ControlRefusal) in
                guard let handler = asked.request.access?.inbox else { throw .noHook }
                return (handler, try InboxMessage(asked.request))
            },
            answers: { api, asked, order throws(ControlRefusal) in
                try api.inbox.send(order.1, to: order.0, by: asked.request.token)
            }),
    ]
}

/// Owns the allowances of senders.
final class InboxAnswers {
    private let names: HandlerNames
    private let journal: Journal
    private let receipts: InboxReceipts
    private var allowances = SenderAllowances()

    init(_ names: HandlerNames, _ journal: Journal, _ receipts: InboxReceipts) {
        (self.names, self.journal, self.receipts) = (names, journal, receipts)
    }

    func send(
        _ message: InboxMessage, to name: String, by token: String?
    ) throws(ControlRefusal) -> ControlResponse {
        let handler = try names.handler(name)
        guard let inbox = names.catalog.handlers[handler]?.agenda.inbox else {
            throw ControlRefusal(.noInbox("Handler \"\(name)\""), .notFound)
        }
        // Each attempt would be one more message.
        if case .degraded(let sentence) = journal.health.disk {
            throw .unkept("no message is taken: \(sentence)")
        }
        if let token { try charge(token, handler, named: name, inbox.acceptance) }
        return .later { [self] respond in
            receipts.send(message, to: handler) { respond(self.response(to: $0)) }
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
        switch (outcome, journal.health.disk) {
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

    /// Refuses a web hook's address on the control socket, which has no tokens.
    fileprivate static let noHook = ControlRefusal(
        .notFound, code: "unknown-path", message: "addresses of web hooks are there over TCP alone",
        advice: "use \(Endpoint.inboxAddress) on the control socket")
}

extension InboxMessage {
    /// The body as it is, and the headers of RFC 8030.
    init(_ request: ControlRequest) throws(ControlRefusal) {
        for header in Header.allCases where request.values(ofHeader: header).count > 1 {
            throw .badRequest(
                "bad-value", "the header \(header.rawValue) comes twice", "send each header of a message once")
        }
        do throws(ProtocolFault) {
            try self.init(payload: request.body) { request.values(ofHeader: $0).first }
        } catch {
            throw ControlRefusal(error, .badRequest)
        }
        // Logs of proxies and senders contain the address of a web hook, so others may know it.
        if urgency == .high, request.access?.isUrgent == false { urgency = .normal }
    }
}

extension ControlRequest {
    fileprivate func values(ofHeader header: InboxMessage.Header) -> [String] {
        headers.filter { $0.name == header.rawValue.lowercased() }.map(\.value)
    }
}
