// Receives another bridge's publications from the broker: topics become news of the bridge.
import WakeLoop
import WakeMQTT
import WakeModel
import WakeSources
import WakeSystem

/// A bridge's connection to a broker, whose session keeps lines while this daemon is away.
final class BrokerFeed: RemoteFeed {
    /// Nil once it is closed.
    private var connection: MQTTConnection?
    private let prefix: String
    private let name: String
    private let broker: BrokerAddress
    private let warnings: BrokerWarnings
    /// The line that was handed out last.
    private var unacknowledged: ArrivedMessage?

    /// - Parameters:
    ///   - name: the bridge that it follows.
    ///   - topic: what the bridge's topics begin with.
    init(
        of name: String, on loop: EventLoop, _ options: MQTTOptions, topic: String, _ warnings: BrokerWarnings
    ) throws(SystemError) {
        var options = options
        options.keepsSession = true
        options.longestMessage = RemoteNews.longestLine
        let connection = try MQTTConnection(on: loop, options)
        prefix = topic + "/"
        (self.name, self.warnings, broker) = (name, warnings, options.broker)
        for filter in ["events", "devices/+/about", "devices/+/availability", "status"] {
            connection.subscribe(prefix + filter)
        }
        self.connection = connection
    }

    var descriptor: Int32 { connection?.descriptor ?? -1 }

    func open() { connection?.open() }

    func close() { connection = nil }

    func next() -> RemoteNews? {
        guard let event = connection?.nextEvent() else { return nil }
        switch event {
        case .connected:
            warnings.succeed(.bridge(name))
            return .reached
        case .disconnected(let fault):
            warnings.fail(.bridge(name), at: broker, fault)
            return .lost(fault.sentence)
        case .notSubscribed(let filter): return .refused(topics: filter)
        case .arrived(let arrived): return news(of: arrived) ?? .other
        case .delivered, .unsubscribed: return .other
        }
    }

    /// Also of a connection that is lost: nothing arrives before. The broker sends again what it does not know.
    func acknowledgeLine() {
        if let arrived = unacknowledged { connection?.acknowledge(arrived) }
        unacknowledged = nil
    }

    /// Only a line has to be kept before the broker may forget it: all else is retained there.
    private func news(of arrived: ArrivedMessage) -> RemoteNews? {
        warnings.note(arrived, from: broker)
        let news = Self.news(of: arrived.message, below: prefix)
        if case .line = news { unacknowledged = arrived } else { connection?.acknowledge(arrived) }
        return news
    }

    /// Nil for what no bridge publishes so.
    static func news(of message: MQTTMessage, below prefix: String) -> RemoteNews? {
        guard message.topic.hasPrefix(prefix) else { return nil }
        let levels = message.topic.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false)
        if levels == ["events"] { return .line(message.payload) }
        if levels == ["status"] { return isOnline(message.payload).map { .presence(isOnline: $0) } }
        guard levels.count == 3, levels[0] == "devices", let alias = TopicName.unescaped(levels[1]) else { return nil }
        switch levels[2] {
        case "about": return .described(alias: alias, message.payload)
        case "availability": return isOnline(message.payload).map { .availability(alias: alias, isOnline: $0) }
        default: return nil
        }
    }

    private static func isOnline(_ payload: [UInt8]) -> Bool? {
        if payload.elementsEqual("online".utf8) { return true }
        return payload.elementsEqual("offline".utf8) ? false : nil
    }
}
