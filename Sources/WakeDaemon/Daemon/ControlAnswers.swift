// Answers calls on the control socket: one exhaustive switch over all of them.
import Glibc
import WakeControl
import WakeCore
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

final class ControlAnswers {
    unowned let daemon: Daemon
    private var watchers: [(device: EventOrigin?, stream: ControlStream)] = []
    /// Events for the watchers, sent after the turn: no handler waits for them.
    private var unsent: [(event: DeviceEvent, sequence: Sequence?)] = []
    /// Several terminals may hold one handler; the last one releases it.
    private var leases: [(handler: HandlerID, stream: ControlStream)] = []
    var bridge: Bridge { daemon.bridge }
    var sources: LiveSources { daemon.sources }
    var entry: WebEntry { daemon.entry }
    var logBook: HandlerLogBook { daemon.observers.logBook }
    var history: WakeHistory { daemon.observers.history }
    var metricsBook: MetricsBook { daemon.observers.metrics }
    /// Every condition of the bridge that needs a person.
    var warnings: [BridgeWarning] {
        daemon.faults.refusals + daemon.warnings + warningsOfSockets + daemon.observers.brokers.warnings
            + entry.warnings
    }

    private let day: DayStreams
    private let inboxes: InboxDoor
    let watching: Watching

    init(daemon: Daemon, watching: Watching) {
        self.daemon = daemon
        self.watching = watching
        day = DayStreams(of: daemon)
        inboxes = InboxDoor(of: daemon.bridge)
    }

    func answer(_ call: ControlCall) -> ControlResponse {
        do {
            return try perform(call)
        } catch {
            return .refusal(error)
        }
    }

    private func perform(_ call: ControlCall) throws(ControlRefusal) -> ControlResponse {
        switch call {
        case .status: return status()
        case .handlers: return allHandlers()
        case .handler(let name):
            let report = report(try handlerStatus(name))
            return .json { $0.handler(report) }
        case .why(let name): return try why(name)
        case .pending(let name): return try pending(name)
        case .raise(let entry, let name): return try raise(entry, of: name)
        case .cancelJob(let id, let name): return try cancelJob(id, of: name)
        case .send(let message, let name, let token):
            return try inboxes.send(message, to: try handler(name), named: name, by: token)
        case .cancelTransfer(let id, let name): return try cancelTransfer(id, of: name)
        case .conditions: return conditions()
        case .play(let condition): return try play(condition)
        case .devices(nil): return knownDevices()
        case .devices(let name?): return try knownDevice(name)
        case .request(let request): return try perform(request)
        case .setSession(let name, let session): return try setSession(of: name, session)
        case .nameAccessory(let order): return try nameAccessory(order)
        case .forgetAccessory(let name): return try forgetAccessory(name)
        case .start(let name): return try start(name)
        case .stop(let name, let keepsSessions): return try stop(name, keepsSessions: keepsSessions)
        case .restart(let name): return restart(try those(meantBy: name, runnable))
        case .attach(let name): return attach(try runnable(name))
        case .reload: return reload()
        case .simulate(let simulation): return try simulate(simulation)
        case .deadLetters: return deadLetters()
        case .replayDeadLetters(let choice): return try replayDeadLetters(choice)
        case .dropDeadLetters(let choice): return try dropDeadLetters(choice)
        case .events(let device): return try watch(device)
        case .day: return try day.answer()
        case .logs(let question): return try logs(question)
        case .watching(let call): return try answer(call)
        case .metrics(let accept): return metrics(accept: accept)
        case .me(let role): return me(role)
        case .login(let attempt): return try login(attempt)
        case .logout: return try logout()
        case .description: return description()
        case .tokens: return try tokens()
        case .makeToken(let holder): return try makeToken(holder)
        case .revokeToken(let name): return try revokeToken(name)
        }
    }

    // MARK: Reports

