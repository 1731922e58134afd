// How often a handler looks for news: by the manifest's `poll`, and by its own order.
import WakeModel

public struct PollRule: Hashable, Sendable {
    /// The floor; nil where nothing is polled until the handler orders it.
    public var minInterval: TimeSpan?
    /// The ceiling.
    public var maxInterval = TimeSpan.seconds(86_400)
    public var require: [Condition] = [.network]
    /// The interval adapts to the outcomes of polls; otherwise it stays at the floor.
    public var adapts = true
    /// Otherwise it goes along with a wake that something else causes.
    public var wakes = true

    public static let shortestInterval = TimeSpan.seconds(60)
    private static let spans = ["min_interval", "max_interval"]
    private static let keys = ["require", "adapt", "wake"]
    /// The keys of the manifest's `poll`.
    package static let manifestKeys = spans + keys

    public init(minInterval: TimeSpan?) {
        self.minInterval = minInterval
        maxInterval = max(maxInterval, minInterval ?? .zero)
    }

    /// The manifest's `poll`.
    public init(_ value: JSONValue) throws(ProtocolFault) {
        let object = try RuleObject(
            value, owner: "\"poll\"", keys: Self.keys, spans: Self.spans,
            example: "{\"poll\":{\"min_interval\":\"15m\"}}")
        self.init(minInterval: object.span("min_interval", from: Self.shortestInterval))
        require = object.conditions("require") ?? require
        adapts = object.flag("adapt") ?? true
        wakes = object.flag("wake") ?? true
        maxInterval = object.span("max_interval", from: Self.shortestInterval) ?? maxInterval
        try object.conclude()
        if let minInterval, minInterval > maxInterval {
            throw ProtocolFault(
                .conflict, "\"poll\" has a \"min_interval\" greater than its \"max_interval\".",
                advice: "Make \"max_interval\" the greater one, or leave it out.")
        }
    }
}

/// The value of the order `poll`.
enum PollOrder: Hashable, Sendable {
    case never
    /// Not more often than this; the manifest's floor stays.
    case floor(TimeSpan)

    init(_ value: JSONValue, _ rule: PollRule) throws(ProtocolFault) {
        if let word = value.string {
            guard word == "never" else {
                throw ProtocolFault(
                    .unknownToken, "\"poll\" knows no \(value.excerpt)\(nearest(to: word, in: ["never"])).",
                    advice: "Write {\"poll\":\"never\"}, or {\"poll\":{\"min_interval_s\":900}}.")
            }
            self = .never
            return
        }
        let object = try RuleObject(
            value, owner: "\"poll\"", keys: [], spans: ["min_interval"],
            example: "{\"poll\":{\"min_interval_s\":900}}, or {\"poll\":\"never\"}")
        let given = object.span("min_interval", from: PollRule.shortestInterval)
        try object.conclude()
        guard let floor = given else {
            throw .malformed(
                "\"poll\" lacks \"min_interval_s\".", advice: "Write {\"poll\":{\"min_interval_s\":900}}.")
        }
        guard floor <= rule.maxInterval else {
            throw ProtocolFault(
                .conflict,
                "\"poll\" asks for \(floor.text) at least; the manifest's \"max_interval\" is \(rule.maxInterval.text).",
                advice: "Ask for less, or raise \"max_interval\" in the manifest.")
        }
        self = .floor(floor)
    }
}
