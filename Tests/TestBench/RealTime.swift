// The machine's own clock, for tests that measure time: a rate, an idle minute, a kill at an instant of its own.

package enum RealTime {
    /// Waits where no event could be awaited instead. Never blocks the thread that other tests share.
    package static func pass(_ seconds: Double) async throws {
        try await Task.sleep(nanoseconds: UInt64(max(0, seconds) * 1e9))
    }

    /// Waits until an instant of the monotonic clock, in seconds.
    package static func reach(_ instant: Double) async throws { try await pass(instant - monotonicNow()) }
}
