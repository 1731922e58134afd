// The terminal: results on standard output, messages on standard error, colour only where a terminal shows it.
import Glibc
import Synchronization
import WakeArguments
import WakeDaemon
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

    /// When results are coloured.
    private enum Colouring: String, CaseIterable {
        case auto
        case always
        case never
    }

    // As the command line orders.
    private static let isQuiet = Atomic(false)
    private static let colouring = Atomic(0)
    private static let leavesHeadsOut = Atomic(false)

    /// Whether tables begin with the names of their columns.
    static var showsHeads: Bool { !leavesHeadsOut.load(ordering: .relaxed) }

    /// Takes the options that every verb has.
    static func behave(as words: ParsedArguments) throws(Complaint) {
        isQuiet.store(words.has("quiet"), ordering: .relaxed)
        leavesHeadsOut.store(words.has("no-headers"), ordering: .relaxed)
        guard let word = words.value("color") else { return }
        guard let place = Colouring.allCases.firstIndex(where: { $0.rawValue == word }) else {
            throw .usage("--color '\(word)' is none of auto, always and never")
        }
        colouring.store(place, ordering: .relaxed)
    }

    /// Colour and redrawing are for terminals; `NO_COLOR` and `TERM=dumb` forbid them there too.
    static var isColoured: Bool {
        switch Colouring.allCases[colouring.load(ordering: .relaxed)] {
        case .always: true
        case .never: false
        case .auto:
            isatty(1) == 1 && Environment.value(of: "NO_COLOR") == nil && Environment.value(of: "TERM") != "dumb"
        }
    }

    /// A terminal on which lines can be redrawn, if notes are wanted where they go to standard error.
    static func canRedraw(on descriptor: Int32) -> Bool {
        isatty(descriptor) == 1 && !(descriptor == 2 && isQuiet.load(ordering: .relaxed))
            && (Environment.value(of: "TERM") ?? "dumb") != "dumb"
    }

    /// The area that can be redrawn, one less each way: a full line wraps, and the cursor needs a row.
    static func space(on descriptor: Int32) -> (columns: Int, rows: Int) {
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 1 && size.ws_row > 2
        return isKnown ? (Int(size.ws_col) - 1, Int(size.ws_row) - 1) : (79, 23)
    }

    /// Where a terminal wraps what is printed; nil elsewhere.
    static var width: Int? { isatty(1) == 1 ? space(on: 1).columns : nil }

    static func print(_ text: String) { print(Array(text.utf8)) }
    static func print(_ bytes: [UInt8]) { Output.write(bytes, to: 1, called: Output.standard) }

    /// Whether a program reads the output, because --json was given.
    private static let speaksJSON = Atomic(false)
    static func speakJSON() { speaksJSON.store(true, ordering: .relaxed) }

    /// Prints a sentence about a finished step, which --quiet omits.
    static func note(_ sentence: String) { if !isQuiet.load(ordering: .relaxed) { say(sentence) } }

    /// A warning or another thing that must be read, beside the results: a line, or with --json a JSON object on a line.
    static func say(_ sentence: String) {
        guard speaksJSON.load(ordering: .relaxed) else { return draw(sentence + "\n") }
        say(JSONWriter.line { $0.field("note", sentence.withoutStyle) })
    }
    static func say(_ bytes: [UInt8]) { Output.write(bytes, to: 2, called: nil) }

    /// Only for a terminal: moves and clears, without a newline.
    static func draw(_ text: String) { Output.write(Array(text.utf8), to: 2, called: nil) }

    /// Prints a message only on a terminal, where a person waits.
    static func inform(_ sentence: String) { if isatty(2) == 1 { note(sentence) } }

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

/// Output of the tool: writes all bytes, or ends the tool with an error.
enum Output {
    static let standard = "standard output"

    /// - Parameter name: its name in an error; nil where no error can be shown.
    static func write(_ bytes: [UInt8], to descriptor: Int32, called name: String?) {
        do throws(SystemError) {
            try StandardStreams.write(bytes, to: descriptor, called: name ?? "standard error")
        } catch {
            if let name { end(name, error.errno) }
        }
    }

    private static func end(_ name: String, _ error: Errno) {
        if error != .brokenPipe {
            Console.say("wakebridge: cannot write \(name): \(error); what was printed is not whole")
        }
        // A bridge in the foreground, the only mode that ignores SIGPIPE, ends its handler in order first.
        if Signals.isIgnored(SIGPIPE) { kill(getpid(), SIGTERM) } else { exit(1) }
    }
}

/// A line at the bottom of a terminal, redrawn during work; a pipe gets nothing of it.
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

extension String {
    /// Without its colours where they would be cut.
    fileprivate func clipped(to columns: Int) -> String {
        count <= columns ? self : String(withoutStyle.prefix(columns))
    }
}

/// Lines that are redrawn in place on a terminal, for live output.
final class RedrawnTable {
    /// Nil where standard output is no terminal, or one that cannot redraw.
    static func onTerminal() -> RedrawnTable? { Console.canRedraw(on: 1) ? RedrawnTable() : nil }

    private var height = 0
    private var space = (columns: 0, rows: 0)

    /// Clips the lines to the terminal, because lines that wrap or scroll cannot be redrawn.
    func draw(_ text: String) {
        let (columns, rows) = Console.space(on: 1)
        let isResized = height > 0 && (columns, rows) != space
        space = (columns, rows)
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
            String($0).clipped(to: columns)
        }
        if lines.count > rows {
            lines = lines.prefix(rows - 1) + [String("… and \(lines.count - rows + 1) more".prefix(columns))]
        }
        // Another width has wrapped the lines: how far back they begin is not known.
        let back = isResized ? "\u{1b}[H\u{1b}[2J" : height > 0 ? "\u{1b}[\(height)A\r" : ""
        // Cleared behind each line and not before: a table that is empty for a moment flickers.
        Console.print(back + lines.map { $0 + "\u{1b}[K\n" }.joined() + "\u{1b}[J")
        height = lines.count
    }
}