    private func status() -> ControlResponse {
        let health = bridge.journal.health
        var sentences: [String] = []
        for state in [health.run, health.disk] {
            if case .degraded(let sentence) = state { sentences.append(sentence) }
        }
        var status = BridgeStatus(
            version: Daemon.version, process: getpid(), journal: bridge.journal.id,
            uptime: SystemClock.monotonic() - daemon.startedAt,
            suspension: bridge.strength == .strong ? .strong : .weak,
            journalHealth: sentences.isEmpty ? "ok" : sentences.joined(separator: "; "),
            residentBytes: MemoryPressure.ownResidentBytes)
        status.host = MachineName.own
        status.configuration = daemon.configurationDirectory
        status.containmentBlockingReason = bridge.containment.blockingReason
        status.longestCall = bridge.loop.longestCall
        status.longCalls = bridge.loop.longCalls
        status.stays = loopStays.filter { $0.longest > .zero }
        status.warnings = warnings
        let (devices, unwatched) = devicesAndMisses()
        status.unwatched = unwatched
        return .json { $0.status(status, handlers: handlers(), devices: devices, adapters: adapters()) }
    }

    var loopStays: [LoopStayReport] {
        LoopCause.allCases.map { cause in
            let stay = bridge.loop.stay(of: cause)
            return LoopStayReport(cause: cause.name, longest: stay.longest, overPatience: stay.overPatience)
        }
    }

    private func allHandlers() -> ControlResponse {
        let ofHandlers = warnings.filter { $0.handler != nil }
        return .json { writer in
            writer.object { writer in
                writer.field("handlers", handlers())
                writer.field("warnings", ofHandlers)
            }
        }
    }

    private func handlers() -> [HandlerReport] {
        bridge.turn.handlerStatuses.filter { bridge.catalog.handlers[$0.handler] != nil }.map { report($0) }
            .sorted { $0.id < $1.id }
    }

    private func report(_ standing: HandlerStatus) -> HandlerReport {
        var status = HandlerReport(
            id: bridge.catalog.name(of: standing.handler), state: standing.state.rawValue, why: why(standing),
            process: bridge.executor.pid(of: standing.handler), epoch: standing.epoch)
        status.queued = standing.queuedCount
        status.open = standing.openCount
        status.strikes = standing.strikes
        status.heldFor = standing.heldFor ?? .zero
        status.wakes = standing.wakes
        status.events = daemon.observers.history.deliveryCount(standing.handler)
        status.awake = standing.awake
        status.work = work(standing)
        status.status = bridge.executor.status(of: standing.handler)
        status.lastExit = standing.lastEnd?.wireName
        status.unbonded = unbonded(of: standing).map(\.alias)
        let outlook = bridge.turn.outlook(of: standing.handler)
        (status.agenda.scheduled, status.agenda.nextDue, status.agenda.messages, status.agenda.flows) = (
            outlook.count, outlook.next, outlook.messages, outlook.holdingAwake
        )
        status.transfers = TransfersReport(outlook.transfers)
        return status
    }

    private func work(_ standing: HandlerStatus) -> WorkReport {
        WorkReport(
            standing, uptime: SystemClock.monotonic() - daemon.startedAt,
            processorTime: bridge.executor.processorTime(of: standing.handler))
    }

    func devices() -> [DeviceStatus] {
        bridge.catalog.devices.compactMap { $0 }.filter { !isForgotten($0.device) }.map { report($0) }
    }

    func report(_ entry: Catalog.DeviceEntry) -> DeviceStatus {
        let device = entry.device
        let link = entry.isConnected.map { $0 ? "connected" : "disconnected" } ?? "unknown"
        return DeviceStatus(
            device: device, match: match(entry), link: link,
            why: sources.blockingReason(of: device),
            lastData: bridge.catalog.lastData(of: entry.id),
            session: sources.session(of: device), node: sources.accessories?.node(of: device.uri),
            adapter: sources.bluetooth?.adapter(of: device.uri))
    }

    private func match(_ entry: Catalog.DeviceEntry) -> DeviceStatus.Match? {
        entry.profile.map { bridge.catalog.profiles[$0].match }.map { match in
            DeviceStatus.Match(
                services: match.services,
                namePrefix: match.namePrefixes.first,
                properties: match.properties.map { .init(name: $0.name, value: $0.values.first ?? "") },
                advertisement: match.advertisement)
        }
    }

