// wakebridge watch: live events, as text for people or as the exact lines that handlers get.
import WakeArguments
import WakeModel

extension Verb {
    static var watch: Verb {
        Verb(
            name: "watch", summary: "events as they come, decoded", synopsis: ["[--json] [DEVICE]"],
            detail:
                "Ends at Ctrl-C. With --json the lines are exactly those of handlers.",
            examples: ["wakebridge watch", "wakebridge watch --json chest-strap"],
            flags: [jsonLinesFlag] + daemonFlags, operands: [.device]
        ) { words throws(Complaint) in
            let device = try words.optional().map { "?device=\($0.percentEncoded)" } ?? ""
            let ending = try words.client.follow(
                .get, "/v1/events\(device)", EventText.printer(isJSON: words.has("json")))
            return try finish(
                ending, "the daemon ended the stream of events; 'wakebridge status' tells whether it still runs")
        }
    }

    /// Ctrl-C is the normal end of a stream; an end by the daemon is a failure.
    static func finish(_ ending: ControlClient.Ending, _ sentence: String) throws(Complaint) -> Int32 {
        switch ending {
        case .interrupted, .enough: return 0
        case .closed: throw .failure(sentence)
        }
    }
}

/// An event line as people read it: `07:42:46.727  chest-strap  data  2a37  bpm=73 rr_s=[0.832]`.
struct EventText {
    let line: ArraySlice<UInt8>

    /// The function that prints each line of a stream, as text or as it is.
    static func printer(isJSON: Bool) -> (ArraySlice<UInt8>) -> Void {
        { line in Console.print(isJSON ? Array(line) + [UInt8(ascii: "\n")] : Array(EventText(line: line).text.utf8)) }
    }

    var text: String {
        guard let event = try? JSONValue(parsing: line) else {
            return String(decoding: line, as: UTF8.self).printable + "\n"
        }
        if let gap = event["gap"] { return Console.styled("lost: \(gap.text("message"))", .red) + "\n" }
        let parts = event.text("type").split(separator: ".").map(String.init)
        let isOfDevice = parts.count > 1 && parts[1] == "device"
        let kind = (isOfDevice ? parts.last : parts.dropFirst().joined(separator: ".")) ?? "event"
        let time = Console.styled(spokenTime(event.text("time")), .dim)
        let words = [time, event.text("subject"), coloured(kind), summary(event["data"] ?? .null)]
        return words.filter { !$0.isEmpty }.joined(separator: "  ") + "\n"
    }

    private func coloured(_ kind: String) -> String {
        switch kind {
        case "connected": Console.styled(kind, .green)
        case "disconnected", "gap", "attention": Console.styled(kind, .yellow)
        default: kind
        }
    }

    /// The members worth showing; those that the line shows elsewhere are left out.
    private func summary(_ data: JSONValue) -> String {
        guard case .object(let members) = data else { return "" }
        let value = members.first { $0.name == "value" }?.value
        let words = members.compactMap { member -> String? in
            switch member.name {
            case "profile", "device": nil
            case "characteristic", "stream": member.value.string
            case "raw": value == nil ? member.value.string : nil
            case "value": member.value.spoken
            default: "\(member.name)=\(member.value.spoken)"
            }
        }
        return words.joined(separator: " ").printable
    }
}

extension JSONValue {
    /// `bpm=73 rr_s=[0.832]`: a value on one line.
    var spoken: String {
        if case .object(let members) = self {
            return members.map { "\($0.name)=\($0.value.spoken)" }.joined(separator: " ")
        }
        if case .string(let text) = self { return text }
        var writer = JSONWriter()
        writer.value(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
