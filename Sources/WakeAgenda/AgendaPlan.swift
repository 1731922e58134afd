// What one manifest declares for the agenda: its alarms, its poll, its jobs and its gates.
import WakeModel

public struct AgendaPlan: Hashable, Sendable {
    /// Nil where the manifest has no `alarms`: then the handler may not order any. Empty permits orders alone.
    public var alarms: [AlarmRule]?
    public var poll: PollRule?
    public var jobs: [JobRule] = []
    /// `after`: what must have come true since boot before the handler is launched.
    public var gates: [Condition] = []

    public init() {}

    /// The manifest's `after`.
    public static func gates(_ value: JSONValue) throws(ProtocolFault) -> [Condition] {
        try Condition.list(value, for: "\"after\"")
    }

    public var isEmpty: Bool { alarms == nil && poll == nil && jobs.isEmpty && gates.isEmpty }
}
