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
    /// Of http, and of https where the room is secure.
    let ports: [String]
    /// Of the daemon, as a shell sets them.
    var environment = ""
    /// Of the daemon, beside those that say where its files are.
    var words: [String] = []
    /// What the daemon is run by.
    var wrapper: [String] = []
    private var mounts: [String] = []

    static let manifest = """
        { exec: ["/usr/bin/python3", "DIR/handler.py", "DIR/diary", "DIR/orders"], USER
          alarms: [{ id: "go", every: "10d" }],
          transfers: [{ session: "photos", discretionary: false, require: [], parallel: 16 }] }
        """

    /// - Parameter isSecure: its server speaks TLS too, with a certificate that `ca.pem` vouches for.
    init(_ manifest: String = TransferRoom.manifest, isSecure: Bool = false) throws {
        folder = makeDirectory("/tmp/waketransfer.XXXXXX")
        let script = File.parent(of: #filePath)
        if isSecure { try Self.certify(in: folder) }
        let identity = isSecure ? ["\(folder)/server.pem"] : []
        server = try Child(["python3", "\(script)/server.py", "\(folder)/stored"] + identity)
        try Directory.create("\(folder)/config/handlers.d", mode: 0o755)
        let handler = try File.bytes(at: "\(script)/handler.py")
        try File.replace("\(folder)/handler.py", with: handler)
        for name in ["orders", "diary"] { try File.replace("\(folder)/\(name)", with: []) }
        let user = geteuid() == 0 ? "user: \"root\"," : ""
        let text = manifest.replacing("DIR", with: folder).replacing("USER", with: user)
        let place = server
        let count = isSecure ? 2 : 1
        try #require(Patience.wait { place.output.count { $0 == "\n" } == count })
        ports = server.output.split(separator: "\n").map(String.init)
        try File.replace("\(folder)/config/handlers.d/photos.json5", with: Array(text.utf8))
    }

    deinit {
        stop()
        killTransferd()
        kill(server.process, SIGKILL)
        for place in mounts { umount2(place, Int32(MNT_DETACH)) }
        Directory.removeTree(folder)
    }

    /// An authority of its own, and what it signs for this machine.
    private static func certify(in folder: String) throws {
        let script = """
            set -e; cd "$0"; exec 2>openssl.log
            key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
            openssl req -x509 $key -days 2 -subj /CN=authority -keyout ca.key -out ca.pem
            openssl req $key -subj /CN=server -keyout server.key -out server.csr
            echo subjectAltName=IP:127.0.0.1 >names
            openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.crt
            cat server.key server.crt >server.pem
            """
        let made = try Child(["sh", "-c", script, folder]).finish()
        try #require(made.exit == 0, "openssl made no certificate: \(text(of: folder + "/openssl.log"))")
    }

    // MARK: The daemon

    func start() throws {
        let places = ["--config", "\(folder)/config", "--state", "\(folder)/state", "--runtime", "\(folder)/run"]
        let variables = "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent \(environment)"
        // A pipe would stay open with transferd, which outlives the daemon, and its end would be waited for.
        let script = "\(variables) exec \"$0\" \"$@\" >>'\(folder)/log' 2>&1"
        daemon = try Child(wrapper + ["sh", "-c", script, Built.daemon] + places + words)
        try #require(Patience.wait { (try? tool("status").exit) == 0 }, "\(log)")
    }

    func stop(_ signal: Int32 = SIGTERM) {
        guard let daemon else { return }
        kill(daemon.process, signal)
        #expect(Patience.wait { daemon.isOver }, "the daemon does not end")
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

    /// Opens what the server holds back.
    func open() throws { try File.replace("\(folder)/stored.open", with: []) }

    /// What the server was asked for.
    func asked() throws -> String {
        let script = "import sys,urllib.request\nprint(urllib.request.urlopen(sys.argv[1]).read().decode())"
        let outcome = try Child(["python3", "-c", script, "http://127.0.0.1:\(ports[0])/asked"]).finish()
        try #require(outcome.exit == 0, "\(outcome.talk)")
        return outcome.output
    }

    /// The handler's files lie on a small disk of their own.
    func mountState(_ size: String) throws {
        let place = "\(folder)/state/handlers/photos"
        try Directory.create(place, mode: 0o700)
        let words = ["mount", "-t", "tmpfs", "-o", "size=\(size),mode=700", "wakebridge", place]
        try #require(try Child(words).finish().exit == 0, "cannot mount a tmpfs on \(place)")
        mounts.append(place)
    }

    func killTransferd() { for process in transferds { kill(process, SIGKILL) } }

    // MARK: Orders

    func order(_ lines: [String], of handler: String = "photos") throws {
        try File.replace("\(folder)/orders", with: Array((lines.joined(separator: "\n") + "\n").utf8))
        #expect(try tool("simulate", "alarm", handler, "go").exit == 0)
    }

    func download(_ id: String, _ path: String, _ more: String = "", isSecure: Bool = false) -> String {
        let host = isSecure ? "https://127.0.0.1:\(ports[1])" : "http://127.0.0.1:\(ports[0])"
        return #"{"transfer":{"session":"photos","id":"\#(id)","url":"\#(host)\#(path)","to":"\#(id)"\#(more)}}"#
    }

    // MARK: What came

    struct Told {
        var kind: String
        var sequence: Int64
        var data: JSONValue
        var id: String { data["id"]?.string ?? "" }
        var why: String? { data["why"]?.string }
    }

    var told: [Told] { lines(of: "\(folder)/diary").compactMap { read($0) } }

    /// This is asked many times a second: other lines are not parsed.
    func told(_ kind: String) -> [Told] {
        lines(of: "\(folder)/diary").filter { $0.hasPrefix("{\"kind\": \"\(kind)\"") }.compactMap { read($0) }
    }

    private func read(_ line: String) -> Told? {
        guard let value = try? JSONValue(parsing: line.utf8), let kind = value["kind"]?.string else { return nil }
        return Told(kind: kind, sequence: value["seq"]?.integer ?? 0, data: value["data"] ?? .null)
    }

    func why(_ id: String) -> String? { told("transfer.finished").last { $0.id == id }?.why }

    /// What is left in the folder of files that are not whole.
    var parts: [String] {
        let names = (try? Directory.names(in: "\(folder)/state/handlers/photos/.transfers")) ?? []
        return names.filter { $0.hasSuffix(".part") }
    }

    var partBytes: Int {
        let place = "\(folder)/state/handlers/photos/.transfers"
        return parts.reduce(0) { $0 + bytes(of: "\(place)/\($1)").count }
    }

    /// How often the handler was launched or thawed.
    func wakes() throws -> Int64 {
        let status = try JSONValue(parsing: Array(try tool("status", "--json").output.utf8))
        let handler = try #require(status["handlers"]?.array?.first)
        return try #require(handler["wakes"]?.integer)
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

    /// How often the daemon waited for a page of its own.
    var majorFaults: Int {
        let stat = text(of: "/proc/\(daemon?.process ?? -1)/stat")
        let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
        return fields.count > 9 ? Int(fields[9]) ?? 0 : 0
    }

    func file(_ id: String) -> [UInt8]? { try? File.bytes(at: "\(folder)/state/handlers/photos/\(id)") }

    /// As the server makes it of a path.
    func source(_ path: String) throws -> [UInt8] { try sources([path])[0] }

    /// One program makes all of them; the last one stays in `source`.
    func sources(_ paths: [String]) throws -> [[UInt8]] {
        let script = """
            import hashlib, sys
            for number, path in enumerate(sys.argv[2:]):
                block = hashlib.sha256(path.encode()).digest()
                length = 1000 + int.from_bytes(block[:3], 'big') % 200000
                for place in (f"{sys.argv[1]}.{number}", sys.argv[1]):
                    open(place, "wb").write((block * (length // 32 + 1))[:length])
            """
        let place = "\(folder)/source"
        try #require(try Child(["python3", "-c", script, place] + paths).finish().exit == 0)
        return try paths.indices.map { try File.bytes(at: "\(place).\($0)") }
    }
}
