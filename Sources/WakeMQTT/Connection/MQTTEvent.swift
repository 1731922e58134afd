// Events of a connection, as its owner reads them.
import WakeModel

public enum MQTTEvent: Hashable, Sendable {
    /// Subscriptions are sent right after it, by the connection itself.
    case connected(isSessionPresent: Bool)
    /// An attempt failed, or the connection is lost. A message that is not delivered by then never will be.
    case disconnected(MQTTFault)
    /// The broker has acknowledged the message that was published with this tag.
    case delivered(UInt64)
    case arrived(ArrivedMessage)
    /// The broker refuses a subscription: nothing comes by that filter.
    case notSubscribed(filter: String)
    /// The broker sends nothing more by that filter.
    case unsubscribed(filter: String)
}

public struct ArrivedMessage: Hashable, Sendable {
    public var message: MQTTMessage
    /// The broker may have sent it before.
    public var isDuplicate: Bool
    /// The number to acknowledge; zero for a message that needs no acknowledgement.
    public var ticket: UInt64
    /// Whether only its beginning arrived, because it is longer than ``MQTTOptions/longestPacket``.
    public var isCut = false
}

/// Why there is no connection, for people.
public struct MQTTFault: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Paho cannot be loaded.
        case libraryAbsent
        /// The broker refuses this client.
        case refused
        case unreachable
        case lost
    }

    public var kind: Kind
    /// The attempt that failed, the reason and the remedy, each a clause.
    public var attempt: String
    public var reason: String
    public var advice: String

    public var sentence: String { "\(attempt): \(reason); \(advice)" }

    static func absent(_ reason: String) -> MQTTFault {
        MQTTFault(
            .libraryAbsent, "could not load Eclipse Paho for MQTT", reason, "install the package libpaho-mqtt1.3")
    }

    static func lost(_ broker: BrokerAddress, _ reason: String) -> MQTTFault {
        MQTTFault(
            .lost, "lost the broker at \(broker.text)", reason.isEmpty ? "it closed the connection" : reason,
            "see that it runs there")
    }

    /// - Parameter code: of the broker where it is positive, of the library where it is negative.
    init(connectingTo broker: BrokerAddress, code: Int32, reason: String) {
        let attempt = "could not connect to the broker at \(broker.text)"
        switch code {
        case 1: self.init(.refused, attempt, "it does not speak MQTT 3.1.1", "use another broker")
        case 2: self.init(.refused, attempt, "it refuses the client's name", "set mqtt.bridge")
        // Brokers differ in the code for a wrong password.
        case 4, 5:
            self.init(
                .refused, attempt, "it refuses this user or the password",
                "correct user and password_file under mqtt, or allow the user at the broker; then restart wakebridged")
        default:
            let cause = reason.isEmpty || reason == "NULL" ? "it does not answer" : reason
            let certificate = "and that its certificate is of an authority that is trusted here"
            self.init(
                .unreachable, attempt, cause,
                "see that it runs there, \(broker.isEncrypted ? certificate : "and correct broker under mqtt if not")")
        }
    }

    private init(_ kind: Kind, _ attempt: String, _ reason: String, _ advice: String) {
        (self.kind, self.attempt, self.reason, self.advice) = (kind, attempt, reason, advice)
    }
}
