// The one place where an input becomes effects and effects become facts: step the core, write the journal, commit, act.
import WakeCore
import WakeJournal
import WakeLoop
import WakeModel
import WakeSystem

/// Performs what the core asks of handler processes, after the commit.
protocol Stage: AnyObject {
    func perform(_ effect: Effect)
}

/// Hears every decision of the core, as it is made.
protocol DecisionListener: AnyObject {
    func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp)
}

/// Owns the core and the journal. All that is fed between two calls of ``completeTurn()`` shares one commit, and nothing
/// leaves the bridge before the commit that holds its cause.
public final class Engine {
    private var core: Dispatcher
    public let journal: Journal
    public let clock: any WakeClock
    weak var stage: (any Stage)?
    var listeners: [any DecisionListener] = []
    /// Hears every event that somebody is owed, with its number.
    var onAppend: (DeviceEvent, Sequence) -> Void = { _, _ in }
    /// How many events of devices were appended, what the bridge itself tells in gaps not among them.
    private(set) var deviceEventsAppended: UInt64 = 0
    /// How many gaps were appended, those that a source tells and the bridge's own.
    private(set) var gapsAppended: UInt64 = 0
    /// Called for each handler whose data is about to be let go: the core must know it by then.
    var willShed: (HandlerID) -> Void = { _ in }
    /// Called once when there is something to commit or to do.
    var requestTurn: () -> Void = {}
    /// Called when the turn asked for has not come for so long, or so much was fed, that it must be completed now.
    var runTurn: (() -> Void)?

    private var effects: [Effect] = []
    private var turned: [Effect] = []
    private var outward: [Effect] = []
    /// Keeps the memory of the last turn's effects for the next one's.
    private var spare: [Effect] = []
    private var isTurnRequested = false
    /// Effects are performed in their order, so what they cause waits until all of them are done.
    private var isCompleting = false
    private var isKeptTogether = false
    private var feedsInTurn = 0
    /// To whom something is written in this turn.
    private var given: [Recipient] = []
    /// Until when their time has not begun.
    private var givenAt = Instant.zero
    private var lastAppended: Sequence
    private var turnBegan = Instant.zero
    /// A flood must not starve the commit that everything waits for, nor the timers that are armed after it.
    private static let feedsPerTurn = 512
    private static let turnLength = TimeSpan.milliseconds(5)
    /// So much taken from the time for a batch is less than anybody can tell.
    private static let missedTime = TimeSpan.milliseconds(1)
    private var commitsSinceUpkeep = 0
    /// Emptying the write-ahead log costs as much as a hundred commits, so it is done once for many.
    private static let commitsPerUpkeep = 1_024
    /// Numbers reserved ahead of need.
    private static let reservation: UInt64 = 4_096
    private let log = Log("journal")

    init(journal: Journal, clock: any WakeClock, from next: Sequence, limits: IngressLimits) {
        core = Dispatcher(from: next, limits: limits)
        lastAppended = Sequence(next.rawValue - 1)
        self.journal = journal
        self.clock = clock
    }

    func feed(_ input: Input) {
        let stamp = clock.stamp()
        guard isTurnRequested, isOverdue(at: stamp.moment) else { return feed(input, at: stamp) }
        endTurnEarly()
        feed(input, at: clock.stamp())
    }

    /// Shares its commit with what the journal was told just before.
    func feed(_ input: Input, at stamp: Stamp) {
        step(input, at: stamp)
        feedsInTurn += 1
        if !isTurnRequested {
            isTurnRequested = true
            turnBegan = stamp.moment.monotonic
            requestTurn()
        } else if feedsInTurn >= Self.feedsPerTurn || isOverdue(at: stamp.moment) {
            endTurnEarly()
        }
    }

    /// Whether somebody's time is over is not to be asked before what he was given in a turn that has lasted too long has been
    /// written.
    func completeOverdueTurn() {
        if isTurnRequested, isOverdue(at: clock.now()) { endTurnEarly() }
    }

    /// After work that took long and that nobody waits for: what came due meanwhile is not kept waiting for more of it.
    func letOut() { if !outward.isEmpty { endTurnEarly() } }

    private func isOverdue(at moment: Moment) -> Bool { moment.monotonic - turnBegan > Self.turnLength }

