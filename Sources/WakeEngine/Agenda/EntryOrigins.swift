// The origins of scheduled events: one for each entry, given to another entry when the first is gone and nothing of it is owed.
import WakeAgenda
import WakeJournal
import WakeModel

/// A handler that names each of its alarms anew would otherwise fill the journal and the memory with names. An origin under which
/// something was lost or dead-lettered keeps its name.
struct EntryOrigins {
    private struct Owner: Hashable {
        var handler: HandlerID
        var source: AgendaSource
    }

    private var origins: [AgendaKey: EventOrigin] = [:]
    private var keys: [EventOrigin: AgendaKey] = [:]
    /// Origins without an entry, by their former owner.
    private var free: [Owner: [EventOrigin]] = [:]
    /// By the number of the occasion that is not over.
    private var raised: [Sequence: EventOrigin] = [:]
    private var owed: [EventOrigin: Int] = [:]
    private var retired: Set<EventOrigin> = []

    subscript(key: AgendaKey) -> EventOrigin? { origins[key] }

    mutating func set(_ origin: EventOrigin, for key: AgendaKey) {
        origins[key] = origin
        keys[origin] = key
    }

    /// Removes and returns an origin that another entry of the handler had.
    mutating func reuse(for key: AgendaKey) -> EventOrigin? {
        free[Owner(handler: key.handler, source: key.source)]?.popLast()
    }

    /// The entry is gone.
    mutating func release(_ key: AgendaKey) {
        guard let origin = origins.removeValue(forKey: key) else { return }
        if owed[origin] == nil { recycle(origin) }
    }

    mutating func raise(_ key: AgendaKey, as sequence: Sequence) {
        guard let origin = origins[key] else { return }
        raised[sequence] = origin
        owed[origin, default: 0] += 1
    }

    mutating func conclude(_ sequence: Sequence, _ conclusion: Conclusion) {
        guard conclusion.isFinal, let origin = raised.removeValue(forKey: sequence) else { return }
        switch conclusion {
        case .deadLettered, .dropped: retired.insert(origin)
        case .acknowledged, .handedBack, .withdrawn, .ended, .overrun, .crashed, .givenBack: break
        }
        let left = owed[origin, default: 1] - 1
        owed[origin] = left > 0 ? left : nil
        if left <= 0, let key = keys[origin], origins[key] != origin { recycle(origin) }
    }

    /// Restores the origins that the journal knew at the start.
    mutating func restore(_ known: [(origin: EventOrigin, key: AgendaKey)], keeping kept: Set<EventOrigin>) {
        retired = kept
        for (origin, key) in known { set(origin, for: key) }
    }

    /// After a start: those without an entry are free. Kinds that store none have few.
    mutating func releaseAll(but rows: [AgendaRow]) {
        let held = Set(rows.map(\.key.origin))
        for key in origins.keys where !held.contains(key) && key.source.kind?.traits.contains(.isStored) ?? true {
            release(key)
        }
    }

    private mutating func recycle(_ origin: EventOrigin) {
        guard let key = keys.removeValue(forKey: origin), !retired.contains(origin) else { return }
        free[Owner(handler: key.handler, source: key.source), default: []].append(origin)
    }
}
