// One line at the foot of a terminal that is drawn anew while something goes on; in a pipe nothing of it is seen.
import Glibc
import WakeDaemon
import WakeModel

final class ProgressLine {
    /// Nil where nobody watches, or the terminal cannot redraw.
    static func onTerminal() -> ProgressLine? {
        let isDumb = getenv("TERM").map { String(cString: $0) } ?? "dumb" == "dumb"
        return isatty(2) == 1 && !isDumb ? ProgressLine() : nil
    }

    private var isShown = false

    func show(_ text: String) {
        Console.draw("\r\u{1b}[2m\(text.printable.prefix(Self.width))\u{1b}[0m\u{1b}[K")
        isShown = true
    }

    /// Before anything else is printed, so that it stands on a line of its own.
    func clear() {
        guard isShown else { return }
        isShown = false
        Console.draw("\r\u{1b}[K")
    }

    /// One less than the terminal's columns, because a full line would wrap and could not be drawn over.
    private static var width: Int {
        var size = winsize()
        let isKnown = ioctl(2, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 1
        return isKnown ? Int(size.ws_col) - 1 : 79
    }
}

extension ForegroundBridge.Progress {
    /// How far it is and what the handler is doing, with the sentence that `why` would give.
    var sentence: String {
        "\(length.spoken): \(acknowledged) of \(counted(events, "event")) acknowledged, awake \(share(awake, of: length)): \(why)"
    }
}

/// `1 event`, `2 events`.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

/// `3.1 %`.
func share(_ part: TimeSpan, of whole: TimeSpan) -> String {
    let thousandths = whole > .zero ? Int(Double(part.nanoseconds) / Double(whole.nanoseconds) * 1000) : 0
    return "\(thousandths / 10).\(thousandths % 10) %"
}
