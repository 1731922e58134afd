// The gaps of one handler that were not delivered yet, and so may still grow by what is lost next.
import WakeModel

struct PendingGaps: Sendable {
    struct Entry: Hashable, Sendable {
        var sequence: Sequence
        var device: DeviceID
        var gap: Gap
    }

    private var entries: [Entry] = []

    /// Adds one lost event to the gap of the same device and cause, where one is pending.
    mutating func grow(_ device: DeviceID, _ cause: GapCause, by lost: Sequence?, at wall: WallTime) -> Entry? {
        guard let index = entries.firstIndex(where: { $0.device == device && $0.gap.cause == cause }) else { return nil }
        entries[index].gap.include(lost, at: wall)
        return entries[index]
    }

    mutating func insert(_ entry: Entry) { entries.append(entry) }

    /// What is delivered is told as it stands; the next loss gets a gap of its own.
    mutating func seal(_ delivered: [QueuedEvent]) {
        guard !entries.isEmpty else { return }
        entries.removeAll { entry in delivered.contains { $0.sequence == entry.sequence } }
    }

    /// Nothing is joined across a connect or a disconnect.
    mutating func seal(_ device: DeviceID) { entries.removeAll { $0.device == device } }
}

extension Gap {
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
