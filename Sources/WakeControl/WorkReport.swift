// A handler's wakes, as the control API writes them: how the handler judged them, and what they cost.
import WakeModel

public struct WorkReport: Hashable, Sendable {
    /// Acknowledged events, by the `result` of their acknowledgements.
    public var useful: UInt64 = 0
    public var nothing: UInt64 = 0
    public var failed: UInt64 = 0
    public var unsaid: UInt64 = 0
    /// Launches and thaws after which it gave any `result`, and those after which it gave `useful`.
    public var judgedWakes: UInt64 = 0
    public var usefulWakes: UInt64 = 0
    /// The share of the daemon's running time for which it was awake.
    public var awakeRatio = 0.0
    /// Processor time of the running process and everything it started; nil where there is none, or it is not counted.
    public var processorTime: TimeSpan?
    /// Events that the running process acknowledged.
    public var acknowledgedByProcess: UInt64 = 0

    public init() {}

    /// Nil before the first acknowledgement, and where the processor time is not known.
    public var processorTimePerEvent: TimeSpan? {
        guard let processorTime, acknowledgedByProcess > 0 else { return nil }
        return TimeSpan(nanoseconds: processorTime.nanoseconds / Int64(clamping: acknowledgedByProcess))
    }
}

extension JSONWriter {
    public mutating func field(_ name: StaticString, _ work: WorkReport) {
        key(name)
        beginObject()
        field("useful", work.useful)
        field("nothing", work.nothing)
        field("failed", work.failed)
        field("unsaid", work.unsaid)
        field("judged_wakes", work.judgedWakes)
        field("useful_wakes", work.usefulWakes)
        key("awake_ratio")
        number((work.awakeRatio * 1_000_000).rounded() / 1_000_000)
        milliseconds("cpu_ms", work.processorTime)
        milliseconds("cpu_per_event_ms", work.processorTimePerEvent)
        endObject()
    }

    /// Rounded to the microsecond; null where it is not known.
    private mutating func milliseconds(_ name: StaticString, _ span: TimeSpan?) {
        key(name)
        if let span { number(Double(span.nanoseconds / 1000) / 1000) } else { null() }
    }
}
