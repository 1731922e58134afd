// Lines that are redrawn in place on a terminal, for live output.

final class RedrawnTable {
    /// Nil where standard output is no terminal, or one that cannot redraw.
    static func onTerminal() -> RedrawnTable? { Console.canRedraw(on: 1) ? RedrawnTable() : nil }

    private var height = 0

    /// Clips the lines to the terminal, because lines that wrap or scroll cannot be redrawn.
    func draw(_ text: String) {
        let (columns, rows) = Console.space(on: 1)
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
            String($0.prefix(columns))
        }
        if lines.count > rows { lines = lines.prefix(rows - 1) + ["… and \(lines.count - rows + 1) more"] }
        let back = height > 0 ? "\u{1b}[\(height)A\r\u{1b}[J" : ""
        Console.print(back + lines.map { $0 + "\n" }.joined())
        height = lines.count
    }
}
