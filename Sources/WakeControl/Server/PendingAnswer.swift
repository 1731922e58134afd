// Answers that come later: their connections are suspended meanwhile.
import WakeLoop
import WakeModel

final class PendingAnswer {
    private(set) var response: ControlResponse?
    private var suspension: Suspension

    init(on connection: HTTPConnection, waking wake: Deferred) {
        suspension = Suspension(of: connection, waking: wake)
    }

    func suspend() { suspension.suspend() }

    /// Of several answers the first one counts.
    func give(_ response: ControlResponse) {
        guard self.response == nil, suspension.isOpen else { return }
        self.response = response
        suspension.resume()
    }

    func finish() { suspension.finish() }
}

/// Refusals that are given a moment later, so that guessing takes long.
struct LateRefusals {
    /// The next first.
    private var waiting: [(due: Instant, answer: PendingAnswer, refusal: ControlRefusal)] = []

    /// When the next is given; nil while none waits.
    var due: Instant? { waiting.first?.due }

    mutating func add(_ refusal: ControlRefusal, to answer: PendingAnswer, at now: Instant) {
        waiting.append((now + WrongTokens.delay, answer, refusal))
    }

    mutating func give(at now: Instant) {
        let due = waiting.prefix { $0.due <= now }
        waiting.removeFirst(due.count)
        for late in due { late.answer.give(.refusal(late.refusal)) }
    }
}
