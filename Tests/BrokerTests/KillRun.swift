// A record of the wire between daemon and broker, and what became of each event amid kills.
import Glibc
import TestBench
import Testing
import WakeModel

/// A program between the daemon and its broker that writes down what passes.
final class Tap {
    private let process: pid_t
    private let path: String
    let port: Int

    init(_ ground: Ground, to broker: Int) async throws {
        port = try MQTTBench.freePort()
        path = ground.file("tap")
        let said = ground.file("tap.log")
        process = try spawn(
            ["/usr/bin/python3", MQTTBench.file("tap.py"), "\(port)", "\(broker)", "wakebridge/pi/events", path],
            output: .file(said), talk: .file(said))
        let isReady = try await wait(10) { text(of: said).contains("ready") }
        try #require(isReady, "\(text(of: said))")
    }

    deinit { killAndReap(process) }

    var record: WireRecord { WireRecord(lines(of: path)) }
}

/// What was published, in the order in which it passed.
struct WireRecord {
    struct Publish {
        var line: JSONValue
        var isAcknowledged = false

        var number: Int64 { line["stream"]?["n"]?.integer ?? -1 }
        var life: String { line["stream"]?["life"]?.string ?? "" }
        var isAgain: Bool { line["stream"]?["again"]?.boolean == true }
        var lost: ClosedRange<Int64>? {
            guard let gap = line["gap"], let from = gap["from"]?.integer, let until = gap["until"]?.integer else {
                return nil
            }
            return from...until
        }
    }

    var publishes: [Publish] = []

    init(_ lines: [String]) {
        var open: [String: Int] = [:]
        for line in lines {
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            guard words.count >= 3 else { continue }
            let key = "\(words[1]) \(words[2])"
            if words[0] == "P", let value = try? JSONValue(parsing: Array(words[3].utf8)) {
                open[key] = publishes.count
                publishes.append(Publish(line: value))
            } else if words[0] == "A", let place = open.removeValue(forKey: key) {
                publishes[place].isAcknowledged = true
            }
        }
    }

    /// What is wrong with it, for people; empty where every number was published once, marked twice, or lost in one gap.
    var complaints: [String] {
        var complaints: [String] = []
        var published: [Int64: Int] = [:]
        var acknowledged: Set<Int64> = []
        var unmarked: Set<Int64> = []
        for publish in publishes {
            for number in publish.lost ?? publish.number...publish.number {
                published[number, default: 0] += 1
                if publish.isAcknowledged { acknowledged.insert(number) }
                if !publish.isAgain, !unmarked.insert(number).inserted {
                    complaints.append("\(number) was published twice without a mark")
                }
            }
        }
        if Set(publishes.map(\.life)).count > 1 { complaints.append("the outbox began a new life") }
        let last = published.keys.max() ?? 0
        for number in 1...max(1, last) where !acknowledged.contains(number) {
            complaints.append("\(number) was never acknowledged, and published \(published[number] ?? 0) times")
        }
        return complaints
    }

    var times: [String] { publishes.compactMap { $0.lost == nil ? $0.line["time"]?.string : nil } }
    var lostCount: Int64 { publishes.filter { !$0.isAgain }.compactMap(\.lost).map { Int64($0.count) }.reduce(0, +) }
    var againCount: Int { publishes.count(where: \.isAgain) }
}

/// The broker and the daemon, killed again and again amid events.
struct KillRun {
    let ground: Ground

    /// - Parameter period: between two events, so that all of them come while something is killed.
    func torture(events: Int, every period: Double, brokers: Int, daemons: Int, outbox: String) async throws {
        let broker = try Broker(ground)
        try await broker.start()
        let tap = try await Tap(ground, to: broker.port)
        ground.install("h", ["--ack-after", "1"])
        let trace = TraceText.beats(events, every: period)
        let bridge = PublishedBridge(
            ground, trace: ground.write(trace.text, to: "long.trace"),
            settings: "broker: \"mqtt://127.0.0.1:\(tap.port)\", outbox: \"\(outbox)\"")
        try bridge.daemon.start()
        let pause = Double(events) * period / Double(brokers + daemons + 1)
        var dice = Dice(27)
        for kill in 0..<(brokers + daemons) {
            try await TestBench.pause(pause * (0.5 + Double(dice.below(100)) / 100))
            if kill.isMultiple(of: 2) == (brokers >= daemons) || daemons == 0 {
                broker.kill()
                try await broker.start()
            } else {
                try bridge.daemon.killAndRestart()
            }
        }
        let isPlayed = try await wait(120 + Double(events) * period) { bridge.daemon.hasPlayed }
        try #require(isPlayed, "\(bridge.log.suffix(2_000))")
        let isOut = try await wait(90, every: 0.5) {
            tap.record.complaints.isEmpty && tap.record.publishes.count >= events
        }
        let record = tap.record
        let distinct = Set(record.times).count
        print(
            "mqtt: \(events) events, \(brokers) brokers and \(daemons) daemons killed: \(record.publishes.count) published, \(record.againCount) marked, \(record.lostCount) in gaps"
        )
        #expect(isOut, "\(record.complaints.prefix(10)) of \(record.publishes.count)")
        #expect(Int64(distinct) + record.lostCount >= Int64(events + 1))
        #expect(distinct <= events + 1)
    }
}
