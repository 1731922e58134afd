// What a bridge retains at its broker: the newest payload of each topic, published until the broker has it. Pure.

/// Many changes of one topic while the broker is slow or away are one message.
public struct RetainedTopics {
    private var payloads: [String: [UInt8]] = [:]
    /// In the order in which they are published.
    private var waiting: [String] = []
    private var isWaiting: Set<String> = []
    private var flights: [UInt64: String] = [:]
    private var lastTag: UInt64 = 0
    private let limit: Int

    /// Set in the tags of all that it publishes, and in no number of the stream.
    public static let tagMark: UInt64 = 1 << 63

    /// - Parameter limit: how many messages may be on their way.
    public init(limit: Int = 32) { self.limit = limit }

    /// What is to stand at a topic. Nothing is published where it stands there already.
    public mutating func set(_ topic: String, _ payload: [UInt8]) {
        guard payloads[topic] != payload else { return }
        payloads[topic] = payload
        publish(topic)
    }

    /// Nothing is to stand at a topic.
    public mutating func remove(_ topic: String) { set(topic, []) }

    public func payload(at topic: String) -> [UInt8]? { payloads[topic].flatMap { $0.isEmpty ? nil : $0 } }

    /// Publishes again what stands at the topics that begin so.
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
        guard flights.count < limit, !waiting.isEmpty else { return nil }
        let topic = waiting.removeFirst()
        isWaiting.remove(topic)
        lastTag += 1
        flights[lastTag] = topic
        return (Self.tagMark | lastTag, MQTTMessage(topic, payloads[topic] ?? [], isRetained: true))
    }

    public mutating func delivered(_ tag: UInt64) {
        guard let topic = flights.removeValue(forKey: tag & ~Self.tagMark) else { return }
        // What was removed, and is removed at the broker, is remembered no longer.
        if payloads[topic]?.isEmpty == true, !isWaiting.contains(topic) { payloads[topic] = nil }
    }
}
