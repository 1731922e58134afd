// Lines that are drawn over themselves on a terminal, for what changes while somebody looks.
import Glibc

final class RedrawnTable {
    /// Nil where standard output is no terminal, or one that cannot redraw.
    static func onTerminal() -> RedrawnTable? {
        let isDumb = getenv("TERM").map { String(cString: $0) } ?? "dumb" == "dumb"
        return isatty(1) == 1 && !isDumb ? RedrawnTable() : nil
    }

    private var height = 0

    /// Clipped to the terminal, because what wraps or scrolls cannot be drawn over.
    func draw(_ text: String) {
        let (columns, rows) = Self.size
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
            String($0.prefix(columns))
        }
        if lines.count > rows { lines = lines.prefix(rows - 1) + ["… and \(lines.count - rows + 1) more"] }
        let back = height > 0 ? "\u{1b}[\(height)A\r\u{1b}[J" : ""
        Console.print(back + lines.map { $0 + "\n" }.joined())
        height = lines.count
    }

    /// One less each way: a full line wraps, and the cursor wants a row.
    private static var size: (columns: Int, rows: Int) {
        var size = winsize()
        let isKnown = ioctl(1, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 1 && size.ws_row > 2
        return isKnown ? (Int(size.ws_col) - 1, Int(size.ws_row) - 1) : (79, 23)
    }
}
