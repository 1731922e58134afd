// A real mosquitto with a folder and a port of its own, which goes and comes back when a test says so.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

/// It keeps sessions and what waits in them, also over its own end.
final class RunningBroker {
    let folder: String
    let port: Int
    private var child: Child?

    static var hindrance: String? {
        PreparedPart("mqtt").lack(of: ["/usr/sbin/mosquitto", "/usr/bin/mosquitto_pub"])
    }

    init() throws {
        folder = makeDirectory("/tmp/wakebroker.XXXXXX")
        port = try Self.freePort()
        let page = try Document("docs/how-to/outgrow-one-machine.md")
        let settings = """
            listener \(port) 127.0.0.1
            allow_anonymous true
            \(try #require(page.block("conf", with: "persistence true")).text)
            persistence_location \(folder)/
            log_dest stderr
            user \(me)

            """
        try File.replace(folder + "/mosquitto.conf", with: Array(settings.utf8), mode: 0o644)
        try start()
    }

    deinit {
        child = nil
        Directory.removeTree(folder)
    }

    var address: String { "mqtt://127.0.0.1:\(port)" }

    func start() throws {
        child = try Child(["/usr/sbin/mosquitto", "-c", folder + "/mosquitto.conf"])
        try #require(Patience.wait { try probe().exit == 0 }, "mosquitto does not listen: \(child?.talk ?? "")")
    }

    /// In order, so that it keeps what waits.
    func stop() throws {
        guard let child else { return }
        kill(child.process, SIGTERM)
        _ = child.finish(within: 10)
        self.child = nil
    }

    /// As at a power cut, once it has saved what it had when this was called.
    func killSaved() throws {
        let first = savedAt
        try #require(Patience.wait { savedAt > first }, "it does not save")
        // That save may have begun before.
        let second = savedAt
        try #require(Patience.wait { savedAt > second }, "it saves no more")
        guard let child else { return }
        kill(child.process, SIGKILL)
        _ = child.finish(within: 10)
        self.child = nil
    }

    /// In nanoseconds; 0 before its first save.
    private var savedAt: Int64 {
        var facts = stat()
        guard stat(folder + "/mosquitto.db", &facts) == 0 else { return 0 }
        return Int64(facts.st_mtim.tv_sec) * 1_000_000_000 + Int64(facts.st_mtim.tv_nsec)
    }

    private func probe() throws -> (exit: Int32, output: String, talk: String) {
        try Child(["mosquitto_pub", "-p", "\(port)", "-t", "probe", "-n"]).finish(within: 5)
    }

    /// Each line is a message of quality 1.
    func publish(_ lines: [String], to topic: String) throws {
        let file = folder + "/lines"
        try File.replace(file, with: Array((lines.joined(separator: "\n") + "\n").utf8), mode: 0o644)
        let script = "exec mosquitto_pub -p \(port) -q 1 -l -t '\(topic)' < '\(file)'"
        let outcome = try Child(["sh", "-c", script]).finish(within: 60)
        try #require(outcome.exit == 0, "\(outcome.talk)")
    }

    func retain(_ text: String, at topic: String) throws {
        let outcome = try Child(
            ["mosquitto_pub", "-p", "\(port)", "-q", "1", "-r", "-t", topic, "-m", text]
        ).finish(within: 10)
        try #require(outcome.exit == 0, "\(outcome.talk)")
    }

    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, size) == 0 && getsockname(descriptor, generic, &size) == 0
            }
        }
        try #require(isBound)
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
