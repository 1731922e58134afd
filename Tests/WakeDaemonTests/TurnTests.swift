// How what the bridge is told is cut into turns, each of which is one commit.
import Testing
import WakeCore
import WakeJournal
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSystem

@testable import WakeDaemon
@testable import WakeEngine

@Suite("Turns")
struct TurnTests {
    private let folder: String

    init() throws { folder = try Directory.makeTemporary(prefix: "waketurns") }

    /// Counts the turns that have ended.
    private final class EndCount: TurnObserver {
        private(set) var count = 0
        func turnEnded() { count += 1 }
    }

    /// How many turns end while a thousand devices are made known within `meanwhile`.
    private func turns(_ meanwhile: (Turn, () -> Void) -> Void) throws -> Int {
        let settings = JournalSettings(runtimeDirectory: folder, stateDirectory: folder)
        let journal = try Journal(opening: settings, bootID: "boot")
        let clock = VirtualClock(wall: WallTime(microseconds: 1_700_000_000_000_000))
        let turn = try Turn(
            journal: journal, clock: RealClock(), recovery: journal.recover(), limits: IngressLimits(),
            executor: SlowExecutor(clock, writesFor: .zero),
            agenda: AgendaStage(journal: journal, catalog: Catalog(profiles: ProfileLibrary()), seed: 0))
        defer { journal.close(clean: true) }
        let ends = EndCount()
        turn.listeners.observe(ends)
        meanwhile(turn) {
            for number in 1...1_000 {
                let device = Device(uri: "/d/\(number)", alias: "one", profile: nil, kind: .bluetoothCentral)
                turn.ingest(.device(EventOrigin(rawValue: UInt32(number)), device))
            }
        }
        return ends.count
    }

