// wakebridge send-message: sends a message to the inbox of a handler.
import WakeArguments
import WakeModel
import WakeSystem

extension Verb {
    static var sendMessage: Verb {
        Verb(
            name: "send-message", summary: "send a message to the inbox of a handler",
            synopsis: ["[--json] [--topic NAME] [--urgency URGENCY] [--ttl SECONDS] [--type TYPE] HANDLER [TEXT]"],
            detail: """
                Sends TEXT, or what stands on standard input. Once it says that the message is kept, the message survives a
                crash and a loss of power. A later message of the same topic takes its place. Messages of the urgency high
                wake at once, whatever the inbox's rate is; low and very-low never wake, and come with the next wake.
                """,
            examples: [
                "wakebridge send-message hr hello",
                "wakebridge send-message --topic door --urgency high hr open",
            ],
            flags: [
                Flag("topic", value: "NAME", "takes the place of what waits under this name"),
                Flag("urgency", value: "URGENCY", "very-low, low, normal or high"),
                Flag("ttl", value: "SECONDS", "for how long it is worth keeping"),
                Flag("type", value: "TYPE", "its media type, such as application/json"), jsonFlag,
            ] + daemonFlags, operands: [.handler, .free]
        ) { words throws(Complaint) in
            try words.atMost(2)
            guard let handler = words.operands.first else { throw .usage("a HANDLER must be named") }
            let text = words.operands.dropFirst().first.map { Array($0.utf8) }
            let payload = if let text { text } else { try messageOnStandardInput() }
            let answer = try words.client.ask(
                .post, path(ofHandler: handler, "inbox"), body: payload, headers: try messageHeaders(words))
            Console.print(words.has("json") ? answer.bytes : Array("\(messageSentence(answer.json))\n".utf8))
            return 0
        }
    }

    /// More than the daemon takes, so that its answer names what is too long.
    private static let longestMessage = 64 << 10

    private static func messageOnStandardInput() throws(Complaint) -> [UInt8] {
        do throws(SystemError) { return try File.bytes(at: "/dev/stdin", limit: longestMessage) } catch {
            throw .failure("cannot read the message: \(error.description); write it to standard input, or as TEXT")
        }
    }

    /// The header is left out without a type: libcurl would otherwise declare a form.
    private static func messageHeaders(_ words: ParsedArguments) throws(Complaint) -> [String] {
        let named = [("type", "Content-Type"), ("topic", "Topic"), ("urgency", "Urgency"), ("ttl", "TTL")]
        var headers: [String] = []
        for (option, header) in named {
            guard let value = words.value(option) else {
                if option == "type" { headers.append("Content-Type:") }
                continue
            }
            guard !value.isEmpty, !value.unicodeScalars.contains(where: \.isMisleading) else {
                throw .usage("--\(option) needs a text in one line")
            }
            headers.append("\(header): \(value)")
        }
        return headers
    }

    private static func messageSentence(_ answer: JSONValue) -> String {
        let kept = "message \(answer.text("id")) is kept for \(TimeSpan.seconds(answer.count("ttl_s")).spoken)"
        switch answer["wakes_in_ms"]?.integer {
        case 0: return "\(kept), and on its way"
        case let wait?: return "\(kept), and wakes in \(TimeSpan.milliseconds(wait).spoken)"
        case nil: return "\(kept), and comes with the next wake"
        }
    }
}