    /// Explains one handler, or each instance of a manifest.
    private func why(_ name: String) throws(ControlRefusal) -> ControlResponse {
        guard bridge.catalog.handler(named: name) == nil, let instances = bridge.catalog.instances(of: name) else {
            if let refusal = refusal(ofAbsent: name) { return .json { $0.object { $0.reasons(of: refusal) } } }
            let standing = try handlerStatus(name)
            return .json { $0.object { writeReasons(of: standing, into: &$0) } }
        }
        if instances.isEmpty { throw noInstance(of: name) }
        let standings = instances.compactMap { bridge.turn.handlerStatus(of: $0) }
        return .json { writer in
            writer.object { writer in
                writer.objects("instances", standings) { writer, standing in
                    writer.field("id", bridge.catalog.name(of: standing.handler))
                    writeReasons(of: standing, into: &writer)
                }
            }
        }
    }

    private func writeReasons(of standing: HandlerStatus, into writer: inout JSONWriter) {
        writer.field("why", why(standing))
        writer.field("work", work(standing))
        writer.field("status", bridge.executor.status(of: standing.handler))
        writer.objects("missed", daemon.observers.history.latest(standing.handler)) { writer, entry in
            writer.key("time")
            writer.time(entry.time)
            writer.field("reason", entry.sentence)
        }
        writeSchedule(of: standing.handler, into: &writer)
    }

    // MARK: Orders

    func operate(_ handler: HandlerID, _ verb: OperatorVerb) -> ControlResponse {
        bridge.turn.ingest(.operated(handler, verb))
        return .done
    }

    /// The connection is the lease: however its holder ends, the handler is released.
    private func attach(_ handler: HandlerID) -> ControlResponse {
        .stream(contentType: "application/x-ndjson") { [self] stream in
            leases.append((handler, stream))
            bridge.turn.ingest(.operated(handler, .attach))
            logBook.follow([handler], stream)
            stream.onClose = { [self] stream in
                logBook.forget(stream)
                leases.removeAll { $0.stream === stream }
                if !leases.contains(where: { $0.handler == handler }) {
                    bridge.turn.ingest(.operated(handler, .detach))
                }
            }
        }
    }

    private func start(_ name: String) throws(ControlRefusal) -> ControlResponse {
        let handlers = try those(meantBy: name, mayBeNone: true, startable)
        if bridge.catalog.perDevice[name] != nil { bridge.engine.setStopped(false, name) }
        for handler in handlers {
            _ = operate(handler, .start)
            sources.handlerDidStart(handler)
        }
        return .done
    }

    private func stop(_ name: String, keepsSessions: Bool) throws(ControlRefusal) -> ControlResponse {
        let handlers = try those(meantBy: name, mayBeNone: true, handler)
        if bridge.catalog.perDevice[name] != nil { bridge.engine.setStopped(true, name) }
        for handler in handlers {
            letGo(of: handler)
            _ = operate(handler, .stop)
            if !keepsSessions { sources.handlerDidStop(handler) }
        }
        return .done
    }

    private func restart(_ handlers: [HandlerID]) -> ControlResponse {
        for handler in handlers {
            letGo(of: handler)
            _ = operate(handler, .restart)
        }
        return .done
    }

    /// Detaches every client from a handler that must not run any more.
    func letGo(of handler: HandlerID) {
        let held = leases.filter { $0.handler == handler }
        guard !held.isEmpty else { return }
        leases.removeAll { $0.handler == handler }
        for lease in held {
            logBook.forget(lease.stream)
            lease.stream.close()
        }
        bridge.turn.ingest(.operated(handler, .detach))
    }

    /// A path to check may be in a slow file system; the answer waits for that no longer than this.
    private static let inspectionPatience = TimeSpan.seconds(5)

    private func reload() -> ControlResponse {
        let reload = daemon.reload()
        return .later { [self] respond in
            var isAnswered = false
            let timer = try? bridge.loop.timer(on: .monotonic) { [daemon] in
                guard !isAnswered else { return }
                isAnswered = true
                respond(Self.reloaded(reload, daemon.warnings))
            }
            timer?.arm(at: SystemClock.monotonic() + Self.inspectionPatience)
            daemon.inspect(firing: timer)
        }
    }

