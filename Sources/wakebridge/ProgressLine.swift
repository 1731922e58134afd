// One line at the foot of a terminal that is drawn anew while something goes on; in a pipe nothing of it is seen.
import WakeDaemon
import WakeModel

final class ProgressLine {
    /// Nil where nobody watches, or the terminal cannot redraw.
    static func onTerminal() -> ProgressLine? { Console.canRedraw(on: 2) ? ProgressLine() : nil }

    private var shown: String?

    func show(_ text: String) {
        guard text != shown else { return }
        Console.draw("\r\u{1b}[2m\(text.printable.prefix(Console.space(on: 2).columns))\u{1b}[0m\u{1b}[K")
        shown = text
    }

    /// Before anything else is printed, so that it stands on a line of its own.
    func clear() {
        guard shown != nil else { return }
        shown = nil
        Console.draw("\r\u{1b}[K")
    }
}

extension ForegroundBridge.Progress {
    /// How far it is and what the handler is doing, with the sentence that `why` would give.
    var sentence: String {
        "\(length.spoken): \(acknowledged) of \(events.counted("event")) acknowledged, awake \(share(awake, of: length)): \(why)"
    }
}

/// `3.1 %`.
func share(_ part: TimeSpan, of whole: TimeSpan) -> String {
    let thousandths = whole > .zero ? Int(Double(part.nanoseconds) / Double(whole.nanoseconds) * 1000) : 0
    return "\(thousandths / 10).\(thousandths % 10) %"
}