    @Test(
        "a flood does not delay the commit, and inputs that are kept together share one"
    )
    func keepsTogether() throws {
        defer { Directory.removeTree(folder) }
        #expect(try turns { _, flood in flood() } > 0)
        #expect(try turns { turn, flood in turn.keepTogether(flood) } == 0)
        #expect(
            try turns { turn, flood in
                turn.keepTogether {}
                flood()
            } > 0)
    }

    /// Calls `body` with a turn whose executor takes so long to write a delivery.
    private func withTurn<Answer>(
        writingFor span: TimeSpan, _ body: (Turn, VirtualClock, SlowExecutor) throws -> Answer
    ) throws -> Answer {
        defer { Directory.removeTree(folder) }
        let settings = JournalSettings(runtimeDirectory: folder, stateDirectory: folder)
        let journal = try Journal(opening: settings, bootID: "boot")
        let clock = VirtualClock(wall: WallTime(microseconds: 1_700_000_000_000_000))
        let executor = SlowExecutor(clock, writesFor: span)
        let turn = try Turn(
            journal: journal, clock: clock, recovery: journal.recover(), limits: .none, executor: executor,
            agenda: AgendaStage(journal: journal, catalog: Catalog(profiles: ProfileLibrary()), seed: 0))
        defer { journal.close(clean: true) }
        return try body(turn, clock, executor)
    }

    /// What a handler with a budget of 10 s is told, whose bridge stands still for 9 s at `moment`.
    private func told(whenStandingStill moment: Moment) throws -> [Notice] {
        let isSlow = moment == .inWriting || moment == .inWritingToOthers
        return try withTurn(writingFor: isSlow ? .seconds(9) : .zero) { turn, clock, executor in
            if moment == .inWritingToOthers { executor.saysWhileWritten = .tick }
            wake(1, by: turn)
            if moment == .beforeWriting || moment == .beforeAnotherEvent { clock.advance(by: .seconds(9)) }
            if moment == .beforeAnotherEvent { turn.ingest(.tick, at: clock.stamp()) }
            if isSlow { turn.end() }
            turn.ingest(.tick)
            turn.end()
            #expect(executor.deliveries == 1)
            if moment == .afterWriting { clock.advance(by: .seconds(9)) }
            turn.ingest(.tick)
            turn.end()
            return executor.notices
        }
    }

    /// One event of a device that so many handlers watch.
    private func wake(_ handlers: UInt32, by turn: Turn) {
        let device = Device(uri: "/d/1", alias: "strap", profile: "strap", kind: .bluetoothCentral)
        turn.ingest(.device(EventOrigin(rawValue: 1), device))
        var handler = HandlerSettings()
        handler.modes = [.bluetoothCentral]
        handler.subscriptions = [Subscription(profile: "strap")]
        for number in 1...handlers {
            turn.ingest(.configure(HandlerID(rawValue: number), handler, isStopped: false, restarts: false))
        }
        turn.end()
        beat(by: turn)
    }

    private func beat(by turn: Turn) {
        let beat = DeviceEvent.Kind.data(.report(0), [7])
        turn.ingest(.event(DeviceEvent(origin: EventOrigin(rawValue: 1), kind: beat, stamp: turn.clock.stamp())))
    }

    /// Calls `body` after one event was written to two handlers, each of which took so long.
    private func afterWritingToTwo(
        each span: TimeSpan, _ body: (Turn, VirtualClock, SlowExecutor) throws -> Void
    ) throws {
        try withTurn(writingFor: span) { turn, clock, executor in
            wake(2, by: turn)
            turn.end()
            #expect(executor.deliveries == 2)
            try body(turn, clock, executor)
        }
    }

    @Test("of many who are written to in one turn, each has its time from its own writing on", arguments: [2, 3_000])
    func countsFromItsOwnWriting(milliseconds: Int64) throws {
        let span = TimeSpan.milliseconds(milliseconds)
        try afterWritingToTwo(each: span) { turn, clock, executor in
            #expect(turn.nextMonotonicDeadline == Instant.zero + span + .seconds(8))
            clock.advance(to: Instant.zero + span + .seconds(8))
            turn.ingest(.tick)
            turn.end()
            #expect(executor.notices.count == 1)
            #expect(turn.nextMonotonicDeadline == Instant.zero + span + span + .seconds(8))
        }
    }

    @Test("what came due is let out without waiting for the turn to end, and nothing is done where nothing did")
    func letsOut() throws {
        try afterWritingToTwo(each: .milliseconds(2)) { turn, clock, executor in
            let ends = EndCount()
            turn.listeners.observe(ends)
            turn.ingest(.tick)
            turn.flush()
            #expect(ends.count == 0)
            turn.end()
            clock.advance(by: .seconds(9))
            turn.ingest(.tick)
            #expect(executor.notices.isEmpty)
            turn.flush()
            #expect(ends.count == 2 && executor.notices.count == 2)
        }
    }

    private enum Moment { case beforeWriting, beforeAnotherEvent, inWriting, inWritingToOthers, afterWriting }

    @Test("what the writing of a batch acknowledges is committed with it, though nothing follows from that")
    func commitsWhatWritingFeeds() throws {
        try withTurn(writingFor: .zero) { turn, _, executor in
            let line = ReplyLine(.ack(Sequence(1), result: nil))
            executor.saysWhileWritten = .reply(HandlerID(rawValue: 1), Epoch(rawValue: 1), line)
            wake(1, by: turn)
            turn.end()
            #expect(executor.deliveries == 1 && turn.journal.commit().isEmpty)
        }
    }

    /// What is performed for one event of a handler that is started for it.
    private func performed(whileListening listener: Interrupter?) throws -> [String] {
        try withTurn(writingFor: .zero) { turn, _, executor in
            if let listener {
                listener.turn = turn
                turn.listeners.add(listener)
            }
            wake(1, by: turn)
            turn.end()
            return executor.performed
        }
    }

    @Test("what a listener causes while a step's effects are applied waits for them, so they keep their order")
    func keepsOrderOfEffects() throws {
        let listener = Interrupter()
        let undisturbed = try performed(whileListening: nil)
        #expect(undisturbed.count >= 3)
        #expect(try performed(whileListening: listener) == undisturbed)
        #expect(listener.count > 0)
    }

    @Test("a handler that turns out to have answered in time is not warned, and its answer is committed")
    func hearsBeforeWarning() throws {
        try withTurn(writingFor: .zero) { turn, clock, executor in
            wake(1, by: turn)
            turn.end()
            clock.advance(by: .seconds(9))
            let line = ReplyLine(.ack(Sequence(1), result: nil))
            executor.saysBeforeWarning = .reply(HandlerID(rawValue: 1), Epoch(rawValue: 1), line)
            turn.ingest(.tick)
            turn.end()
            #expect(executor.deliveries == 1 && executor.notices.isEmpty)
            #expect(turn.journal.commit().isEmpty && turn.handlerStatus(of: HandlerID(rawValue: 1))?.openCount == 0)
        }
    }

    @Test("a delivery that comes due while others are written slowly is written in the same turn")
    func writesWhatComesDueMeanwhile() throws {
        try withTurn(writingFor: .zero) { turn, clock, executor in
            let (first, second) = (HandlerID(rawValue: 1), HandlerID(rawValue: 2))
            wake(2, by: turn)
            turn.end()
            turn.ingest(.operated(second, .attach))
            turn.ingest(.reply(first, Epoch(rawValue: 1), ReplyLine(.ack(Sequence(1), result: nil))))
            turn.ingest(.reply(second, Epoch(rawValue: 1), ReplyLine(.nack(Sequence(1), after: .seconds(1)))))
            turn.end()
            executor.span = .seconds(3)
            beat(by: turn)
            turn.end()
            #expect(executor.deliveries == 4)
        }
    }

    @Test("what is fed before a batch is written does not take from its time either")
    func countsFromWritingWhatIsFed() throws {
        #expect(try told(whenStandingStill: .beforeAnotherEvent) == [])
    }

    @Test("nor does what the writing itself feeds")
    func countsFromWritingWhatItFeeds() throws {
        #expect(try told(whenStandingStill: .inWritingToOthers) == [])
    }

    @Test("a bridge that stands still before a batch is written takes nothing from its time")
    func countsFromWriting() throws {
        #expect(try told(whenStandingStill: .beforeWriting) == [])
    }

    @Test("a bridge that stands still while a batch is written takes nothing from its time")
    func countsFromTheEndOfWriting() throws {
        #expect(try told(whenStandingStill: .inWriting) == [])
    }

    @Test("a bridge that stands still after a batch was written warns when it goes on")
    func warnsAfterWriting() throws {
        #expect(try told(whenStandingStill: .afterWriting).count == 1)
    }
}

