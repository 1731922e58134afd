// Exchanges messages with the MQTT broker: a sink of all events, which works after the turns.
import WakeAPI
import WakeAgenda
import WakeCore
import WakeEngine
import WakeLoop
import WakeMQTT
import WakeModel
import WakeSystem

/// On the way of a wake it composes a line and stores it. Everything else waits until nothing else is to be done.
final class BrokerSink {
    let topics: BridgeTopics
    private let turn: Turn
    private let composer: LineComposer
    private var catalog: Catalog { composer.catalog }
    /// Nil once the bridge ends.
    private var connection: MQTTConnection?
    private let inbox: BrokerInbox
    private let outbox: Outbox
    private var window: OutboxWindow
    private var devices: DeviceShelf
    private let commands: BrokerCommands
    private let warnings: BrokerWarnings
    private let broker: BrokerAddress
    private var readiness: Watch?
    private var work: Deferred?
    private var timer: Timer?
    /// Why there is no connection, as it was logged last: it is not logged again.
    private var loggedFault: MQTTFault?
    /// Announcements are retained as well, so a limit on Home Assistant's starts loses nothing, however often a client
    /// reports one.
    private var starts = RateLimiter(perSecond: 1, burst: 5, now: SystemClock.monotonic())
    private let log = Log("mqtt")
    private static let mostEventsAtOnce = 32

    init(_ settings: MQTTSettings, of daemon: Daemon, _ api: API, runtimeDirectory: String) throws {
        let name = settings.bridge ?? MachineName.own ?? "wakebridge"
        topics = BridgeTopics(base: settings.broker.base, bridge: name)
        let (bridge, loop) = (daemon.bridge, daemon.bridge.loop)
        (turn, composer) = (bridge.turn, bridge.engine.composer)
        (warnings, broker) = (daemon.observers.brokers, settings.broker.address)
        var options = try settings.broker.options(clientIdentifier: "wakebridge-\(topics.bridge)")
        options.will = MQTTMessage(topics.status, Array("offline".utf8), isRetained: true)
        outbox = try Outbox(at: runtimeDirectory + "/mqtt-outbox", capacity: settings.outbox)
        window = OutboxWindow(on: outbox)
        let connection = try MQTTConnection(on: loop, options)
        self.connection = connection
        inbox = try BrokerInbox(
            settings.broker, of: bridge, daemon.manifests, warnings, stateDirectory: daemon.stateDirectory,
            named: topics.bridge)
        commands = BrokerCommands(settings.allowed, of: topics, api)
        devices = DeviceShelf(settings, topics, of: api.knownDevices)
        readiness = try loop.watch(connection.descriptor, for: .readable, cause: .mqtt, of: self) {
            $0.readEvents()
        }
        work = try loop.deferred(priority: .background, of: self) { $0.publish() }
        timer = try loop.timer(on: .monotonic, of: self) { $0.work?.schedule() }
    }

    /// From now on it sees events, and connects.
    func begin() {
        turn.listeners.add(self as any EventSink)
        turn.listeners.add(self as any InputListener)
        // Without allowed commands the daemon subscribes to no command topics, so clients cannot reach it there.
        for filter in BridgeTopics.ownNames + (commands.isAnyAllowed ? BridgeCommand.filters : []) {
            connection?.subscribe("\(topics.root)/\(filter)")
        }
        if let status = devices.discovery?.statusTopic { connection?.subscribe(status) }
        devices.updateAll()
        connection?.open()
        inbox.begin()
    }

    /// Takes other rules for the fields of devices.
    func adopt(_ settings: MQTTSettings) {
        devices.adopt(settings)
        work?.schedule()
    }

    /// The bridge ends in order: its last word is not left to the broker.
    func end() {
        inbox.end()
        connection?.publish(MQTTMessage(topics.status, Array("offline".utf8), isRetained: true))
        readiness = nil
        connection = nil
    }

