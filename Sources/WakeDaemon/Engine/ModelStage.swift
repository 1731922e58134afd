// The stage without processes: a model handler that takes what it is given, works as long as it is told to, and acknowledges.
import WakeCore
import WakeModel

/// Stands in for processes under the virtual clock. Confirmations come at once; acknowledgements after `work`.
final class ModelStage: Stage {
    private unowned let engine: Engine
    private let work: TimeSpan
    /// What the model will say, in the order of time.
    private var pending: [(due: Instant, input: Input)] = []
    private var next = 0
    private let didDeliver: (HandlerID, Delivery) -> Void

    init(engine: Engine, work: TimeSpan = .zero, didDeliver: @escaping (HandlerID, Delivery) -> Void = { _, _ in }) {
        self.engine = engine
        self.work = work
        self.didDeliver = didDeliver
    }

    /// When the model speaks next.
    var nextDue: Instant? { next < pending.count ? pending[next].due : nil }

    /// Says everything that is due.
    func speak(at now: Instant) {
        while next < pending.count, pending[next].due <= now {
            let input = pending[next].input
            next += 1
            engine.feed(input)
        }
        if next == pending.count {
            pending.removeAll(keepingCapacity: true)
            next = 0
        }
    }

    func perform(_ effect: Effect) {
        switch effect {
        case .deliver(let id, let epoch, let delivery):
            didDeliver(id, delivery)
            guard let last = delivery.events.last else { return }
            say(.reply(id, epoch, ReplyLine(.ack(last.sequence, result: nil))), after: work)
        case .freeze(let id, let epoch): say(.suspended(id, epoch, .clean), after: .zero)
        case .kill(let id, let epoch), .requestTermination(let id, let epoch):
            say(.exited(id, epoch, .signalled(15)), after: .zero)
            say(.emptied(id, epoch), after: .zero)
        case .perform(let id, let epoch, _, let reference):
            let fault = ProtocolFault.replayed(verb: "request", device: "model")
            say(.answered(id, epoch, ref: reference, .error(fault)), after: .zero)
        case .launch, .notify, .closeInput, .thaw, .inspectLocks, .discard: break
        case .append, .update, .lease, .keepInFlight, .acknowledge, .giveBack, .deadLetter, .checkpoint, .setStopped,
            .decision:
            break
        }
    }

    private func say(_ input: Input, after delay: TimeSpan) {
        let due = engine.clock.now().monotonic + delay
        // Nearly always: confirmations and answers are due in the order in which they were caused.
        guard let last = pending.indices.last, pending[last].due > due else { return pending.append((due, input)) }
        var index = pending.count
        while index > next, pending[index - 1].due > due { index -= 1 }
        pending.insert((due, input), at: index)
    }
}
