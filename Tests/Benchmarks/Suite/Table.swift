// Figures in order and on paper: quantiles, and columns that line up.
import WakeSystem

struct Quantiles {
    private let sorted: [Double]

    init(_ values: [Int64]) { sorted = values.map(Double.init).sorted() }
    init(_ values: [Double]) { sorted = values.sorted() }

    var least: Double { sorted.first ?? 0 }
    var median: Double { at(0.5) }
    var p99: Double { at(0.99) }

    /// The value that so large a part of all does not exceed; 0 of none.
    private func at(_ part: Double) -> Double {
        guard !sorted.isEmpty else { return 0 }
        return sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]
    }
}

enum Table {
    /// The first cell to the left, the others to the right.
    static func row(_ cells: [String]) -> String {
        let name = cells[0] + String(repeating: " ", count: max(0, 26 - cells[0].count))
        return name + cells.dropFirst().map { String(repeating: " ", count: max(1, 12 - $0.count)) + $0 }.joined()
    }

    static func number(_ value: Double, _ decimals: Int) -> String {
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        let scaled = Int64((value * scale).rounded())
        let whole = scaled / Int64(scale)
        guard decimals > 0 else { return "\(whole)" }
        let rest = String(scaled % Int64(scale))
        return "\(whole)." + String(repeating: "0", count: decimals - rest.count) + rest
    }
}

/// Writes a line at once, so that a long measurement shows what it has.
func say(_ line: String, to descriptor: Int32 = 1) {
    guard let stream = try? FileDescriptor.duplicate(of: descriptor) else { return }
    _ = try? stream.write(Array((line + "\n").utf8))
}
