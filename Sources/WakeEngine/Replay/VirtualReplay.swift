// A trace played without a handler: the clock is the trace's own, a model handler acknowledges, the event lines come out.
import WakeCore
import WakeJournal
import WakeLoop
import WakeModel
import WakeProfiles
import WakeTrace

/// Single-use. The same trace gives the same lines and the same decision log, byte for byte.
public final class VirtualReplay {
    public struct Outcome: Hashable, Sendable {
        public var events = 0
        public var deadLetters = 0
        public var quarantines = 0
        public var awake = TimeSpan.zero
        public var length = TimeSpan.zero
    }

    let clock: VirtualClock
    let engine: Engine
    var turn: Turn { engine.turn }
    private let executor: SimulatedExecutor
    private var reader: TraceReader
    private let header: TraceHeader
    private var devices: [EventOrigin] = []
    private var tally: DecisionTally
    private var decisions: DecisionLog?
    /// Where the trace's offset zero lies on CLOCK_MONOTONIC.
    var traceStart = Instant.zero
    /// What the machine waits for before it sleeps.
    var sleep: PendingSleep?

    /// The model handler acknowledges what it is given after `work`.
    public init(_ reader: TraceReader, profiles: ProfileLibrary, work: TimeSpan = .zero) throws {
        self.reader = reader
        header = try self.reader.header()
        clock = VirtualClock(wall: header.start)
        let journal = try Journal(
            opening: JournalSettings(runtimeDirectory: nil, stateDirectory: nil), bootID: clock.bootID)
        let composer = LineComposer(
            catalog: Catalog(profiles: profiles), idPrefix: LineComposer.replayPrefix, clock: clock)
        executor = SimulatedExecutor(composer: composer, work: work)
        engine = try Engine(
            journal: journal, recovery: journal.recover(at: header.start), clock: clock, limits: .none,
            composer: composer, executor: executor)
        tally = DecisionTally()
        turn.listeners.add(tally as any DecisionListener)
        devices = header.devices.map { engine.know($0.device(profiles)) }
    }

    /// Writes every decision to `write`, from now on.
    public func logDecisions(_ write: @escaping ([UInt8]) -> Void) {
        let log = DecisionLog(from: .zero, naming: engine.catalog, write: write)
        decisions = log
        turn.listeners.add(log)
    }

    /// Plays everything; `print` gets the lines that a handler would.
    public func play(
        settings: HandlerSettings = .forWholeTrace(durability: .ram), print: ([UInt8]) -> Void
    ) throws(TraceError) -> Outcome {
        let model = engine.adopt(HandlerManifest(id: "model", command: [], settings: settings))
        endTurn(print)
        let count = try playAll(print)
        return outcome(of: model, events: count)
    }

    private func endTurn(_ print: ([UInt8]) -> Void) {
        turn.end()
        executor.writeLines(print)
    }

    private func playAll(_ print: ([UInt8]) -> Void) throws(TraceError) -> Int {
        var broken: TraceError?
        var upcoming = next(&broken)
        var count = 0
        while true {
            let now = clock.now()
            if let due = executor.nextDue, due <= now.monotonic {
                executor.speak(at: now.monotonic, in: turn)
            } else if let sleep, turn.isReadyForSleep || sleep.letGoAt <= now.monotonic {
                sleepThrough(sleep)
            } else if let operation = upcoming, sleep == nil, traceStart + operation.offset <= now.monotonic {
                if case .device = operation.subject { count += 1 }
                upcoming = play(operation, &broken) ? next(&broken) : nil
            } else if let span = nextWait(sleep == nil ? upcoming?.offset : nil) {
                clock.advance(by: span)
                // To ask costs less than a turn in which nothing is due.
                guard turn.isDue(at: clock.stamp()) else { continue }
                turn.ingest(.tick)
            } else if let broken {
                throw broken
            } else {
                return count
            }
            endTurn(print)
        }
    }

    /// Nil at the trace's end, or where it is broken: what stands before is played all the same.
    private func next(_ broken: inout TraceError?) -> TraceOperation? {
        do {
            return try reader.next()
        } catch {
            broken = error
            return nil
        }
    }

    /// False where the trace cannot be played any further.
    private func play(_ operation: TraceOperation, _ broken: inout TraceError?) -> Bool {
        do {
            switch operation.subject {
            case .device(let place, let kind): ingest(kind, of: place)
            case .machine(let change): try apply(change, of: operation.line)
            case .handler(let name, let deed): try apply(deed, to: name, of: operation.line)
            }
            return true
        } catch {
            broken = error
            return false
        }
    }

    /// How long nothing happens; nil when nothing will happen any more. Each deadline is met on its own clock, for one of them
    /// stands still while the machine sleeps.
    private func nextWait(_ upcoming: TimeSpan?) -> TimeSpan? {
        var monotonic = Instant.earlier(turn.nextMonotonicDeadline, executor.nextDue)
        monotonic = .earlier(monotonic, upcoming.map { traceStart + $0 })
        monotonic = .earlier(monotonic, sleep?.letGoAt)
        let wait = monotonic.map { clock.distance(toMonotonic: $0) }
        guard let boottime = turn.nextBoottimeDeadline.map({ clock.distance(toBoottime: $0) }) else { return wait }
        return min(wait ?? boottime, boottime)
    }

    private func ingest(_ kind: DeviceEvent.Kind, of place: Int) {
        engine.ingest(DeviceEvent(origin: devices[place], kind: kind, stamp: clock.stamp()))
    }

    private func outcome(of model: HandlerID, events: Int) -> Outcome {
        Outcome(
            events: events, deadLetters: tally.deadLetters, quarantines: tally.quarantines,
            awake: turn.handlerStatus(of: model)?.awake ?? .zero, length: clock.elapsed)
    }
}

/// Counts what makes a replay fail.
package final class DecisionTally: DecisionListener {
    package init() {}

    package private(set) var deadLetters = 0
    package private(set) var quarantines = 0
    package private(set) var acknowledged = 0
    package private(set) var strikes = 0
    package private(set) var suspensions = 0
    /// What devices did and a handler was to get, gaps not counted.
    package private(set) var events = 0

    package func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        switch decision {
        case .deadLettered: deadLetters += 1
        case .moved(_, to: .quarantined, _): quarantines += 1
        case .moved(_, to: .suspended, _): suspensions += 1
        case .acknowledged(_, let count, _): acknowledged += count
        case .struck: strikes += 1
        case .moved, .delivered, .refused, .handedBack, .withdrawn, .advanced, .charged, .lost, .held, .began, .ended, .faulted, .throttled,
            .notWoken:
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
