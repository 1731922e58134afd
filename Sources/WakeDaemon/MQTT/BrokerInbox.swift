// Messages under topics of the broker: each goes to the inboxes that name its topic, and is acknowledged once a commit holds it.
import WakeAgenda
import WakeCore
import WakeEngine
import WakeJournal
import WakeLoop
import WakeMQTT
import WakeModel
import WakeSystem

/// A connection of its own, whose session the broker keeps: what is published while no daemon runs comes afterwards.
final class BrokerInbox {
    private let turn: Turn
    private let catalog: Catalog
    private let journal: Journal
    private let receipts: InboxReceipts
    private let manifests: ManifestFolder
    private let warnings: BrokerWarnings
    private let broker: BrokerAddress
    /// Nil once the bridge ends.
    private var connection: MQTTConnection?
    private var readiness: Watch?
    private var work: Deferred?
    /// The filters that manifests name.
    private var filters: Set<String> = []
    /// Includes filters that no manifest names any more, until the broker has ended them.
    private var subscribed: SubscribedTopics
    /// Until it is acknowledged or refused no other one arrives.
    private var arrived: ArrivedMessage?
    private var isScheduled = false
    /// How many inboxes have no receipt for it yet.
    private var awaited = 0
    private var toldFault: MQTTFault?
    /// Why messages go back to the broker, as it was logged last.
    private var toldObstacle: String?
    private var leftOut = SparseReport()
    private let begunAt = SystemClock.monotonic()
    private static let mostEventsAtOnce = 32
    /// Devices that are known have their handlers by then.
    private static let arrivalOfDevices = TimeSpan.seconds(60)
    private let log = Log("inbox")

    /// - Parameter name: of the bridge, in topics.
    init(
        _ settings: BrokerSettings, of bridge: Bridge, _ manifests: ManifestFolder, _ warnings: BrokerWarnings,
        stateDirectory: String, named name: String
    ) throws {
        (turn, catalog, journal, receipts) = (bridge.turn, bridge.catalog, bridge.journal, bridge.receipts)
        (self.manifests, self.warnings, broker) = (manifests, warnings, settings.address)
        let loop = bridge.loop
        subscribed = SubscribedTopics(in: stateDirectory)
        var options = try settings.options(clientIdentifier: "wakebridge-\(name)-inbox")
        options.keepsSession = true
        let connection = try MQTTConnection(on: loop, options)
        self.connection = connection
        readiness = try loop.watch(connection.descriptor, for: .readable, cause: .mqtt, of: self) {
            $0.readEvents()
        }
        work = try loop.deferred(priority: .background, of: self) { $0.subscribe() }
    }

    /// Connects with the first manifest that names a topic.
    func begin() {
        turn.listeners.observe(self)
        turn.listeners.add(self as any InputListener)
        subscribe()
    }

    /// The turn, which reports manifests to it, may outlive the connection.
    func end() {
        // It holds up Paho, and all other connections with it.
        if let arrived { _ = connection?.refuse(arrived) }
        readiness = nil
        work = nil
        connection = nil
    }

    private func subscribe() {
        let named = Self.topics(of: catalog.handlers.values)
        let added = named.subtracting(filters).sorted()
        subscribed.insert(added)
        for filter in added { connection?.subscribe(filter) }
        filters.formUnion(added)
        let isSure = unreadManifest == nil
        if isSure { unsubscribe(but: named.union(Self.topics(of: catalog.perDevice.values))) }
        if !filters.isEmpty || isSure && !subscribed.filters.isEmpty { connection?.open() }
    }

    private func unsubscribe(but kept: Set<String>) {
        for filter in subscribed.filters.subtracting(kept).sorted() {
            filters.remove(filter)
            connection?.unsubscribe(filter)
        }
    }

    private static func topics(of manifests: some Collection<HandlerManifest>) -> Set<String> {
        Set(manifests.flatMap { $0.agenda.inbox?.brokerTopics ?? [] })
    }

    /// A manifest that is or may be there and could not be read: its handler's filters are unknown.
    private var unreadManifest: String? {
        guard let names = manifests.names else { return "handlers.d" }
        return names.filter { !catalog.isConfigured($0) }.min()
    }

    private func readEvents() {
        // Remaining events keep the descriptor readable.
        for _ in 0..<Self.mostEventsAtOnce {
            guard let event = connection?.nextEvent() else { return }
            receive(event)
        }
    }

