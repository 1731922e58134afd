// Curves over a logarithmic count: what grows with it, and what stays flat.

struct CurveDrawing {
    private let curves: [Chart.Curve]
    private let axis: String
    private let over: String
    private let top: Double
    private let across: Scale
    private let up: Scale
    private static let left = 70.0
    private static let right = 540.0
    private static let height = 200.0

    init(_ curves: [Chart.Curve], axis: String, over: String, top: Double) {
        self.curves = curves
        self.axis = axis
        self.over = over
        self.top = top
        let points = curves.flatMap(\.points)
        across = .logarithmic(points.map { Double($0.count) }, from: Self.left, to: Self.right)
        up = .linear(upTo: points.map(\.value).max() ?? 1, from: top + 18 + Self.height, to: top + 18)
    }

    private var floor: Double { top + 18 + Self.height }

    var drawn: (shapes: [String], bottom: Double) {
        let middle = (Self.left + Self.right) / 2
        let axes = [
            Drawing.label(axis, x: 16, y: top + 6, kind: "small"),
            Drawing.label(over, x: middle, y: floor + 31, kind: "small", anchor: "middle"),
        ]
        return (grid + axes + curves.enumerated().flatMap { draw($0.element, $0.offset) }, floor + 34)
    }

    private var grid: [String] {
        let rows = up.marks.flatMap { mark in
            let y = up.place(of: mark)
            return [
                Drawing.line(Self.left, y, Self.right, y, kind: "grid"),
                Drawing.label(Numbers.short(mark), x: Self.left - 8, y: y + 4, kind: "small", anchor: "end"),
            ]
        }
        return rows
            + across.marks.flatMap { mark in
                let x = across.place(of: mark)
                return [
                    Drawing.line(x, floor, x, floor + 5, kind: "grid"),
                    Drawing.label(Numbers.short(mark), x: x, y: floor + 17, kind: "small", anchor: "middle"),
                ]
            }
    }

    private func draw(_ curve: Chart.Curve, _ index: Int) -> [String] {
        let places = curve.points.map { (across.place(of: Double($0.count)), up.place(of: $0.value)) }
        let path = places.map { "\(Drawing.short($0.0)),\(Drawing.short($0.1))" }.joined(separator: " ")
        let dots = places.map {
            "<circle cx=\"\(Drawing.short($0.0))\" cy=\"\(Drawing.short($0.1))\" r=\"3\" class=\"dot\(index % 4)\"/>"
        }
        let y = top + 24 + Double(index) * 20
        let legend = [
            Drawing.line(Self.right + 14, y - 4, Self.right + 34, y - 4, kind: "curve line\(index % 4)"),
            Drawing.label(curve.name, x: Self.right + 40, y: y, kind: "small"),
        ]
        return ["<polyline points=\"\(path)\" class=\"curve line\(index % 4)\"/>"] + dots + legend
    }
}
