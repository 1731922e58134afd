// A turn of the bridge: inputs become effects, the journal is committed, and only then handlers get their lines.
import WakeAgenda
import WakeCore
import WakeJournal
import WakeLoop
import WakeModel
import WakeSystem

/// Owns the core, the journal and the executor. All that is ingested between two calls of ``end()`` shares one commit, and
/// nothing leaves the bridge before the commit that holds its cause.
public final class Turn {
    private var core: Dispatcher
    public let journal: Journal
    public let clock: any WakeClock
    let executor: any EffectExecutor
    /// Ends turns and keeps the core's deadlines; nil where a trace's own clock does.
    let loop: EventLoop?
    private var deadlines: DeadlineTimers?
    package var listeners = TurnListeners()
    let agenda: AgendaStage
    /// Events that the journal owes to handlers that have had no manifest in this life.
    private var unclaimed: [HandlerID: [RecoveredEvent]]

    private enum Phase {
        case idle
        /// Something waits for the end of the turn.
        case gathering
        /// A step's effects are applied in their order, so what a listener causes waits until all of them are.
        case applying
        /// Effects are performed in their order, so what they cause waits until all of them are done.
        case ending
    }

    /// An input: of the core, or of the agenda alone.
    private enum TurnInput {
        case core(Input)
        case agenda(AgendaInput)
    }

    /// How much is gathered for the end of the turn, and since when.
    private struct Gathering {
        var isKeptTogether = false
        var began = Instant.zero
        var inputCount = 0
    }

    /// The kinds of records that a step appended.
    struct Appended: OptionSet {
        let rawValue: Int
        static let events = Appended(rawValue: 1)
        static let gaps = Appended(rawValue: 2)
        static func one(_ event: DeviceEvent) -> Appended { event.isGap ? .gaps : .events }
    }

    private var phase = Phase.idle
    private var gathering = Gathering()
    /// Inputs that arrived while effects were applied, or while the turn ends.
    private var waiting: [TurnInput] = []
    private var effects: [Effect] = []
    /// Performed after the commit.
    private var postCommit = PostCommitWork()
    private var appended = TurnEvents()
    private var lastAppended: Sequence
    private var maintenance = JournalMaintenance()

    /// A flood must not starve the commit that everything waits for, nor the timers that are armed after it.
    private static let inputsPerTurn = 512
    private static let longestTurn = TimeSpan.milliseconds(5)
    /// Delays below this are not credited to the budget.
    private static let creditedDelay = TimeSpan.milliseconds(1)
    private let log = Log("journal")

    init(
        journal: Journal, clock: any WakeClock, recovery: Recovery, limits: IngressLimits,
        executor: any EffectExecutor, agenda: AgendaStage, loop: EventLoop? = nil
    ) throws(SystemError) {
        self.agenda = agenda
        core = Dispatcher(from: recovery.next, limits: limits)
        lastAppended = Sequence(recovery.next.rawValue - 1)
        unclaimed = recovery.pending
        self.journal = journal
        self.clock = clock
        self.executor = executor
        self.loop = loop
        guard let loop else { return }
        deadlines = try DeadlineTimers(on: loop, of: self)
        loop.turn = self
    }

    // MARK: Ingesting

    /// Steps the core and journals what follows. The input waits while a step's effects are applied, and while the turn ends.
    /// - Parameter stamp: the input's own time, where an earlier write to the journal shares its commit.
    package func ingest(_ input: Input, at stamp: Stamp? = nil) { ingest(.core(input), at: stamp) }

    /// Ingests an input that concerns only the agenda.
    package func schedule(_ input: AgendaInput) { ingest(.agenda(input), at: nil) }

    private func ingest(_ input: TurnInput, at stamp: Stamp?) {
        switch phase {
        case .applying, .ending: return waiting.append(input)
        case .idle, .gathering: break
        }
        let stamp = stamp ?? clock.stamp()
        step(input, at: stamp)
        while ingestWaiting() {}
        gathering.inputCount += 1
        if phase == .idle {
            phase = .gathering
            gathering.began = stamp.moment.monotonic
            loop?.requestTurn()
        } else if gathering.inputCount >= Self.inputsPerTurn || isOverdue(at: stamp.moment) {
            endEarly()
        }
    }

    /// A handler that is new to the core gets what the journal still owes it.
    func configure(_ id: HandlerID, _ settings: HandlerSettings, restarts: Bool = false) {
        ingest(.configure(id, settings, isStopped: journal.isStopped(id), restarts: restarts))
        if let owed = unclaimed.removeValue(forKey: id) { ingest(.recovered(id, owed)) }
    }

    /// False where nothing waited.
    private func ingestWaiting() -> Bool {
        guard !waiting.isEmpty else { return false }
        let inputs = waiting
        waiting.removeAll(keepingCapacity: true)
        for input in inputs { step(input, at: clock.stamp()) }
        return true
    }

