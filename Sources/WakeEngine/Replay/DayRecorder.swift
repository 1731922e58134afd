// A day of the machine and its handlers in the words of a trace: manifests, orders, operators, conditions, clocks and zones.
import WakeAgenda
import WakeCore
import WakeLoop
import WakeModel
import WakeSystem
import WakeTrace
import WakeTransfer

/// Gets each part of the day, with the wall clock's word on it.
package protocol DayListener: AnyObject {
    func hear(_ subject: TraceOperation.Subject, at time: WallTime)
}

/// The machine's present state, with which a record begins.
package protocol MachineReading: AnyObject {
    /// The name of the machine's zone; nil where that is not known.
    var zone: String? { get }
    /// The latest values of all conditions that something waits for.
    var conditions: [(condition: Condition, isTrue: Bool)] { get }
    /// The name of an open transfer; nil where none has this number.
    func transferName(of handler: HandlerID, _ number: Int64) -> String?
}

/// Observes a turn, and records what a replay needs of it. The replay makes all decisions anew.
package final class DayRecorder {
    /// Clocks that are read before anything else, for nothing reports their changes in time.
    private struct Clocks {
        /// Both change only when the machine sleeps, or the wall clock is set.
        var slept: TimeSpan
        var wallAtBoot: WallTime
        var isSynchronized: Bool

        init(_ stamp: Stamp) {
            slept = stamp.moment.slept
            wallAtBoot = stamp.wall - (stamp.moment.boottime - .zero)
            isSynchronized = stamp.isClockSynchronized
        }
    }

    private let catalog: Catalog
    private let machine: any MachineReading
    package weak var listener: (any DayListener)?
    /// Nil while nothing is recorded.
    private var clocks: Clocks?
    private var zone: String?
    /// The conditions that a person plays in place of the real ones.
    private var played: [Condition: Bool] = [:]

    /// Smaller steps are the clock's own drift.
    private static let leastStep = TimeSpan.seconds(1)
    /// The greatest difference between the readings of two clocks.
    private static let leastSleep = TimeSpan.milliseconds(100)

    package init(of catalog: Catalog, on machine: any MachineReading) {
        (self.catalog, self.machine) = (catalog, machine)
    }

    // MARK: Beginning and ending

    package var zoneNow: String? { machine.zone }

    /// Records from now on. Returns the present state.
    package func begin(at stamp: Stamp) -> [TraceOperation.Subject] {
        clocks = clocks ?? Clocks(stamp)
        zone = zoneNow
        let clock = stamp.isClockSynchronized ? [] : [TraceOperation.Subject.machine(.synchronized(false))]
        let words = Set(machine.conditions.map(\.condition.ofAnyHandler)).union(played.keys)
        let found = words.sorted().map { ($0.word, played[$0] ?? isTrue($0) ?? false) }
        return clock + manifests + found.map { .machine(.condition($0, isTrue: $1)) }
    }

    package func end() { clocks = nil }

    /// A trace has one line for a condition that differs by handler: true where it is true for all. Nil where no
    /// handler waits for it.
    private func isTrue(_ condition: Condition) -> Bool? {
        let asked = machine.conditions.filter { $0.condition.ofAnyHandler == condition.ofAnyHandler }
        return asked.isEmpty ? nil : asked.allSatisfy(\.isTrue)
    }

    private func holdsForOthers(than condition: Condition) -> Bool {
        let others = machine.conditions.filter {
            $0.condition != condition && $0.condition.ofAnyHandler == condition.ofAnyHandler
        }
        return others.allSatisfy(\.isTrue)
    }

    private func tell(_ subject: TraceOperation.Subject, _ time: WallTime) { listener?.hear(subject, at: time) }

    private var manifests: [TraceOperation.Subject] {
        var told: Set<String> = []
        let all = catalog.handlers.keys.sorted().compactMap { catalog.handlers[$0] }
        // Some have no instance yet.
        return (all + catalog.manifests).compactMap(subject).filter { subject in
            guard case .handler(let name, _) = subject else { return true }
            return told.insert(name).inserted
        }
    }

    /// An instance has no record of its own: its manifest has.
    private func manifest(of handler: HandlerID) -> TraceOperation.Subject? {
        catalog.handlers[handler].flatMap { $0.instance == nil ? subject(of: $0) : nil }
    }

    private func subject(of manifest: HandlerManifest) -> TraceOperation.Subject? {
        manifest.tracedText.map { .handler(manifest.instance?.template ?? manifest.id, .manifest($0)) }
    }

    // MARK: Clocks

    /// The sleep comes first: its end is when the clock showed what it would have shown without the step.
    private func look(at stamp: Stamp) {
        guard let before = clocks else { return }
        let now = Clocks(stamp)
        clocks = now
        let step = TimeSpan.microseconds(now.wallAtBoot.microseconds &- before.wallAtBoot.microseconds)
        let isSet = step >= Self.leastStep || step <= .zero - Self.leastStep
        if now.slept - before.slept > Self.leastSleep {
            tell(.machine(.sleep(now.slept - before.slept)), isSet ? stamp.wall - step : stamp.wall)
        }
        if isSet { tell(.machine(.clock(step)), stamp.wall) }
        if now.isSynchronized != before.isSynchronized {
            tell(.machine(.synchronized(now.isSynchronized)), stamp.wall)
        }
    }

    private func lookAtZone(at stamp: Stamp) {
        guard let name = zoneNow, name != zone else { return }
        zone = name
        tell(.machine(.zone(name)), stamp.wall)
    }
}

