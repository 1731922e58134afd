// Where a value lies on an axis, and at which values the axis is marked.
import Glibc

struct Scale {
    enum Kind { case linear, logarithmic }

    let kind: Kind
    private let least: Double
    private let most: Double
    private let from: Double
    private let to: Double
    let marks: [Double]

    /// From nothing to past the largest value, marked at round numbers.
    static func linear(upTo most: Double, from: Double, to: Double) -> Scale {
        let most = max(most, 1e-9)
        let power = pow(10, floor(log10(most / 4)))
        let step = [1, 2, 5, 10].map { $0 * power }.first { most / $0 <= 5 } ?? power * 10
        let count = Int((most / step).rounded(.up))
        return Scale(.linear, 0, Double(count) * step, from, to, (0...count).map { Double($0) * step })
    }

    /// Whole powers of ten around all values.
    static func logarithmic(_ values: [Double], from: Double, to: Double) -> Scale {
        let positive = values.filter { $0 > 0 }
        let low = Int(floor(log10(positive.min() ?? 1)))
        let high = max(low + 1, Int(ceil(log10(positive.max() ?? 10))))
        return Scale(
            .logarithmic, pow(10, Double(low)), pow(10, Double(high)), from, to,
            (low...high).map { pow(10, Double($0)) })
    }

    private init(_ kind: Kind, _ least: Double, _ most: Double, _ from: Double, _ to: Double, _ marks: [Double]) {
        self.kind = kind
        self.least = least
        self.most = most
        self.from = from
        self.to = to
        self.marks = marks
    }

    /// In the drawing's own units; what lies outside is put at the edge.
    func place(of value: Double) -> Double {
        let part: Double
        switch kind {
        case .linear: part = (value - least) / (most - least)
        case .logarithmic: part = (log10(max(value, least)) - log10(least)) / (log10(most) - log10(least))
        }
        return from + min(max(part, 0), 1) * (to - from)
    }
}
