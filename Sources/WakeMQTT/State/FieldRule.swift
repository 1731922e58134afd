// How much a field must change, and how long it must wait, until its state is published.
import WakeModel

public struct FieldRule: Hashable, Sendable {
    /// A number that has changed by less is not published.
    public var deadband: Double
    public var leastInterval: TimeSpan

    public init(deadband: Double = 0, leastInterval: TimeSpan = .seconds(1)) {
        (self.deadband, self.leastInterval) = (deadband, leastInterval)
    }

    /// Whether a value is published at all after the one that was.
    func publishes(_ value: JSONValue, after published: JSONValue) -> Bool {
        guard deadband > 0, let new = value.number, let old = published.number else { return value != published }
        return abs(new - old) >= deadband
    }
}
