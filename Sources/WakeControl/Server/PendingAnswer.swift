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

    /// Whether it has no answer yet and its connection is open.
    var isAwaited: Bool { response == nil && suspension.isOpen }

    /// The first of several answers counts.
    func give(_ response: ControlResponse) {
        guard isAwaited else { return }
        self.response = response
        suspension.resume()
    }

    func finish() { suspension.finish() }
}

/// Refusals that are given a moment later, so that guessing takes long.
struct LateRefusals {
    /// The next first.
    private var waiting: [Late] = []

    private struct Late {
        let due: Instant
        let connection: HTTPConnection
        let answer: PendingAnswer
        let refusal: ControlRefusal
    }

    /// When the next is given; nil while none waits.
    var due: Instant? { waiting.first?.due }

    mutating func add(
        _ refusal: ControlRefusal, to answer: PendingAnswer, on connection: HTTPConnection, at now: Instant
    ) {
        waiting.append(
            Late(due: now + WrongTokens.delay, connection: connection, answer: answer, refusal: refusal))
    }

    /// Gives the connection's refusal now and closes the connection; false where none waits for it.
    mutating func give(on connection: HTTPConnection) -> Bool {
        guard let place = waiting.firstIndex(where: { $0.connection == connection && $0.answer.isAwaited }) else {
            return false
        }
        let late = waiting.remove(at: place)
        late.answer.give(.content(late.refusal.content.closing))
        return true
    }

    mutating func give(at now: Instant) {
        let due = waiting.prefix { $0.due <= now }
        waiting.removeFirst(due.count)
        for late in due { late.answer.give(.refusal(late.refusal)) }
    }
}
