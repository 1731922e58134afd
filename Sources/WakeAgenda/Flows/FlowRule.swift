// A flow as a manifest declares it: its source, when it is over, its share of the processor, and its group.
import WakeModel

public struct FlowRule: Hashable, Sendable {
    public var name: String
    public var from: DataSource
    /// The time without data after which it is over.
    public var idle = TimeSpan.seconds(5)
    /// In percent of one processor; nil for as much as there is.
    public var processorShare: Int?
    /// The group of flows, of all handlers, in which one flow is open at a time.
    public var group: String?
    public var priority = 0

    public init(name: String, from: DataSource) { (self.name, self.from) = (name, from) }

    /// The most flows of one handler.
    public static let limit = 4
    public static let idleRange = TimeSpan.seconds(1)...TimeSpan.seconds(600)
    public static let shareRange = 1...1_000
    public static let priorityRange = 0...100

    private static let example = "{\"name\":\"ecg\",\"from\":\"device:strap\"}"
    static let manifestExample = "\"flows\":[\(example)]"
    private static let keys = ["name", "from", "cpu", "group", "priority"]
    private static let spans = ["idle"]
    /// The keys of the manifest's `flows`.
    package static let manifestKeys = keys + spans

    /// The manifest's `flows`.
    public static func list(_ value: JSONValue) throws(ProtocolFault) -> [FlowRule] {
        let count = value.array?.count ?? 0
        guard count <= limit else {
            throw ProtocolFault(
                .tooMany, "\"flows\" holds \(count), and \(limit) are the most.",
                advice: "Leave some out, or give them to another handler.")
        }
        return try value.rules(of: "flows", advice: "Write [\(example)].") {
            (value, others: [FlowRule]) throws(ProtocolFault) in
            let rule = try FlowRule(value)
            try rule.refuseDouble(of: others)
            return rule
        }
    }

    private func refuseDouble(of others: [FlowRule]) throws(ProtocolFault) {
        if others.contains(where: { $0.name == name }) {
            throw ProtocolFault(
                .conflict, "Two flows have the name \"\(name)\".", advice: "Give each a name of its own.")
        }
        if from != .handler, let other = others.first(where: { $0.from == from }) {
            throw ProtocolFault(
                .conflict, "The flows \"\(other.name)\" and \"\(name)\" both come from \"\(from.word)\".",
                advice: "Keep one of them.")
        }
    }

    init(_ value: JSONValue) throws(ProtocolFault) {
        let object = try RuleObject(value, owner: "a flow", keys: Self.keys, spans: Self.spans, example: Self.example)
        name = try object.identifier("name")
        guard let origin = object["from"] else {
            throw .malformed("The flow \"\(name)\" lacks \"from\".", advice: DataSource.advice)
        }
        from = try DataSource(origin, of: object)
        idle = object.span("idle", from: Self.idleRange.lowerBound, to: Self.idleRange.upperBound) ?? idle
        processorShare = try object["cpu"].map { value throws(ProtocolFault) in try Self.share(value, of: object) }
        group = object["group"] == nil ? nil : try object.identifier("group")
        try object.conclude()
        guard let priority = object["priority"] else { return }
        guard group != nil else {
            throw ProtocolFault(
                .conflict, "The flow \"\(name)\" has \"priority\" and no \"group\" in which it could count.",
                advice: "Name a group, or leave \"priority\" out.")
        }
        guard let rank = priority.integer, let found = Int(exactly: rank), Self.priorityRange.contains(found) else {
            throw object.fault(
                "priority", takes: "a whole number from 0 to 100", priority, advice: "Write the number alone.")
        }
        self.priority = found
    }

    private static func share(_ value: JSONValue, of object: RuleObject) throws(ProtocolFault) -> Int {
        guard let text = value.string, text.hasSuffix("%"), let share = Int(text.dropLast()),
            text.first?.isNumber == true, shareRange.contains(share)
        else {
            throw object.fault(
                "cpu", takes: "a share of one processor from \"1%\" to \"1000%\"", value,
                advice: "Write such as \"25%\", in quotes.")
        }
        return share
    }
}

/// Keeps a handler awake while data comes from it.
public enum DataSource: Hashable, Sendable {
    /// By its alias or URI.
    case device(String)
    /// A socket of the manifest.
    case socket(String)
    /// The handler itself, by an order.
    case handler
}

extension AgendaPlan {
    /// Whose traffic its handler waits for.
    public var dataSources: Set<DataSource> { Set(flows.map(\.from)) }
}

extension DataSource {
    fileprivate static let advice = "Write \"device:NAME\", \"socket:NAME\" or \"self\"."

    fileprivate init(_ value: JSONValue, of object: RuleObject) throws(ProtocolFault) {
        guard let origin = value.string.flatMap(Self.init(word:)) else {
            throw object.fault(
                "from", takes: "\"device:NAME\", \"socket:NAME\" or \"self\"", value, advice: Self.advice)
        }
        self = origin
    }

    private init?(word: String) {
        let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.count) {
        case ("self", 1): self = .handler
        case ("device", 2) where parts[1].isPlainName || Self.isPlace(parts[1]): self = .device(parts[1])
        case ("socket", 2) where parts[1].isPlainName: self = .socket(parts[1])
        default: return nil
        }
    }

    /// Such as `/bluetooth/C0:F1:F2:F3:F4:01`.
    private static func isPlace(_ text: String) -> Bool {
        text.hasPrefix("/") && text.utf8.count <= 512 && !text.unicodeScalars.contains(where: \.isMisleading)
    }

    /// As the manifest has it.
    public var word: String {
        switch self {
        case .device(let name): "device:\(name)"
        case .socket(let name): "socket:\(name)"
        case .handler: "self"
        }
    }
}

/// The source of data, as its receiver reports it. Devices and sockets are reported in the same way.
public enum TrafficOrigin: Hashable, Sendable {
    case device(alias: String, uri: String)
    /// A socket of a handler's manifest.
    case socket(HandlerID, String)

    /// Reports of one stream come no more often, so its last data may be so much younger.
    public static let grain = TimeSpan.milliseconds(100)
}