    private static func reloaded(_ reload: Daemon.Reload, _ warnings: [BridgeWarning]) -> ControlResponse {
        .json { writer in
            writer.object { writer in
                writer.field("errors", all: reload.errors)
                writer.field("warnings", all: warnings.map(\.sentence))
                writer.field("applied", all: reload.applied)
                writer.field("postponed", all: reload.postponed)
            }
        }
    }

    // MARK: Streams

    private func watch(_ name: String?) throws(ControlRefusal) -> ControlResponse {
        let device = try name.map { name throws(ControlRefusal) in try self.device(name).id }
        return .stream(contentType: "application/x-ndjson") { [self] stream in
            watchers.append((device, stream))
            stream.onClose = { [self] stream in watchers.removeAll { $0.stream === stream } }
        }
    }

    private func logs(_ question: LogQuestion) throws(ControlRefusal) -> ControlResponse {
        let handlers = try question.handler.map { name throws(ControlRefusal) in
            try those(meantBy: name, mayBeNone: true, handler)
        }
        return .stream(contentType: "application/x-ndjson") { [self] stream in
            stream.onClose = { [self] stream in logBook.forget(stream) }
            logBook.send(handlers.map(Set.init), count: question.lines, follows: question.follows, to: stream)
        }
    }

    // MARK: Names

    func handler(_ name: String) throws(ControlRefusal) -> HandlerID {
        if let id = bridge.catalog.handler(named: name) { return id }
        if let instances = bridge.catalog.instances(of: name) { return try only(instances, of: name) }
        if let refusal = refusal(ofAbsent: name) {
            throw ControlRefusal(
                .conflict, code: "conflict", message: "handler '\(name)' is not there: \(refusal.what)",
                advice: refusal.advice)
        }
        let known = bridge.catalog.handlers.values.map(\.name) + bridge.catalog.perDevice.keys
        throw ControlRefusal(
            .notFound, code: "unknown-handler", message: "there is no handler '\(name)'",
            advice: "see which there are with: wakebridge handlers.\(suggestion(for: name, among: known))")
    }

    static let living: Set<HandlerState> = [
        .launching, .active, .expiring, .suspending, .suspended, .terminating,
    ]

    /// A handler that a start lets run: what its manifest has disabled no operator can.
    private func startable(_ name: String) throws(ControlRefusal) -> HandlerID {
        let id = try handler(name)
        guard let manifest = bridge.catalog.handlers[id], !manifest.settings.isEnabled else { return id }
        throw disabled(name, manifest, "started")
    }

    private func disabled(_ name: String, _ manifest: HandlerManifest, _ verb: String) -> ControlRefusal {
        ControlRefusal(
            .conflict, code: "conflict", message: "handler '\(name)' is disabled by its manifest and cannot be \(verb)",
            advice: "take 'enabled: false' out of \(manifest.file)")
    }

    /// A handler that may run: an order to wake one that may not would be taken and do nothing.
    func runnable(_ name: String) throws(ControlRefusal) -> HandlerID {
        let standing = try handlerStatus(name)
        guard standing.state == .stopped || standing.state == .quarantined else { return standing.handler }
        if let manifest = bridge.catalog.handlers[standing.handler], !manifest.settings.isEnabled {
            throw disabled(name, manifest, "woken")
        }
        throw ControlRefusal(
            .conflict, code: "conflict", message: "handler '\(name)' is \(standing.state.rawValue) and cannot be woken",
            advice: "let it run again with: wakebridge start \(name)")
    }

    func handler(
        _ name: String, in states: Set<HandlerState>, _ complaint: String
    ) throws(ControlRefusal) -> HandlerID {
        let standing = try handlerStatus(name)
        // A penalty can cover a frozen process, which still exists.
        let isFrozen = standing.state == .held && bridge.executor.pid(of: standing.handler) != nil
        guard !states.contains(isFrozen ? .suspended : standing.state) else { return standing.handler }
        throw ControlRefusal(
            .conflict, code: "conflict", message: "handler '\(name)' is \(standing.state.rawValue) and \(complaint)",
            advice: "see how it stands with: wakebridge why \(name)")
    }

