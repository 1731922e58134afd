// The alarms' state of the clocks: how far the wall clock has come, and its offset from the time since boot.
import WakeModel

struct AlarmClock: Hashable, Sendable {
    var boot: String
    /// The wall clock less CLOCK_BOOTTIME: it changes only when the clock is set.
    var offset: TimeSpan
    /// Since this boot; it stays true.
    var isSynced: Bool
    /// How far the wall clock had come, since it was corrected last.
    var furthest: WallTime
    /// When alarms of the calendar were released in this boot; nil before.
    var releasedAt: Instant?

    /// If it is set back by no more, the clock goes through hours again, and no alarm is raised twice; by more, it is
    /// corrected.
    static let correction = TimeSpan.seconds(3 * 3_600)
    /// The time after boot in which alarms of the calendar wait for a synchronized clock.
    static let patience = Instant.zero + .seconds(600)
    /// Two readings of the same clocks may differ by less.
    static let leastStep = TimeSpan.seconds(1)

    var isReleased: Bool { releasedAt != nil }

    /// Whether the offset now is another one than was noted.
    func isSet(_ step: AgendaStep) -> Bool {
        let change = step.clockOffset - offset
        return change <= .zero - Self.leastStep || change >= Self.leastStep
    }
}

extension AgendaStep {
    var clockOffset: TimeSpan { wall.elapsed(since: WallTime(microseconds: boottime.nanoseconds / 1_000)) }
}
