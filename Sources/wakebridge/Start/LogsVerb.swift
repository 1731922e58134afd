// wakebridge logs: the standard output and error of handlers, and the bridge's lines about them.
import WakeArguments
import WakeModel

extension Verb {
    static var logs: Verb {
        Verb(
            name: "logs", summary: "what handlers wrote, and what the bridge reports about them",
            synopsis: ["[--json] [-f] [-n LINES] [HANDLER]"],
            detail: "Prints the latest lines, of every handler or of one; with -f it goes on until Ctrl-C.",
            examples: ["wakebridge logs -f hr", "wakebridge logs -n 20"],
            flags: [
                Flag("follow", short: "f", "go on with new lines"),
                Flag("lines", short: "n", value: "LINES", "how many of the latest lines, 0 to 10000; 100 if not given"),
                jsonLinesFlag,
            ] + daemonFlags, operands: [.handler]
        ) { words throws(Complaint) in
            let handler = try words.optional()
            let lines = try words.number("lines", in: 0...10_000) ?? 100
            let follows = words.has("follow")
            let path =
                "/v1/logs?lines=\(lines)&follow=\(follows)" + (handler.map { "&handler=\($0.percentEncoded)" } ?? "")
            let ending = try words.client.follow(.get, path, LogText.printer(words, unlessOf: handler))
            guard follows else { return 0 }
            return try finish(
                ending, "the daemon ended the stream of lines; 'wakebridge status' tells whether it still runs")
        }
    }
}

/// A line of a log stream: `07:42:46.727 strap: text`.
enum LogText {
    /// The function that prints each line, by the options.
    /// - Parameter asked: whose lines do not name it; nil where all are named.
    static func printer(_ words: ParsedArguments, unlessOf asked: String?) -> (ArraySlice<UInt8>) -> Void {
        let isJSON = words.has("json")
        return { line in
            Console.print(
                isJSON ? Array(line) + [UInt8(ascii: "\n")] : Array(text(line, unlessOf: asked).utf8))
        }
    }

    static func text(_ line: ArraySlice<UInt8>, unlessOf asked: String?) -> String {
        guard let entry = try? JSONValue(parsing: line) else {
            return String(decoding: line, as: UTF8.self).printable + "\n"
        }
        if let gap = entry["gap"] { return Console.styled("lost: \(gap.text("message"))", .red) + "\n" }
        let time = Console.styled(spokenTime(entry.text("time")), .dim)
        let name = entry["handler"]?.string == asked ? "" : "\(entry.text("handler")): "
        let text = entry.text("text")
        switch entry.text("stream") {
        case "bridge": return "\(time) \(name)\(Console.styled(text, .bold))\n"
        case "stderr": return "\(time) \(name)\(Console.styled(text, .yellow))\n"
        default: return "\(time) \(name)\(text)\n"
        }
    }
}