    private func receive(_ event: MQTTEvent) {
        switch event {
        case .connected:
            toldFault = nil
            warnings.succeed(.inboxes)
            guard toldObstacle == nil else { return }
            log.notice("messages are taken from \(filters.count.counted("topic")) of the broker")
        case .disconnected(let fault):
            // A message that is not judged yet stays: the broker sends it again, and its judgement frees Paho's thread.
            if fault != toldFault, toldObstacle == nil { log.warning("\(fault.sentence); messages wait at the broker") }
            toldFault = fault
            if toldObstacle == nil { warnings.fail(.inboxes, at: broker, fault) }
        case .notSubscribed(let filter):
            log.error("the broker does not let this user subscribe to \(filter); allow it at the broker")
        case .unsubscribed(let filter): if !filters.contains(filter) { subscribed.remove(filter) }
        case .delivered: break
        case .arrived(let message):
            warnings.note(message, from: broker)
            receive(message)
        }
    }

    private func receive(_ message: ArrivedMessage) {
        // The broker does not keep one of quality 0.
        guard message.ticket > 0 else { return schedule(message.message, isAwaited: false) }
        (arrived, isScheduled) = (message, false)
        judge()
    }

    /// Acknowledges what arrived, once a commit holds it or no handler wants it.
    private func judge() {
        guard let arrived, awaited == 0 else { return }
        if let obstacle = obstacle(to: arrived.message) { return refuse(arrived, for: obstacle) }
        if !isScheduled {
            isScheduled = true
            schedule(arrived.message, isAwaited: true)
        }
        if awaited == 0 { acknowledge() }
    }

    private func schedule(_ published: MQTTMessage, isAwaited: Bool) {
        guard let message = message(published) else { return }
        let owners = self.owners(of: published.topic)
        // All of them before a turn can end.
        if isAwaited { awaited = owners.count }
        for handler in owners {
            receipts.send(message, to: handler) { [self] _ in if isAwaited { awaited -= 1 } }
        }
    }

    // MARK: What stays at the broker

    private func obstacle(to published: MQTTMessage) -> String? {
        if case .degraded(let sentence) = journal.health.disk { return sentence }
        guard !published.isRetained, owners(of: published.topic).isEmpty else { return nil }
        if let name = unreadManifest { return "\(name) cannot be read and may want it; fix that manifest" }
        return isOfAbsentDevice(published.topic) ? "the device of its handler is not there yet" : nil
    }

    /// Devices come after the start, and handlers of manifests that run once for each of them come with them.
    private func isOfAbsentDevice(_ topic: String) -> Bool {
        guard SystemClock.monotonic() - begunAt < Self.arrivalOfDevices else { return false }
        return catalog.perDevice.values.contains { $0.agenda.inbox?.takes(brokerTopic: topic) ?? false }
    }

    /// The connection ends without an answer to it, and comes back within a minute. Where it cannot be ended, the message is
    /// judged again after each turn.
    private func refuse(_ message: ArrivedMessage, for obstacle: String) {
        if obstacle != toldObstacle {
            let topic = message.message.topic.prefix(80)
            log.warning("messages wait at the broker from one under \(topic) on: \(obstacle)")
        }
        toldObstacle = obstacle
        if connection?.refuse(message) ?? false { arrived = nil }
    }

    /// Retained messages would come again with each connection, so they are left out.
    private func message(_ published: MQTTMessage) -> InboxMessage? {
        guard !published.isRetained else { return nil }
        var message = InboxMessage(payload: published.payload)
        message.brokerTopic = published.topic
        guard message.isWithinLimits else {
            reportLeftOut(published)
            return nil
        }
        return message
    }

    private func reportLeftOut(_ published: MQTTMessage) {
        guard let others = leftOut.count(at: SystemClock.monotonic()) else { return }
        log.warning(
            "a message of \(published.payload.count) bytes under \(published.topic.prefix(80)) is left out: an inbox takes "
                + "\(InboxMessage.payloadLimit) bytes; send where the rest can be fetched"
                + (others > 0 ? "; \(others) more like it since the last one" : ""))
    }

    private func owners(of topic: String) -> [HandlerID] {
        catalog.handlers.filter { $0.value.agenda.inbox?.takes(brokerTopic: topic) ?? false }.keys.sorted()
    }

    private func acknowledge() {
        guard let arrived else { return }
        self.arrived = nil
        connection?.acknowledge(arrived)
        if toldObstacle != nil { log.notice("messages are taken from the broker again") }
        toldObstacle = nil
    }
}

extension BrokerInbox: TurnObserver {
    func turnEnded() { judge() }
}

extension BrokerInbox: InputListener {
    func hear(_ input: Input, at stamp: Stamp) {
        switch input {
        // The catalog has it a moment later.
        case .configure, .remove: work?.schedule()
        default: return
        }
    }

    func hear(_ input: AgendaInput, at stamp: Stamp) {}
}