extension DayRecorder: InputListener {
    package func hear(_ input: Input, at stamp: Stamp) {
        guard clocks != nil else { return }
        look(at: stamp)
        switch input {
        case .configure(let handler, _, _, _):
            if let manifest = manifest(of: handler) { tell(manifest, stamp.wall) }
        case .remove(let handler):
            // With its manifest all of its instances end.
            if let instance = catalog.handlers[handler]?.instance, catalog.perDevice[instance.template] == nil { break }
            tell(.handler(catalog.name(of: handler), .remove), stamp.wall)
        case .operated(let handler, let verb): hear(verb, of: handler, at: stamp)
        case .reply(let handler, _, let line): hear(line, of: handler, at: stamp)
        case .device, .entry, .recovered, .lost, .missed, .event, .fault, .throttled, .misdirected, .ordered, .written,
            .given,
            .launchFailed, .suspended, .locksInspected, .listensAsleep, .answered, .exited, .emptied, .memory,
            .systemSleep, .thermal, .power, .announced, .notified, .shed, .revived, .withdraw, .recall, .release, .gate,
            .finish, .tick:
            break
        }
    }

    package func hear(_ change: TemplateChange, of manifest: HandlerManifest, at stamp: Stamp) {
        guard clocks != nil else { return }
        look(at: stamp)
        switch change {
        case .configured: if let subject = subject(of: manifest) { tell(subject, stamp.wall) }
        case .removed: tell(.handler(manifest.id, .remove), stamp.wall)
        case .stopped: tell(.handler(manifest.id, .stop), stamp.wall)
        case .started: tell(.handler(manifest.id, .start), stamp.wall)
        }
    }

    private func hear(_ verb: OperatorVerb, of handler: HandlerID, at stamp: Stamp) {
        let deed: HandlerOperation? =
            switch verb {
            case .attach: .attach
            case .detach: .detach
            case .stop: .stop
            case .start: .start
            case .wake, .expire, .kill, .restart: nil
            }
        if let deed { tell(.handler(catalog.name(of: handler), deed), stamp.wall) }
    }

    /// An answer to an event means nothing to the models of a replay, and what they acknowledge they know themselves. Of a
    /// credential they need no word.
    private func hear(_ line: ReplyLine, of handler: HandlerID, at stamp: Stamp) {
        guard case .order(let order) = line.reply, let told = order.withoutSecrets else { return }
        var writer = JSONWriter()
        ReplyLine(.order(told), reference: line.reference).write(into: &writer)
        let text = String(decoding: writer.bytes.dropLast(), as: UTF8.self)
        tell(.handler(catalog.name(of: handler), .say(text)), stamp.wall)
    }

