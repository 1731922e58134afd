// What is counted between two scrapes, by a book beside a real core.
import Testing
import WakeCore
import WakeJournal
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSystem

@testable import WakeAPI
@testable import WakeEngine

/// Takes some time to thaw, and freezes at once.
private final class PatientExecutor: EffectExecutor {
    private let clock: VirtualClock
    private let thawsFor: TimeSpan
    /// What froze in this turn.
    private(set) var frozen: [(HandlerID, Epoch)] = []

    init(_ clock: VirtualClock, thawsFor span: TimeSpan) { (self.clock, thawsFor) = (clock, span) }

    func processorTime(of handler: HandlerID) -> TimeSpan? { nil }
    func hear(_ handler: HandlerID, _ epoch: Epoch) {}

    func perform(_ effect: Effect, in turn: Turn) {
        switch effect {
        case .thaw: clock.advance(by: thawsFor)
        case .freeze(let handler, let epoch): frozen.append((handler, epoch))
        default: break
        }
    }

    func removeFrozen() -> [(HandlerID, Epoch)] {
        defer { frozen = [] }
        return frozen
    }
}

private let strap = EventOrigin(rawValue: 1)
private let handler = HandlerID(rawValue: 1)

/// A core with one handler that watches one strap, and the book beside it.
private final class Desk {
    let clock = VirtualClock(wall: WallTime(microseconds: 1_700_000_000_000_000))
    let book: MetricsBook
    let turn: Turn
    private let executor: PatientExecutor
    private let journal: Journal

    init() throws {
        journal = try Journal(
            opening: JournalSettings(runtimeDirectory: nil, stateDirectory: nil), bootID: "boot")
        executor = PatientExecutor(clock, thawsFor: .milliseconds(3))
        turn = try Turn(
            journal: journal, clock: clock, recovery: journal.recover(), limits: .none, executor: executor,
            agenda: AgendaStage(journal: journal, catalog: Catalog(profiles: ProfileLibrary()), seed: 0))
        book = MetricsBook(clock: clock)
        book.listen(to: turn)
        turn.ingest(.device(strap, Device(uri: "/d/1", alias: "strap", profile: "strap", kind: .bluetoothCentral)))
        var settings = HandlerSettings()
        settings.modes = [.bluetoothCentral]
        settings.subscriptions = [Subscription(profile: "strap")]
        turn.ingest(.configure(handler, settings, isStopped: false, restarts: false))
        turn.end()
    }

    func happen(_ kind: DeviceEvent.Kind, of origin: EventOrigin = strap) {
        turn.ingest(.event(DeviceEvent(origin: origin, kind: kind, stamp: clock.stamp())))
        turn.end()
    }

    func acknowledge(_ sequence: UInt64) {
        turn.ingest(.reply(handler, Epoch(rawValue: 1), ReplyLine(.ack(Sequence(sequence), result: nil))))
        turn.end()
    }

    /// Lets so much time pass, and freezes what is to be frozen.
    func rest(_ span: TimeSpan = .seconds(5)) {
        clock.advance(by: span)
        turn.ingest(.tick)
        turn.end()
        for (handler, epoch) in executor.removeFrozen() { turn.ingest(.suspended(handler, epoch, .clean)) }
        turn.end()
    }
}

@Suite("What metrics count between two scrapes")
struct MetricsBookTests {
    private let beat = DeviceEvent.Kind.data(.report(0), [7])
    private func sum(_ histogram: DurationHistogram) -> UInt64 { histogram.counts.reduce(0, +) }

    @Test("a thaw counts with the time from its event to its end, and a launch does not")
    func thaws() throws {
        let desk = try Desk()
        desk.happen(beat)
        #expect(sum(desk.book.counts(of: handler).wakeLatency) == 0)
        desk.acknowledge(1)
        desk.rest()
        #expect(desk.turn.handlerStatus(of: handler)?.state == .suspended)
        for sequence in 2...4 as ClosedRange<UInt64> {
            desk.happen(beat)
            desk.acknowledge(sequence)
            desk.rest()
        }
        let latency = desk.book.counts(of: handler).wakeLatency
        #expect(sum(latency) == 3 && latency.sum == .milliseconds(9))
        #expect(desk.turn.handlerStatus(of: handler)?.thaws == 3)
    }

