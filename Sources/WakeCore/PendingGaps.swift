// The gaps of one handler that were not delivered yet, and so may still grow by the next loss.
import WakeModel

struct PendingGaps: Sendable {
    struct Entry: Hashable, Sendable {
        var sequence: Sequence
        var origin: EventOrigin
        var gap: Gap
        var durability: Durability
        /// True while the journal's copy has a lower count.
        var isAhead = false
    }

    /// Looked up by device, never searched: ten thousand devices may have gaps.
    private var entries: [EventOrigin: [Entry]] = [:]

    /// Adds one lost event to the gap of the same device and cause, where one is pending that is journaled no weaker.
    mutating func grow(
        _ device: EventOrigin, _ cause: GapCause, _ durability: Durability, by lost: Sequence?, at wall: WallTime
    ) -> Entry? {
        let place = entries[device]?.firstIndex { $0.gap.cause == cause && $0.durability >= durability }
        guard let place, var entry = entries[device]?[place] else { return nil }
        entry.gap.include(lost, at: wall)
        entry.isAhead = cause == .storm && !entry.gap.isWorthWriting
        entries[device]?[place] = entry
        return entry
    }

    /// Adds another gap to that of the same device and cause, where one is pending that is journaled no weaker.
    mutating func grow(_ device: EventOrigin, _ durability: Durability, by gap: Gap) -> Entry? {
        let place = entries[device]?.firstIndex { $0.gap.cause == gap.cause && $0.durability >= durability }
        guard let place, var entry = entries[device]?[place] else { return nil }
        entry.gap.include(gap)
        entries[device]?[place] = entry
        return entry
    }

    mutating func insert(_ entry: Entry) { entries[entry.origin, default: []].append(entry) }

    /// Delivered gaps do not grow any more; the next loss gets a gap of its own. Returns those whose journaled copy is
    /// behind.
    mutating func seal(_ delivered: [QueuedEvent]) -> [Entry] {
        guard !entries.isEmpty else { return [] }
        return delivered.filter { $0.kind == .gap }.flatMap { told in
            seal(told.origin) { $0.sequence == told.sequence }
        }
    }

    /// Gaps are not joined across a connect or a disconnect.
    mutating func seal(_ device: EventOrigin) -> [Entry] { entries.isEmpty ? [] : seal(device) { _ in true } }

    private mutating func seal(_ device: EventOrigin, where isOver: (Entry) -> Bool) -> [Entry] {
        guard var pending = entries[device] else { return [] }
        let behind = pending.filter { $0.isAhead && isOver($0) }
        pending.removeAll(where: isOver)
        entries[device] = pending.isEmpty ? nil : pending
        return behind
    }
}

extension Gap {
    /// A storm must not cause as many writes: its gap is written when its count has doubled, and when it is delivered.
    fileprivate var isWorthWriting: Bool { count.map { $0 & ($0 - 1) == 0 } ?? true }

    /// Joins a gap of events without numbers.
    fileprivate mutating func include(_ other: Gap) {
        count = count.flatMap { count in other.count.map { count + $0 } }
        (from, to) = (min(from, other.from), max(to, other.to))
    }

    mutating func include(_ lost: Sequence?, at wall: WallTime) {
        if let lost {
            first = first.map { min($0, lost) } ?? lost
            last = last.map { max($0, lost) } ?? lost
        }
        count = count.map { $0 + 1 }
        from = min(from, wall)
        to = max(to, wall)
    }
}
