// Shows an answer of the daemon again and again until Ctrl-C: drawn in place on a terminal, as blocks of text elsewhere.
import WakeArguments
import WakeModel
import WakeSystem

final class LiveView {
    static let flag = Flag(
        "watch", value: "TIME", isValueOptional: true,
        "show it again every TIME, 2s if not given, until Ctrl-C or q; TIME is needed where there is no terminal")

    private let client: ControlClient
    private let interval: TimeSpan
    /// Nil where blocks are printed one after another.
    private let drawing: RedrawnTable?
    private let turns: ToolLoop
    private let keys: TerminalKeys?
    private var latest: String?
    private var awaySince: WallTime?

    init(
        _ client: ControlClient, every interval: TimeSpan, _ drawing: RedrawnTable?, on turns: ToolLoop? = nil
    ) throws(Complaint) {
        (self.client, self.interval, self.drawing) = (client, interval, drawing)
        if let turns { self.turns = turns } else { self.turns = try ToolLoop() }
        do throws(SystemError) { keys = drawing == nil ? nil : try TerminalKeys() } catch {
            throw .failure("\(error.description); try again")
        }
        // For the keys to be looked at during a wait.
        self.turns.meanwhile = {}
    }

    /// As `--watch` orders; nil without it, and without a TIME where nothing can be drawn in place.
    convenience init?(_ words: ParsedArguments, on turns: ToolLoop? = nil) throws(Complaint) {
        guard words.has(Self.flag.name) else { return nil }
        if words.has("json") {
            throw .usage("--watch shows text and takes no --json; 'wakebridge watch --json' prints events as they come")
        }
        let interval = try Self.interval(words)
        let drawing = RedrawnTable.onTerminal()
        if drawing == nil, interval == nil { return nil }
        try self.init(words.client, every: interval ?? .seconds(2), drawing, on: turns)
    }

    /// A number alone is of seconds.
    private static func interval(_ words: ParsedArguments) throws(Complaint) -> TimeSpan? {
        if let seconds = words.value(flag.name).flatMap({ Int64($0) }), (1...86_400).contains(seconds) {
            return .seconds(seconds)
        }
        return try words.time(flag.name)
    }

    /// Shows what `show` makes of each answer. `whileAway` makes a text without one; else the latest text stays.
    func run(
        _ path: String, whileAway: (() -> String)? = nil, _ show: (JSONValue) -> String
    ) throws(Complaint) -> Int32 {
        if drawing != nil { Console.print("\u{1b}[?25l") }
        defer { if drawing != nil { Console.print("\u{1b}[?25h") } }
        var isOver = false
        while !isOver, !turns.isInterrupted {
            let begun = SystemClock.monotonic()
            guard let text = try look(path, whileAway, show) else { return 0 }
            if let drawing { drawing.draw(text) } else { Console.print(text + "\n") }
            try turns.turn(until: begun + interval) {
                isOver = isOver || keys?.typed().contains(UInt8(ascii: "q")) == true
                return isOver
            }
        }
        return 0
    }

    /// Nil at Ctrl-C. A daemon that is not there at the first look is an error, unless there is a text without it.
    private func look(
        _ path: String, _ whileAway: (() -> String)?, _ show: (JSONValue) -> String
    ) throws(Complaint) -> String? {
        do throws(Complaint) {
            guard let answer = try client.askInterruptibly(path, within: .seconds(5)) else { return nil }
            awaySince = nil
            let text = show(answer.json)
            latest = text
            return text
        } catch {
            guard error.isOfAbsence, let rest = whileAway.map({ $0() }) ?? latest else { throw error }
            let since = awaySince ?? SystemClock.wall()
            awaySince = since
            let sentence = "the daemon has not answered since \(spokenSecond(since)): \(error.sentence)"
            let notice = Console.styled(sentence.wrapped(to: Console.width), .yellow) + "\n"
            return drawing == nil && whileAway == nil ? notice : "\(notice)\n\(rest)"
        }
    }
}

extension Complaint {
    /// Whether a daemon that starts again may end it: it gave no answer, not even a refusal.
    fileprivate var isOfAbsence: Bool {
        switch self {
        case .failure, .notRunning, .notPermitted: true
        case .usage, .notFound, .refused: false
        }
    }
}
