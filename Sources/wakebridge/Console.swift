// What the person sees: results on standard output, talk on standard error, colour only where a terminal shows it.
import Glibc
import WakeModel
import WakeSystem

enum Console {
    enum Style: String {
        case bold = "1"
        case dim = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
    }

    /// Colour and redrawing are for terminals; `NO_COLOR` and `TERM=dumb` forbid them there too.
    static var isColoured: Bool {
        isatty(1) == 1 && Environment.value(of: "NO_COLOR") == nil && Environment.value(of: "TERM") != "dumb"
    }

    /// A terminal on which lines can be drawn anew.
    static func canRedraw(on descriptor: Int32) -> Bool {
        isatty(descriptor) == 1 && (Environment.value(of: "TERM") ?? "dumb") != "dumb"
    }

    /// What can be drawn over, one less each way: a full line wraps, and the cursor wants a row.
    static func space(on descriptor: Int32) -> (columns: Int, rows: Int) {
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 1 && size.ws_row > 2
        return isKnown ? (Int(size.ws_col) - 1, Int(size.ws_row) - 1) : (79, 23)
    }

    static func print(_ text: String) { write(Array(text.utf8), to: 1) }
    static func print(_ bytes: [UInt8]) { write(bytes, to: 1) }
    static func say(_ sentence: String) { write(Array((sentence + "\n").utf8), to: 2) }

    /// For a terminal alone: moves and clears, without a newline.
    static func draw(_ text: String) { write(Array(text.utf8), to: 2) }

    /// Talk that is only for somebody who sits and waits.
    static func tell(_ sentence: String) { if isatty(2) == 1 { say(sentence) } }

    static func styled(_ text: String, _ style: Style) -> String {
        isColoured ? "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m" : text
    }

    /// Unbuffered, so that a line of a stream is seen when it comes. A reader that is gone ends the process by SIGPIPE.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR { return }
            rest = rest.dropFirst(max(count, 0))
        }
    }
}

extension String {
    /// Without control characters and those that turn the direction of writing: what devices, handlers and files say must
    /// not steer the terminal, nor look like something else.
    var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.isMisleading && $0 != "\t" ? "\u{fffd}" : $0 }))
    }
}
