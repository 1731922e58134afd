// Shared by most verbs: a question to the daemon, and an order to it about one handler.
import WakeModel
import WakeWords

extension Verb {
    /// Asks and prints: the daemon's own bytes with `--json`, otherwise the text that `show` makes.
    static func report(
        _ words: ParsedWords, _ path: String, _ show: (JSONValue) -> String
    ) throws(Complaint) -> Int32 {
        let answer = try words.client.ask(.get, path)
        if words.has("json") { Console.print(answer.bytes) } else { Console.print(show(answer.json)) }
        return 0
    }

    /// Sends an order and prints that it is done: JSON with `--json`, otherwise `sentence`.
    static func order(
        _ words: ParsedWords, _ path: String, body: [UInt8] = [], _ sentence: (JSONValue) -> String
    ) throws(Complaint) -> Int32 {
        let answer = try words.client.ask(.post, path, body: body)
        if words.has("json") { Console.print(answer.bytes) } else { Console.print(sentence(answer.json) + "\n") }
        return 0
    }

    static func path(ofHandler id: String, _ last: String = "") -> String {
        "/v1/handlers/\(id.percentEncoded)" + (last.isEmpty ? "" : "/" + last)
    }

    /// One JSON object of texts.
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
