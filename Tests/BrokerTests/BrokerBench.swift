// What the tests of MQTT stand on: a real mosquitto, a client from outside, and a daemon that plays a trace to both.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

/// Whether Debian's broker and client are there; where they are not, the tests say so and are not run.
enum MQTTBench {
    static let mosquitto = "/usr/sbin/mosquitto"
    static var hindrance: String? { PreparedPart("mqtt").lack(of: [mosquitto, "/usr/bin/mosquitto_pub"]) }

    static func file(_ name: String) -> String { "Tests/BrokerTests/\(name)" }

    /// Nothing listens there now.
    static func freePort() throws -> Int {
        let text = try Child([
            "python3", "-c", "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])",
        ]).finish().output
        return try #require(Int(text.filter(\.isNumber)))
    }
}

/// Keeps what a test has started until the test's end.
final class Kept {
    var things: [AnyObject] = []
}

/// A mosquitto on a port of its own, which may die and come back.
final class Broker {
    let port: Int
    private let configuration: String
    let log: String
    private(set) var process: pid_t = 0

    /// - Parameter lines: of its configuration, beside those that every broker here has.
    init(_ ground: Ground, lines: [String] = ["allow_anonymous true"], port: Int? = nil) throws {
        let port = try port ?? MQTTBench.freePort()
        self.port = port
        log = ground.file("broker.log")
        // By itself it drops what a slow client has not read of more than 1000 messages.
        let all = ["listener \(port) 127.0.0.1", "persistence false", "user root", "max_queued_messages 0"] + lines
        configuration = ground.write(all.joined(separator: "\n") + "\n", to: "broker-\(port).conf")
    }

    deinit { kill() }

    func start() async throws {
        process = try spawn(
            [MQTTBench.mosquitto, "-v", "-c", configuration], output: .file(log), talk: .file(log))
        let isUp = try await wait(60, every: 0.02) { self.answers }
        try #require(isUp, "\(said)")
    }

    private var answers: Bool {
        let (exit, _, _) =
            (try? Child([
                "python3", "-c", "import socket; socket.create_connection(('127.0.0.1', \(port)), 1)",
            ]).finish()) ?? (1, "", "")
        return exit == 0
    }

    func kill() {
        guard process > 0 else { return }
        killAndReap(process)
        process = 0
    }

    func kill(with signal: Int32) { _ = Glibc.kill(process, signal) }

    var said: String { text(of: log) }
}

/// A client of python3-paho-mqtt.
final class OutsideClient {
    struct Message {
        var topic: String
        var payload: String
        var isRetained: Bool

        var value: JSONValue? { try? JSONValue(parsing: Array(payload.utf8)) }
    }

    private let process: pid_t
    private let path: String
    private let input: Int32
    private var settled = 0

    init(_ ground: Ground, _ broker: Int, topics: [String], options: [String: String] = [:]) async throws {
        path = ground.file("outside-\(broker)-\(UInt32.random(in: 0 ... .max))")
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("port", broker)
            writer.field("topics", topics)
            for (name, text) in options {
                writer.key(named: name)
                writer.string(text)
            }
        }
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        input = ends[1]
        _ = fcntl(input, F_SETFD, FD_CLOEXEC)
        process = try spawn(
            ["/usr/bin/python3", MQTTBench.file("outside.py"), String(decoding: writer.bytes, as: UTF8.self)],
            input: ends[0], output: .file(path, replaces: true), talk: .file(ground.file("outside.log")))
        close(ends[0])
        let isConnected = try await wait(60) { text(of: self.path).contains("connected") }
        try #require(isConnected, "\(text(of: ground.file("outside.log")))")
    }

    deinit {
        close(input)
        killAndReap(process)
    }

    func publish(_ topic: String, _ payload: String, isRetained: Bool = false) {
        let line = Array("\(isRetained ? "retain\t" : "")\(topic)\t\(payload)\n".utf8)
        _ = line.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
    }

    func kill(with signal: Int32) { _ = Glibc.kill(process, signal) }

    /// Waits until the broker has acknowledged all that was published so far.
    func settle() async throws {
        settled += 1
        let wanted = settled
        _ = write(input, "settle\n", 7)
        let isSettled = try await wait(60, every: 0.005) {
            lines(of: self.path).count { $0.hasPrefix("{\"settled\"") } >= wanted
        }
        try #require(isSettled, "the broker does not acknowledge what was published")
    }

    var messages: [Message] {
        lines(of: path).compactMap { line in
            guard let value = try? JSONValue(parsing: Array(line.utf8)), let topic = value["topic"]?.string else {
                return nil
            }
            return Message(
                topic: topic, payload: value["payload"]?.string ?? "", isRetained: value["retain"]?.boolean ?? false)
        }
    }

    func last(_ topic: String) -> Message? { messages.last { $0.topic == topic } }

    /// The newest message of a topic that fits, once it has come.
    func await(
        _ topic: String, within seconds: Double = 60, where fits: (Message) -> Bool = { _ in true }
    ) async throws -> Message {
        var found: Message?
        _ = try await wait(seconds, every: 0.02) {
            found = messages.last { $0.topic == topic && fits($0) }
            return found != nil
        }
        return try #require(found, "nothing came at \(topic); at others: \(Set(messages.map(\.topic)).sorted())")
    }
}

/// A daemon that plays a trace, with a broker in its settings.
struct PublishedBridge {
    let ground: Ground
    let daemon: TestBench.Daemon

    /// - Parameter settings: members of `mqtt` beside `bridge`.
    init(_ ground: Ground, trace: String, speed: String = "1", settings: String) {
        self.ground = ground
        put("{ mqtt: { bridge: \"pi\", \(settings) } }\n", at: ground.file("config/wakebridge.json5"))
        daemon = Daemon(ground, trace: trace, speed: speed)
    }

    static func settings(_ broker: Broker, _ more: String = "") -> String {
        "broker: \"mqtt://127.0.0.1:\(broker.port)\"\(more.isEmpty ? "" : ", \(more)")"
    }

    var log: String { text(of: ground.daemonLog) }

    /// A strap that beats, and stays.
    static func straps(_ ground: Ground, beats: Int = 20, every period: Double = 0.1) -> String {
        var trace = TraceText()
        trace.add(0.2, 1, "connect")
        trace.addBeats(beats, from: 0.4, every: period)
        return ground.write(trace.text, to: "straps.trace")
    }
}
