// A table with aligned columns.

/// Rows of cells; the last cell of a row is never padded.
struct Table {
    var rows: [[String]]
    /// The right-aligned columns.
    var numeric: Set<Int> = []

    /// The rows with their line ends.
    var text: String {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.map { line($0, widths) + "\n" }.joined()
    }

    private func line(_ row: [String], _ widths: [Int]) -> String {
        let cells = row.enumerated().map { column, cell in
            let space = String(repeating: " ", count: widths[column] - cell.count)
            if numeric.contains(column) { return space + cell }
            return column == row.count - 1 ? cell : cell + space
        }
        return cells.joined(separator: "  ")
    }
}
