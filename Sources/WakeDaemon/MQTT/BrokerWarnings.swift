// Keeps what is wrong with brokers for operators: connections that do not work, and messages that are too long.
import WakeControl
import WakeMQTT
import WakeModel
import WakeSystem

final class BrokerWarnings {
    /// The use of a connection.
    enum Purpose: Hashable {
        case publishing
        case inboxes
        /// To follow the bridge of that name.
        case bridge(String)
    }

    private struct Latest {
        var topic = ""
        var report = SparseReport()
    }

    /// Connections that do not work now.
    private var failures: [Purpose: BridgeWarning] = [:]
    /// Long messages by the broker's address; the settings bound the number of brokers.
    private var latest: [String: Latest] = [:]
    private let log = Log("mqtt")
    private static let longestTopic = 200

    /// Publications and inboxes share a broker and a user, so the former's failure explains the latter's.
    var warnings: [BridgeWarning] {
        let shown = failures.filter { $0.key != .inboxes || failures[.publishing] == nil }.map(\.value)
        return shown.sorted { $0.what < $1.what }
            + latest.sorted { $0.key < $1.key }.map { Self.warning(of: $0.key, $0.value.topic) }
    }

    // MARK: Connections

    /// The warning stays until the connection works.
    func fail(_ purpose: Purpose, at broker: BrokerAddress, _ fault: MQTTFault) {
        failures[purpose] = Self.warning(of: purpose, at: broker, fault)
    }

    /// For a connection that could not be made at all.
    /// - Parameter remedy: what makes the daemon try again.
    func fail(_ purpose: Purpose, at broker: BrokerAddress, _ error: any Error, remedy: String) {
        failures[purpose] = Self.warning(of: purpose, at: broker, error, remedy: remedy)
    }

    func succeed(_ purpose: Purpose) { failures[purpose] = nil }

    static func warning(of purpose: Purpose, at broker: BrokerAddress, _ fault: MQTTFault) -> BridgeWarning {
        let isOfBroker = fault.kind != .libraryAbsent
        return BridgeWarning(
            subject(purpose, broker), code: .mqttFault,
            why: isOfBroker ? fault.reason : "\(fault.attempt): \(fault.reason)", advice: fault.advice)
    }

    static func warning(
        of purpose: Purpose, at broker: BrokerAddress, _ error: any Error, remedy: String?
    ) -> BridgeWarning {
        let failure = error as? SystemError
        let plain = failure.map { SystemError($0.attempted, $0.subject, $0.errno) }
        let advice = failure?.advice ?? "mend that"
        return BridgeWarning(
            subject(purpose, broker), code: .mqttFault, why: plain?.description ?? "\(error)",
            advice: remedy.map { "\(advice); then \($0)" } ?? advice)
    }

    private static func subject(_ purpose: Purpose, _ broker: BrokerAddress) -> String {
        switch purpose {
        case .publishing: "nothing is published to the broker at \(broker.text)"
        case .inboxes: "no message comes to inboxes from the broker at \(broker.text)"
        case .bridge(let name): "nothing comes of bridge \"\(name)\" from the broker at \(broker.text)"
        }
    }

    // MARK: Long messages

    /// Ignores a message that arrived whole.
    func note(_ arrived: ArrivedMessage, from broker: BrokerAddress) {
        guard arrived.isCut else { return }
        let topic = String(arrived.message.topic.prefix(Self.longestTopic))
        latest[broker.text, default: Latest()].topic = topic
        guard latest[broker.text]?.report.count(at: SystemClock.monotonic()) != nil else { return }
        log.warning(Self.warning(of: broker.text, topic).sentence)
    }

    private static func warning(of broker: String, _ topic: String) -> BridgeWarning {
        BridgeWarning(
            "the broker at \(broker) sends messages of more than 1 MiB, the last at the topic \"\(topic)\"",
            code: .longMessages,
            why: "the end of such a message is dropped, and everything behind it waits until it is over",
            advice: "clear that topic if the message is retained, and have the broker refuse such messages: for "
                + "mosquitto by the line 'max_packet_size \(MQTTOptions.longestPacket)'")
    }
}
