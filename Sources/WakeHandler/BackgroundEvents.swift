// The events of a session as an asynchronous sequence, and those of them that wait for its consumer.

/// The events of a session, in the order of delivery, until the daemon ends the input.
///
/// An event stays yours until you pass it to ``BackgroundSession/finish(_:_:)``. One that you never finish comes again,
/// and holds back the acknowledgement of those after it. Events behind a retry of their device are left out: they come
/// again, in order.
public struct BackgroundEvents: AsyncSequence, Sendable {
    public typealias Element = BackgroundEvent
    public typealias Failure = Never

    let session: BackgroundSession

    public func makeAsyncIterator() -> Iterator { Iterator(session: session) }

    /// Takes the session's events one by one. Iterate in one place: two iterators would share the events.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let session: BackgroundSession

        /// The next event; nil at the end of the input, or when the task is cancelled.
        public mutating func next() async -> BackgroundEvent? { await session.nextEvent() }

        /// The next event; nil at the end of the input, or when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> BackgroundEvent? {
            await session.nextEvent()
        }
    }
}

/// Events that have arrived and were not taken yet. The daemon's batches bound their number.
struct ArrivedEvents {
    private var events: [BackgroundEvent] = []
    private var consumers: [CheckedContinuation<Void, Never>] = []
    private(set) var isEnded = false

    /// True while a consumer has nothing to do.
    var hasIdleConsumer: Bool { !consumers.isEmpty }

    /// A later delivery of an event takes the place of an earlier one that was not taken.
    mutating func append(_ event: BackgroundEvent) {
        events.removeAll { $0.sequence == event.sequence }
        events.append(event)
        wakeConsumers()
    }

    mutating func removeFirst() -> BackgroundEvent? { events.isEmpty ? nil : events.removeFirst() }

    /// After a thaw, removes the events that the daemon has taken back.
    mutating func keep(only owed: [UInt64]) { events.removeAll { !owed.contains($0.sequence) } }

    mutating func end() {
        isEnded = true
        wakeConsumers()
    }

    mutating func wait(_ consumer: CheckedContinuation<Void, Never>) { consumers.append(consumer) }

    mutating func wakeConsumers() {
        for consumer in consumers { consumer.resume() }
        consumers = []
    }
}
