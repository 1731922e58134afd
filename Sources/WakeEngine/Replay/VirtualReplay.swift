// A trace played without a handler: the clock is the trace's own, models acknowledge, the event lines come out.
import WakeAgenda
import WakeCore
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSystem
import WakeTrace

/// Single-use. The same trace gives the same lines and the same decision log, byte for byte.
public final class VirtualReplay {
    public struct Outcome: Hashable, Sendable {
        public var events = 0
        public var deadLetters = 0
        public var quarantines = 0
        /// The sum over all handlers.
        public var awake = TimeSpan.zero
        public var length = TimeSpan.zero
    }

    let ground: ReplayedGround
    var clock: VirtualClock { ground.clock }
    /// The present life of the bridge.
    var bridge: ReplayedBridge
    var engine: Engine { bridge.engine }
    var turn: Turn { engine.turn }
    /// The caller's manifests; they replace those of the trace. Empty where the trace has its own, or none.
    let manifests: [HandlerManifest]
    private var trace: TraceCut
    /// Until then everything is played and nothing is shown; nil once it has come.
    private var showsFrom: TraceMark?
    /// The operations that were read and are not played yet.
    private var ahead: [TraceOperation]
    private var decisions: DecisionLog?
    /// The trace's offset zero on CLOCK_MONOTONIC, and the decision log's.
    var traceStart = Instant.zero
    /// The pause that the rest of the trace waits for.
    var pause: PendingPause?
    /// The sum over lives that have ended.
    var awakeBefore = TimeSpan.zero
    /// Scheduled work that never lets the handlers come to rest is followed no longer than this; nil while the trace goes on.
    private var endsBy: TimeSpan?

    private static let longestRest = TimeSpan.seconds(86_400)

    /// - Parameters:
    ///   - part: what of it is shown. What was before is played too, so that all is as it is in the whole.
    ///   - manifests: the handlers, in place of the trace's own.
    ///   - work: how long a model works before it acknowledges.
    ///   - jobs: how long at a long job; as long as at anything else where it is nil.
    public init(
        _ reader: TraceReader, part: TracePart = TracePart(), profiles: ProfileLibrary,
        manifests: [HandlerManifest] = [], work: TimeSpan = .zero, jobs: TimeSpan? = nil, zones: ZoneFiles = ZoneFiles()
    ) throws {
        trace = try TracePart(until: part.until, devices: part.devices).cut(reader)
        showsFrom = part.from
        self.manifests = manifests
        let header = trace.header
        let clock = VirtualClock(wall: header.start)
        let world = ReplayedWorld(clock, zone: header.zone, files: zones)
        if let zone = header.zone, !world.knows(zone: zone) { throw TraceError.unknownZone(zone, line: 2) }
        ground = ReplayedGround(
            clock: clock, header: header, profiles: profiles, work: SimulatedWork(work, job: jobs), world: world)
        ahead = Self.readAhead(&trace)
        Self.presume(ahead, of: ground)
        bridge = try ReplayedBridge(ground)
    }

    /// Up to what a device or a handler does first: a trace that brings its handlers begins with a manifest. An error stays with
    /// the reader.
    private static func readAhead(_ trace: inout TraceCut) -> [TraceOperation] {
        var ahead: [TraceOperation] = []
        while let operation = try? trace.next() {
            ahead.append(operation)
            guard case .machine = operation.subject else { break }
        }
        return ahead
    }

    /// The trace's lines about the machine before anything happens were true when the bridge began.
    private static func presume(_ ahead: [TraceOperation], of ground: ReplayedGround) {
        for operation in ahead.prefix(while: { $0.offset == .zero }) {
            switch operation.subject {
            case .machine(.synchronized(let isTrue)): ground.clock.isSynchronized = isTrue
            case .machine(.condition(let word, let isTrue)):
                if let condition = try? Condition(word: word) { ground.world.presume(condition, isTrue) }
            case .machine, .handler, .device: return
            }
        }
    }

    /// Writes every decision of the part to `write`.
    public func logDecisions(_ write: @escaping ([UInt8]) -> Void) {
        let log = DecisionLog(from: traceStart, naming: engine.catalog, write: write)
        log.isSilent = showsFrom != nil
        decisions = log
        listen()
    }

    /// Each life has a catalog of its own.
    func listen() {
        guard let decisions else { return }
        decisions.catalog = engine.catalog
        turn.listeners.add(decisions)
    }

    /// Plays everything; `print` gets the lines that handlers would.
    /// - Parameter settings: of the one handler where neither the caller nor the trace has manifests.
    public func play(
        settings: HandlerSettings = .forWholeTrace(durability: .ram), print: ([UInt8]) -> Void
    ) throws(TraceError) -> Outcome {
        for manifest in manifests { engine.configure(manifest) }
        if manifests.isEmpty, ahead.last?.isManifest != true {
            engine.adopt(HandlerManifest(id: "model", command: [], settings: settings))
        }
        lookForPart()
        endTurn(print)
        let count = try playAll(print)
        let tally = ground.tally
        return Outcome(
            events: count, deadLetters: tally.deadLetters, quarantines: tally.quarantines,
            awake: awakeBefore + bridge.awake, length: clock.elapsed)
    }

    private func endTurn(_ print: ([UInt8]) -> Void) {
        turn.end()
        let isShown = showsFrom == nil
        bridge.executor.writeLines { if isShown { print($0) } }
    }

