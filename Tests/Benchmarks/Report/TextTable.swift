// The report as a person reads it in a terminal: one table a section, columns that line up.

public enum TextTable {
    public static func opening(_ report: Report) -> String {
        let machine = report.machine
        return """
            \(report.date), \(machine.processor), \(machine.cores) cores, \(machine.memoryMegabytes) MB, \
            Linux \(machine.kernel), load before \(Numbers.fixed(machine.loadBefore, decimals: 2))

            """
    }

    public static func written(_ section: Section) -> String {
        let rows = [["", "median", "p99", "unit", "goal", "met"]] + section.figures.map(row)
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        let lines = rows.map { cells in
            zip(cells, widths).enumerated().map { column, cell in aligned(cell.0, to: cell.1, column) }
                .joined(separator: "  ").trimmed
        }
        let notes = section.figures.compactMap(note)
        return ([section.title, "  " + section.method] + lines.map { "  " + $0 } + notes + [""])
            .joined(separator: "\n") + "\n"
    }

    static func row(_ figure: Figure) -> [String] {
        guard let measured = figure.measured else { return [figure.name, "-", "-", figure.unit.rawValue, "", ""] }
        return [
            figure.name, Numbers.written(measured.median), measured.p99.map(Numbers.written) ?? "",
            figure.unit.rawValue, figure.goal?.written ?? "", figure.isGoalMet.map { $0 ? "yes" : "NO" } ?? "",
        ]
    }

    static func note(_ figure: Figure) -> String? {
        if case .missing(let reason) = figure.outcome { return "  \(figure.name): not measured: \(reason)" }
        return figure.note.map { "  \(figure.name): \($0)" }
    }

    /// Names and units to the left, numbers to the right.
    private static func aligned(_ cell: String, to width: Int, _ column: Int) -> String {
        let space = String(repeating: " ", count: width - cell.count)
        return column == 1 || column == 2 ? space + cell : cell + space
    }
}

extension Goal {
    var written: String {
        let tail = quantile == .p99 ? " at p99" : ""
        return switch bound {
        case .atMost(let value): "<= \(Numbers.bound(value))\(tail)"
        case .atLeast(let value): ">= \(Numbers.bound(value))\(tail)"
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
