// Messages under topics of the broker: each goes to the inboxes that name its topic, and is acknowledged once a commit holds it.
import WakeAgenda
import WakeCore
import WakeEngine
import WakeLoop
import WakeMQTT
import WakeModel
import WakeSystem

/// A connection of its own, whose session the broker keeps: what is published while no daemon runs comes afterwards.
final class BrokerInbox {
    private let bridge: Bridge
    /// Nil once the bridge ends.
    private var connection: MQTTConnection?
    private var readiness: Watch?
    private var filters: Set<String> = []
    /// Until it is acknowledged no other one arrives.
    private var arrived: ArrivedMessage?
    /// Its tickets, one for each inbox, that no receipt has come for.
    private var tickets: Set<UInt64> = []
    private var lastTicket = BrokerInbox.tickets
    private var toldFault: MQTTFault?
    private static let mostEventsAtOnce = 32
    private let log = Log("inbox")

    /// From here on tickets are those of the broker: clients of the control socket are far from having so many.
    private static let tickets: UInt64 = 1 << 63

    /// - Parameter name: of the bridge, in topics.
    init(_ settings: BrokerSettings, of bridge: Bridge, named name: String) throws {
        self.bridge = bridge
        var options = try settings.options(clientIdentifier: "wakebridge-\(name)-inbox")
        options.keepsSession = true
        let connection = try MQTTConnection(on: bridge.loop, options)
        self.connection = connection
        readiness = try bridge.loop.watch(connection.descriptor, for: .readable, of: self) { $0.readEvents() }
    }

    /// Connects with the first manifest that names a topic.
    func begin() {
        bridge.turn.listeners.observe(self)
        bridge.turn.listeners.add(self as any InputListener)
        subscribe()
    }

    /// The turn, which tells it of manifests, may outlive the connection.
    func end() {
        readiness = nil
        connection = nil
    }

    private func subscribe() {
        let named = bridge.catalog.handlers.values.flatMap { $0.agenda.inbox?.brokerTopics ?? [] }
        for filter in Set(named).subtracting(filters).sorted() {
            filters.insert(filter)
            connection?.subscribe(filter)
        }
        if !filters.isEmpty { connection?.open() }
    }

    private func readEvents() {
        // What is left keeps the descriptor readable.
        for _ in 0..<Self.mostEventsAtOnce {
            guard let event = connection?.nextEvent() else { return }
            receive(event)
        }
    }

    private func receive(_ event: MQTTEvent) {
        switch event {
        case .connected:
            toldFault = nil
            log.notice("messages are taken from \(filters.count.counted("topic")) of the broker")
        case .disconnected(let fault):
            // The broker sends it again.
            (arrived, tickets) = (nil, [])
            if fault != toldFault { log.warning("\(fault.sentence); messages wait at the broker") }
            toldFault = fault
        case .notSubscribed(let filter):
            log.error("the broker does not let this user subscribe to \(filter); allow it at the broker")
        case .delivered: break
        case .arrived(let message): receive(message)
        }
    }

    private func receive(_ arrived: ArrivedMessage) {
        self.arrived = arrived
        if let message = message(arrived.message) {
            for handler in owners(of: arrived.message.topic) {
                lastTicket += 1
                tickets.insert(lastTicket)
                bridge.turn.schedule(.message(handler, message, ticket: lastTicket))
            }
        }
        if tickets.isEmpty { acknowledge() }
    }

    /// What is retained would come again with each connection, so it is left out.
    private func message(_ published: MQTTMessage) -> InboxMessage? {
        guard !published.isRetained else { return nil }
        var message = InboxMessage(payload: published.payload)
        message.brokerTopic = published.topic
        guard message.isWithinLimits else {
            log.warning(
                "a message of \(published.payload.count) bytes under \(published.topic.prefix(80)) is left out: "
                    + "an inbox takes \(InboxMessage.payloadLimit) bytes; send where the rest can be fetched")
            return nil
        }
        return message
    }

    private func owners(of topic: String) -> [HandlerID] {
        bridge.catalog.handlers.filter { $0.value.agenda.inbox?.takes(brokerTopic: topic) ?? false }.keys.sorted()
    }

    private func acknowledge() {
        guard let arrived else { return }
        self.arrived = nil
        connection?.acknowledge(arrived)
    }
}

extension BrokerInbox: TurnObserver {
    func perform(_ effect: AgendaEffect) {
        if case .receipt(let receipt) = effect { tickets.remove(receipt.ticket) }
    }

    /// While the disk is full the broker keeps it.
    func turnEnded() {
        guard arrived != nil, tickets.isEmpty, case .ok = bridge.journal.health.disk else { return }
        acknowledge()
    }
}

extension BrokerInbox: InputListener {
    func hear(_ input: Input, at stamp: Stamp) {
        if case .configure = input { subscribe() }
    }

    func hear(_ input: AgendaInput, at stamp: Stamp) {}
}