    /// The clocks have moved.
    func lookForPart() {
        guard let mark = showsFrom, mark.hasCome(elapsed: clock.elapsed, wall: clock.stamp().wall) else { return }
        showsFrom = nil
        decisions?.isSilent = false
    }

    private func playAll(_ print: ([UInt8]) -> Void) throws(TraceError) -> Int {
        var broken: TraceError?
        var upcoming = next(&broken)
        var (count, line) = (0, 1)
        while true {
            let now = clock.now()
            if let due = bridge.executor.nextDue, due <= now.monotonic {
                bridge.executor.speak(at: now.monotonic, in: turn)
            } else if let pause, isReady(for: pause, at: now.monotonic) {
                try pass(pause)
            } else if let operation = upcoming, pause == nil, traceStart + operation.offset <= now.monotonic {
                if case .device = operation.subject { count += 1 }
                line = operation.line
                upcoming = play(operation, &broken) ? next(&broken) : nil
            } else if let span = nextWait(upcoming?.offset) {
                clock.advance(by: span)
                lookForPart()
                // To ask costs less than a turn in which nothing is due.
                guard turn.isDue(at: clock.stamp()) else { continue }
                turn.ingest(.tick)
            } else if let broken {
                throw broken
            } else if let mark = showsFrom {
                throw .endsBefore(mark, line: line)
            } else {
                return count
            }
            endTurn(print)
        }
    }

    /// Nil at the trace's end, or where it is broken: the lines before it are played all the same.
    private func next(_ broken: inout TraceError?) -> TraceOperation? {
        if !ahead.isEmpty { return ahead.removeFirst() }
        do {
            return try trace.next()
        } catch {
            broken = error
            return nil
        }
    }

    /// False where the trace cannot be played any further.
    private func play(_ operation: TraceOperation, _ broken: inout TraceError?) -> Bool {
        do {
            switch operation.subject {
            case .device(let place, let kind):
                engine.ingest(DeviceEvent(origin: bridge.devices[place], kind: kind, stamp: clock.stamp()))
            case .machine(let change): try apply(change, of: operation.line)
            case .handler(let name, let deed): try apply(deed, to: name, of: operation.line)
            }
            return true
        } catch {
            broken = error
            return false
        }
    }
}

// The passing of time.
extension VirtualReplay {
    /// The time until something happens; nil when nothing will happen any more. Each deadline is met on its own clock,
    /// for one of them stops while the machine sleeps, and another can be set.
    private func nextWait(_ offset: TimeSpan?) -> TimeSpan? {
        var monotonic = Instant.earlier(turn.nextMonotonicDeadline, bridge.executor.nextDue)
        if let pause {
            monotonic = .earlier(monotonic, pause.goAt)
        } else if let offset {
            monotonic = .earlier(monotonic, traceStart + offset)
        } else if isAtRest {
            return nil
        }
        var wait = monotonic.map { clock.distance(toMonotonic: $0) } ?? TimeSpan(nanoseconds: .max)
        if let boottime = turn.nextBoottimeDeadline { wait = min(wait, clock.distance(toBoottime: boottime)) }
        if let wall = turn.nextWallDeadline { wait = min(wait, clock.distance(toWall: wall)) }
        return wait
    }

    /// The trace is over, and so is all that it began. What is scheduled for later has no end.
    private var isAtRest: Bool {
        guard turn.hasWorkInHand || bridge.executor.nextDue != nil else { return true }
        let end = endsBy ?? clock.elapsed + Self.longestRest
        endsBy = end
        return turn.hasSchedule && clock.elapsed >= end
    }
}

extension TraceOperation {
    fileprivate var isManifest: Bool { if case .handler(_, .manifest) = subject { true } else { false } }
}

/// Counts what makes a replay fail.
package final class DecisionTally: DecisionListener {
    package init() {}

    package private(set) var deadLetters = 0
    package private(set) var quarantines = 0
    package private(set) var acknowledged = 0
    /// Events that were given to a handler, each attempt by itself.
    package private(set) var deliveries = 0
    package private(set) var strikes = 0
    package private(set) var suspensions = 0
    /// The devices' events for handlers, gaps not counted.
    package private(set) var events = 0

    package func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        switch decision {
        case .deadLettered: deadLetters += 1
        case .moved(_, to: .quarantined, _): quarantines += 1
        case .moved(_, to: .suspended, _): suspensions += 1
        case .acknowledged(_, let count, _): acknowledged += count
        case .struck: strikes += 1
        case .delivered(_, _, let count): deliveries += count
        case .moved, .refused, .handedBack, .withdrawn, .recalled, .released, .advanced, .charged, .lost,
            .held,
            .began, .ended, .faulted, .throttled, .misdirected, .notWoken:
            break
        }
    }
}

extension DecisionTally: EventSink {
    package func saw(_ event: DeviceEvent, as sequence: Sequence?) {
        if sequence != nil, !event.isGap { events += 1 }
    }
}

extension HandlerSettings {
    /// Takes whatever a trace holds.
    public static func forWholeTrace(durability: Durability) -> HandlerSettings {
        var settings = HandlerSettings()
        settings.modes = Set(SourceKind.allCases)
        var everything = Subscription(profile: Subscription.anyProfile)
        everything.durability = durability
        settings.subscriptions = [everything]
        return settings
    }
}
