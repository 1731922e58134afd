// The lines of `GET /v1/day` that are no events: a recording's beginning, and the actions of the machine and of
// handlers.
import WakeModel

/// Each is an object of JSON; ``TraceRecorder`` reads them.
public enum DayLine {
    /// The facts for the header of a trace.
    public static func greeting(zone: String?, seed: UInt64, at time: WallTime) -> [UInt8] {
        JSONWriter.line { writer in
            writer.object("day") { day in
                if let zone { day.field("zone", zone) }
                // Not every reader of JSON has whole numbers of 64 bits.
                day.field("seed", String(seed))
            }
            writer.field("time", time.rfc3339)
        }
    }

    /// Empty for a device's action: its event records that.
    public static func deed(_ subject: TraceOperation.Subject, at time: WallTime) -> [UInt8] {
        guard let deed = subject.deed else { return [] }
        return JSONWriter.line { writer in
            writer.field("deed", deed)
            writer.field("time", time.rfc3339)
        }
    }
}