    private func step(_ input: TurnInput, at stamp: Stamp) {
        switch input {
        case .core(let input):
            listeners.hear(input, at: stamp)
            step(input, at: stamp)
        case .agenda(let input):
            listeners.hear(input, at: stamp)
            agenda.receive(input)
        }
        if agenda.hasInputs { settleAgenda(at: stamp) }
    }

    private func step(_ input: Input, at stamp: Stamp) {
        if !postCommit.recipients.isEmpty,
            stamp.moment.monotonic - max(gathering.began, postCommit.postponedAt) > Self.longestTurn
        {
            beginTime(at: stamp)
        }
        let appended = stepCore(input, at: stamp)
        relay(input, at: stamp)
        if case .announced(let notice) = input { listeners.hear(notice) }
        if case .event(let event) = input, !appended.contains(.one(event)) {
            listeners.saw(event, as: nil)
        }
    }

    @discardableResult
    func stepCore(_ input: Input, at stamp: Stamp) -> Appended {
        core.step(input, at: stamp, into: &effects)
        return applyEffects(at: stamp)
    }

    /// The time of every recipient starts again: its delivery is not written yet, or was written just now.
    private func beginTime(at stamp: Stamp) {
        postCommit.postponedAt = stamp.moment.monotonic
        core.step(.given(postCommit.recipients), at: stamp, into: &effects)
        applyEffects(at: stamp)
    }

    /// Effects are moved and not copied: turned round once, they come off the end in their order.
    @discardableResult
    private func applyEffects(at stamp: Stamp) -> Appended {
        let before = phase
        phase = .applying
        defer { phase = before }
        var appended: Appended = []
        effects.reverse()
        while let effect = effects.popLast() {
            if case .append(_, let event, _, _) = effect { appended.insert(.one(event)) }
            apply(effect, at: stamp)
        }
        return appended
    }

    private func apply(_ effect: Effect, at stamp: Stamp) {
        switch effect {
        case .append(let sequence, let event, let owners, let durability):
            journal.append(event, as: sequence, for: owners, durability: durability)
            appended.append(event, as: sequence)
            lastAppended = max(lastAppended, sequence)
            if case .occasion = event.kind { agenda.recordRaised(as: sequence) }
            listeners.saw(event, as: sequence)
        case .update(let sequence, let event):
            journal.update(event, as: sequence)
            appended.update(event, as: sequence)
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
            listeners.hear(decision, of: handler, at: stamp)
            relay(decision, of: handler)
        case .order(let handler, let epoch, let order, let reference):
            agenda.receive(.ordered(handler, epoch, order, ref: reference))
        case .concluded(let handler, let sequence, let conclusion, let awake):
            agenda.recordRaised(as: sequence)
            agenda.conclude(handler, sequence, conclusion, awake: awake, cpu: processorTime(usedBy: handler))
        case .progressed(let handler, let sequence, let done, let total):
            agenda.receive(.progressed(handler, sequence, done: done, total: total))
        case .deliver(let handler, let epoch, _): postCommit.append(effect, to: Recipient(handler, epoch))
        case .notify(let handler, let epoch, let notice) where notice.isBudgetWarning:
            postCommit.append(effect, warning: Recipient(handler, epoch))
        case .notify, .launch, .closeInput, .thaw, .freeze, .inspectLocks, .requestTermination, .kill,
            .discard,
            .perform:
            postCommit.append(effect)
        }
    }

    /// The event as it was appended. Of a batch `last` is the last that is asked for.
    func event(_ sequence: Sequence, before last: Sequence) -> DeviceEvent? {
        appended[sequence] ?? journal.event(sequence, before: last)
    }

    // MARK: Ending

    /// Commits what was gathered and then performs it; what that causes is committed and performed in the same way. It may be no
    /// more than an acknowledgement: nothing asks for another turn in which that would be written.
    func end() {
        phase = .ending
        // Inputs that were left to this turn.
        if agenda.hasInputs { settleAgenda(at: clock.stamp()) }
        var mustRepeat = false
        repeat {
            // Reports of the commit itself, and lines of a handler that is about to be warned, precede the performed
            // work.
            repeat {
                commit()
                hearWarned()
            } while ingestWaiting()
            perform()
            for effect in agenda.removeOutward() { listeners.perform(effect) }
            appended.removeAll()
            let writtenCount = postCommit.recipients.count
            // A line that was read meanwhile is ingested before a deadline that came due meanwhile.
            let hasHeard = ingestWaiting()
            beginTime(ofFirst: writtenCount)
            mustRepeat = hasHeard || !waiting.isEmpty || !postCommit.isEmpty || !agenda.isOutwardEmpty
        } while mustRepeat
        phase = .idle
        gathering.inputCount = 0
        runMaintenance()
        listeners.turnEnded()
        deadlines?.arm(monotonic: nextMonotonicDeadline, boottime: nextBoottimeDeadline, wall: nextWallDeadline)
    }

    /// Whether a handler's time is over is not to be asked before what it got in a turn that has lasted too long is written.
    func endIfOverdue() {
        if phase == .gathering, isOverdue(at: clock.now()) { endEarly() }
    }

