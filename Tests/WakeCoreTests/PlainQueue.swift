// A queue as plain as can be: one list, looked through for every question. What it answers is what a queue of lanes must.
import WakeModel

@testable import WakeCore

struct PlainQueue {
    private(set) var events: [QueuedEvent] = []
    private var terms: [EventOrigin: Terms] = [:]
    private var heldUntil: [EventOrigin: Instant] = [:]
    private var barriers: [EventOrigin: Sequence] = [:]
    private var now = Instant.zero

    func terms(of device: EventOrigin) -> Terms { terms[device] ?? .orphaned }
    func isHeld(_ device: EventOrigin) -> Bool { heldUntil[device].map { now < $0 } ?? false }
    private func isHeld(_ event: QueuedEvent) -> Bool { !event.passesNacks && isHeld(event.origin) }
    private func wakes(_ event: QueuedEvent) -> Bool { terms(of: event.origin).wakes }

    mutating func insert(_ event: QueuedEvent, _ terms: Terms) {
        if self.terms[event.origin] == nil { self.terms[event.origin] = terms }
        if event.isBarrier, !event.passesNacks {
            barriers[event.origin] = max(event.sequence, barriers[event.origin] ?? event.sequence)
        }
        events.append(event)
        events.sort { $0.sequence < $1.sequence }
    }

    mutating func take(limit: Int) -> [QueuedEvent] {
        let taken = events.filter { !isHeld($0) }.prefix(limit)
        return remove { event in taken.contains { $0.sequence == event.sequence } }
    }

    mutating func hold(_ device: EventOrigin, until: Instant) { if terms[device] != nil { heldUntil[device] = until } }
    mutating func release(at now: Instant) { self.now = now }
    mutating func reroute(_ device: EventOrigin, _ terms: Terms) {
        if self.terms[device] != nil { self.terms[device] = terms }
    }

    mutating func reroute(_ terms: (EventOrigin) -> Terms) {
        for device in self.terms.keys { self.terms[device] = terms(device) }
    }

    mutating func remove(where fits: (QueuedEvent) -> Bool) -> [QueuedEvent] {
        let removed = events.filter(fits)
        events.removeAll(where: fits)
        return removed
    }

    mutating func removeAllButGaps() -> [QueuedEvent] {
        heldUntil = [:]
        return remove { $0.kind != .gap }
    }

    mutating func removeExpired(at now: Instant) -> [QueuedEvent] {
        let terms = terms
        return remove { event in
            guard event.kind != .gap, let retention = terms[event.origin]?.retention else { return false }
            return now - event.arrived > retention
        }
    }

    mutating func removeNewest(of channel: Channel, _ device: EventOrigin) -> QueuedEvent? {
        let newest = events.last {
            $0.origin == device && $0.kind == .data(channel) && $0.sequence > barriers[device] ?? Sequence(0)
        }
        return remove { $0.sequence == newest?.sequence }.first
    }

    mutating func removeForOverflow(of subscription: Int?, sparingData: Bool) -> QueuedEvent? {
        let data = events.filter {
            $0.isData && (subscription == nil || terms(of: $0.origin).subscription == subscription)
        }
        let victim =
            data.first { terms(of: $0.origin).policy == .latest }
            ?? data.first { $0.kind == .data(.advertisement) } ?? (sparingData ? nil : data.first)
        return remove { $0.sequence == victim?.sequence }.first
    }

    // MARK: Questions

    func gapCount(of device: EventOrigin) -> Int { events.count { $0.origin == device && $0.kind == .gap } }

    func bytes(of subscription: Int) -> Int {
        events.filter { terms(of: $0.origin).subscription == subscription }.reduce(0) { $0 + Int($1.size) }
    }

    var hasWaking: Bool { events.contains(where: wakes) }

    func firstWaking(now: Instant) -> Sequence? {
        events.first { wakes($0) && !isHeld($0) && $0.isDue(at: now) }?.sequence
    }

    /// Where nothing is due yet.
    var nextDue: Instant? { events.filter { wakes($0) && !isHeld($0) }.map(\.due).min() }

    var releases: [Instant] { events.filter(isHeld).compactMap { heldUntil[$0.origin] } }

    var isAllHeld: Bool { events.allSatisfy(isHeld) }

    /// When the first that wakes falls due and is held back no more.
    var nextWake: Instant? {
        events.filter(wakes).map { event in
            max(event.isBarrier ? .zero : event.due, isHeld(event) ? heldUntil[event.origin] ?? .zero : .zero)
        }.min()
    }
}
