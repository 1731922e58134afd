// A connection to a broker, on the loop: it comes back by itself, with its subscriptions.
import WakeLoop
import WakeModel
import WakeSystem

/// Its owner watches ``descriptor`` and reads events until there is none.
public final class MQTTConnection {
    public let options: MQTTOptions
    public private(set) var isConnected = false

    private enum Phase { case closed, connecting, connected, waiting }

    private let client: PahoClient
    private var phase = Phase.closed
    private var subscriptions: [(filter: String, quality: MQTTMessage.Quality)] = []
    /// Until the broker has ended them.
    private var unwanted: [String] = []
    private var pace = ReconnectPace()
    private var retry: Timer?
    private let loop: EventLoop

    /// Starts nothing yet.
    public init(on loop: EventLoop, _ options: MQTTOptions) throws(SystemError) {
        self.options = options
        self.loop = loop
        client = try PahoClient(options)
        retry = try loop.timer(on: .monotonic, of: self) { $0.connect() }
    }

    /// Readable while events wait.
    public var descriptor: Int32 { client.descriptor }

    /// Connects, and connects again whenever the broker is lost, until it is released.
    public func open() {
        guard phase == .closed else { return }
        connect()
    }

    private func connect() {
        phase = .connecting
        client.connect()
    }

    /// Nil where nothing more has happened.
    public func nextEvent() -> MQTTEvent? {
        guard let event = client.nextEvent(from: options.broker) else { return nil }
        switch event {
        case .connected:
            phase = .connected
            isConnected = true
            pace.connected(at: SystemClock.monotonic())
            for one in subscriptions { client.subscribe(one.filter, one.quality) }
            for filter in unwanted { client.unsubscribe(filter) }
        case .disconnected: putOff()
        case .unsubscribed(let filter): unwanted.removeAll { $0 == filter }
        case .delivered, .arrived, .notSubscribed: break
        }
        return event
    }

    private func putOff() {
        isConnected = false
        guard phase != .waiting else { return }
        phase = .waiting
        let now = SystemClock.monotonic()
        retry?.arm(at: now + pace.wait(at: now))
    }

    /// Subscribes on this connection and on each one after it.
    public func subscribe(_ filter: String, _ quality: MQTTMessage.Quality = .atLeastOnce) {
        unwanted.removeAll { $0 == filter }
        subscriptions.append((filter, quality))
        if isConnected { client.subscribe(filter, quality) }
    }

    /// Unsubscribes on this connection, or on an earlier one whose session the broker keeps; an event reports when it
    /// is done.
    public func unsubscribe(_ filter: String) {
        subscriptions.removeAll { $0.filter == filter }
        if !unwanted.contains(filter) { unwanted.append(filter) }
        if isConnected { client.unsubscribe(filter) }
    }

    /// Does nothing while there is no connection. With a tag of zero no event reports the delivery.
    public func publish(_ message: MQTTMessage, tag: UInt64 = 0) {
        if isConnected { client.publish(message, tag: tag) }
    }

    /// The broker gets its acknowledgement only now. Until then nothing else arrives, on any connection of the process.
    public func acknowledge(_ arrived: ArrivedMessage) {
        if arrived.ticket > 0 { client.acknowledge(arrived.ticket) }
    }

    /// Ends the connection without an acknowledgement: the broker sends the message again over the next one. False where
    /// that cannot be done, and the message waits for its acknowledgement.
    public func refuse(_ arrived: ArrivedMessage) -> Bool { client.refuse(arrived.ticket) }
}

/// How long a lost connection waits for its next attempt. Two clients of one name end each other's connections, and each
/// of these must not begin the waits again.
struct ReconnectPace: Hashable {
    private var backOff = BackOff(from: .seconds(1), to: .seconds(60))
    private var connectedAt: Instant?
    /// A connection of at least this length was a good one.
    private static let goodSpan = TimeSpan.seconds(60)

    mutating func connected(at now: Instant) { connectedAt = now }

    mutating func wait(at now: Instant) -> TimeSpan {
        if let connectedAt, now - connectedAt >= Self.goodSpan { backOff.reset() }
        connectedAt = nil
        return backOff.next()
    }
}
