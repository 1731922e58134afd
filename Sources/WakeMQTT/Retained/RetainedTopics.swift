// The messages that a bridge retains at its broker: the newest payload of each topic, published until the broker has
// it. Pure.

/// If a topic changes often while the broker is slow or away, only the newest payload is published.
public struct RetainedTopics {
    private var payloads: [String: [UInt8]] = [:]
    /// Topics in the order of publication, from `first` on.
    private var waiting: [String] = []
    private var first = 0
    private var isWaiting: Set<String> = []
    private var flights: [UInt64: String] = [:]
    private var lastTag: UInt64 = 0
    /// How many topics are to be emptied, until the broker has acknowledged it.
    private var removals = 0
    private let limit: Int
    private static let mostRemovals = 1_000

    /// A bit that its tags have and no number of the stream has.
    public static let tagMark: UInt64 = 1 << 63

    /// - Parameter limit: how many messages may be on their way.
    public init(limit: Int = 32) { self.limit = limit }

    /// Sets the payload of a topic. An unchanged payload is not published again.
    public mutating func set(_ topic: String, _ payload: [UInt8]) {
        let former = payloads.updateValue(payload, forKey: topic)
        guard former != payload else { return }
        if payload.isEmpty { removals += 1 } else if former?.isEmpty == true { removals -= 1 }
        publish(topic)
    }

    /// False while very many removals wait, so that a client that retains names without end does not fill the memory.
    public var takesStrangers: Bool { removals < Self.mostRemovals }

    /// Empties a topic.
    public mutating func remove(_ topic: String) { set(topic, []) }

    public func payload(at topic: String) -> [UInt8]? { payloads[topic].flatMap { $0.isEmpty ? nil : $0 } }

    /// Publishes the payloads of all topics with the prefix again.
    public mutating func republish(below prefix: String = "") {
        for topic in payloads.keys.sorted() where topic.hasPrefix(prefix) { publish(topic) }
    }

    /// A new connection: nothing is on its way, and the broker may have lost everything.
    public mutating func restart() {
        flights.removeAll()
        republish()
    }

    private mutating func publish(_ topic: String) {
        if isWaiting.insert(topic).inserted { waiting.append(topic) }
    }

    /// The next message; nil where all is on its way, or as much as may be.
    public mutating func next() -> (tag: UInt64, message: MQTTMessage)? {
        guard flights.count < limit, first < waiting.count else { return nil }
        let topic = waiting[first]
        first += 1
        // Removing half at a time moves each topic at most once on average.
        if first * 2 > waiting.count {
            waiting.removeFirst(first)
            first = 0
        }
        isWaiting.remove(topic)
        lastTag += 1
        flights[lastTag] = topic
        return (Self.tagMark | lastTag, MQTTMessage(topic, payloads[topic] ?? [], isRetained: true))
    }

    public mutating func delivered(_ tag: UInt64) {
        guard let topic = flights.removeValue(forKey: tag & ~Self.tagMark) else { return }
        // A topic that the broker has removed too is forgotten.
        guard payloads[topic]?.isEmpty == true, !isWaiting.contains(topic) else { return }
        payloads[topic] = nil
        removals -= 1
    }
}
