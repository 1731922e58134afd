// A command of a topic: its request and its device or handler, read strictly.
import WakeModel

public struct BridgeCommand: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case session, read, write, wake

        var isOfHandler: Bool { self == .wake }
        /// The levels after the name.
        var tail: String {
            switch self {
            case .session: "session/set"
            case .read: "read"
            case .write: "write"
            case .wake: "wake/set"
            }
        }
        /// The members that its payload may have, beside `ref`.
        var keys: [String] {
            switch self {
            case .session: ["session"]
            case .read: ["characteristic", "stream"]
            case .write: ["characteristic", "stream", "hex"]
            case .wake: []
            }
        }
    }

    /// Why a command is not carried out.
    public struct Refusal: Error, Hashable, Sendable {
        public var code: String
        public var message: String
        public var advice: String

        public init(code: String, message: String, advice: String) {
            (self.code, self.message, self.advice) = (code, message, advice)
        }
    }

    /// The topics of all commands, below the bridge.
    public static let filters = Kind.allCases.map { "\($0.isOfHandler ? "handlers" : "devices")/+/\($0.tail)" }

    public static let longestPayload = 64 << 10
    static let longestReference = 64

    public var kind: Kind
    /// The alias of a device, or the id of a handler.
    public var name: String
    /// An object, without the reference.
    public var body: JSONValue
    /// Comes back in the answer.
    public var reference: JSONValue?

    /// The kind and name of a command's topic; nil for a topic that carries no command.
    public static func target(of topic: String, in topics: BridgeTopics) -> (kind: Kind, name: String)? {
        guard let levels = topics.levels(of: topic), levels.count >= 3 else { return nil }
        let tail = levels.dropFirst(2).joined(separator: "/")
        guard let kind = Kind.allCases.first(where: { $0.tail == tail }), let name = TopicName.unescaped(levels[1]),
            levels[0] == (kind.isOfHandler ? "handlers" : "devices")
        else { return nil }
        return (kind, name)
    }

    public init(_ kind: Kind, of name: String, _ message: MQTTMessage) throws(Refusal) {
        (self.kind, self.name) = (kind, name)
        guard !message.isRetained else {
            throw Refusal(
                code: "retained", message: "the command at \(message.topic) is retained, and would come again",
                advice: "publish it without retain, and clear the topic")
        }
        guard message.payload.count <= Self.longestPayload else {
            throw Refusal(
                code: "too-large", message: "the command at \(message.topic) is too long",
                advice: "send at most \(Self.longestPayload) bytes")
        }
        let members = try Self.members(of: kind, message)
        reference = try Self.reference(in: members, message.topic)
        body = .object(members.filter { $0.name != "ref" })
    }

    private static func members(
        of kind: Kind, _ message: MQTTMessage
    ) throws(Refusal) -> [JSONValue.Member] {
        let isObject = message.payload.first { $0 > 0x20 } == UInt8(ascii: "{")
        if !isObject, kind == .wake { return [] }
        if !isObject, kind == .session, let word = String(validating: message.payload, as: UTF8.self) {
            return [JSONValue.Member(name: "session", value: .string(word))]
        }
        guard case .object(let members)? = try? JSONValue(parsing: message.payload) else {
            throw Refusal(
                code: "bad-json", message: "the command at \(message.topic) is not a JSON object",
                advice: "send one JSON object")
        }
        let known = kind.keys + ["ref"]
        if let other = members.first(where: { !known.contains($0.name) }) {
            throw Refusal(
                code: "unknown-key", message: "\(message.topic) does not know the key '\(other.name)'",
                advice: "use \(known.map { "'\($0)'" }.joined(separator: ", "))")
        }
        return members
    }

    private static func reference(in members: [JSONValue.Member], _ topic: String) throws(Refusal) -> JSONValue? {
        guard let reference = members.first(where: { $0.name == "ref" })?.value else { return nil }
        switch reference {
        case .integer: return reference
        case .string(let text) where text.utf8.count <= longestReference: return reference
        case .string, .null, .boolean, .number, .array, .object:
            throw Refusal(
                code: "bad-value", message: "the ref of the command at \(topic) is no short text or whole number",
                advice: "use at most \(longestReference) bytes")
        }
    }
}

extension BridgeCommand {
    /// The answer with the reference as its last member; `answer` is one JSON object.
    public static func answer(_ answer: [UInt8], to reference: JSONValue?) -> [UInt8] {
        var text = answer
        while let last = text.last, last != UInt8(ascii: "}") { text.removeLast() }
        guard let reference, !text.isEmpty else { return text }
        text.removeLast()
        var writer = JSONWriter()
        writer.value(reference)
        let separator = text.last == UInt8(ascii: "{") ? "" : ","
        return text + Array("\(separator)\"ref\":".utf8) + writer.bytes + [UInt8(ascii: "}")]
    }
}
