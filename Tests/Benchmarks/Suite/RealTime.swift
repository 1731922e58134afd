// The machine's own clock, by which benchmarks pace, pause and measure, and a wait with a limit.
import Glibc
import WakeModel
import WakeSystem

enum RealTime {
    static func reach(_ instant: Instant) {
        var time = timespec(
            tv_sec: Int(instant.nanoseconds / 1_000_000_000), tv_nsec: Int(instant.nanoseconds % 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }

    static func pass(_ span: TimeSpan) { reach(SystemClock.monotonic() + span) }

    /// Checks the condition until it is true; returns false after `limit`.
    static func wait(
        _ limit: TimeSpan = .seconds(30), every period: TimeSpan = .milliseconds(1), until condition: () throws -> Bool
    ) rethrows -> Bool {
        let end = SystemClock.monotonic() + limit
        while try !condition() {
            guard SystemClock.monotonic() < end else { return false }
            pass(period)
        }
        return true
    }
}