    /// The device's published facts have changed without an event.
    func deviceChanged(_ id: EventOrigin) {
        devices.update(id)
        work?.schedule()
    }

    // MARK: Publishing

    private func publish() {
        devices.settle(at: SystemClock.monotonic())
        if let due = devices.nextDue { timer?.arm(at: due) }
        guard let connection, connection.isConnected else { return }
        while let (tag, message) = devices.retained.next() { connection.publish(message, tag: tag) }
        while let (tag, line) = window.next() { connection.publish(MQTTMessage(topics.events, line), tag: tag) }
    }

    // MARK: The broker

    /// Remaining events keep the descriptor readable: a flood from the broker does not keep the loop from devices.
    private func readEvents() {
        for _ in 0..<Self.mostEventsAtOnce {
            guard let event = connection?.nextEvent() else { break }
            receive(event)
        }
        work?.schedule()
    }

    private func receive(_ event: MQTTEvent) {
        switch event {
        case .connected: restart()
        case .disconnected(let fault): report(fault)
        case .notSubscribed(let filter):
            log.error("the broker does not let this user subscribe to \(filter); allow it at the broker")
        case .delivered(let tag) where tag & RetainedTopics.tagMark != 0: devices.retained.delivered(tag)
        case .delivered(let number): window.delivered(number)
        case .unsubscribed: break
        case .arrived(let arrived):
            warnings.note(arrived, from: broker)
            receive(arrived.message)
            connection?.acknowledge(arrived)
        }
    }

    private func restart() {
        log.notice("connected to the broker; topics begin with \(topics.root)")
        loggedFault = nil
        warnings.succeed(.publishing)
        window.restart()
        devices.restart()
    }

    /// A fault is logged once: the connection is attempted again without end.
    private func report(_ fault: MQTTFault) {
        warnings.fail(.publishing, at: broker, fault)
        guard fault != loggedFault else { return }
        loggedFault = fault
        switch fault.kind {
        case .libraryAbsent, .refused: log.error(fault.sentence)
        case .unreachable, .lost: log.warning("\(fault.sentence); events wait in \(byteCountText(outbox.capacity))")
        }
    }

    private func receive(_ message: MQTTMessage) {
        if message.topic == devices.discovery?.statusTopic {
            guard message.payload == Array("online".utf8), starts.consume(now: SystemClock.monotonic()) else { return }
            devices.announce()
        } else if let name = topics.owner(of: message.topic) {
            if !message.payload.isEmpty { devices.compare(name, with: message.payload) }
        } else if let connection, let answer = commands.receive(message) {
            answer { connection.publish($0) }
        }
    }
}

extension BrokerSink: EventSink {
    func saw(_ event: DeviceEvent, as sequence: Sequence?) {
        // A device that another bridge publishes is not published again.
        guard event.isOfDevices, let entry = catalog.entry(event.origin), !entry.device.kind.isRelayed else {
            return
        }
        let (line, value) = composer.composeWithValue(
            event, as: sequence, budget: HandlerTimers().budget)
        outbox.append(line, at: event.stamp.wall)
        devices.receive(event, value)
        work?.schedule()
    }
}

extension BrokerSink: InputListener {
    func hear(_ input: Input, at stamp: Stamp) {
        switch input {
        case .device(let id, _):
            deviceChanged(id)
            // Its instances are called by it.
            if !catalog.perDevice.isEmpty { devices.handlersChanged() }
        case .configure, .remove: devices.handlersChanged()
        default: return
        }
    }

    func hear(_ input: AgendaInput, at stamp: Stamp) {}
}

extension DeviceEvent {
    /// Alarms and jobs are of handlers alone, and so are losses in their queues.
    fileprivate var isOfDevices: Bool {
        switch kind {
        case .connected, .disconnected, .data, .attention: true
        case .gap(let gap): gap.cause == .storm || gap.cause == .link
        case .occasion: false
        }
    }
}
