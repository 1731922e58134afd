// A broker to which nothing is published, as an operator sees it: in status, the doctor and the metrics, until it is mended.
import Glibc
import TestBench
import Testing
import WakeModel

@Suite("A broker that gets nothing", .serialized, .tags(.outside), .enabled(unless: MQTTBench.hindrance))
struct BrokerFaultTests {
    private let ground = Ground("mqtt")

    /// A bridge whose broker does not run yet.
    private func bridge(_ broker: Broker, _ more: String = "") -> PublishedBridge {
        PublishedBridge(
            ground, trace: PublishedBridge.straps(ground), settings: PublishedBridge.settings(broker, more))
    }

    /// The warnings of the status about brokers.
    private func warnings(_ daemon: Daemon) async throws -> [JSONValue] {
        let (exit, output) = try await daemon.tool("status", "--json")
        guard exit == 0 else { return [] }
        let all = try JSONValue(parsing: Array(output.utf8))["bridge"]?["warnings"]?.array ?? []
        return all.filter { $0["code"]?.string == "mqtt-fault" }
    }

    private func warning(_ daemon: Daemon) async throws -> JSONValue {
        var found: JSONValue?
        _ = try await wait(30) {
            found = try await warnings(daemon).first
            return found != nil
        }
        return try #require(found, "\(text(of: ground.daemonLog))")
    }

    private func isMended(_ daemon: Daemon) async throws -> Bool {
        try await wait(60) {
            let (exit, output) = try await daemon.tool("status", "--json")
            return exit == 0 && !output.contains("mqtt-fault")
        }
    }

    private func metric(_ daemon: Daemon) async throws -> String {
        let answer = try Child(["curl", "-s", "--unix-socket", ground.socket, "http://w/metrics"]).finish()
        return answer.output.split(separator: "\n").first { $0.contains("code=\"mqtt-fault\"") }.map(String.init) ?? ""
    }

    @Test("a wrong password is in status, doctor and metric until the broker takes it, and so is its remedy")
    func wrongPassword() async throws {
        let passwords = ground.file("passwords")
        let (exit, _, talk) = try Child(["mosquitto_passwd", "-b", "-c", passwords, "pi", "right"]).finish()
        try #require(exit == 0, "\(talk)")
        let strict = try Broker(ground, lines: ["allow_anonymous false", "password_file \(passwords)"])
        try await strict.start()
        put("wrong\n", at: ground.file("password"), mode: 0o600)
        let bridge = bridge(strict, "user: \"pi\", password_file: \"\(ground.file("password"))\"")
        try bridge.daemon.start()
        let warning = try await warning(bridge.daemon)
        let what = "nothing is published to the broker at mqtt://127.0.0.1:\(strict.port)"
        let why = "it refuses this user or the password"
        let advice =
            "correct user and password_file under mqtt, or allow the user at the broker; then restart wakebridged"
        #expect(warning["what"]?.string == what && warning["why"]?.string == why, "\(warning)")
        #expect(warning["advice"]?.string == advice)
        let shown = try await bridge.daemon.tool("status").output
        #expect(shown.contains("warning: \(what): \(why); \(advice)\n"), "\(shown)")
        #expect(try await metric(bridge.daemon) == "wakebridge_warnings_by_code{code=\"mqtt-fault\"} 1")
        let doctor = try await bridge.daemon.tool("doctor")
        #expect(doctor.exit == 1 && doctor.output.contains("warning  \(what)\n"), "\(doctor.output)")

        strict.kill()
        let mild = try Broker(ground, port: strict.port)
        try await mild.start()
        #expect(try await isMended(bridge.daemon), "\(bridge.log)")
        #expect(try await metric(bridge.daemon) == "wakebridge_warnings_by_code{code=\"mqtt-fault\"} 0")
        #expect(try await !bridge.daemon.tool("doctor").output.contains(what))
    }

    @Test("a broker that does not run is a warning with its reason, and none from its start on")
    func absentBroker() async throws {
        let broker = try Broker(ground)
        let bridge = bridge(broker)
        try bridge.daemon.start()
        let warning = try await warning(bridge.daemon)
        #expect(
            warning["advice"]?.string == "see that it runs there, and correct broker under mqtt if not", "\(warning)")
        #expect(warning["why"]?.string?.isEmpty == false)
        try await broker.start()
        #expect(try await isMended(bridge.daemon), "\(bridge.log)")
    }

    @Test("a password file that others can read is a warning until its mode is right and the daemon reads it again")
    func openPassword() async throws {
        let broker = try Broker(ground)
        try await broker.start()
        let password = ground.file("password")
        put("secret\n", at: password, mode: 0o644)
        let bridge = bridge(broker, "user: \"pi\", password_file: \"\(password)\"")
        try bridge.daemon.start()
        let warning = try await warning(bridge.daemon)
        #expect(
            warning["advice"]?.string == "others can read it; run chmod 600 \(password); then run 'wakebridge reload'",
            "\(warning)")
        chmod(password, 0o600)
        #expect(try await bridge.daemon.tool("reload").exit == 0)
        #expect(try await isMended(bridge.daemon), "\(bridge.log)")
        let outside = try await OutsideClient(ground, broker.port, topics: ["wakebridge/pi/status"])
        _ = try await outside.await("wakebridge/pi/status") { $0.payload == "online" }
    }
}