    /// After work that took long and is not urgent: what came due meanwhile does not wait for more of it.
    func flush() { if !postCommit.isEmpty { endEarly() } }

    /// All inputs that `work` ingests share one commit, however many they are and however long it takes.
    func keepTogether(_ work: () -> Void) {
        gathering.isKeptTogether = true
        work()
        gathering.isKeptTogether = false
    }

    private func isOverdue(at moment: Moment) -> Bool { moment.monotonic - gathering.began > Self.longestTurn }

    private func endEarly() {
        switch phase {
        case .applying, .ending: return
        case .idle, .gathering: break
        }
        guard !gathering.isKeptTogether else { return }
        if let loop { loop.runTurn() } else { end() }
    }

    /// A line that a handler wrote while the bridge could not read was in time: the warning may be needless.
    private func hearWarned() {
        guard !postCommit.warned.isEmpty else { return }
        for one in postCommit.warned where isExpiring(one.handler) { executor.hear(one.handler, one.epoch) }
        postCommit.removeWarned()
    }

    private func perform() {
        postCommit.reverse()
        let isOne = postCommit.recipients.count == 1
        while let effect = postCommit.popLast() {
            if isAnswered(effect) { continue }
            executor.perform(effect, in: self)
            // Deliveries are written in their order: what the last of many waits for is not the first one's time.
            guard !isOne, case .deliver = effect else { continue }
            postCommit.recordWritten(at: clock.now().monotonic)
        }
    }

    private func isAnswered(_ effect: Effect) -> Bool {
        guard case .notify(let handler, _, let notice) = effect, notice.isBudgetWarning else { return false }
        return handlerStatus(of: handler)?.state == .active
    }

    /// Handlers have their deliveries now. Mostly a turn takes too little time to matter. Work that came due meanwhile
    /// follows them: a delivery that is not written yet.
    private func beginTime(ofFirst writtenCount: Int) {
        guard writtenCount > 0 else { return }
        let stamp = clock.stamp()
        if stamp.moment.monotonic - gathering.began > Self.creditedDelay { beginTime(at: stamp) }
        postCommit.removeRecipients(first: writtenCount)
    }

    private func commit() {
        recordIssuedNumbers()
        let outcomes = journal.commit()
        if !outcomes.isEmpty { maintenance.countCommit() }
        for outcome in outcomes { report(outcome) }
    }

    /// Events that a policy drops use up numbers that no record bears: record them, so that a restart never reuses one.
    private func recordIssuedNumbers() {
        let last = Sequence(core.nextSequence.rawValue - 1)
        guard last > lastAppended else { return }
        lastAppended = last
        journal.recordIssued(last, at: clock.stamp().wall)
    }

    /// Reports to operators and handlers, once, that events are only in memory from here on, or again on disk.
    func report(_ outcome: CommitOutcome) {
        switch outcome {
        case .committed: break
        case .lost(let loss):
            log.error(loss.sentence)
            ingest(.announced(.bridge(condition: "durability-lost", detail: loss.sentence)))
        case .restored(let durability):
            log.notice("events of durability \(durability.rawValue) are kept on disk again")
            ingest(.announced(.bridge(condition: "durability-restored", detail: durability.rawValue)))
        }
    }

    /// To ask every handler whether it sleeps costs too, and comes second.
    private func runMaintenance() {
        let next = nextSequence
        guard maintenance.isDue(for: journal, next: next), ask({ $0.isEverybodyAsleep }) else { return }
        let (outcomes, excess) = maintenance.run(on: journal, next: next)
        for outcome in outcomes { report(outcome) }
        if excess > 0 { shed(excess) }
    }

    /// The journal outgrew its cap while its handlers sleep: the oldest data makes room, and is reported in gaps.
    private func shed(_ bytes: Int) {
        log.warning("the journal is \(bytes) bytes over journal.max_size: its oldest data is dropped, with gaps")
        for (handler, sequences) in journal.oldestData(freeing: bytes).sorted(by: { $0.key < $1.key }) {
            if unclaimed[handler] != nil { configure(handler, .absent) }
            ingest(.shed(handler, sequences))
        }
    }

    /// In place: to read a struct out of a class copies it, and counts every array in it.
    func ask<Answer>(_ question: (inout Dispatcher) -> Answer) -> Answer { question(&core) }
}

extension HandlerSettings {
    /// Settings of a handler that is owed events and has had no manifest in this life. Until the core can lose any in
    /// a gap, it counts as a handler whose manifest was removed; a manifest that returns goes on with the events left.
    fileprivate static var absent: HandlerSettings {
        var settings = HandlerSettings()
        settings.isEnabled = false
        settings.stoppedEvents = .keep
        // Events that wait for an absent handler must hold no source back.
        settings.queueCap = .max / 2
        return settings
    }
}

extension Turn: LoopTurn {
    public func loopEndsTurn() { end() }
}

extension DeviceEvent {
    var isGap: Bool { if case .gap = kind { true } else { false } }
}

extension Notice {
    var isBudgetWarning: Bool {
        if case .expiring(let reason, _, _, _) = self { reason == "budget" } else { false }
    }
}