    @Test("the budget counts from the delivery or the acknowledgement before, and not over a freeze")
    func budgets() throws {
        let desk = try Desk()
        desk.happen(beat)
        desk.clock.advance(by: .seconds(2))
        desk.acknowledge(1)
        desk.acknowledge(1)
        #expect(desk.book.counts(of: handler).budgetUsed.sum == .milliseconds(2_003))
        #expect(sum(desk.book.counts(of: handler).budgetUsed) == 1)
    }

    @Test("a budget that runs out is an overrun and a penalty, and its time begins again with the thaw")
    func overruns() throws {
        let desk = try Desk()
        desk.happen(beat)
        for span in [8_100, 2_100, 2_100] as [Int64] { desk.rest(.milliseconds(span)) }
        let counts = desk.book.counts(of: handler)
        #expect(
            counts.overruns == 1 && counts.holds == 1, "\(String(describing: desk.turn.handlerStatus(of: handler)))")
        #expect(desk.turn.handlerStatus(of: handler)?.state == .held)
        desk.turn.ingest(.operated(handler, .start))
        desk.turn.end()
        desk.acknowledge(1)
        #expect(desk.book.counts(of: handler).budgetUsed.sum <= .milliseconds(3))
    }

    @Test("a process's end counts by its reason: exits but 0 together, and so signals")
    func ends() {
        let counts = HandlerCounts()
        for reason in ["exit-0", "exit-1", "exit-77", "signal-9", "signal-11", "watchdog"] {
            #expect(!counts.count(from: .active, to: .terminating, because: reason, at: .zero))
            #expect(!counts.count(from: .terminating, to: .idle, because: reason, at: .zero))
        }
        _ = counts.count(from: .launching, to: .idle, because: "launch-failed", at: .zero)
        #expect(counts.ends == ["exit-0": 1, "exit-failure": 2, "signal": 2, "watchdog": 1, "launch-failed": 1])
    }

    @Test("events count by device and kind, gaps by cause, and those that no handler gets apart")
    func events() throws {
        let desk = try Desk()
        desk.happen(.connected(folded: 0))
        desk.happen(beat)
        desk.happen(.disconnected(reason: "timeout", folded: 0))
        let stamp = desk.clock.stamp()
        desk.happen(.gap(Gap(cause: .link, count: nil, first: nil, last: nil, from: stamp.wall, to: stamp.wall)))
        desk.happen(beat, of: EventOrigin(rawValue: 40))
        let counts = desk.book.counts(of: strap)
        #expect(counts.byKind.map(\.count) == [1, 1, 1, 0] && counts.events == 3 && counts.gaps == 1)
        #expect(desk.book.gaps == [.link: 1] && counts.unwatched == 0)
        #expect(desk.book.counts(of: EventOrigin(rawValue: 40)).unwatched == 1)
        #expect(desk.book.counts(of: EventOrigin(rawValue: 4_000)) == DeviceCounts())
    }

    @Test("what was counted of a handler goes with its manifest, and begins at zero if that comes back")
    func removal() throws {
        let desk = try Desk()
        desk.happen(beat)
        desk.acknowledge(1)
        desk.book.keepHandlers { $0 == handler }
        #expect(sum(desk.book.counts(of: handler).budgetUsed) == 1)
        desk.book.keepHandlers { _ in false }
        #expect(sum(desk.book.counts(of: handler).budgetUsed) == 0)
    }

    @Test("the start of the daemon does not move between scrapes, but where the clock is set")
    func startTime() throws {
        let clock = VirtualClock(wall: WallTime(microseconds: 1_700_000_000_012_345))
        let book = MetricsBook(clock: clock)
        let first = book.startTime(at: clock.stamp())
        clock.advance(by: .seconds(86_400))
        var later = clock.stamp()
        later.wall = later.wall + .microseconds(40)
        #expect(book.startTime(at: later) == first)
        later.wall = later.wall + .seconds(60)
        #expect(book.startTime(at: later) == first + .seconds(60))
    }
}
