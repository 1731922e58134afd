// What the fixture does with each line of stdin.
import Glibc

struct Script {
    let options: Options
    private var events = 0
    private var isTaskOpen = false

    init(options: Options) { self.options = options }

    mutating func take(_ line: String) {
        if let path = options.text("--record") { append("\(getpid()) \(parent) \(monotonicNow()) \(line)", to: path) }
        guard let sequence = member("seq", of: line) else { return noteNotice(line) }
        events += 1
        logEvent(line, sequence)
        if events == 1 { misbehaveOnce() }
        if let bytes = options.number("--spam-stdout") { writeAll(1, Array(repeating: 0x78, count: bytes) + [0x0a]) }
        if options.text("--crash-at") == sequence { abort() }
        if let bytes = options.text("--crash-on"), member("raw", of: line) == bytes { abort() }
        work()
        answer(sequence)
        if let limit = options.number("--exit-after"), events >= limit { exit(Int32(options.number("--exit") ?? 0)) }
    }

    private mutating func misbehaveOnce() {
        if let path = options.text("--hold-lock") { holdLock(path) }
        if let count = options.number("--flood") {
            for _ in 0..<count { reply("{\"ack\":999999999}") }
        }
        if options.has("--garbage") {
            for line in ["garbage", "{\"akc\":1}", "{\"ack\":1,\"nack\":2}", "\u{0}\u{1}", "[]", "{"] { reply(line) }
        }
        if options.has("--close-replies") { close(3) }
        if let name = options.text("--task") { begin(name) }
    }

    private mutating func begin(_ name: String) {
        isTaskOpen = true
        reply("{\"begin\":\"\(name)\"}")
    }

    /// The task's work is one sleep, so that a freeze or an expiry falls into the middle of it.
    private mutating func work() {
        guard let milliseconds = options.number("--work") else { return }
        if options.text("--task") == nil { return sleepFor(milliseconds: milliseconds) }
        guard isTaskOpen else { return }
        sleepFor(milliseconds: milliseconds)
        guard !options.has("--never-end"), let name = options.text("--task") else { return }
        isTaskOpen = false
        reply("{\"end\":\"\(name)\"}")
    }

    private func answer(_ sequence: String) {
        if options.text("--nack") == sequence {
            let after = options.text("--after").map { ",\"after_s\":\($0)" } ?? ""
            return reply("{\"nack\":\(sequence)\(after)}")
        }
        if options.has("--never-ack") { return }
        if let milliseconds = options.number("--ack-after") { sleepFor(milliseconds: milliseconds) }
        if options.has("--checkpoint") { reply("{\"checkpoint\":\"\(sequence)\"}") }
        reply("{\"ack\":\(sequence)}")
    }

    private func logEvent(_ line: String, _ sequence: String) {
        guard let path = options.text("--log") else { return }
        let fields = [
            sequence, member("attempt", of: line) ?? "-", member("redelivered", of: line) ?? "false",
            member("subject", of: line) ?? "-", member("type", of: line) ?? "-", String(getpid()),
            String(monotonicNow()),
        ]
        append(fields.joined(separator: " "), to: path)
    }

    private func noteNotice(_ line: String) {
        guard let path = options.text("--notices") else { return }
        append("\(member("type", of: line) ?? "-") \(monotonicNow())", to: path)
    }
}
