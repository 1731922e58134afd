// A real wakebridged with directories of its own, asked through its control socket by the real tool.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

/// Everything lies in one temporary directory, whose name makes the cgroup's name unique too; all is gone at the end.
final class RunningDaemon {
    let folder: String
    private var child: Child?
    /// What the daemon takes for the system bus; by default there is none, whatever the machine has.
    var busAddress = "unix:path=/nonexistent/bus"
    var program = Built.daemon
    /// Its clocks, where the test moves them.
    private(set) var time: SteppedTime?
    /// What starts it in its place: a program that ends in it.
    var wrapper: [String] = []

    var configuration: String { folder + "/config" }
    var manifests: String { configuration + "/handlers.d" }
    var state: String { folder + "/state" }
    var runtime: String { folder + "/run" }
    var logFile: String { folder + "/log" }
    var process: pid_t { child?.process ?? -1 }

    /// Makes the directories and starts nothing. `trace` is written to `folder` and played from the start on.
    init() throws {
        folder = makeDirectory("/tmp/wakedaemon.XXXXXX")
        try Directory.create(manifests, mode: 0o755)
        try write("", to: "log")
    }

    deinit {
        if let child {
            kill(child.process, SIGTERM)
            _ = wait(10) { child.isOver }
        }
        Directory.removeTree(folder)
    }

    /// From its start on its time goes on only in `wait` and `advance`, and not while a peer has something to do.
    func stepTime(beside peers: any Peer...) throws {
        program = Built.steppedDaemon
        time = try SteppedTime(in: folder, beside: peers)
    }

    /// By so much its time goes on, each timer alone and in order; returns how often it moved.
    @discardableResult
    func advance(by span: TimeSpan) throws -> Int {
        try #require(time, "its time is not stepped").advance(by: span, of: process)
    }

    /// Waits until it, its handlers and its peers have nothing to do, while its time does not move.
    func settle() throws { try #require(try #require(time, "its time is not stepped").settle(process), "\(log)") }

    /// By its CLOCK_BOOTTIME, in seconds.
    var now: Double { ((time?.boottime ?? SystemClock.boottime()) - .zero).seconds }
    /// By its wall clock.
    var wall: WallTime { time?.wall ?? SystemClock.wall() }

    /// With the handlers that these tests know, and the trace of one strap in `strap.trace`.
    static func withStrap(_ operations: String = "") throws -> RunningDaemon {
        let daemon = try RunningDaemon()
        try daemon.write(Script.diary, to: "diary.py")
        try daemon.write(Script.puppet, to: "puppet.py")
        try daemon.write(strapTrace(operations), to: "strap.trace")
        return daemon
    }

    // MARK: The daemon

    /// Starts it and waits until it answers.
    func start(_ words: String...) throws {
        child = try launch(words)
        try #require(wait { try tool("status").exit == 0 }, "\(log)")
    }

    /// Starts it and waits until it says that it is ready.
    func startUnasked() throws {
        let mark = log.utf8.count
        child = try launch([])
        try #require(wait { log(after: mark).contains("ready: ") }, "\(log)")
    }

    /// Runs it where it should not start: its exit status, and what it said.
    func startInVain(_ words: String...) throws -> (exit: Int32, talk: String) {
        let mark = log.utf8.count
        let child = try launch(words)
        try #require(wait { child.isOver })
        return (child.exit, log(after: mark))
    }

    private func launch(_ words: [String]) throws -> Child {
        let setting = "DBUS_SYSTEM_BUS_ADDRESS='\(busAddress)' \(time?.setting ?? "")"
        let script = "\(setting) exec \"$0\" \"$@\" 2>>'\(logFile)'"
        let directories = ["--config", configuration, "--state", state, "--runtime", runtime]
        return try Child(wrapper + ["sh", "-c", script, program] + directories + words)
    }

    /// Ends it in order; returns its exit status.
    @discardableResult
    func stop(_ signal: Int32 = SIGTERM) throws -> Int32 {
        let child = try #require(child)
        kill(child.process, signal)
        try #require(wait { child.isOver }, "\(log)")
        self.child = nil
        if let time { stampJournal(time.wall) }
        return child.exit
    }

    /// Stamps the journal with the daemon's time: the kernel stamps files by its own clock, and a new daemon reads the
    /// stamps to learn when the last one ended.
    private func stampJournal(_ wall: WallTime) {
        let (seconds, rest) = wall.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let stamp = timeval(tv_sec: Int(seconds), tv_usec: Int(rest))
        for database in [runtime + "/run.sqlite", state + "/journal.sqlite"] {
            for end in ["", "-wal", "-turns"] { utimes(database + end, [stamp, stamp]) }
        }
    }

    var log: String { text(of: logFile) }
    func log(after mark: Int) -> String { String(decoding: Array(log.utf8).dropFirst(mark), as: UTF8.self) }

    // MARK: The tool

    @discardableResult
    func tool(_ words: String...) throws -> (exit: Int32, output: String, talk: String) {
        try Child([Built.tool, "--runtime", runtime] + words).finish()
    }

    /// What a verb prints with `--json`.
    func json(_ words: String...) throws -> JSONValue {
        let outcome = try Child([Built.tool, "--runtime", runtime] + words + ["--json"]).finish()
        return try JSONValue(parsing: Array(outcome.output.utf8))
    }

    /// Runs the tool beside it; where time is stepped, it does not move while the tool has something to do.
    func following(_ words: String...) throws -> Child {
        let child = try Child([Built.tool, "--runtime", runtime] + words)
        time?.peers.append(child)
        return child
    }

    func handler(_ id: String) throws -> JSONValue {
        try #require(try json("handlers")["handlers"]?.array?.first { $0["id"]?.string == id } ?? .null)
    }

    func state(of id: String) throws -> String { try handler(id)["state"]?.string ?? "none" }

    /// Where its time is moved, the seconds are its own: they pass as soon as all is quiet.
    func wait(_ seconds: Int64 = 60, until condition: () throws -> Bool) rethrows -> Bool {
        if let time { return try time.wait(.seconds(seconds), of: process, until: condition) }
        return try Patience.wait(.seconds(seconds), until: condition)
    }

    // MARK: Files

    func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }
    func write(_ bytes: [UInt8], to name: String) throws {
        try Directory.create("\(folder)/\(name)".parentPath, mode: 0o755)
        try File.replace("\(folder)/\(name)", with: bytes, mode: 0o644)
    }

