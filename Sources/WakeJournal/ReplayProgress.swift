// How far a trace was played: kept in the commit of the events that it brought, in whichever database those are.
import WakeModel

/// Two databases cannot commit at one instant. A position in the one and its events in the other would let a death between
/// the two commits lose the events or bring them twice, so a turn holds replayed events of one database only.
struct ReplayProgress {
    /// The trace that both databases name.
    var source: String?
    /// The line that is being played; nil when it is done.
    var position: Recovery.ReplayPosition?
    /// Has the line's events.
    private var target: EventStore?
    /// Has the replayed events of the open turn.
    private var events: EventStore?
    /// The last line that is done, and the last whose commit has begun.
    private var done: Recovery.ReplayPosition?
    private var committed: Recovery.ReplayPosition?

    /// Where an earlier life was.
    var recovered: Recovery.ReplayPosition?

    func start(of source: String) -> Recovery.ReplayPosition {
        if let recovered, recovered.source == source { return recovered }
        return Recovery.ReplayPosition(source: source, line: 0)
    }

    /// Notes an event for a database; true where the open turn has replayed events of another, to be committed first.
    mutating func mustCommit(before store: EventStore) -> Bool {
        guard position != nil else { return false }
        let isFirst = target == nil
        target = store
        return isFirst && events.map { $0 !== store } ?? false
    }

    /// The line has brought what it brings: its position goes where its events are.
    mutating func close(orElse fallback: EventStore) {
        guard let position else { return }
        let store = target ?? events ?? fallback
        store.note(.replayPosition, position.bytes)
        done = position
        (self.position, target, events) = (nil, nil, store)
    }

    mutating func noteCommit() {
        committed = done
        events = nil
    }

    /// Never a line of the open turn: its events may be in the other database, and not survive.
    func copy(to disk: EventStore) {
        if let committed, events !== disk { disk.note(.replayPosition, committed.bytes) }
    }
}
