// How far a trace was played: kept in the commit of the events that it brought, in whichever database those are.
import WakeModel

/// Two databases cannot commit at one instant. A position in the one and its events in the other would let a death between
/// the two commits lose the events or bring them twice, so a turn holds replayed events of one database only.
struct ReplayProgress {
    /// The trace that both databases name.
    var source: String?
    /// The line that is being played; nil when it is done.
    var position: [UInt8]?
    /// Has the line's events.
    private var target: EventStore?
    /// Has the replayed events of the open turn.
    var events: EventStore?

    /// Notes an event for a database; true where the open turn has replayed events of another, to be committed first.
    mutating func mustCommit(before store: EventStore) -> Bool {
        guard position != nil else { return false }
        let isFirst = target == nil
        target = store
        return isFirst && events.map { $0 !== store } ?? false
    }

    /// The line has brought what it brings: its position goes where its events are.
    mutating func close(orElse fallback: EventStore) {
        guard let bytes = position else { return }
        let store = target ?? events ?? fallback
        store.perform(.state(-1, bytes))
        (position, target, events) = (nil, nil, store)
    }
}
