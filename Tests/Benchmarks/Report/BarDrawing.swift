// Bars on a logarithmic axis: the median as a bar, the 99th percentile as a line beyond it.

struct BarDrawing {
    private let bars: [Chart.Bar]
    private let axis: String
    private let top: Double
    private let scale: Scale
    private static let left = 250.0
    private static let right = 640.0
    private static let step = 26.0

    init(_ bars: [Chart.Bar], axis: String, top: Double) {
        self.bars = bars
        self.axis = axis
        self.top = top
        // A bar has a length only from a whole power of ten below the smallest on.
        let values = bars.flatMap { [$0.median / 2, $0.p99] }
        scale = .logarithmic(values, from: Self.left, to: Self.right)
    }

    var drawn: (shapes: [String], bottom: Double) {
        let end = top + Double(bars.count) * Self.step
        let marks = scale.marks.flatMap { mark in
            let place = scale.place(of: mark)
            return [
                Drawing.line(place, top, place, end, kind: "grid"),
                Drawing.label(Numbers.short(mark), x: place, y: end + 15, kind: "small", anchor: "middle"),
            ]
        }
        let middle = (Self.left + Self.right) / 2
        let axis = Drawing.label(self.axis, x: middle, y: end + 31, kind: "small", anchor: "middle")
        return (marks + bars.enumerated().flatMap { draw($0.element, $0.offset) } + [axis], end + 34)
    }

    private func draw(_ bar: Chart.Bar, _ index: Int) -> [String] {
        let y = top + Double(index) * Self.step
        let (median, p99) = (scale.place(of: bar.median), scale.place(of: bar.p99))
        let size = "width=\"\(Drawing.short(median - Self.left))\" height=\"16\""
        let kind = bar.isOurs ? "ours" : "other"
        return [
            Drawing.label(bar.name, x: Self.left - 10, y: y + 16, anchor: "end"),
            "<rect x=\"\(Drawing.short(Self.left))\" y=\"\(Drawing.short(y + 4))\" \(size) class=\"\(kind)\"/>",
            Drawing.line(median, y + 12, p99, y + 12, kind: "tail"),
            Drawing.line(p99, y + 6, p99, y + 18, kind: "tail"),
            Drawing.label(
                "\(Numbers.written(bar.median)), \(Numbers.written(bar.p99))", x: p99 + 8, y: y + 16, kind: "small"),
        ]
    }
}
