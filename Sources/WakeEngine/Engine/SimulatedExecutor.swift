// The executor without processes: a model handler that receives events, works for a given time, and acknowledges.
import WakeCore
import WakeModel

/// How a model handler works.
public struct SimulatedWork: Hashable, Sendable {
    /// From a delivery to its acknowledgement.
    public var span: TimeSpan
    /// At a long job.
    public var job: TimeSpan

    /// A long job reports progress this often: more than often enough not to count as stalled.
    static let progressEvery = TimeSpan.seconds(30)

    public init(_ span: TimeSpan, job: TimeSpan? = nil) { (self.span, self.job) = (span, job ?? span) }
}

/// Stands in for processes under the virtual clock. Confirmations come at once; acknowledgements after the work.
final class SimulatedExecutor: EffectExecutor {
    /// A line that the model will write.
    private struct Word {
        var due: Instant
        var input: Input
        /// The event of a long job: no line is written if that event was withdrawn meanwhile.
        var job: (handler: HandlerID, sequence: Sequence)?
    }

    private let composer: LineComposer
    private let work: SimulatedWork
    /// In the order of time.
    private var pending: [Word] = []
    private var next = 0
    /// Whose events are acknowledged when they are written.
    private var silent: Set<HandlerID> = []
    /// When each process has written all its lines.
    private var busyUntil: [HandlerID: Instant] = [:]
    /// The lines of what was delivered since they were written out last.
    private var lines = JSONWriter()

    init(composer: LineComposer, work: SimulatedWork) {
        self.composer = composer
        self.work = work
    }

    /// When the model writes its next line.
    var nextDue: Instant? { next < pending.count ? pending[next].due : nil }

    /// Says everything that is due.
    func speak(at now: Instant, in turn: Turn) {
        while next < pending.count, pending[next].due <= now {
            let word = pending[next]
            next += 1
            if let job = word.job, !turn.pending(of: job.handler).contains(where: { $0.sequence == job.sequence }) {
                continue
            }
            turn.ingest(word.input)
        }
        if next == pending.count {
            pending.removeAll(keepingCapacity: true)
            next = 0
        }
    }

    /// Hands out the lines that a handler would have read.
    func writeLines(_ write: ([UInt8]) -> Void) {
        guard lines.count > 0 else { return }
        write(lines.bytes)
        lines.removeAll()
    }

    func perform(_ effect: Effect, in turn: Turn) {
        let now = turn.clock.now().monotonic
        switch effect {
        case .launch(let id, let epoch, _): begin(id, epoch, at: now)
        case .deliver(let id, let epoch, let delivery):
            composer.composeLines(of: delivery, in: turn, into: &lines)
            take(delivery, as: id, epoch, at: now)
        case .freeze(let id, let epoch): say(.suspended(id, epoch, .clean), at: now)
        case .closeInput(let id, let epoch): exit(id, epoch, .exited(code: 0), at: max(now, busyUntil[id] ?? now))
        case .kill(let id, let epoch), .requestTermination(let id, let epoch):
            exit(id, epoch, .signalled(15), at: now)
        case .perform(let id, let epoch, _, let reference):
            let fault = ProtocolFault.replayed(verb: "request", device: "model")
            say(.answered(id, epoch, ref: reference, .error(fault)), at: now)
        case .notify, .thaw, .inspectLocks, .discard: break
        case .append, .update, .lease, .keepInFlight, .acknowledge, .giveBack, .deadLetter, .checkpoint, .setStopped,
            .decision, .order, .concluded, .progressed:
            break  // For the journal and the agenda.
        }
    }

    /// A model uses none.
    func processorTime(of handler: HandlerID) -> TimeSpan? { nil }

    /// The lines of the model are known before their time comes.
    func hear(_ handler: HandlerID, _ epoch: Epoch) {}

    // MARK: The model

    private func begin(_ id: HandlerID, _ epoch: Epoch, at now: Instant) {
        busyUntil[id] = nil
        guard let settings = composer.catalog.handlers[id]?.settings else { return }
        if settings.acknowledgement == .delivery { silent.insert(id) } else { silent.remove(id) }
        guard settings.readiness == .explicit else { return }
        say(.reply(id, epoch, ReplyLine(.ready)), at: now)
    }

    private func take(_ delivery: Delivery, as id: HandlerID, _ epoch: Epoch, at now: Instant) {
        // An open-ended event is held for as long as it lasts.
        for event in delivery.events where event.ownBudget != nil && !event.isOpenEnded {
            doJob(event.sequence, as: id, epoch, at: now)
        }
        guard let last = delivery.events.last(where: { $0.ownBudget == nil })?.sequence else { return }
        if !silent.isEmpty, silent.contains(id) {
            return say(.written(id, epoch, through: last), at: now)
        }
        let done = now + work.span
        if work.span > .zero { busyUntil[id] = max(done, busyUntil[id] ?? done) }
        say(.reply(id, epoch, ReplyLine(.ack(last, result: nil))), at: done)
    }

    private func doJob(_ sequence: Sequence, as id: HandlerID, _ epoch: Epoch, at now: Instant) {
        let done = now + work.job
        busyUntil[id] = max(done, busyUntil[id] ?? done)
        var (told, steps) = (now + SimulatedWork.progressEvery, Int64(1))
        while told < done {
            let reply = Reply.progress(sequence, done: steps, total: nil)
            say(.reply(id, epoch, ReplyLine(reply)), at: told, of: sequence, id)
            (told, steps) = (told + SimulatedWork.progressEvery, steps + 1)
        }
        say(.reply(id, epoch, ReplyLine(.ack(sequence, result: nil))), at: done, of: sequence, id)
    }

    private func exit(_ id: HandlerID, _ epoch: Epoch, _ status: ExitStatus, at due: Instant) {
        say(.exited(id, epoch, status), at: due)
        say(.emptied(id, epoch), at: due)
    }

    private func say(_ input: Input, at due: Instant, of job: Sequence, _ id: HandlerID) {
        say(Word(due: due, input: input, job: (id, job)))
    }

    private func say(_ input: Input, at due: Instant) { say(Word(due: due, input: input)) }

    private func say(_ word: Word) {
        // Nearly always: confirmations and answers are due in the order in which they were caused.
        guard let last = pending.last, pending.count > next, last.due > word.due else { return pending.append(word) }
        var index = pending.count
        while index > next, pending[index - 1].due > word.due { index -= 1 }
        pending.insert(word, at: index)
    }
}
