// The charts as one SVG: text and shapes only, readable on light and on dark pages.

public enum Drawing {
    static let width = 760.0
    private static let gap = 26.0

    /// One chart below the other, and what was measured on which machine under them.
    public static func svg(_ charts: [Chart], caption: String) -> String {
        var shapes: [String] = []
        var top = 14.0
        for chart in charts {
            shapes.append(label(chart.title, x: 16, y: top + 14, kind: "title"))
            let drawn = draw(chart, top: top + 34)
            shapes += drawn.shapes
            top = drawn.bottom + gap
        }
        shapes.append(label(caption, x: 16, y: top, kind: "small"))
        return document(shapes, height: top + 16)
    }

    private static func draw(_ chart: Chart, top: Double) -> (shapes: [String], bottom: Double) {
        switch chart.content {
        case .bars(let bars): BarDrawing(bars, axis: chart.axis, top: top).drawn
        case .curves(let over, let curves): CurveDrawing(curves, axis: chart.axis, over: over, top: top).drawn
        }
    }

    private static func document(_ shapes: [String], height: Double) -> String {
        let size = "width=\"\(short(width))\" height=\"\(short(height))\""
        let box = "viewBox=\"0 0 \(short(width)) \(short(height))\""
        let opening = ["<svg xmlns=\"http://www.w3.org/2000/svg\" \(size) \(box) role=\"img\">", style]
        let paper = "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>"
        return (opening + [paper] + shapes + ["</svg>"]).joined(separator: "\n") + "\n"
    }

    private static let style = """
        <style>
        text { font: 13px sans-serif; fill: #1f2328 }
        .title { font-weight: bold; font-size: 15px }
        .small { font-size: 11px }
        .paper { fill: #ffffff }
        .grid { stroke: #d1d9e0; stroke-width: 1 }
        .ours { fill: #0969da } .other { fill: #818b98 }
        .tail { stroke: #59636e; stroke-width: 1.5 }
        .line0 { stroke: #0969da } .line1 { stroke: #bc4c00 } .line2 { stroke: #1a7f37 } .line3 { stroke: #8250df }
        .curve { fill: none; stroke-width: 2 }
        .dot0 { fill: #0969da } .dot1 { fill: #bc4c00 } .dot2 { fill: #1a7f37 } .dot3 { fill: #8250df }
        @media (prefers-color-scheme: dark) {
        text { fill: #e6edf3 } .paper { fill: #0d1117 } .grid { stroke: #3d444d }
        .ours { fill: #4493f8 } .other { fill: #7d8590 } .tail { stroke: #9198a1 }
        .line0 { stroke: #4493f8 } .line1 { stroke: #f0883e } .line2 { stroke: #3fb950 } .line3 { stroke: #ab7df8 }
        .dot0 { fill: #4493f8 } .dot1 { fill: #f0883e } .dot2 { fill: #3fb950 } .dot3 { fill: #ab7df8 }
        }
        </style>
        """
}

// MARK: - Shapes

extension Drawing {
    static func label(_ text: String, x: Double, y: Double, kind: String = "", anchor: String = "start") -> String {
        let kind = kind.isEmpty ? "" : " class=\"\(kind)\""
        return "<text x=\"\(short(x))\" y=\"\(short(y))\" text-anchor=\"\(anchor)\"\(kind)>\(escaped(text))</text>"
    }

    static func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, kind: String) -> String {
        "<line x1=\"\(short(x1))\" y1=\"\(short(y1))\" x2=\"\(short(x2))\" y2=\"\(short(y2))\" class=\"\(kind)\"/>"
    }

    static func short(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }

    static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
    }
}
