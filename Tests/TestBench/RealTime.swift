// The machine's own time, for tests that measure it: a rate, an idle minute, a blow that falls at an instant of its own.

package enum RealTime {
    /// No event could be awaited in its place. Never blocks the thread that other tests share.
    package static func pass(_ seconds: Double) async throws {
        try await Task.sleep(nanoseconds: UInt64(max(0, seconds) * 1e9))
    }

    /// Until an instant of the monotonic clock, in seconds.
    package static func reach(_ instant: Double) async throws { try await pass(instant - monotonicNow()) }
}