    private func handlerStatus(_ name: String) throws(ControlRefusal) -> HandlerStatus {
        let id = try handler(name)
        if let standing = bridge.turn.handlerStatus(of: id) { return standing }
        throw ControlRefusal(
            .notFound, code: "unknown-handler", message: "handler '\(name)' is not configured yet", advice: "try again")
    }
}

extension ControlAnswers {
    /// As much as logind's usual delay leaves.
    private static let simulatedSleep = TimeSpan.seconds(4)

    func simulate(_ simulation: Simulation) throws(ControlRefusal) -> ControlResponse {
        switch simulation {
        case .wake(let name): return try simulate(.wake, on: name)
        case .expire(let name): return try simulate(.expire, on: name)
        case .kill(let name): return try simulate(.kill, on: name)
        case .memory(let level):
            bridge.turn.ingest(.memory(level == .critical ? .critical : .warning))
            return .done
        case .sleep(let isOn):
            bridge.turn.ingest(.systemSleep(isOn ? .preparing(within: Self.simulatedSleep) : .over))
            return .done
        case .heat(let isOn):
            bridge.turn.ingest(.thermal(isHot: isOn))
            return .done
        case .battery(let isOn):
            bridge.turn.ingest(.power(isOnBattery: isOn))
            return .done
        case .disconnect(let name):
            let stamp = bridge.turn.clock.stamp()
            let kind = DeviceEvent.Kind.disconnected(reason: "simulated", folded: 0)
            bridge.engine.ingest(DeviceEvent(origin: try device(name).id, kind: kind, stamp: stamp))
            return .done
        }
    }
}

extension ControlAnswers {
    /// Nil where no Bluetooth is watched.
    func adapters() -> [AdapterStatus]? {
        sources.bluetooth?.adapters.map { adapter in
            var status = AdapterStatus(
                address: adapter.address, isPowered: adapter.isPowered, links: adapter.links,
                mostLinks: adapter.mostLinks, waiting: adapter.waiting.map(\.alias))
            status.isScanning = sources.broadcasts?.scans(with: adapter.address) ?? false
            return status
        }
    }
}

extension ControlAnswers: EventSink {
    func saw(_ event: DeviceEvent, as sequence: Sequence?) {
        if !watchers.isEmpty { unsent.append((event, sequence)) }
    }
}

extension ControlAnswers: TurnObserver {
    func instancesChanged(ended: [HandlerID]) {
        for handler in ended { letGo(of: handler) }
        daemon.instancesChanged(ended: ended)
    }

    func turnEnded() {
        let events = unsent
        unsent.removeAll(keepingCapacity: true)
        for (event, sequence) in events { send(event, as: sequence) }
    }

    private func send(_ event: DeviceEvent, as sequence: Sequence?) {
        let interested = watchers.filter { $0.device == nil || $0.device == event.origin }
        guard !interested.isEmpty else { return }
        let composer = bridge.engine.composer
        let line =
            sequence.map { composer.compose(event, as: $0, budget: HandlerTimers().budget) }
            ?? composer.compose(unnumbered: event)
        for watcher in interested { watcher.stream.send(line) }
    }
}

extension JSONWriter {
    /// The reasons of a handler that was never there, in the form of those of others.
    fileprivate mutating func reasons(of refusal: BridgeWarning) {
        field("why", "not there: \(refusal.what); \(refusal.advice)")
        field("work", WorkReport())
        field("status", nil as String?)
        for name in ["missed", "scheduled", "gates"] as [StaticString] { field(name, [] as [String]) }
    }

    fileprivate mutating func field(_ name: StaticString, all texts: [String]) {
        key(name)
        beginArray()
        for text in texts { string(text) }
        endArray()
    }

    mutating func object(_ write: (inout JSONWriter) -> Void) {
        beginObject()
        write(&self)
        endObject()
    }
}
