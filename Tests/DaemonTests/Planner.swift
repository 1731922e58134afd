// A daemon without devices, and handlers that order what a test has them say and note all that they hear.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

/// One line as a handler noted it.
struct HeardLine {
    /// When it came, by CLOCK_BOOTTIME, in seconds.
    let at: Double
    let process: Int32
    /// Without `wakebridge.`.
    let type: String
    let line: JSONValue

    init?(_ text: String) {
        let fields = text.split(separator: " ", maxSplits: 2)
        guard fields.count == 3, let at = Double(fields[0]), let process = Int32(fields[1]),
            let line = try? JSONValue(parsing: Array(fields[2].utf8)), let type = line["type"]?.string
        else { return nil }
        (self.at, self.process, self.line) = (at, process, line)
        self.type = String(type.dropFirst("wakebridge.".count))
    }

    var data: JSONValue { line["data"] ?? .null }
    var sequence: Int64? { line["seq"]?.integer }
    var attempt: Int64? { line["attempt"]?.integer }
    var isRedelivered: Bool { line["redelivered"]?.boolean ?? false }
    /// Of an alarm or a job.
    var name: String? { data["id"]?.string ?? data["job"]?.string }
}

/// By CLOCK_BOOTTIME, in seconds: as handlers note it.
func boottimeNow() -> Double { (SystemClock.boottime() - .zero).seconds }

/// An instant as a line has it, since 1970.
func milliseconds(_ value: JSONValue?) -> Int64? {
    value?.string.flatMap { WallTime(rfc3339: $0) }.map { $0.microseconds / 1_000 }
}

final class Planner {
    let daemon: RunningDaemon

    /// - Parameter isStepped: its time goes on only in `wait`, `advance` and what waits for a line.
    init(isStepped: Bool = false) throws {
        daemon = try RunningDaemon()
        if isStepped { try daemon.stepTime() }
        try daemon.write(Self.script, to: "planner.py")
    }

    func start() throws { try daemon.start("--no-bluetooth") }

    func restart(_ signal: Int32 = SIGKILL) throws {
        try daemon.stop(signal)
        try start()
    }

    /// Whether a timer of the daemon is armed on a clock that ends the machine's sleep, as the kernel says.
    func setsMachineAlarm() throws -> Bool {
        let folder = "/proc/\(daemon.process)/fdinfo"
        return try Directory.names(in: folder).contains { name in
            let lines = lines(of: "\(folder)/\(name)")
            let isAlarm =
                lines.contains("clockid: \(CLOCK_BOOTTIME_ALARM)") || lines.contains("clockid: \(CLOCK_REALTIME_ALARM)")
            return isAlarm && !lines.contains("it_value: (0, 0)")
        }
    }

    // MARK: Handlers

    /// Drops a manifest in.
    /// - Parameters:
    ///   - words: `ack` acknowledges each event as it comes.
    ///   - linger: for how long it stays awake, and hears orders, without any event.
    func employ(_ id: String, _ agenda: String, words: [String] = [], linger: String = "1h", more: String = "") throws {
        let clock = daemon.time.map { ["clock=\($0.path)"] } ?? []
        let program = ["/usr/bin/env", "python3", "-u", "\(daemon.folder)/planner.py"]
        let exec = (program + words + clock).map { "\"\($0)\"" }
        try daemon.drop(
            id,
            """
            { exec: [\(exec.joined(separator: ", "))], user: "\(me)", \(agenda),
              timers: { linger: "\(linger)", window: "1d" }, \(more) }
            """)
    }

    private func home(_ id: String) -> String { "\(daemon.state)/handlers/\(id)" }

    /// Has the handler say this as soon as it is awake.
    func say(_ id: String, _ line: String) throws {
        try #require(daemon.wait { File.exists("\(home(id))/orders") }, "\(daemon.log)")
        let descriptor = open("\(home(id))/orders", O_WRONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let bytes = Array("\(line)\n".utf8)
        var sent = 0
        while sent < bytes.count {
            let count = write(descriptor, Array(bytes[sent...]), bytes.count - sent)
            if count < 0, errno == EAGAIN { continue }
            try #require(count > 0)
            sent += count
        }
    }

    func heard(_ id: String) -> [HeardLine] { lines(of: "\(home(id))/heard").compactMap { HeardLine($0) } }
    func heard(_ id: String, _ type: String) -> [HeardLine] { heard(id).filter { $0.type == type } }

    /// Says it, and waits for its answer: a reply or an error with the same `ref`.
    func ask(_ id: String, _ order: String) throws -> JSONValue {
        references += 1
        let reference = references
        try say(id, order.dropLast() + ",\"ref\":\(reference)}")
        var answer: HeardLine?
        let isAnswered = daemon.wait(20) {
            answer = heard(id).last {
                ["reply", "error"].contains($0.type) && $0.data["ref"]?.integer == reference
            }
            return answer != nil
        }
        try #require(isAnswered, "\(order) is not answered\n\(daemon.log)")
        return answer?.data ?? .null
    }
    private var references: Int64 = 0

    /// What waits, is queued or runs, as the handler is told.
    func pending(_ id: String) throws -> [JSONValue] { try ask(id, "{\"pending\":true}")["pending"]?.array ?? [] }

    /// Waits until so many lines of this type have come.
    @discardableResult
    func await(_ count: Int, _ type: String, of id: String, within seconds: Int64 = 20) throws -> [HeardLine] {
        let isThere = daemon.wait(seconds) { heard(id, type).count >= count }
        try #require(
            isThere, "\(heard(id, type).count) of \(count) \(type) came to \(id)\n\(heard(id))\n\(daemon.log)")
        return heard(id, type)
    }

    private static let script = """
        import json, os, select, sys, time
        home = os.environ["WAKEBRIDGE_STATE_DIR"]
        if not os.path.exists(home + "/orders"):
            os.mkfifo(home + "/orders")
        orders = os.open(home + "/orders", os.O_RDWR | os.O_NONBLOCK)
        book = open(home + "/heard", "a")
        # CLOCK_BOOTTIME as the test moves it is the second word of its page. It is rounded up: no line comes early.
        page = [os.open(word[6:], os.O_RDONLY) for word in sys.argv if word.startswith("clock=")]
        def boottime():
            if page:
                return (int.from_bytes(os.pread(page[0], 8, 8), sys.byteorder) // 1000000 + 1) / 1e3
            return time.clock_gettime(time.CLOCK_BOOTTIME)
        held = {0: b"", orders: b""}
        while True:
            for source in select.select([0, orders], [], [])[0]:
                read = os.read(source, 1 << 20)
                if not read and source == 0:
                    sys.exit(0)
                *lines, held[source] = (held[source] + read).split(b"\\n")
                for line in lines:
                    if source == orders:
                        rest = line + b"\\n"
                        while rest:
                            rest = rest[os.write(3, rest):]
                        continue
                    book.write("%.3f %d %s\\n" % (boottime(), os.getpid(), line.decode()))
                    book.flush()
                    event = json.loads(line)
                    if "seq" in event and "ack" in sys.argv:
                        os.write(3, b'{"ack":%d}\\n' % event["seq"])

        """
}
