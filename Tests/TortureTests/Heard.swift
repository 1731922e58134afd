// What handlers heard: the fixture's record, line by line, as it was written before each event was acted on.
import TestBench

/// One delivery of one event to one process.
struct Heard {
    var process: Int32
    /// The daemon that the process was started by.
    var daemon: Int32
    var sequence: Int
    var attempt: Int
    var isRedelivered: Bool
    var device: String
    var kind: String
    /// The raw bytes, or why the link went; the whole line of other kinds.
    var content: String

    /// Lines that need no acknowledgement are left out.
    static func read(_ path: String) -> [Heard] { lines(of: path).compactMap { Heard($0[...]) } }

    private init?(_ line: Substring) {
        let fields = line.split(separator: " ", maxSplits: 3)
        guard fields.count == 4, let process = Int32(fields[0]), let daemon = Int32(fields[1]),
            let sequence = member("seq", of: fields[3]).flatMap({ Int($0) })
        else { return nil }
        self.process = process
        self.daemon = daemon
        self.sequence = sequence
        attempt = member("attempt", of: fields[3]).flatMap { Int($0) } ?? 0
        isRedelivered = member("redelivered", of: fields[3]) == "true"
        device = member("subject", of: fields[3]) ?? "-"
        kind = String((member("type", of: fields[3]) ?? "-").dropFirst("wakebridge.device.".count))
        switch kind {
        case "connected": content = "-"
        case "disconnected": content = member("reason", of: fields[3]) ?? "-"
        case "data": content = member("raw", of: fields[3]) ?? "-"
        default: content = String(fields[3])
        }
    }

    var what: String { "\(kind) \(content)" }

    /// A number in the content of a gap.
    func number(_ name: String) -> Int? { member(name, of: content[...]).flatMap { Int($0) } }
    var cause: String? { member("cause", of: content[...]) }
}
