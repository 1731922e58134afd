// What the tests of messages from a broker stand on: a daemon whose handler notes what it is sent, and what broker and daemon lose.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

/// A daemon with one handler, `box`, which notes each message before it acknowledges it.
struct InboxBench {
    let ground: Ground
    let bridge: PublishedBridge

    /// - Parameter topics: how many of them `inbox` names.
    init(_ ground: Ground, _ broker: Broker, inbox: String, topics: Int = 1) async throws {
        self.ground = ground
        ground.write(Self.reader, to: "reader.py")
        Self.put(Self.manifest(ground, inbox), of: "box", in: ground)
        bridge = PublishedBridge(
            ground, trace: PublishedBridge.straps(ground, beats: 1), settings: PublishedBridge.settings(broker))
        try bridge.daemon.start()
        let answer = "Sending SUBACK to wakebridge-pi-inbox"
        let isSubscribed = try await wait(60) { lines(of: broker.log).count { $0.hasSuffix(answer) } >= topics }
        try #require(isSubscribed, "\(bridge.log)")
    }

    /// A manifest of a handler that notes what it is sent.
    static func manifest(_ ground: Ground, _ inbox: String) -> String {
        let user = geteuid() == 0 ? "user: \"root\", " : ""
        let script = ground.file("reader.py")
        return "{ exec: [\"/usr/bin/python3\", \"-u\", \"\(script)\"], \(user)inbox: \(inbox) }\n"
    }

    static func put(_ manifest: String, of handler: String, in ground: Ground) {
        ground.write(manifest, to: "config/handlers.d/\(handler).json5")
    }

    /// A line for each message: its topic and its text.
    var heard: [String] { heard(by: "box") }

    func heard(by handler: String) -> [String] { lines(of: ground.file("state/handlers/\(handler)/heard")) }

    private static let reader = """
        import json, os, sys
        book = open(os.environ["WAKEBRIDGE_STATE_DIR"] + "/heard", "a")
        for line in sys.stdin:
            event = json.loads(line)
            kind = event["type"]
            if kind == "wakebridge.message.received":
                book.write(event["data"]["mqtt"] + " " + event["data"]["payload"] + "\\n")
            elif kind == "wakebridge.device.gap":
                book.write("gap %d\\n" % event["data"]["count"])
            book.flush()
            if "seq" in event:
                os.write(3, b'{"ack":%d}\\n' % event["seq"])

        """
}

/// Broker and daemon, killed in turns while messages are on their way.
struct InboxKillRun {
    let ground: Ground

    /// - Parameter burst: so many messages are on their way when something is killed.
    func torture(kills: Int, burst: Int) async throws {
        let broker = try Broker(ground, lines: Self.configuration(ground))
        try await broker.start()
        let bench = try await InboxBench(
            ground, broker, inbox: "{ rate: \"60/m\", burst: 100, keep: 1000, mqtt: [\"count/#\"] }")
        let sender = try await OutsideClient(ground, broker.port, topics: [])
        var dice = Dice(28)
        for kill in 0..<kills {
            for number in kill * burst..<(kill + 1) * burst { sender.publish("count/\(number % 3)", "\(number)") }
            try await sender.settle()
            let isBroker = kill.isMultiple(of: 2)
            // What a broker has acknowledged and not saved, it loses by itself.
            if isBroker { try await broker.save(to: Self.database(ground)) }
            try await RealTime.pass(Double(dice.below(burst)) / 1_000)
            if isBroker {
                broker.kill()
                try await broker.start()
            } else {
                try bench.bridge.daemon.killAndRestart()
            }
        }
        try await judge(bench, kills: kills, sent: kills * burst)
    }

    private func judge(_ bench: InboxBench, kills: Int, sent: Int) async throws {
        let found = try await hearAll(bench, sent: sent)
        let heard = bench.heard
        print(
            "mqtt: \(sent) messages, \(kills) kills: \(found.count) heard, \(heard.count - found.count) of them twice")
        let missing = Set(0..<sent).subtracting(found).sorted()
        #expect(
            found.count == sent,
            "\(missing.count) never came, \(missing.prefix(10)) to \(missing.suffix(1))\n\(bench.bridge.log.suffix(2_000))"
        )
        #expect(!heard.contains { $0.hasPrefix("gap") })
    }

    /// Waits as long as further ones come: each takes commits, and a busy disk is slow at those.
    private func hearAll(_ bench: InboxBench, sent: Int) async throws -> Set<Int> {
        var found = numbers(in: bench.heard)
        var isMore = true
        while isMore, found.count < sent {
            let known = found.count
            isMore = try await wait(120, every: 0.5) {
                found = numbers(in: bench.heard)
                return found.count > known
            }
        }
        return found
    }

    private func numbers(in heard: [String]) -> Set<Int> {
        Set(
            heard.compactMap { line in
                line.hasPrefix("count/") ? line.split(separator: " ").last.flatMap { Int($0) } : nil
            })
    }

    private static func database(_ ground: Ground) -> String { ground.file("broker.db") }

    /// It saves when it is told to, so that a test knows what it cannot have lost.
    private static func configuration(_ ground: Ground) -> [String] {
        [
            "allow_anonymous true", "persistence true", "persistence_location \(ground.file(""))",
            "persistence_file broker.db", "autosave_interval 0",
        ]
    }
}

extension Broker {
    /// Has it write what it holds to its database, and waits until that is done.
    fileprivate func save(to database: String) async throws {
        unlink(database)
        kill(with: SIGUSR1)
        let isSaved = try await wait(60, every: 0.005) { File.exists(database) }
        try #require(isSaved, "\(said.suffix(1_000))")
    }
}
