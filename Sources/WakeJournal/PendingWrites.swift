// The writes that a database still lacks: pending events, and the other operations in their order.
import WakeModel

struct PendingWrites {
    var events = RamStore()
    /// Updates of events that are in the database. The backlog is written later and may erase them.
    private(set) var updates: [Sequence: DeviceEvent] = [:]
    private(set) var backlog: [JournalOp] = []
    var progress: [ProgressRecord.Key: [UInt8]] = [:]

    var isEmpty: Bool { events.isEmpty && updates.isEmpty && backlog.isEmpty && progress.isEmpty }

    /// A dead letter's event is erased where it was pending, so the letter may be its only copy.
    var oldestDeadLetter: Sequence? {
        backlog.lazy.compactMap { if case .addDeadLetter(let letter) = $0 { letter.seq } else { nil } }.min()
    }

    subscript(seq: Sequence) -> DeviceEvent? { events[seq] ?? updates[seq] }

    mutating func add(_ op: JournalOp) {
        switch op {
        case .append(let seq, let event, let handlers): events.append(event, as: seq, for: handlers)
        case .acknowledge(let range, let handler): addAcknowledgement(range, handler)
        case .update(let seq, let event): updates[seq] = event
        case .attempts, .fact, .device, .handler, .clearIdentities, .addDeadLetter, .removeDeadLetter, .setEntry,
            .removeEntry:
            backlog.append(op)
        }
    }

    /// A queue that is worked off leaves one range, not one a batch.
    private mutating func addAcknowledgement(_ range: ClosedRange<Sequence>, _ handler: HandlerID) {
        if case .acknowledge(let earlier, handler)? = backlog.last, earlier.upperBound.next == range.lowerBound {
            backlog[backlog.count - 1] = .acknowledge(earlier.lowerBound...range.upperBound, handler)
        } else {
            backlog.append(.acknowledge(range, handler))
        }
    }
}
