// The events of one kind and one device that its handler has not been given, in the order of their numbers.
import WakeModel

struct SubQueue: Sendable {
    /// Events of a kind fall due in the order of their numbers, but for gaps.
    enum Kind: Int, CaseIterable, Sendable {
        case data
        /// They fall due later than the data that follows them, and go first when there is no room.
        case advertisements
        /// Connects, disconnects and attentions: always due.
        case barriers
        /// Events that overtake a nack.
        case urgent
        /// A gap falls due when the first event that it reports would have.
        case gaps
        /// Events of no device: they never make room, and only the newest of an entry exists.
        case occasions

        var isOfData: Bool { self == .data || self == .advertisements }
        var isOfBarriers: Bool { self == .barriers || self == .urgent }
    }

    let kind: Kind
    private var queued = SortedArray<QueuedEvent>()
    /// False from the first event that falls due, or becomes too old, before one with a lower number. Gaps do; other events
    /// do where a manifest changed meanwhile, or where an earlier daemon had them.
    private var isInOrder = true

    init(_ kind: Kind) { self.kind = kind }

    var count: Int { queued.count }
    var first: QueuedEvent? { queued.first }
    var events: ArraySlice<QueuedEvent> { queued.elements }
    var bytes: Int { events.reduce(0) { $0 + Int($1.size) } }

    /// From when on an event of it may wake the handler.
    var earliestDue: Instant? { isInOrder ? first?.wakesAt : events.lazy.map(\.wakesAt).min() }
    var earliestArrival: Instant? { isInOrder ? first?.arrived : events.lazy.map(\.arrived).min() }

    /// The first event that may wake the handler by `now`.
    func firstDue(at now: Instant) -> QueuedEvent? { events.first { $0.isDue(at: now) } }

    /// The newest event of `channel` since `barrier`.
    func newest(of channel: Channel, since barrier: Sequence) -> QueuedEvent? {
        for event in events.reversed() where event.sequence > barrier && event.kind == .data(channel) { return event }
        return nil
    }

    mutating func insert(_ event: QueuedEvent) {
        if queued.isEmpty { isInOrder = true }
        let index = queued.insert(event) { $0.sequence < event.sequence }
        guard isInOrder, count > 1 else { return }
        isInOrder =
            (index == events.startIndex || event.mayFollow(events[index - 1]))
            && (index + 1 == events.endIndex || events[index + 1].mayFollow(event))
    }

    mutating func popFirst() -> QueuedEvent? { queued.popFirst() }

    mutating func remove(_ event: QueuedEvent) -> QueuedEvent? {
        let index = queued.firstIndex { $0.sequence < event.sequence }
        guard index < events.endIndex, events[index].sequence == event.sequence else { return nil }
        return queued.remove(at: index)
    }

    mutating func removeAll(where fits: (QueuedEvent) -> Bool) -> [QueuedEvent] { queued.removeAll(where: fits) }

    /// Removes events that arrived before `limit`.
    mutating func removeExpired(before limit: Instant) -> [QueuedEvent] {
        guard isInOrder else { return removeAll { $0.arrived < limit } }
        var expired: [QueuedEvent] = []
        while let first, first.arrived < limit, let event = popFirst() { expired.append(event) }
        return expired
    }

    /// Keeps only the newest of connects and disconnects, and the newest attention.
    mutating func removeStaleBarriers() -> [QueuedEvent] {
        let (link, attention) = (events.last(where: \.isLink)?.sequence, events.last { !$0.isLink }?.sequence)
        return removeAll { $0.sequence != link && $0.sequence != attention }
    }
}

extension QueuedEvent {
    fileprivate func mayFollow(_ former: QueuedEvent) -> Bool {
        wakesAt >= former.wakesAt && arrived >= former.arrived
    }
}
