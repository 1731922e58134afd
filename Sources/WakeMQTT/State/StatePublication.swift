// The retained state of one device: its fields, and the time of the next publication. Pure.
import WakeModel

public struct StatePublication {
    private struct Field {
        var name: String
        var value: JSONValue
        var published: JSONValue?
        var publishedAt = Instant.zero
    }

    private var rules: [String: FieldRule]
    /// The longest time between publications while the device sends, so that readers know that it does.
    private let longestSilence: TimeSpan
    private var fields: [Field] = []
    private var places: [String: Int] = [:]
    /// Whether it had more fields than one device may have. Only the first ones are published.
    public private(set) var hasTooMany = false
    /// Bounds the fields of a device, which can invent names without end.
    public static let mostFields = 128
    private var time: WallTime?
    private var publishedAt: Instant?
    private var publishedTime: WallTime?
    /// The published state is no longer at the broker.
    private var isWithdrawn = false

    public init(rules: [String: FieldRule] = [:], longestSilence: TimeSpan = .seconds(300)) {
        (self.rules, self.longestSilence) = (rules, longestSilence)
    }

    /// From now on; what is due by them is due.
    public mutating func adopt(_ rules: [String: FieldRule]) { self.rules = rules }

    public var isEmpty: Bool { fields.isEmpty }
    public var fieldCount: Int { fields.count }

    /// A device has sent something: the members of a decoded value.
    public mutating func receive(_ value: JSONValue, at time: WallTime) {
        guard case .object(let members) = value else { return }
        self.time = max(time, self.time ?? time)
        for member in members {
            if let place = places[member.name] {
                fields[place].value = member.value
            } else if fields.count < Self.mostFields {
                places[member.name] = fields.count
                fields.append(Field(name: member.name, value: member.value))
            } else {
                hasTooMany = true
            }
        }
    }

    /// The broker may have lost it: the next publication is due at once.
    public mutating func withdraw() { isWithdrawn = true }

    /// When a publication is due; nil where none is.
    public func due(at now: Instant) -> Instant? {
        guard !fields.isEmpty else { return nil }
        guard let publishedAt, !isWithdrawn else { return now }
        let changes = fields.compactMap { field -> Instant? in
            guard let published = field.published else { return now }
            let rule = rule(of: field.name)
            return rule.publishes(field.value, after: published) ? field.publishedAt + rule.leastInterval : nil
        }
        let heartbeat = isNewerThanPublished ? publishedAt + longestSilence : nil
        return Instant.earlier(changes.min(), heartbeat)
    }

    private var isNewerThanPublished: Bool { time != publishedTime }

    /// The state as it is published now: fields that are not due stay as they were published.
    public mutating func publish(at now: Instant) -> [UInt8] {
        for place in fields.indices where isDue(fields[place], at: now) {
            fields[place].published = fields[place].value
            fields[place].publishedAt = now
        }
        (publishedAt, publishedTime, isWithdrawn) = (now, time, false)
        var writer = JSONWriter()
        writer.beginObject()
        for field in fields where field.name != "time" {
            writer.key(named: field.name)
            writer.value(field.published ?? field.value)
        }
        writer.field("time", time)
        writer.endObject()
        return writer.bytes
    }

    private func isDue(_ field: Field, at now: Instant) -> Bool {
        guard let published = field.published else { return true }
        let rule = rule(of: field.name)
        return rule.publishes(field.value, after: published) && field.publishedAt + rule.leastInterval <= now
    }

    private func rule(of field: String) -> FieldRule { rules[field] ?? FieldRule() }
}
