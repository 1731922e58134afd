// wakebridge send-alert: sends a text to a topic of ntfy, as the daemon does for alarms.
import CCurl
import Glibc
import WakeArguments
import WakeModel
import WakeSystem

extension Verb {
    static var sendAlert: Verb {
        Verb(
            name: "send-alert", summary: "send a text to a topic of ntfy, as the daemon does for alarms",
            synopsis: ["[--json] [--title TEXT] [URL]"],
            detail: """
                Reads the text from standard input and posts it to URL. Without one it takes $WAKEBRIDGE_ALERT_URL, so that no
                other user sees the address among the processes. The title is $WAKEBRIDGE_HANDLER where none is said. To try
                what alerts.ntfy in wakebridge.json5 is to be:
                  echo test | wakebridge send-alert https://ntfy.sh/my-topic
                """,
            examples: ["echo test | wakebridge send-alert https://ntfy.sh/my-topic"],
            flags: [
                Flag("title", value: "TEXT", "the title above the text"),
                Flag("json", short: "j", "print one JSON document: the status of the answer"),
            ], operands: [.free]
        ) { words throws(Complaint) in
            let said = try words.optional() ?? Environment.value(of: "WAKEBRIDGE_ALERT_URL")
            guard let address = said else { throw .usage("a URL must be named") }
            guard ["http://", "https://"].contains(where: address.hasPrefix) else {
                throw .usage("the URL does not begin with http:// or https://")
            }
            let title = words.value("title") ?? Environment.value(of: "WAKEBRIDGE_HANDLER") ?? ""
            guard !title.unicodeScalars.contains(where: \.isMisleading) else {
                throw .usage("the title has a control character in it")
            }
            let text = try alertText()
            let outcome = wake_curl_post(
                address, "Title: \(title)", "Tags: alarm_clock", text, text.utf8.count, alertPatienceMilliseconds)
            try judge(outcome, address)
            let json = JSONWriter.line { $0.field("status", Int(outcome.status)) }
            Console.print(words.has("json") ? json : Array("sent\n".utf8))
            return 0
        }
    }

    /// Less than what the daemon lets it run.
    private static let alertPatienceMilliseconds = 8_000

    private static func alertText() throws(Complaint) -> String {
        var bytes: [UInt8] = []
        do throws(SystemError) { bytes = try File.bytes(at: "/dev/stdin", limit: 64 << 10) } catch {
            throw .failure("cannot read the text: \(error.description); write it to standard input")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let line = text.hasSuffix("\n") ? String(text.dropLast()) : text
        guard !line.isEmpty else { throw .usage("there is no text on standard input") }
        return line
    }

    /// Names the server alone: who knows a topic can read it.
    private static func judge(_ outcome: wake_curl_outcome, _ address: String) throws(Complaint) {
        let server = alertServer(of: address)
        if let failure = outcome.failure {
            throw .failure(
                "cannot send the text to \(server): \(String(cString: failure)); look at the network and the address")
        }
        switch outcome.status {
        case 200..<300: return
        case 401, 403:
            throw .notPermitted(
                "\(server) refuses the text with status \(outcome.status); write an access token into the address, such as "
                    + "https://:TOKEN@\(server)/topic")
        case 429: throw .failure("\(server) has got too many texts from here; send fewer")
        default:
            throw .failure(
                "\(server) answered with status \(outcome.status); is this the address of a topic of ntfy, with its name?"
            )
        }
    }

    private static func alertServer(of address: String) -> String {
        let place = address.drop { $0 != "/" }.dropFirst(2).prefix { !"/?#".contains($0) }
        return String(place.split(separator: "@").last ?? "").printable
    }
}
