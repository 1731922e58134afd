// The terminal: results on standard output, messages on standard error, colour only where a terminal shows it.
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

    /// A terminal on which lines can be redrawn.
    static func canRedraw(on descriptor: Int32) -> Bool {
        isatty(descriptor) == 1 && (Environment.value(of: "TERM") ?? "dumb") != "dumb"
    }

    /// The area that can be redrawn, one less each way: a full line wraps, and the cursor needs a row.
    static func space(on descriptor: Int32) -> (columns: Int, rows: Int) {
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 1 && size.ws_row > 2
        return isKnown ? (Int(size.ws_col) - 1, Int(size.ws_row) - 1) : (79, 23)
    }

    static func print(_ text: String) { print(Array(text.utf8)) }
    static func print(_ bytes: [UInt8]) { Output.write(bytes, to: 1, called: Output.standard) }
    static func say(_ sentence: String) { draw(sentence + "\n") }

    /// Only for a terminal: moves and clears, without a newline.
    static func draw(_ text: String) { Output.write(Array(text.utf8), to: 2, called: nil) }

    /// Prints a message only on a terminal, where a person waits.
    static func inform(_ sentence: String) { if isatty(2) == 1 { say(sentence) } }

    static func styled(_ text: String, _ style: Style) -> String {
        isColoured ? "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m" : text
    }
}

extension String {
    /// Without control characters and those that turn the direction of writing: text from devices, handlers and files must
    /// not steer the terminal, or look like other text.
    var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.isMisleading && $0 != "\t" ? "\u{fffd}" : $0 }))
    }
}
