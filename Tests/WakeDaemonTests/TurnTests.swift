// How the engine cuts what it is fed into turns, each of which is one commit.
import Testing
import WakeCore
import WakeJournal
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeDaemon

@Suite("Turns")
struct TurnTests {
    private let folder: String

    init() throws { folder = try Directory.makeTemporary(prefix: "waketurns") }

    /// How many turns are completed while a thousand devices are made known within `meanwhile`.
    private func turns(_ meanwhile: (Engine, () -> Void) -> Void) throws -> Int {
        let settings = JournalSettings(runtimeDirectory: folder, stateDirectory: folder)
        let journal = try Journal(opening: settings, bootID: "boot")
        let engine = Engine(journal: journal, clock: RealClock(), from: journal.recover().next, limits: IngressLimits())
        defer { journal.close(clean: true) }
        var turns = 0
        engine.runTurn = { [unowned engine] in
            turns += 1
            engine.completeTurn()
        }
        meanwhile(engine) {
            for number in 1...1_000 {
                let device = Device(source: "/d/\(number)", alias: "one", profile: nil, mode: .bluetoothCentral)
                engine.feed(.device(DeviceID(rawValue: UInt32(number)), device))
            }
        }
        return turns
    }

    @Test(
        "a flood does not keep the commit waiting, but what has to be kept together has one, and nobody else's waits for it"
    )
    func keepsTogether() throws {
        defer { Directory.removeTree(folder) }
        #expect(try turns { _, flood in flood() } > 0)
        #expect(try turns { engine, flood in engine.keepTogether(flood) } == 0)
        #expect(
            try turns { engine, flood in
                engine.keepTogether {}
                flood()
            } > 0)
    }

    /// Calls `body` with an engine whose stage takes so long to write a delivery.
    private func withEngine<Answer>(
        writingFor span: TimeSpan, _ body: (Engine, VirtualClock, SlowStage) throws -> Answer
    ) throws -> Answer {
        defer { Directory.removeTree(folder) }
        let settings = JournalSettings(runtimeDirectory: folder, stateDirectory: folder)
        let journal = try Journal(opening: settings, bootID: "boot")
        let clock = VirtualClock(wall: WallTime(microseconds: 1_700_000_000_000_000))
        let engine = Engine(journal: journal, clock: clock, from: journal.recover().next, limits: .none)
        defer { journal.close(clean: true) }
        let stage = SlowStage(clock, writesFor: span)
        engine.stage = stage
        return try body(engine, clock, stage)
    }

    /// What a handler with a budget of 10 s is told, whose bridge stands still for 9 s at `moment`.
    private func told(whenStandingStill moment: Moment) throws -> [Notice] {
        let isSlow = moment == .inWriting || moment == .inWritingToOthers
        return try withEngine(writingFor: isSlow ? .seconds(9) : .zero) { engine, clock, stage in
            if moment == .inWritingToOthers { stage.didWrite = { [unowned engine] in engine.feed(.tick) } }
            wake(1, by: engine)
            if moment == .beforeWriting || moment == .beforeAnotherEvent { clock.advance(by: .seconds(9)) }
            if moment == .beforeAnotherEvent { engine.feed(.tick, at: clock.stamp()) }
            if isSlow { engine.completeTurn() }
            engine.feed(.tick)
            engine.completeTurn()
            #expect(stage.deliveries == 1)
            if moment == .afterWriting { clock.advance(by: .seconds(9)) }
            engine.feed(.tick)
            engine.completeTurn()
            return stage.notices
        }
    }

    /// One event of a device that so many handlers watch.
    private func wake(_ handlers: UInt32, by engine: Engine) {
        let device = Device(source: "/d/1", alias: "strap", profile: "strap", mode: .bluetoothCentral)
        engine.feed(.device(DeviceID(rawValue: 1), device))
        var handler = HandlerSettings()
        handler.modes = [.bluetoothCentral]
        handler.subscriptions = [Subscription(profile: "strap")]
        for number in 1...handlers {
            engine.feed(.configure(HandlerID(rawValue: number), handler, isStopped: false, restarts: false))
        }
        engine.completeTurn()
        let beat = DeviceEvent.Kind.data(.report(0), [7])
        engine.feed(.event(DeviceEvent(device: DeviceID(rawValue: 1), kind: beat, stamp: engine.clock.stamp())))
    }

    /// Calls `body` after one event was written to two handlers, each of which took so long.
    private func afterWritingToTwo(
        each span: TimeSpan, _ body: (Engine, VirtualClock, SlowStage) throws -> Void
    ) throws {
        try withEngine(writingFor: span) { engine, clock, stage in
            wake(2, by: engine)
            engine.completeTurn()
            #expect(stage.deliveries == 2)
            try body(engine, clock, stage)
        }
    }

    @Test("of many who are written to in one turn, each has its time from its own writing on", arguments: [2, 3_000])
    func countsFromItsOwnWriting(milliseconds: Int64) throws {
        let span = TimeSpan.milliseconds(milliseconds)
        try afterWritingToTwo(each: span) { engine, clock, stage in
            #expect(engine.nextMonotonicDeadline == Instant.zero + span + .seconds(8))
            clock.advance(to: Instant.zero + span + .seconds(8))
            engine.feed(.tick)
            engine.completeTurn()
            #expect(stage.notices.count == 1)
            #expect(engine.nextMonotonicDeadline == Instant.zero + span + span + .seconds(8))
        }
    }

    @Test("what came due is let out without waiting for the turn to end, and nothing is done where nothing did")
    func letsOut() throws {
        try afterWritingToTwo(each: .milliseconds(2)) { engine, clock, stage in
            var turns = 0
            engine.runTurn = { [unowned engine] in
                turns += 1
                engine.completeTurn()
            }
            engine.feed(.tick)
            engine.letOut()
            #expect(turns == 0)
            engine.completeTurn()
            clock.advance(by: .seconds(9))
            engine.feed(.tick)
            #expect(stage.notices.isEmpty)
            engine.letOut()
            #expect(turns == 1 && stage.notices.count == 2)
        }
    }

    private enum Moment { case beforeWriting, beforeAnotherEvent, inWriting, inWritingToOthers, afterWriting }

    @Test("what the writing of a batch acknowledges is committed with it, though nothing follows from that")
    func commitsWhatWritingFeeds() throws {
        try withEngine(writingFor: .zero) { engine, _, stage in
            stage.didWrite = { [unowned engine] in
                let line = ReplyLine(.ack(Sequence(1), result: nil))
                engine.feed(.reply(HandlerID(rawValue: 1), Epoch(rawValue: 1), line))
            }
            wake(1, by: engine)
            engine.completeTurn()
            #expect(stage.deliveries == 1 && engine.journal.commit().isEmpty)
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

/// Takes so long to write a delivery.
private final class SlowStage: Stage {
    private let clock: VirtualClock
    private let span: TimeSpan
    var didWrite: () -> Void = {}
    private(set) var deliveries = 0
    private(set) var notices: [Notice] = []

    init(_ clock: VirtualClock, writesFor span: TimeSpan) { (self.clock, self.span) = (clock, span) }

    func perform(_ effect: Effect) {
        switch effect {
        case .deliver:
            deliveries += 1
            clock.advance(by: span)
            didWrite()
        case .notify(_, _, let notice): notices.append(notice)
        default: break
        }
    }
}
