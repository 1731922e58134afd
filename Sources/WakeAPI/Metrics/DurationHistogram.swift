// Durations counted in buckets of fixed bounds.
import WakeModel

struct DurationHistogram: Hashable, Sendable {
    /// The upper bounds of buckets.
    struct Scale: Hashable, Sendable {
        let bounds: [TimeSpan]
        /// The same in seconds, as they are written.
        let texts: [String]

        init(microseconds: [Int64]) {
            bounds = microseconds.map { .microseconds($0) }
            texts = bounds.map { $0.seconds.description }
        }

        static let wakes = Scale(microseconds: [
            50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000, 1_000_000,
        ])
        static let budgets = Scale(microseconds: [
            1_000, 5_000, 10_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 8_000_000,
            10_000_000, 30_000_000,
        ])
    }

    let scale: Scale
    /// How many fell into each bucket alone; the last is for all that is longer.
    private(set) var counts: [UInt64]
    private(set) var sum = TimeSpan.zero

    init(_ scale: Scale) {
        self.scale = scale
        counts = Array(repeating: 0, count: scale.bounds.count + 1)
    }

    mutating func record(_ span: TimeSpan) {
        let span = max(span, .zero)
        counts[place(of: span)] += 1
        sum = sum + span
    }

    private func place(of span: TimeSpan) -> Int {
        var (low, high) = (0, scale.bounds.count)
        while low < high {
            let middle = (low + high) / 2
            if scale.bounds[middle] < span { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
