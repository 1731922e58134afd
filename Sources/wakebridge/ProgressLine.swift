// One line at the bottom of a terminal, redrawn during work; a pipe gets nothing of it.
import WakeDaemon
import WakeEngine
import WakeModel

final class ProgressLine {
    /// Nil where standard error is no terminal, or one that cannot redraw.
    static func onTerminal() -> ProgressLine? { Console.canRedraw(on: 2) ? ProgressLine() : nil }

    private var shown: String?

    func show(_ text: String) {
        guard text != shown else { return }
        Console.draw("\r\u{1b}[2m\(text.printable.prefix(Console.space(on: 2).columns))\u{1b}[0m\u{1b}[K")
        shown = text
    }

    /// Call it before other output, so that that starts on a new line.
    func clear() {
        guard shown != nil else { return }
        shown = nil
        Console.draw("\r\u{1b}[K")
    }
}

extension ForegroundBridge.Progress {
    /// The progress and the handler's state, with the sentence of `why`.
    var sentence: String {
        "\(length.spoken): \(acknowledged) of \(events.counted("event")) acknowledged, awake \(share(awake, of: length)): \(why)"
    }
}

/// `3.1 %`.
func share(_ part: TimeSpan, of whole: TimeSpan) -> String {
    let thousandths = whole > .zero ? Int(Double(part.nanoseconds) / Double(whole.nanoseconds) * 1000) : 0
    return "\(thousandths / 10).\(thousandths % 10) %"
}
