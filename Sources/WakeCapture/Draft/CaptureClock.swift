// The time of a recording, which in a trace never runs back and never leaps by years.
import WakeModel
import WakeTrace

struct CaptureClock {
    /// As far as ten years more still fit into nanoseconds.
    private static let dates: ClosedRange<Int64> = 0...8_900_000_000_000_000_000

    /// The time of the first record, in nanoseconds since 1970.
    private(set) var start: Int64?
    /// The time of the latest record, since the first.
    private(set) var latest = TimeSpan.zero

    /// Goes on to a record's time; if it cannot, it keeps its time and returns the reason.
    mutating func advance(to time: Int64) -> String? {
        guard Self.dates.contains(time) else { return "the record's time is no date" }
        let first = start ?? time
        start = first
        let offset = TimeSpan(nanoseconds: time - first)
        guard offset >= latest else { return "the capture's time runs back; it stands still here" }
        guard offset <= TraceLimit.span else { return "the capture's time leaps by over ten years" }
        latest = offset
        return nil
    }

    /// Advances in a recording without times.
    mutating func advance(by span: TimeSpan) {
        start = start ?? 0
        if latest + span <= TraceLimit.span { latest = latest + span }
    }

    mutating func beginDay(at time: Int64) {
        let elapsed = latest.nanoseconds
        start = Self.bounded((start ?? 0).addingSaturating(time - elapsed))
    }

    mutating func moveStart(by span: Int64) { start = Self.bounded((start ?? 0).addingSaturating(span)) }

    private static func bounded(_ time: Int64) -> Int64 { min(max(time, dates.lowerBound), dates.upperBound) }
}
