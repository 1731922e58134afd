// Logs messages of brokers that exceed what a connection reads into memory, and keeps them for the doctor.
import WakeAPI
import WakeControl
import WakeMQTT
import WakeModel
import WakeSystem

final class LongMessages {
    private struct Latest {
        var topic = ""
        var report = SparseReport()
    }

    /// By the broker's address; the settings bound the number of brokers.
    private var latest: [String: Latest] = [:]
    private let log = Log("mqtt")
    private static let longestTopic = 200

    /// Ignores a message that arrived whole.
    func note(_ arrived: ArrivedMessage, from broker: BrokerAddress) {
        guard arrived.isCut else { return }
        let topic = String(arrived.message.topic.prefix(Self.longestTopic))
        latest[broker.text, default: Latest()].topic = topic
        guard latest[broker.text]?.report.count(at: SystemClock.monotonic()) != nil else { return }
        log.warning(Self.warning(of: broker.text, topic).sentence)
    }

    var warnings: [BridgeWarning] {
        latest.sorted { $0.key < $1.key }.map { Self.warning(of: $0.key, $0.value.topic) }
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
