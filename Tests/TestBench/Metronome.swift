// How late the machine itself is: what a test adds to the lateness that it allows the bridge.

/// Ticks beside a test, each time at its own instant like the beats of a trace, until it is stopped.
package final class Metronome {
    private let ticking: Task<[Double], Never>

    package init(period: Double) {
        ticking = Task {
            var lateness: [Double] = []
            let start = monotonicNow()
            while true {
                let due = start + Double(lateness.count + 1) * period
                try? await RealTime.reach(due)
                guard !Task.isCancelled else { return lateness.sorted() }
                lateness.append(monotonicNow() - due)
            }
        }
    }

    deinit { ticking.cancel() }

    /// How many seconds later than it was due the middle and the latest of all ticks came.
    package func stop() async -> (median: Double, longest: Double) {
        ticking.cancel()
        let lateness = await ticking.value
        return (lateness.isEmpty ? 0 : lateness[lateness.count / 2], lateness.last ?? 0)
    }
}
