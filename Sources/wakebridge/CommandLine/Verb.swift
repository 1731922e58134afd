// A verb: its name, operands, options and action. Each verb has a file of its own.
import WakeArguments
import WakeModel
import WakeSystem

struct Verb {
    let name: String
    /// A line for the list of verbs.
    let summary: String
    /// The text after the verb's name, a line for each way to use it.
    let synopsis: [String]
    /// The knowledge that its use needs, in whole sentences.
    let detail: String
    /// Whole command lines, as you would type them.
    let examples: [String]
    let flags: [Flag]
    /// The operands of each place, for completion.
    var operands: [Operand] = []
    /// Whether a program and its words follow after `--`.
    var takesProgram = false
    let perform: (ParsedArguments) throws(Complaint) -> Int32

    var allOptions: [Flag] { flags + Verb.commonFlags }

    static let helpFlag = Flag("help", short: "h", "show this text")

    static let commonFlags = [
        helpFlag, Flag("quiet", short: "q", "print results, warnings and errors only: no notes, no progress"),
        Flag("color", value: "WHEN", "colour: auto, always or never; auto if not given, which is on a terminal"),
        Flag("no-headers", "print tables without their first line"),
    ]

    static let daemonFlags = [
        Flag("socket", value: "PATH", "the daemon's control socket"),
        Flag("runtime", value: "DIR", "the daemon's runtime directory, which holds control.sock"),
    ]

    /// A document is whole once the tool ends; lines come as things happen.
    static let jsonFlag = Flag("json", short: "j", "print one JSON document, exactly as the daemon sends it")
    static let jsonLinesFlag = Flag("json", short: "j", "print a JSON object a line, exactly as the daemon sends it")

    static let globalOptions = daemonFlags + commonFlags + [Flag("version", short: "V", "show the version")]

    static var all: [Verb] { VerbGroup.all.flatMap(\.verbs) }

    /// Words that people try, each with the verb that does it.
    static let aliases = ["ls": "status", "list": "status", "log": "logs", "jobs": "pending"]

    /// The verb of this name or alias.
    static func known(_ name: String) -> Verb? {
        let name = aliases[name] ?? name
        return all.first { $0.name == name }
    }

    static func named(_ name: String) throws(Complaint) -> Verb {
        if let verb = known(name) { return verb }
        let near = suggestion(for: name, among: all.map(\.name) + ["help"])
        let kind = name.hasPrefix("-") ? "option" : "verb"
        throw .usage("there is no \(kind) '\(name)'.\(near)")
    }
}

// Shared by most verbs: a question to the daemon, and an order to it about one handler.
extension Verb {
    /// Asks and prints: the daemon's own bytes with `--json`, otherwise the text that `show` makes, with `--watch` repeatedly.
    static func report(
        _ words: ParsedArguments, _ path: String, _ show: (JSONValue) -> String
    ) throws(Complaint) -> Int32 {
        if let view = try LiveView(words) {
            return try view.run(path) { "\(timeLine)\n\(show($0))" }
        }
        let answer = try words.client.ask(.get, path)
        if words.has("json") { Console.print(answer.bytes) } else { Console.print(show(answer.json)) }
        return 0
    }

    /// The first line of what is shown again and again.
    static var timeLine: String { Console.styled(spokenSecond(SystemClock.wall()), .dim) }

    /// Sends an order and prints that it is done: JSON with `--json`, otherwise `sentence`.
    static func order(
        _ words: ParsedArguments, _ path: String, body: [UInt8] = [], _ sentence: (JSONValue) -> String
    ) throws(Complaint) -> Int32 {
        let answer = try words.client.ask(.post, path, body: body)
        if words.has("json") { Console.print(answer.bytes) } else { Console.print(sentence(answer.json) + "\n") }
        return 0
    }

    static func path(ofHandler id: String, _ last: String = "") -> String {
        "/v1/handlers/\(id.percentEncoded)" + (last.isEmpty ? "" : "/" + last)
    }

    /// A JSON object of texts.
    static func object(_ members: [(StaticString, String)]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        for (name, text) in members { writer.field(name, text) }
        writer.endObject()
        return writer.bytes
    }
}

extension JSONValue {
    /// The text at `name`, made safe for a terminal; empty where there is none.
    func text(_ name: String) -> String { (self[name]?.string ?? "").printable }
    func count(_ name: String) -> Int64 { self[name]?.integer ?? 0 }
    func list(_ name: String) -> [JSONValue] { self[name]?.array ?? [] }
}
