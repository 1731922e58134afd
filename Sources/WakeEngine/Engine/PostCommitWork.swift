// Collects the work that a turn performs after its commit, and whose time begins with that.
import WakeCore
import WakeModel

struct PostCommitWork {
    private(set) var effects: [Effect] = []
    /// The deliveries among them, whose time has not begun.
    private(set) var recipients: [Recipient] = []
    /// The handlers among them that are to be warned of the end of their budget.
    private(set) var warned: [Recipient] = []
    /// When the time of all recipients was put off last.
    var postponedAt = Instant.zero
    private var writtenCount = 0

    var isEmpty: Bool { effects.isEmpty }

    mutating func append(_ effect: consuming Effect) { effects.append(effect) }

    mutating func append(_ effect: consuming Effect, to recipient: Recipient) {
        recipients.append(recipient)
        effects.append(effect)
    }

    mutating func append(_ effect: consuming Effect, warning recipient: Recipient) {
        warned.append(recipient)
        effects.append(effect)
    }

    /// Turns the effects round once, so that each comes off the end in its order and is moved, not copied.
    mutating func reverse() {
        effects.reverse()
        writtenCount = 0
    }

    mutating func popLast() -> Effect? { effects.popLast() }

    /// The next delivery, in their order, was written at `instant`.
    mutating func recordWritten(at instant: Instant) {
        recipients[writtenCount].writtenAt = instant
        writtenCount += 1
    }

    mutating func removeRecipients(first count: Int) { recipients.removeFirst(count) }
    mutating func removeWarned() { warned.removeAll(keepingCapacity: true) }
}
