// The settings of a connection to a broker, and the messages that it publishes.
import WakeModel

/// The address of a broker: `mqtt://host:1883`, or `mqtts://host:8883` with TLS.
public struct BrokerAddress: Hashable, Sendable {
    public let isEncrypted: Bool
    /// An IPv6 address is in brackets.
    public let host: String
    public let port: Int

    private static let schemes: [(text: String, isEncrypted: Bool, port: Int)] = [
        ("mqtt://", false, 1883), ("mqtts://", true, 8883),
    ]

    /// Nil where the text is no such address.
    public init?(_ text: String) {
        guard let scheme = Self.schemes.first(where: { text.hasPrefix($0.text) }) else { return nil }
        let rest = text.dropFirst(scheme.text.count)
        let hostEnd =
            rest.hasPrefix("[") ? rest.firstIndex(of: "]").map { rest.index(after: $0) } : rest.firstIndex(of: ":")
        let host = rest[..<(hostEnd ?? rest.endIndex)]
        let tail = rest[host.endIndex...]
        guard !host.isEmpty, host.utf8.allSatisfy(Self.isOfHost), tail.isEmpty || tail.hasPrefix(":") else {
            return nil
        }
        let port = tail.isEmpty ? scheme.port : Int(tail.dropFirst())
        guard let port, (1...65_535).contains(port) else { return nil }
        (isEncrypted, self.host, self.port) = (scheme.isEncrypted, String(host), port)
    }

    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._:[]".utf8.contains(byte)
        }
    }

    /// As the settings write it, without a secret.
    public var text: String { "\(isEncrypted ? "mqtts" : "mqtt")://\(host):\(port)" }
    var libraryText: String { "\(isEncrypted ? "ssl" : "tcp")://\(host):\(port)" }
}

public struct MQTTMessage: Hashable, Sendable {
    /// MQTT's quality of service.
    public enum Quality: Int32, Hashable, Sendable {
        case atMostOnce = 0
        case atLeastOnce = 1
    }

    public var topic: String
    public var payload: [UInt8]
    public var quality: Quality
    public var isRetained: Bool

    public init(_ topic: String, _ payload: [UInt8], quality: Quality = .atLeastOnce, isRetained: Bool = false) {
        (self.topic, self.payload, self.quality, self.isRetained) = (topic, payload, quality, isRetained)
    }
}

public struct MQTTOptions: Hashable, Sendable {
    public var broker: BrokerAddress
    public var clientIdentifier: String
    public var user: String?
    public var password: String?
    /// PEM files. Without an authority those of the system are trusted.
    public var certificateAuthority: String?
    public var certificate: String?
    public var key: String?
    /// The broker publishes it, retained, when the connection ends without a word.
    public var will: MQTTMessage?
    /// The broker queues messages for this client while it is away.
    public var keepsSession = false
    /// In bytes, at most 1 MiB. A longer message arrives cut to one byte more than this.
    public var longestMessage = 64 << 10
    public var keepAlive = TimeSpan.seconds(30)
    /// In bytes, with the topic: no connection reads more of a message into memory.
    public static let longestPacket = (1 << 20) + (1 << 16)

    public init(broker: BrokerAddress, clientIdentifier: String) {
        (self.broker, self.clientIdentifier) = (broker, clientIdentifier)
    }
}