    private func endTurnEarly() {
        guard !isCompleting, !isKeptTogether else { return }
        if let runTurn { runTurn() } else { completeTurn() }
    }

    /// What `work` feeds shares one commit, however much it is and however long it takes.
    func keepTogether(_ work: () -> Void) {
        isKeptTogether = true
        work()
        isKeptTogether = false
    }

    /// Effects are moved from one place to the next and not copied: turned round once, they come off the end in their order.
    private func step(_ input: Input, at stamp: Stamp) {
        if !given.isEmpty, stamp.moment.monotonic - max(turnBegan, givenAt) > Self.turnLength { beginTime(at: stamp) }
        core.step(input, at: stamp, into: &effects)
        recordEffects(at: stamp)
    }

    /// Of whoever something is written to in this turn.
    private func beginTime(at stamp: Stamp) {
        givenAt = stamp.moment.monotonic
        core.step(.given(given), at: stamp, into: &effects)
        recordEffects(at: stamp)
    }

    private func recordEffects(at stamp: Stamp) {
        while let effect = effects.popLast() { turned.append(effect) }
        while let effect = turned.popLast() { record(effect, at: stamp) }
    }

    /// Commits what was gathered and then lets it out; what that causes is committed and let out in the same way. It may be no
    /// more than an acknowledgement: nobody asks for another turn in which that would be written.
    func completeTurn() {
        isCompleting = true
        let stage = stage
        repeat {
            // What the commit itself has to tell is committed before anybody is given anything.
            repeat {
                feedsInTurn = 0
                commit()
            } while feedsInTurn > 0
            let count = given.count
            // Taken out, not borrowed: what the stage feeds while it acts adds to `outward`.
            var performing = spare
            spare = []
            while let effect = outward.popLast() { performing.append(effect) }
            var written = 0
            while let effect = performing.popLast() {
                stage?.perform(effect)
                // Of one alone, the end of the turn tells it.
                if count > 1, case .deliver = effect { noteWriting(&written) }
            }
            spare = performing
            countFromWriting(count)
        } while !outward.isEmpty || feedsInTurn > 0
        isCompleting = false
        isTurnRequested = false
        keepHouse()
    }

    /// Deliveries are written in the order in which they were given: what the last of many waits for is not the first one's time.
    private func noteWriting(_ written: inout Int) {
        given[written].writtenAt = clock.now().monotonic
        written += 1
    }

    /// The first `count` have what they are given. Mostly a turn takes no time that anybody would miss.
    private func countFromWriting(_ count: Int) {
        guard !given.isEmpty else { return }
        let stamp = clock.stamp()
        if stamp.moment.monotonic - turnBegan > Self.missedTime { beginTime(at: stamp) }
        given.removeFirst(count)
    }

    private func record(_ effect: Effect, at stamp: Stamp) {
        switch effect {
        case .append(let sequence, let event, let owners, let durability):
            journal.append(event, as: sequence, owedTo: owners, durability: durability)
            lastAppended = max(lastAppended, sequence)
            if event.isGap { gapsAppended += 1 } else { deviceEventsAppended += 1 }
            onAppend(event, sequence)
        case .update(let sequence, let event): journal.update(event, as: sequence)
        case .lease(let handler, let sequences), .keepInFlight(let handler, let sequences):
            journal.lease(sequences, to: handler)
        case .acknowledge(let handler, let sequences): journal.acknowledge(sequences, by: handler)
        case .giveBack(let handler, let sequence, let attempts, let charges, let until):
            journal.giveBack(
                sequence, by: handler, attempts: Int(attempts), charges: Int(charges), heldUntil: until)
        case .deadLetter(let handler, let sequence, let reason):
            journal.deadLetter(sequence, by: handler, reason: reason, at: stamp.wall)
        case .checkpoint(let handler, let text): journal.setCheckpoint(text, of: handler)
        case .setStopped(let handler, let isStopped): journal.setStopped(isStopped, handler)
        case .decision(let handler, let decision):
            for listener in listeners { listener.hear(decision, of: handler, at: stamp) }
        case .deliver(let handler, let epoch, _):
            given.append(Recipient(handler, epoch))
            outward.append(effect)
        case .launch, .notify, .closeInput, .thaw, .freeze, .inspectLocks, .requestTermination, .kill,
            .discard,
            .perform:
            outward.append(effect)
        }
    }

