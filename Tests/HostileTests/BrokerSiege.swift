// A broker that attacks the daemon which publishes to it.
import Glibc
import TestBench
import Testing

/// Its process is killed with this object at the latest.
final class HostileBroker {
    let port: Int
    private let child: Child

    /// The part `mqtt` has Python and Paho too.
    static var hindrance: String? { PreparedPart("mqtt").lack(of: ["/usr/bin/mosquitto_pub"]) }

    init(_ attack: String, topic: String, bytes: Int, certificate: String? = nil) async throws {
        let script = "\(packageFolder)/Tests/HostileTests/broker.py"
        let child = try Child(
            ["python3", script, attack, topic, "\(bytes)"] + (certificate.map { [$0, $0] } ?? []))
        _ = try await wait(30, every: 0.02) { child.output.hasSuffix("\n") || child.isOver }
        port = try #require(Int(child.output.split(whereSeparator: \.isWhitespace).last ?? ""), "\(child.talk)")
        self.child = child
    }

    func attack() { kill(child.process, SIGUSR1) }

    /// Ends its process, because the siege must leave none that has its files open.
    func end() {
        kill(child.process, SIGKILL)
        _ = Patience.wait { child.isOver }
    }

    /// The events that it logged, by line.
    var book: [String] { child.output.split(separator: "\n").map(String.init) }
}

extension Siege {
    /// Makes a certificate for 127.0.0.1 and its key, in one file.
    func makeCertificate() throws -> String {
        let file = ground.file("broker.pem")
        let words = [
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
        ]
        let made = try Child(
            words + ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "\(file).key", "-out", file]
        ).finish()
        try #require(made.exit == 0, "\(made.talk)")
        put(text(of: "\(file).key") + text(of: file), at: file)
        return file
    }

    func publish(to broker: HostileBroker, trusting certificate: String? = nil) {
        let scheme = certificate == nil ? "mqtt" : "mqtts"
        let authority = certificate.map { ", certificate_authority: \"\($0)\"" } ?? ""
        ground.write(
            "{ mqtt: { broker: \"\(scheme)://127.0.0.1:\(broker.port)\", bridge: \"siege\"\(authority) } }",
            to: "config/wakebridge.json5")
    }

    /// The daemon's peak of resident memory, in kilobytes.
    var peak: Int {
        let line = lines(of: "/proc/\(daemon?.pid ?? 0)/status").first { $0.hasPrefix("VmHWM:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
