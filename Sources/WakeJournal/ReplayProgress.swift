// How far a trace was played. Each position is in the same commit, and the same database, as the events that it brought.
import WakeModel

/// Two databases cannot commit at the same instant. A crash between the commits would lose or repeat events if a position were in
/// the other database. So a turn holds replayed events of one database only.
struct ReplayProgress {
    /// The trace that both databases name.
    var source: String?
    /// The line that is being played; nil when it is done.
    var position: Recovery.ReplayPosition?
    private var target: EventStore?
    /// Has the replayed events of the open turn.
    private var events: EventStore?
    /// The last line that is done, and the last whose commit has begun.
    private var done: Recovery.ReplayPosition?
    private var committed: Recovery.ReplayPosition?
    var recovered: Recovery.ReplayPosition?

    func start(of source: String) -> Recovery.ReplayPosition {
        if let recovered, recovered.source == source { return recovered }
        return Recovery.ReplayPosition(source: source, line: 0)
    }

    /// The line brings an event to the store. True where the open turn has replayed events of another one: commit these first.
    mutating func mustCommit(before store: EventStore) -> Bool {
        guard position != nil else { return false }
        let isFirst = target == nil
        target = store
        return isFirst && events.map { $0 !== store } ?? false
    }

    /// The line has brought all its events, so its position goes where they are.
    mutating func close(orElse fallback: EventStore) {
        guard let position else { return }
        let store = target ?? events ?? fallback
        store.record(.replayPosition, position.bytes)
        done = position
        (self.position, target, events) = (nil, nil, store)
    }

    mutating func beginCommit() {
        committed = done
        events = nil
    }

    /// Never a line of the open turn: its events may be in the other database and be lost.
    func copy(to disk: EventStore) {
        if let committed, events !== disk { disk.record(.replayPosition, committed.bytes) }
    }
}
