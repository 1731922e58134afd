// The plainest queue: one list, searched for every question. A queue of sub-queues must answer the same.
import WakeModel

@testable import WakeCore

struct PlainQueue {
    private(set) var events: [QueuedEvent] = []
    private var rules: [EventOrigin: DeliveryRules] = [:]
    private var heldUntil: [EventOrigin: Instant] = [:]
    private var barriers: [EventOrigin: Sequence] = [:]
    private var now = Instant.zero

    func rules(of device: EventOrigin) -> DeliveryRules { rules[device] ?? .orphaned }
    func isHeld(_ device: EventOrigin) -> Bool { heldUntil[device].map { now < $0 } ?? false }
    private func isHeld(_ event: QueuedEvent) -> Bool { !event.passesNacks && isHeld(event.origin) }
    private func wakes(_ event: QueuedEvent) -> Bool { rules(of: event.origin).wakes }

    mutating func insert(_ event: QueuedEvent, _ rules: DeliveryRules) {
        if self.rules[event.origin] == nil { self.rules[event.origin] = rules }
        if event.isBarrier, !event.passesNacks {
            barriers[event.origin] = max(event.sequence, barriers[event.origin] ?? event.sequence)
        }
        events.append(event)
        events.sort { $0.sequence < $1.sequence }
    }

    mutating func dequeue(limit: Int) -> [QueuedEvent] {
        let taken = events.filter { !isHeld($0) }.prefix(limit)
        return remove { event in taken.contains { $0.sequence == event.sequence } }
    }

    mutating func hold(_ device: EventOrigin, until: Instant) { if rules[device] != nil { heldUntil[device] = until } }
    mutating func release(at now: Instant) { self.now = now }
    mutating func reroute(_ device: EventOrigin, _ rules: DeliveryRules) {
        if self.rules[device] != nil { self.rules[device] = rules }
    }

    mutating func reroute(_ rules: (EventOrigin) -> DeliveryRules) {
        for device in self.rules.keys { self.rules[device] = rules(device) }
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
        let rules = rules
        return remove { event in
            guard event.kind != .gap, let retention = rules[event.origin]?.retention else { return false }
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
            $0.isData && (subscription == nil || rules(of: $0.origin).subscription == subscription)
        }
        let victim =
            data.first { rules(of: $0.origin).policy == .latest }
            ?? data.first { $0.kind == .data(.advertisement) } ?? (sparingData ? nil : data.first)
        return remove { $0.sequence == victim?.sequence }.first
    }

    // MARK: Questions

    func gapCount(of device: EventOrigin) -> Int { events.count { $0.origin == device && $0.kind == .gap } }

    func bytes(of subscription: Int) -> Int {
        events.filter { rules(of: $0.origin).subscription == subscription }.reduce(0) { $0 + Int($1.size) }
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
