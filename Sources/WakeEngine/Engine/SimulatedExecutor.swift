// The executor without processes: a model handler that takes what it is given, works as long as it is told to, and acknowledges.
import WakeCore
import WakeModel

/// Stands in for processes under the virtual clock. Confirmations come at once; acknowledgements after `work`.
final class SimulatedExecutor: EffectExecutor {
    private let composer: LineComposer
    private let work: TimeSpan
    /// What the model will say, in the order of time.
    private var pending: [(due: Instant, input: Input)] = []
    private var next = 0
    /// The lines of what was delivered since they were written out last.
    private var lines = JSONWriter()

    init(composer: LineComposer, work: TimeSpan) {
        self.composer = composer
        self.work = work
    }

    /// When the model speaks next.
    var nextDue: Instant? { next < pending.count ? pending[next].due : nil }

    /// Says everything that is due.
    func speak(at now: Instant, in turn: Turn) {
        while next < pending.count, pending[next].due <= now {
            let input = pending[next].input
            next += 1
            turn.ingest(input)
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
        case .deliver(let id, let epoch, let delivery):
            composer.composeLines(of: delivery, in: turn, into: &lines)
            guard let last = delivery.events.last else { return }
            say(.reply(id, epoch, ReplyLine(.ack(last.sequence, result: nil))), at: now + work)
        case .freeze(let id, let epoch): say(.suspended(id, epoch, .clean), at: now)
        case .kill(let id, let epoch), .requestTermination(let id, let epoch):
            say(.exited(id, epoch, .signalled(15)), at: now)
            say(.emptied(id, epoch), at: now)
        case .perform(let id, let epoch, _, let reference):
            let fault = ProtocolFault.replayed(verb: "request", device: "model")
            say(.answered(id, epoch, ref: reference, .error(fault)), at: now)
        case .launch, .notify, .closeInput, .thaw, .inspectLocks, .discard: break
        case .append, .update, .lease, .keepInFlight, .acknowledge, .giveBack, .deadLetter, .checkpoint, .setStopped,
            .decision, .order, .concluded, .progressed:
            break  // For the journal and the agenda.
        }
    }

    /// A model uses none.
    func processorTime(of handler: HandlerID) -> TimeSpan? { nil }

    /// What the model says is known before its time comes.
    func hear(_ handler: HandlerID, _ epoch: Epoch) {}

    private func say(_ input: Input, at due: Instant) {
        // Nearly always: confirmations and answers are due in the order in which they were caused.
        guard let last = pending.indices.last, pending[last].due > due else { return pending.append((due, input)) }
        var index = pending.count
        while index > next, pending[index - 1].due > due { index -= 1 }
        pending.insert((due, input), at: index)
    }
}