    private func commit() {
        noteNumbers()
        let outcomes = journal.commit()
        if !outcomes.isEmpty { commitsSinceUpkeep += 1 }
        for outcome in outcomes { report(outcome) }
    }

    /// What a policy lets go has a number that no record bears; after a restart it must not be given out again.
    private func noteNumbers() {
        let last = Sequence(core.nextSequence.rawValue - 1)
        guard last > lastAppended else { return }
        lastAppended = last
        journal.noteGiven(last, at: clock.stamp().wall)
    }

    /// What is kept only in memory from here on, or again on disk, is told to operators and handlers, once.
    private func report(_ outcome: CommitOutcome) {
        switch outcome {
        case .committed: break
        case .lost(let loss):
            log.error(loss.sentence)
            feed(.announced(.bridge(condition: "durability-lost", detail: loss.sentence)))
        case .restored(let durability):
            log.notice("events of durability \(durability.rawValue) are kept on disk again")
            feed(.announced(.bridge(condition: "durability-restored", detail: durability.rawValue)))
        }
    }

    /// Done while nobody runs, so that nobody waits for what this costs. To ask every handler costs too, and comes second.
    private func keepHouse() {
        let next = nextSequence
        let isShort = journal.needsReservation(next: next)
        guard isShort || commitsSinceUpkeep >= Self.commitsPerUpkeep, ask({ $0.isEverybodyAsleep }) else { return }
        if isShort {
            // Synced to disk: nobody should meet with that on the way of an event.
            journal.reserve(upTo: Sequence(next.rawValue + Self.reservation))
            for outcome in journal.commit() { report(outcome) }
        }
        guard commitsSinceUpkeep >= Self.commitsPerUpkeep else { return }
        commitsSinceUpkeep = 0
        let compaction = journal.compact()
        for outcome in compaction.outcomes { report(outcome) }
        if compaction.excess > 0 { shed(compaction.excess) }
    }

    /// The journal outgrew its cap while its handlers sleep: the oldest data makes room, and is told.
    private func shed(_ bytes: Int) {
        log.warning("the journal is \(bytes) bytes over journal.max_size: its oldest data is let go, told in gaps")
        for (handler, sequences) in journal.oldestData(freeing: bytes).sorted(by: { $0.key < $1.key }) {
            willShed(handler)
            feed(.shed(handler, sequences))
        }
    }

    /// In place: to read a struct out of a class copies it, and counts every array in it.
    fileprivate func ask<Answer>(_ question: (inout Dispatcher) -> Answer) -> Answer { question(&core) }
}

extension DeviceEvent {
    var isGap: Bool { if case .gap = kind { true } else { false } }
}

// MARK: - Questions

extension Engine {
    var nextMonotonicDeadline: Instant? { ask { $0.nextMonotonicDeadline } }
    var nextBoottimeDeadline: Instant? { ask { $0.nextBoottimeDeadline } }
    /// Whether anything follows now although nothing else happens.
    func isDue(at moment: Moment) -> Bool {
        ask {
            $0.nextMonotonicDeadline.map { $0 <= moment.monotonic } ?? false
                || $0.nextBoottimeDeadline.map { $0 <= moment.boottime } ?? false
        }
    }
    var nextSequence: Sequence { ask { $0.nextSequence } }
    var isSettled: Bool { ask { $0.isSettled } }
    var isQuiet: Bool { ask { $0.isQuiet } }
    package var isBackedUp: Bool { ask { $0.isBackedUp } }
    package var isFed: Bool { ask { $0.isFed } }
    /// True once nobody runs who could be frozen before the machine sleeps.
    var isReadyForSleep: Bool { ask { $0.isReadyForSleep } }
    var hasSuspended: Bool { ask { $0.hasSuspended } }
    var standings: [Standing] { ask { [clock] in $0.standings(at: clock.now()) } }
    func isExpiring(_ handler: HandlerID) -> Bool { ask { $0.isExpiring(handler) } }
    func standing(of handler: HandlerID) -> Standing? { ask { [clock] in $0.standing(of: handler, at: clock.now()) } }
}
