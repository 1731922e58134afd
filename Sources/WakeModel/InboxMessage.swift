// A message that something sent to a handler: its bytes, and its headers in the words of RFC 8030.

public struct InboxMessage: Hashable, Sendable {
    public enum Urgency: String, Hashable, Sendable, CaseIterable {
        case veryLow = "very-low"
        case low, normal, high

        /// Otherwise it goes along with a wake that something else causes.
        public var wakes: Bool {
            switch self {
            case .veryLow, .low: false
            case .normal, .high: true
            }
        }
    }

    public var payload: [UInt8]
    public var contentType: String?
    /// A later message of the same topic takes its place.
    public var topic: String?
    public var urgency = Urgency.normal
    /// How long it is worth keeping; nil for as long as the inbox keeps messages.
    public var lifetime: TimeSpan?
    /// The topic of the broker that it was published under.
    public var brokerTopic: String?

    public static let payloadLimit = 4 << 10
    public static let topicLimit = 32
    private static let contentTypeLimit = 128
    private static let brokerTopicLimit = 256
    /// No sender needs more, and all that is reckoned with it stays far from the ends of its range.
    static let longestLifetime = TimeSpan.seconds(366 * 86_400)

    public init(payload: [UInt8]) { self.payload = payload }

    /// Whether a message that came without headers is within the limits.
    public var isWithinLimits: Bool {
        payload.count <= Self.payloadLimit && (brokerTopic ?? "").utf8.count <= Self.brokerTopicLimit
    }
}

// Reads the headers of a request.
extension InboxMessage {
    public enum Header: String, Hashable, Sendable, CaseIterable {
        case lifetime = "TTL"
        case topic = "Topic"
        case urgency = "Urgency"
        case contentType = "Content-Type"
    }

    /// - Parameter header: its value as it was sent; nil where it was not.
    public init(payload: [UInt8], _ header: (Header) -> String?) throws(ProtocolFault) {
        self.init(payload: payload)
        guard payload.count <= Self.payloadLimit else {
            throw .tooLong(
                "The message", payload.count, limit: Self.payloadLimit,
                advice: "Send where the rest can be fetched, and let the handler fetch it.")
        }
        lifetime = try header(.lifetime).map { text throws(ProtocolFault) in try Self.lifetime(text) }
        topic = try header(.topic).map { text throws(ProtocolFault) in try Self.topic(text) }
        urgency = try header(.urgency).map { text throws(ProtocolFault) in try Self.urgency(text) } ?? urgency
        contentType = try header(.contentType).map { text throws(ProtocolFault) in try Self.contentType(text) }
    }

    /// A value above the greatest counts as the greatest, as the RFC has it.
    private static func lifetime(_ text: String) throws(ProtocolFault) -> TimeSpan {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw .malformed(
                "The header TTL must be whole seconds; got \(JSONValue.string(text).excerpt).",
                advice: "Write digits alone, such as TTL: 3600, or leave it out.")
        }
        return Int64(text).map { min(.seconds(min($0, 1 << 30)), longestLifetime) } ?? longestLifetime
    }

    private static func topic(_ text: String) throws(ProtocolFault) -> String {
        guard (1...topicLimit).contains(text.utf8.count), text.utf8.allSatisfy(isOfTopic) else {
            throw .malformed(
                "The header Topic must be 1 to \(topicLimit) of A-Z, a-z, 0-9, - and _; got "
                    + "\(JSONValue.string(text).excerpt).",
                advice: "Write a short name, such as Topic: weather, or leave it out.")
        }
        return text
    }

    private static func isOfTopic(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func urgency(_ text: String) throws(ProtocolFault) -> Urgency {
        if let urgency = Urgency(rawValue: text.lowercased()) { return urgency }
        let known = Urgency.allCases.map(\.rawValue)
        throw ProtocolFault(
            .unknownToken,
            "The header Urgency knows no \(JSONValue.string(text).excerpt)\(nearest(to: text, in: known)).",
            advice: "Write \(known.listed).")
    }

    private static func contentType(_ text: String) throws(ProtocolFault) -> String {
        guard (1...contentTypeLimit).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20...0x7e).contains($0) })
        else {
            throw .malformed(
                "The header Content-Type must be up to \(contentTypeLimit) plain characters; got "
                    + "\(JSONValue.string(text).excerpt).",
                advice: "Write a media type, such as Content-Type: application/json, or leave it out.")
        }
        return text
    }
}

// As one JSON object: in a trace, and in the database.
extension InboxMessage {
    private static let keys = ["payload", "raw", "content_type", "topic", "urgency", "ttl_s", "mqtt"]

    public init(_ json: JSONValue) throws(ProtocolFault) {
        guard case .object(let members) = json else {
            throw .malformed("A message must be an object; got \(json.excerpt).", advice: Self.example)
        }
        for member in members where !Self.keys.contains(member.name) {
            throw .unknownKey(member.name, of: "a message", known: Self.keys)
        }
        let words = (try Self.text("topic", json), try Self.text("urgency", json), try Self.text("content_type", json))
        try self.init(payload: try Self.payload(json)) { header in
            switch header {
            case .lifetime: json["ttl_s"].map { $0.integer.map(String.init) ?? $0.excerpt }
            case .topic: words.0
            case .urgency: words.1
            case .contentType: words.2
            }
        }
        guard let broker = json["mqtt"] else { return }
        guard let text = broker.string, (1...Self.brokerTopicLimit).contains(text.utf8.count) else {
            throw .malformed(
                "\"mqtt\" of a message must be the name of a topic; got \(broker.excerpt).", advice: Self.example)
        }
        brokerTopic = text
    }

    private static let example = "Write {\"payload\":\"hello\",\"ttl_s\":3600,\"urgency\":\"normal\"}."

    private static func text(_ key: String, _ json: JSONValue) throws(ProtocolFault) -> String? {
        guard let value = json[key] else { return nil }
        if let text = value.string { return text }
        throw .malformed("\"\(key)\" of a message must be a text; got \(value.excerpt).", advice: example)
    }

    private static func payload(_ json: JSONValue) throws(ProtocolFault) -> [UInt8] {
        switch (json["payload"], json["raw"]) {
        case (.string(let text)?, nil): return Array(text.utf8)
        case (nil, .string(let text)?):
            if let bytes = [UInt8](hexadecimal: text) { return bytes }
            throw .malformed("\"raw\" of a message is not hexadecimal.", advice: example)
        case (nil, nil): return []
        case (_, _): throw .malformed("A message takes one text, \"payload\" or \"raw\".", advice: example)
        }
    }

    public func write(into writer: inout JSONWriter) {
        writer.object { writer in
            writePayload(into: &writer)
            writeWords(into: &writer)
            if let lifetime { writer.field("ttl_s", lifetime.wholeMilliseconds / 1_000) }
        }
    }

    /// Bytes that are no text are written in hexadecimal.
    public func writePayload(into writer: inout JSONWriter) {
        if let text = String(validating: payload, as: UTF8.self) {
            writer.field("payload", text)
        } else {
            writer.field("raw", payload.hexadecimal)
        }
    }

    /// All but the payload and the time.
    public func writeWords(into writer: inout JSONWriter) {
        if let contentType { writer.field("content_type", contentType) }
        if let topic { writer.field("topic", topic) }
        if urgency != .normal { writer.field("urgency", urgency.rawValue) }
        if let brokerTopic { writer.field("mqtt", brokerTopic) }
    }
}
