// The manifest's `inbox`: which messages it takes and how often it wakes the handler.
import WakeModel

public struct InboxRule: Hashable, Sendable {
    /// How often messages may wake, once the burst is used up: one wake in each of these.
    public var interval = TimeSpan.seconds(600)
    /// The number of wakes that may follow each other at once.
    public var burst: Int64 = 3
    /// How many messages one token may send in a period.
    public var acceptance = Frequency(count: 60, unit: .minute)
    /// The most messages that wait; the oldest make way.
    public var keep: Int64 = 100
    /// The longest time that a message is kept.
    public var lifetime = TimeSpan.seconds(7 * 86_400)
    /// The time that a message waits for another wake before it causes one.
    public var maxLatency = TimeSpan.zero
    /// Topics of the broker; each may contain the wildcards of MQTT.
    public var brokerTopics: [String] = []

    /// A number of messages for each minute, hour or day.
    public struct Frequency: Hashable, Sendable {
        public enum Unit: String, Hashable, Sendable {
            case minute = "m"
            case hour = "h"
            case day = "d"

            var span: TimeSpan {
                switch self {
                case .minute: .seconds(60)
                case .hour: .seconds(3_600)
                case .day: .seconds(86_400)
                }
            }
        }

        public let count: Int64
        let unit: Unit

        public var interval: TimeSpan { TimeSpan(nanoseconds: unit.span.nanoseconds / count) }
        /// As the manifest writes it: `60/m`.
        public var text: String { "\(count)/\(unit.rawValue)" }

        init(count: Int64, unit: Unit) { (self.count, self.unit) = (count, unit) }

        /// Nil for any value of another form than `60/m`, `6/h` or `1/d`.
        fileprivate init?(_ value: JSONValue) {
            let parts = (value.string ?? "").split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let count = InboxRule.count(parts[0]), let unit = Unit(rawValue: String(parts[1]))
            else { return nil }
            self.init(count: count, unit: unit)
        }
    }

    public static let shortestInterval = TimeSpan.seconds(1)
    static let mostBurst: Int64 = 100
    static let mostKept: Int64 = 1_000
    static let mostTopics = 16
    static let longestTopic = 256
    private static let longestLatency = TimeSpan.seconds(86_400)
    private static let spans = ["ttl", "max_latency"]
    private static let shortestAcceptance = TimeSpan.milliseconds(10)
    private static let keys = ["rate", "burst", "accept", "keep", "mqtt"]
    /// The keys of the manifest's `inbox`.
    package static let manifestKeys = keys + spans

    public init() {}

    /// The manifest's `inbox`.
    public init(_ value: JSONValue) throws(ProtocolFault) {
        let object = try RuleObject(
            value, owner: "\"inbox\"", keys: Self.keys, spans: Self.spans,
            example: "{\"inbox\":{\"rate\":\"6/h\",\"keep\":100}}")
        interval = try Self.interval(object) ?? interval
        burst = try Self.count("burst", through: Self.mostBurst, of: object) ?? burst
        acceptance = try Self.acceptance(object) ?? acceptance
        keep = try Self.count("keep", through: Self.mostKept, of: object) ?? keep
        lifetime = object.span("ttl", from: .seconds(1)) ?? lifetime
        maxLatency = object.span("max_latency", from: .zero, to: Self.longestLatency) ?? maxLatency
        brokerTopics = try Self.topics(object) ?? []
        try object.conclude()
    }

    /// `6/h` is one in ten minutes.
    private static func interval(_ object: RuleObject) throws(ProtocolFault) -> TimeSpan? {
        guard let value = object["rate"] else { return nil }
        guard let interval = Frequency(value)?.interval, interval >= shortestInterval else {
            throw object.fault(
                "rate", takes: "a number of wakes a minute, hour or day, up to one a second", value,
                advice: "Write \"6/h\", \"1/m\" or \"24/d\".")
        }
        return interval
    }

    private static func acceptance(_ object: RuleObject) throws(ProtocolFault) -> Frequency? {
        guard let value = object["accept"] else { return nil }
        guard let found = Frequency(value), found.interval >= shortestAcceptance else {
            throw object.fault(
                "accept", takes: "a number of messages a minute, hour or day, up to 100 a second", value,
                advice: "Write \"60/m\", \"6/h\" or \"24/d\".")
        }
        return found
    }

    private static func count(_ digits: Substring) -> Int64? {
        guard !digits.isEmpty, digits.utf8.count <= 6, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(digits).flatMap { $0 > 0 ? $0 : nil }
    }

    private static func count(
        _ key: String, through most: Int64, of object: RuleObject
    ) throws(ProtocolFault) -> Int64? {
        guard let value = object[key] else { return nil }
        guard let count = value.integer, (1...most).contains(count) else {
            throw object.fault(
                key, takes: "a whole number from 1 to \(most)", value, advice: "Write the number, without quotes.")
        }
        return count
    }

    private static func topics(_ object: RuleObject) throws(ProtocolFault) -> [String]? {
        guard let value = object["mqtt"] else { return nil }
        let advice = "Write [\"home/cmd\"]; + stands for one level, and # at the end for all below."
        guard let values = value.array else { throw object.fault("mqtt", takes: "a list", value, advice: advice) }
        guard values.count <= mostTopics else {
            throw ProtocolFault(
                .tooMany, "\"mqtt\" of \"inbox\" lists \(values.count) topics, and \(mostTopics) are the most.",
                advice: "Let one topic with + or # stand for several.")
        }
        var topics: [String] = []
        for value in values {
            guard let topic = value.string, isTopicFilter(topic) else {
                throw object.fault("mqtt", takes: "topics of the broker", value, advice: advice)
            }
            guard !topics.contains(topic) else {
                throw ProtocolFault(
                    .conflict, "\"mqtt\" of \"inbox\" lists \(value.excerpt) twice.", advice: "Keep one of them.")
            }
            topics.append(topic)
        }
        return topics
    }

    /// Whether one of its topics matches this one.
    public func takes(brokerTopic: String) -> Bool {
        let levels = brokerTopic.split(separator: "/", omittingEmptySubsequences: false)
        return brokerTopics.contains { filter in
            Self.matches(filter.split(separator: "/", omittingEmptySubsequences: false)[...], levels[...])
        }
    }

    /// Wildcards match no topic of the broker's own, which begin with `$`; `a/#` matches `a` too.
    private static func matches(_ filter: ArraySlice<Substring>, _ levels: ArraySlice<Substring>) -> Bool {
        if let first = filter.first, ["#", "+"].contains(first), levels.first?.hasPrefix("$") ?? false { return false }
        var rest = levels
        for level in filter {
            if level == "#" { return true }
            guard let next = rest.popFirst(), level == "+" || level == next else { return false }
        }
        return rest.isEmpty
    }

    /// As MQTT 3.1.1 has it: a wildcard takes a whole level, and `#` is the last.
    static func isTopicFilter(_ text: String) -> Bool {
        guard (1...longestTopic).contains(text.utf8.count), !text.unicodeScalars.contains(where: \.isMisleading)
        else { return false }
        let levels = text.split(separator: "/", omittingEmptySubsequences: false)
        return levels.enumerated().allSatisfy { place, level in
            switch level {
            case "#": place == levels.count - 1
            case "+": true
            default: !level.contains { "+#".contains($0) }
            }
        }
    }
}