    package func hear(_ input: AgendaInput, at stamp: Stamp) {
        look(at: stamp)
        switch input {
        case .condition(let condition, let isTrue):
            guard clocks != nil, played[condition.ofAnyHandler] == nil else { break }
            tell(condition, isTrue && holdsForOthers(than: condition), at: stamp)
        case .overridden(let condition, let isTrue):
            played[condition] = isTrue
            if let now = isTrue ?? self.isTrue(condition) { tell(condition, now, at: stamp) }
        case .transfer(let handler, let number, let news):
            guard clocks != nil, let end = TracedTransfer(news), let name = machine.transferName(of: handler, number)
            else { break }
            tell(.handler(catalog.name(of: handler), .transfer(name, end)), stamp.wall)
        case .cancelled(let key) where key.source == .transfer:
            // As one that has failed: a replay has no operator.
            let deed = HandlerOperation.transfer(key.id, .failed(TransferFailure.cancelled.rawValue))
            if clocks != nil { tell(.handler(catalog.name(of: key.handler), deed), stamp.wall) }
        case .socket(let key, .traffic(let traffic)): tell(traffic, of: key, at: stamp)
        case .traffic(.socket(let handler, let name)):
            // Records the arrival only; the number of waiting bytes has a record of its own.
            let deed = HandlerOperation.readable(name, bytes: 0)
            if clocks != nil { tell(.handler(catalog.name(of: handler), deed), stamp.wall) }
        case .zone(ZoneFiles.localName, _): if clocks != nil { lookAtZone(at: stamp) }
        case .peripheral(let handler, let report):
            guard clocks != nil, let (central, deed) = report.traced else { break }
            tell(.handler(catalog.name(of: handler), .central(central, deed)), stamp.wall)
        case .message(let handler, let message, _): if clocks != nil { tell(message, to: handler, at: stamp) }
        case .restored, .recovered, .owed, .configured, .removed, .situated, .ordered, .raised, .refused, .concluded,
            .progressed, .region, .traffic, .sleeping, .socket, .zone, .clockChanged, .operated, .cancelled, .ending,
            .tick:
            break
        }
    }

    private func tell(_ message: InboxMessage, to handler: HandlerID, at stamp: Stamp) {
        var writer = JSONWriter()
        message.write(into: &writer)
        let text = String(decoding: writer.bytes, as: UTF8.self)
        tell(.handler(catalog.name(of: handler), .message(text)), stamp.wall)
    }

    /// The models of a replay read everything when they are awake.
    private func tell(_ traffic: SocketTraffic, of key: AgendaKey, at stamp: Stamp) {
        guard clocks != nil, traffic.unread > 0 else { return }
        let deed = HandlerOperation.readable(key.id, bytes: traffic.unread)
        tell(.handler(catalog.name(of: key.handler), deed), stamp.wall)
    }

    private func tell(_ condition: Condition, _ isTrue: Bool, at stamp: Stamp) {
        if clocks != nil { tell(.machine(.condition(condition.word, isTrue: isTrue)), stamp.wall) }
    }
}

extension PeripheralReport {
    /// The deed of a central; nil for all else.
    fileprivate var traced: (central: String, deed: CentralDeed)? {
        switch self {
        case .written(let write): (write.central.address, .written(write.characteristic, write.bytes))
        case .read(let read) where read.offset == 0: (read.central.address, .read(read.characteristic))
        case .subscribed(let subscription, _, _): (subscription.central, .subscribed(subscription.characteristic))
        case .unsubscribed(let subscription): (subscription.central, .unsubscribed(subscription.characteristic))
        case .read, .registered, .hindered, .lost, .advertised, .confirmed, .sent: nil
        }
    }
}

extension TracedTransfer {
    /// Nil for what decides nothing.
    fileprivate init?(_ news: TransferNews) {
        switch news {
        case .held, .moved, .retries: return nil
        case .challenged: self = .challenged
        case .ended(let result):
            self = result.failure.map { .failed($0.rawValue) } ?? .done(bytes: max(result.received, result.sent))
        }
    }
}