    func drop(_ id: String, _ manifest: String) throws { try write(manifest, to: "config/handlers.d/\(id).json5") }

    /// What a handler of ``Script/diary`` has kept: a line an event, `type seq attempt redelivered`.
    func diary(_ id: String) -> [String] { lines(of: "\(state)/handlers/\(id)/diary") }
}

extension String {
    fileprivate var parentPath: String { split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } }
}

/// Who the tests run as: what manifests name.
let me: String = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "root"

/// A manifest that is whole but for `extra`; `program` stands in the test's folder.
func manifest(_ program: String, _ extra: String = "", watch: String = "") -> String {
    """
    { exec: ["/usr/bin/env", "python3", "-u", "\(program)"], user: "\(me)", modes: ["bluetooth-central"],
      watch: [{ profile: "heart-rate-monitor", \(watch) }], \(extra) }
    """
}

/// A trace of one strap; `operations` follow its connect.
func strapTrace(_ operations: String = "") -> String {
    """
    wakebridge-trace 1
    clock 2026-11-21T07:00:00Z
    device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap" service=180d
    +0 1 connect
    \(operations)end

    """
}

enum Script {
    /// Writes every event down, then acknowledges it.
    static let diary = """
        import json, os, sys
        book = open(os.environ["WAKEBRIDGE_STATE_DIR"] + "/diary", "a")
        for line in sys.stdin:
            event = json.loads(line)
            book.write(" ".join(str(x) for x in [event["type"].split(".")[-1], event.get("seq", 0),
                event.get("attempt", 0), event.get("redelivered", False), json.dumps(event.get("data"))]) + "\\n")
            book.flush()
            if "seq" in event:
                os.write(3, b'{"ack":%d}\\n' % event["seq"])

        """

    /// Never acknowledges by itself. Sends what is written into `orders`, a line of hexadecimal digits for each line, and
    /// keeps every `wakebridge.error` in `errors`.
    static let puppet = """
        import json, os, select, sys
        home = os.environ["WAKEBRIDGE_STATE_DIR"]
        if not os.path.exists(home + "/orders"):
            os.mkfifo(home + "/orders")
        orders = os.open(home + "/orders", os.O_RDWR | os.O_NONBLOCK)
        errors = open(home + "/errors", "a")
        book = open(home + "/diary", "a")
        held = {0: b"", orders: b""}
        while True:
            for source in select.select([0, orders], [], [])[0]:
                bytes = os.read(source, 1 << 20)
                if not bytes and source == 0:
                    sys.exit(0)
                *lines, held[source] = (held[source] + bytes).split(b"\\n")
                for line in lines:
                    if source == orders:
                        rest = bytearray.fromhex(line.decode()) + b"\\n"
                        while rest:
                            rest = rest[os.write(3, rest):]
                    elif json.loads(line)["type"] == "wakebridge.error":
                        errors.write(line.decode() + "\\n")
                        errors.flush()
                    else:
                        event = json.loads(line)
                        book.write(event["type"].split(".")[-1] + " %d\\n" % event.get("seq", 0))
                        book.flush()

        """
}