/// Tells the turn something in the midst of each step that decides something.
private final class Interrupter: DecisionListener {
    weak var turn: Turn?
    private(set) var count = 0

    func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        count += 1
        turn?.ingest(.tick)
    }
}

/// Takes so long to write a delivery.
private final class SlowExecutor: EffectExecutor {
    func processorTime(of handler: HandlerID) -> TimeSpan? { nil }
    private let clock: VirtualClock
    var span: TimeSpan
    /// What the turn learns while a delivery is written.
    var saysWhileWritten: Input?
    /// What a handler turns out to have said when it is to be warned.
    var saysBeforeWarning: Input?
    private(set) var deliveries = 0
    private(set) var notices: [Notice] = []
    private(set) var performed: [String] = []
    private weak var turn: Turn?

    init(_ clock: VirtualClock, writesFor span: TimeSpan) { (self.clock, self.span) = (clock, span) }

    func perform(_ effect: Effect, in turn: Turn) {
        self.turn = turn
        performed.append("\(effect)")
        switch effect {
        case .deliver:
            deliveries += 1
            clock.advance(by: span)
            if let saysWhileWritten { turn.ingest(saysWhileWritten) }
        case .notify(_, _, let notice): notices.append(notice)
        default: break
        }
    }

    func hear(_ handler: HandlerID, _ epoch: Epoch) {
        if let saysBeforeWarning { turn?.ingest(saysBeforeWarning) }
    }
}
