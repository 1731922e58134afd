// Values in order, and what so large a part of them does not exceed.

public struct Quantiles: Sendable {
    private let sorted: [Double]

    public init(_ values: [Double]) { sorted = values.sorted() }

    public var least: Double { sorted.first ?? 0 }
    public var most: Double { sorted.last ?? 0 }
    public var median: Double { at(0.5) }
    public var p99: Double { at(0.99) }

    /// 0 of none.
    private func at(_ part: Double) -> Double {
        guard !sorted.isEmpty else { return 0 }
        return sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]
    }
}
