// What the daemon answers on its control socket: one exhaustive switch over what it can be asked for.
import Glibc
import WakeControl
import WakeCore
import WakeLoop
import WakeModel
import WakeSystem

final class ControlAnswers {
    private unowned let daemon: Daemon
    private var watchers: [(device: DeviceID?, stream: ControlStream)] = []
    /// Several terminals may hold one handler; it is let go with the last.
    private var leases: [(handler: HandlerID, stream: ControlStream)] = []
    private var bridge: Bridge { daemon.bridge }

    init(daemon: Daemon) {
        self.daemon = daemon
        daemon.bridge.engine.onAppend = { [unowned self] in tell($0, $1) }
        daemon.bridge.onUnowned = { [unowned self] in tell($0, nil) }
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
        case .handlers: return .json { $0.object { $0.field("handlers", handlers()) } }
        case .handler(let name):
            let report = report(try standing(name))
            return .json { $0.handler(report) }
        case .why(let name): return why(try standing(name))
        case .devices: return .json { $0.object { $0.field("devices", devices()) } }
        case .start(let name): return operate(try handler(name), .start)
        case .stop(let name, _): return stop(try handler(name))
        case .attach(let name): return attach(try runnable(name))
        case .reload: return reload()
        case .simulate(let simulation): return try simulate(simulation)
        case .deadLetters: return deadLetters()
        case .replayDeadLetters(let choice): return try replayDeadLetters(choice)
        case .dropDeadLetters(let choice): return try dropDeadLetters(choice)
        case .events(let device): return try watch(device)
        case .logs(let question): return try logs(question)
        }
    }

    // MARK: Reports

    private func status() -> ControlResponse {
        let health = bridge.journal.health
        var sentences: [String] = []
        for state in [health.run, health.disk] {
            if case .degraded(let sentence) = state { sentences.append(sentence) }
        }
        let status = BridgeStatus(
            version: Daemon.version, process: getpid(), journal: bridge.journal.id,
            uptime: SystemClock.monotonic() - daemon.startedAt,
            suspension: bridge.strength == .strong ? .strong : .weak,
            journalHealth: sentences.isEmpty ? "ok" : sentences.joined(separator: "; "),
            residentBytes: MemoryPressure.ownResidentBytes)
        return .json { $0.status(status, handlers: handlers(), devices: devices()) }
    }

    private func handlers() -> [HandlerStatus] {
        bridge.engine.standings.filter { bridge.catalog.handlers[$0.handler] != nil }.map { report($0) }
            .sorted { $0.id < $1.id }
    }

    private func report(_ standing: Standing) -> HandlerStatus {
        var status = HandlerStatus(
            id: bridge.catalog.name(of: standing.handler), state: standing.state.rawValue, why: standing.why,
            process: bridge.stage.pid(of: standing.handler), epoch: standing.epoch)
        status.queued = standing.queuedCount
        status.open = standing.openCount
        status.strikes = standing.strikes
        status.heldFor = standing.heldFor ?? .zero
        status.wakes = standing.wakes
        status.events = daemon.history.deliveryCount(standing.handler)
        status.awake = standing.awake
        status.lastExit = standing.lastEnd?.written
        return status
    }

    private func devices() -> [DeviceStatus] {
        bridge.catalog.devices.compactMap { $0 }.map { entry in
            let link = entry.isConnected.map { $0 ? "connected" : "disconnected" } ?? "unknown"
            return DeviceStatus(device: entry.device, match: match(entry), link: link, lastData: entry.lastData)
        }
    }

    private func match(_ entry: Catalog.DeviceEntry) -> DeviceStatus.Match? {
        entry.profile.map { bridge.catalog.profiles[$0].match }.map { match in
            DeviceStatus.Match(
                services: match.services, namePrefix: match.namePrefix,
                properties: match.properties.map { .init(name: $0.name, value: $0.value) })
        }
    }

    private func why(_ standing: Standing) -> ControlResponse {
        .json { writer in
            writer.object { writer in
                writer.field("why", standing.why)
                writer.key("missed")
                writer.beginArray()
                for entry in daemon.history.latest(standing.handler) {
                    writer.object { writer in
                        writer.key("time")
                        writer.time(entry.time)
                        writer.field("reason", entry.sentence)
                    }
                }
                writer.endArray()
            }
        }
    }

    // MARK: Orders

    private func operate(_ handler: HandlerID, _ verb: OperatorVerb) -> ControlResponse {
        bridge.engine.feed(.operated(handler, verb))
        return .done
    }

    /// The connection is the lease: however its holder ends, the handler is let go.
    private func attach(_ handler: HandlerID) -> ControlResponse {
        .stream(contentType: "application/x-ndjson") { [unowned self] stream in
            leases.append((handler, stream))
            bridge.engine.feed(.operated(handler, .attach))
            daemon.logBook.follow(handler, stream)
            stream.onClose = { [unowned self, unowned stream] in
                daemon.logBook.forget(stream)
                leases.removeAll { $0.stream === stream }
                if !leases.contains(where: { $0.handler == handler }) {
                    bridge.engine.feed(.operated(handler, .detach))
                }
            }
        }
    }

    private func stop(_ handler: HandlerID) -> ControlResponse {
        letGo(of: handler)
        return operate(handler, .stop)
    }

    /// Who is attached to a handler that must not run any more is let go.
    func letGo(of handler: HandlerID) {
        let held = leases.filter { $0.handler == handler }
        guard !held.isEmpty else { return }
        leases.removeAll { $0.handler == handler }
        for lease in held {
            daemon.logBook.forget(lease.stream)
            lease.stream.close()
        }
        bridge.engine.feed(.operated(handler, .detach))
    }

    private func reload() -> ControlResponse {
        let errors = daemon.reload()
        for error in errors { daemon.log.error(error) }
        return .json { writer in
            writer.object { writer in
                writer.key("errors")
                writer.beginArray()
                for error in errors { writer.string(error) }
                writer.endArray()
            }
        }
    }

    /// As much as logind's usual delay leaves.
    private static let simulatedSleep = TimeSpan.seconds(4)

    private func simulate(_ simulation: Simulation) throws(ControlRefusal) -> ControlResponse {
        switch simulation {
        case .wake(let name): return operate(try runnable(name), .wake)
        case .expire(let name):
            return operate(try handler(name, in: [.active], "has no deadline to bring forward"), .expire)
        case .kill(let name): return operate(try handler(name, in: Self.living, "has no process to kill"), .kill)
        case .memory(let level):
            bridge.engine.feed(.memory(level == .critical ? .critical : .warning))
            return .done
        case .sleep(let isOn):
            bridge.engine.feed(.systemSleep(isOn ? .preparing(within: Self.simulatedSleep) : .over))
            return .done
        case .heat(let isOn):
            bridge.engine.feed(.thermal(isHot: isOn))
            return .done
        case .disconnect(let name):
            let stamp = bridge.engine.clock.stamp()
            let kind = DeviceEvent.Kind.disconnected(reason: "simulated", folded: 0)
            bridge.take(DeviceEvent(device: try device(name), kind: kind, stamp: stamp))
            return .done
        }
    }

    // MARK: Dead letters

    private func deadLetters() -> ControlResponse {
        let letters = bridge.journal.deadLetters()
        return .json { writer in
            writer.object { writer in
                writer.key("dead_letters")
                writer.beginArray()
                for letter in letters {
                    writer.object { writer in
                        writer.field("seq", letter.seq.rawValue)
                        writer.field("handler", bridge.journal.handlerName(of: letter.handler) ?? "")
                        writer.field("device", bridge.catalog.entry(letter.event.device)?.device.alias ?? "")
                        writer.key("time")
                        writer.time(letter.at)
                        writer.field("reason", letter.reason)
                    }
                }
                writer.endArray()
            }
        }
    }

    private func replayDeadLetters(_ choice: DeadLetterChoice) throws(ControlRefusal) -> ControlResponse {
        let matches = try matcher(choice)
        var count = 0
        for letter in bridge.journal.deadLetters() where matches(letter.seq, letter.handler) {
            guard bridge.catalog.handlers[letter.handler] != nil,
                let taken = bridge.journal.takeDeadLetter(letter.seq, of: letter.handler)
            else { continue }
            bridge.engine.feed(.revived(letter.handler, taken.event))
            count += 1
        }
        return try counted(count)
    }

    private func dropDeadLetters(_ choice: DeadLetterChoice) throws(ControlRefusal) -> ControlResponse {
        let matches = try matcher(choice)
        return try counted(bridge.journal.dropDeadLetters { matches($0.seq, $0.handler) })
    }

    private func matcher(_ choice: DeadLetterChoice) throws(ControlRefusal) -> (Sequence, HandlerID) -> Bool {
        switch choice {
        case .all: return { _, _ in true }
        case .sequence(let wanted): return { sequence, _ in sequence == wanted }
        case .handler(let name):
            let wanted = try handler(name)
            return { _, handler in handler == wanted }
        }
    }

    private func counted(_ count: Int) throws(ControlRefusal) -> ControlResponse {
        guard count > 0 else {
            throw ControlRefusal(
                .notFound, code: "unknown-dead-letter", message: "no dead letter is meant by that",
                advice: "see which there are with: wakebridge dead-letters list")
        }
        return .json { $0.object { $0.field("count", count) } }
    }

    // MARK: Streams

    private func watch(_ name: String?) throws(ControlRefusal) -> ControlResponse {
        let device = try name.map { name throws(ControlRefusal) in try self.device(name) }
        return .stream(contentType: "application/x-ndjson") { [unowned self] stream in
            watchers.append((device, stream))
            stream.onClose = { [unowned self, unowned stream] in watchers.removeAll { $0.stream === stream } }
        }
    }

    /// Without a number: nobody is owed it.
    private func tell(_ event: DeviceEvent, _ sequence: Sequence?) {
        let interested = watchers.filter { $0.device == nil || $0.device == event.device }
        guard !interested.isEmpty else { return }
        let line =
            sequence.map { bridge.composer.compose(event, as: $0, budget: HandlerTimers().budget) }
            ?? bridge.composer.compose(unowed: event)
        for watcher in interested { watcher.stream.send(line) }
    }

    private func logs(_ question: LogQuestion) throws(ControlRefusal) -> ControlResponse {
        let handler = try question.handler.map { name throws(ControlRefusal) in try self.handler(name) }
        return .stream(contentType: "application/x-ndjson") { [unowned self] stream in
            stream.onClose = { [unowned self, unowned stream] in daemon.logBook.forget(stream) }
            daemon.logBook.tell(handler, count: question.lines, follows: question.follows, to: stream)
        }
    }

    // MARK: Names

    private func handler(_ name: String) throws(ControlRefusal) -> HandlerID {
        if let id = bridge.catalog.handler(named: name) { return id }
        let known = bridge.catalog.handlers.values.map(\.id)
        throw ControlRefusal(
            .notFound, code: "unknown-handler", message: "there is no handler '\(name)'",
            advice: "see which there are with: wakebridge handlers.\(suggestion(for: name, among: known))")
    }

    private static let living: Set<HandlerState> = [
        .launching, .active, .expiring, .suspending, .suspended, .terminating,
    ]

    /// A handler that may run: an order to wake one that may not would be taken and do nothing.
    private func runnable(_ name: String) throws(ControlRefusal) -> HandlerID {
        let standing = try standing(name)
        guard standing.state == .stopped || standing.state == .quarantined else { return standing.handler }
        throw ControlRefusal(
            .conflict, code: "conflict", message: "handler '\(name)' is \(standing.state.rawValue) and cannot be woken",
            advice: "let it run again with: wakebridge start \(name)")
    }

    private func handler(
        _ name: String, in states: Set<HandlerState>, _ complaint: String
    ) throws(ControlRefusal) -> HandlerID {
        let standing = try standing(name)
        // A penalty lies over a frozen process, which is still there.
        let isFrozen = standing.state == .held && bridge.stage.pid(of: standing.handler) != nil
        guard !states.contains(isFrozen ? .suspended : standing.state) else { return standing.handler }
        throw ControlRefusal(
            .conflict, code: "conflict", message: "handler '\(name)' is \(standing.state.rawValue) and \(complaint)",
            advice: "see how it stands with: wakebridge why \(name)")
    }

    private func standing(_ name: String) throws(ControlRefusal) -> Standing {
        let id = try handler(name)
        if let standing = bridge.engine.standing(of: id) { return standing }
        throw ControlRefusal(
            .notFound, code: "unknown-handler", message: "handler '\(name)' is not configured yet", advice: "try again")
    }

    private func device(_ name: String) throws(ControlRefusal) -> DeviceID {
        if let id = bridge.catalog.device(named: name) { return id }
        let known = bridge.catalog.devices.compactMap { $0?.device.alias }
        throw ControlRefusal(
            .notFound, code: "unknown-device", message: "there is no device '\(name)'",
            advice: "see which there are with: wakebridge status.\(suggestion(for: name, among: known))")
    }
}

extension JSONWriter {
    fileprivate mutating func object(_ write: (inout JSONWriter) -> Void) {
        beginObject()
        write(&self)
        endObject()
    }
}
