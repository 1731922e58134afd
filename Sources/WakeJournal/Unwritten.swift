// What a database has not been told yet: events that are still owed, and the rest in the order of its asking.
import WakeModel

struct Unwritten {
    var events = RamStore()
    /// Of events that are in the database. What follows them in the backlog may erase what they change.
    private(set) var updates: [Sequence: DeviceEvent] = [:]
    private(set) var backlog: [Verb] = []
    private(set) var notes: [Note.Key: [UInt8]] = [:]

    var isEmpty: Bool { events.isEmpty && updates.isEmpty && backlog.isEmpty && notes.isEmpty }

    /// Of dead letters: their events are erased where they were owed.
    var oldestBuried: Sequence? {
        backlog.lazy.compactMap { if case .bury(let letter) = $0 { letter.seq } else { nil } }.min()
    }

    subscript(seq: Sequence) -> DeviceEvent? { events[seq] ?? updates[seq] }

    mutating func add(_ verb: Verb) {
        switch verb {
        case .append(let seq, let event, let owners): events.append(event, as: seq, owedTo: owners)
        case .acknowledge(let range, let handler): addAcknowledgement(range, handler)
        case .update(let seq, let event): updates[seq] = event
        case .attempts, .fact, .device, .handler, .clearIdentities, .bury, .unbury: backlog.append(verb)
        }
    }

    /// A queue that is worked off leaves one range, not one for each batch.
    private mutating func addAcknowledgement(_ range: ClosedRange<Sequence>, _ handler: HandlerID) {
        if case .acknowledge(let earlier, handler)? = backlog.last, earlier.upperBound.next == range.lowerBound {
            backlog[backlog.count - 1] = .acknowledge(earlier.lowerBound...range.upperBound, handler)
        } else {
            backlog.append(.acknowledge(range, handler))
        }
    }

    mutating func set(_ key: Note.Key, to value: [UInt8]) { notes[key] = value }
}
