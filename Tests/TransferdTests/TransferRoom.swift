// A daemon with a handler that orders transfers, and a server that misbehaves: what the tests of transferd stand in.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

final class TransferRoom {
    let folder: String
    private let server: Child
    private(set) var daemon: Child?
    let port: String

    static let manifest = """
        { exec: ["/usr/bin/python3", "DIR/handler.py", "DIR/diary", "DIR/orders"], USER
          alarms: [{ id: "go", every: "10d" }],
          transfers: [{ session: "photos", discretionary: false, require: [], parallel: 16 }] }
        """

    init(_ manifest: String = TransferRoom.manifest) throws {
        folder = makeDirectory("/tmp/waketransfer.XXXXXX")
        let script = File.parent(of: #filePath)
        server = try Child(["python3", "\(script)/server.py", "\(folder)/stored"])
        try Directory.create("\(folder)/config/handlers.d", mode: 0o755)
        let handler = try File.bytes(at: "\(script)/handler.py")
        try File.replace("\(folder)/handler.py", with: handler)
        for name in ["orders", "diary"] { try File.replace("\(folder)/\(name)", with: []) }
        let user = geteuid() == 0 ? "user: \"root\"," : ""
        let text = manifest.replacing("DIR", with: folder).replacing("USER", with: user)
        let place = server
        try #require(TransferRoom.wait(10) { place.output.contains("\n") })
        port = server.output.split(separator: "\n").first.map(String.init) ?? ""
        try File.replace("\(folder)/config/handlers.d/photos.json5", with: Array(text.utf8))
    }

    deinit {
        stop()
        killTransferd()
        kill(server.process, SIGKILL)
        Directory.removeTree(folder)
    }

    static func wait(_ seconds: Int64, _ isTrue: () throws -> Bool) rethrows -> Bool {
        let end = SystemClock.monotonic() + .seconds(seconds)
        while SystemClock.monotonic() < end {
            if try isTrue() { return true }
            usleep(20_000)
        }
        return try isTrue()
    }

    // MARK: The daemon

    func start() throws {
        let words = ["--config", "\(folder)/config", "--state", "\(folder)/state", "--runtime", "\(folder)/run"]
        let script = "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent exec \"$0\" \"$@\" 2>>'\(folder)/log'"
        daemon = try Child(["sh", "-c", script, Built.daemon] + words)
        try #require(Self.wait(20) { (try? tool("status").exit) == 0 }, "\(log)")
    }

    func stop(_ signal: Int32 = SIGTERM) {
        guard let daemon else { return }
        kill(daemon.process, signal)
        _ = Self.wait(15) { daemon.isOver }
        self.daemon = nil
    }

    var log: String { text(of: "\(folder)/log") }

    func tool(_ words: String...) throws -> (exit: Int32, output: String) {
        let outcome = try Child([Built.tool, "--runtime", "\(folder)/run"] + words).finish()
        return (outcome.exit, outcome.output)
    }

    /// Of transferd, which runs beside the daemon, and says nothing of where it works; its sockets do.
    var transferds: [pid_t] {
        let names = (try? Directory.names(in: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { process in
            text(of: "/proc/\(process)/comm").hasPrefix("wakebridge-tran") && listens(process)
        }
    }

    private func listens(_ process: pid_t) -> Bool {
        let number = (try? File.linkTarget(of: "/proc/\(process)/fd/3")) ?? ""
        guard let inode = number.split(separator: "[").last?.dropLast(), !inode.isEmpty else { return false }
        return text(of: "/proc/net/unix").split(separator: "\n").contains {
            $0.contains(" \(inode) ") && $0.contains("\(folder)/run/")
        }
    }

    func killTransferd() { for process in transferds { kill(process, SIGKILL) } }

    // MARK: Orders

    func order(_ lines: [String]) throws {
        try File.replace("\(folder)/orders", with: Array((lines.joined(separator: "\n") + "\n").utf8))
        #expect(try tool("simulate", "alarm", "photos", "go").exit == 0)
    }

    func download(_ id: String, _ path: String, _ more: String = "") -> String {
        """
        {"transfer":{"session":"photos","id":"\(id)","url":"http://127.0.0.1:\(port)\(path)","to":"\(id)"\(more)}}
        """
    }

    // MARK: What came

    struct Told {
        var kind: String
        var sequence: Int64
        var data: JSONValue
        var id: String { data["id"]?.string ?? "" }
        var why: String? { data["why"]?.string }
    }

    var told: [Told] {
        text(of: "\(folder)/diary").split(separator: "\n").compactMap { line in
            guard let value = try? JSONValue(parsing: line.utf8), let kind = value["kind"]?.string else { return nil }
            return Told(kind: kind, sequence: value["seq"]?.integer ?? 0, data: value["data"] ?? .null)
        }
    }

    func told(_ kind: String) -> [Told] { told.filter { $0.kind == kind } }

    /// What is left in the folder of files that are not whole.
    var parts: [String] {
        let names = (try? Directory.names(in: "\(folder)/state/handlers/photos/.transfers")) ?? []
        return names.filter { $0.hasSuffix(".part") }
    }

    /// How often the daemon's threads gave the processor back after they had been woken.
    var wakeUps: Int {
        let process = daemon?.process ?? -1
        return names(in: "/proc/\(process)/task").reduce(0) { sum, task in
            let line = lines(of: "/proc/\(process)/task/\(task)/status").first {
                $0.hasPrefix("voluntary_ctxt_switches")
            }
            return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
        }
    }

    func file(_ id: String) -> [UInt8]? { try? File.bytes(at: "\(folder)/state/handlers/photos/\(id)") }

    /// As the server makes it of a path.
    func source(_ path: String) throws -> [UInt8] {
        let script =
            "import sys,hashlib\nb=hashlib.sha256(sys.argv[1].encode()).digest()\n"
            + "n=1000+int.from_bytes(b[:3],'big')%200000\nsys.stdout.buffer.write((b*(n//32+1))[:n])"
        let place = "\(folder)/source"
        _ = try Child(["sh", "-c", "python3 -c \"$0\" \"$1\" >\(place)", script, path]).finish()
        return try File.bytes(at: place)
    }
}
