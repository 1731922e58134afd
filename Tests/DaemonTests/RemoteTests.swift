// Devices of another bridge behind a real broker: they wake frozen handlers here, once each and in order.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite(
    "Devices of another bridge", .serialized, .tags(.outside), .enabled(unless: RunningBroker.hindrance))
struct RemoteTests {
    private let broker: RunningBroker
    private let daemon: RunningDaemon
    private var published = 0
    private var life = "5f0c00000000000a"

    init() throws {
        broker = try RunningBroker()
        daemon = try RunningDaemon()
        try daemon.write(Script.diary, to: "diary.py")
        try daemon.write(
            #"{ remote: [{ broker: "\#(broker.address)", bridge: "kitchen" }] }"#, to: "config/wakebridge.json5")
        try drop("hr", watch: #"profile: "heart-rate-monitor""#)
    }

    private func drop(_ id: String, watch: String) throws {
        try daemon.drop(
            id,
            """
            { exec: ["/usr/bin/env", "python3", "-u", "\(daemon.folder)/diary.py"], user: "\(me)", modes: ["remote"],
              watch: [{ \(watch) }] }
            """)
    }

    /// As the other bridge writes them; the values count from `first`.
    private mutating func beats(
        _ count: Int, profile: String = "heart-rate-monitor", source: String = "/bluetooth/C0:F1:F2:F3:F4:01",
        alias: String = "strap"
    ) -> [String] {
        (0..<count).map { _ in
            published += 1
            return """
                {"specversion":"1.0","id":"j7-\(published)","source":"\(source)","type":"wakebridge.device.data",\
                "subject":"\(alias)","time":"2026-11-26T20:00:00.000001Z","datacontenttype":"application/json",\
                "authenticated":true,"data":{"profile":"\(profile)","characteristic":"2a37",\
                "value":{"n":\(published),"exact":1.50},"raw":"103d"},"stream":{"life":"\(life)","n":\(published)}}
                """
        }
    }

    /// Of a diary, the numbers of the values as they came.
    private func numbers(_ id: String = "hr") -> [Int] {
        daemon.diary(id).compactMap { line in
            line.firstRange(of: "\"n\": ").flatMap { Int(line[$0.upperBound...].prefix { $0.isNumber }) }
        }
    }

    private func kinds(_ id: String = "hr") -> [String] {
        daemon.diary(id).compactMap { $0.split(separator: " ").first.map(String.init) }
    }

    private func device(_ alias: String = "kitchen/strap") throws -> JSONValue? {
        try daemon.json("status")["devices"]?.array?.first { $0["alias"]?.string == alias }
    }

    private let topic = "wakebridge/kitchen/events"

    /// What the daemon said of other bridges.
    private var talk: String { lines(of: daemon.logFile).filter { $0.contains(" remote: ") }.joined(separator: "\n") }

    @Test("a value of another bridge's device wakes a frozen handler, and comes as it was written there")
    mutating func wakes() throws {
        try drop("scale", watch: #"profile: "kitchen-scale", device: "kitchen/scale""#)
        try daemon.start()
        #expect(daemon.wait { daemon.log.contains("follows bridge kitchen") }, "\(talk)")
        try broker.publish(beats(1), to: topic)
        #expect(daemon.wait { numbers() == [1] }, "\(talk)")
        #expect(kinds() == ["restored", "connected", "data"] && daemon.diary("hr").last?.contains("1.5") == true)
        #expect(daemon.wait { (try? daemon.state(of: "hr")) == "suspended" })
        try broker.publish(beats(1), to: topic)
        #expect(daemon.wait { numbers() == [1, 2] }, "\(talk)")

        let strap = try #require(try device())
        #expect(strap["source"]?.string == "/remote/kitchen/bluetooth/C0:F1:F2:F3:F4:01")
        #expect(strap["mode"]?.string == "remote" && strap["link"]?.string == "connected")
        // A profile that only the other bridge has.
        try broker.publish(beats(1, profile: "kitchen-scale", source: "/accessory/1:2:3", alias: "scale"), to: topic)
        #expect(daemon.wait { numbers("scale") == [3] }, "\(talk)")
        #expect(try device("kitchen/scale")?["profile"]?.string == "kitchen-scale")
        #expect(try daemon.stop() == 0)
    }

    @Test("numbers that never came are one gap, and a line that is spoilt is missing like them")
    mutating func gaps() throws {
        try daemon.start()
        #expect(daemon.wait { daemon.log.contains("follows bridge kitchen") }, "\(talk)")
        try broker.publish(beats(2), to: topic)
        #expect(daemon.wait { numbers() == [1, 2] }, "\(talk)")
        _ = beats(3)
        let spoilt = beats(1).map { String($0.dropLast(4)) }
        try broker.publish(spoilt + beats(2), to: topic)
        #expect(daemon.wait { numbers() == [1, 2, 7, 8] }, "\(daemon.diary("hr")) \(talk)")
        #expect(kinds().count { $0 == "gap" } == 1 && daemon.log.contains("a line of bridge kitchen is left out"))
        #expect(try daemon.stop() == 0)
    }

    @Test("the broker's end disconnects its devices and why says so; what was published meanwhile comes in order")
    mutating func brokerAway() throws {
        try daemon.start()
        #expect(daemon.wait { daemon.log.contains("follows bridge kitchen") }, "\(talk)")
        try broker.publish(beats(3), to: topic)
        #expect(daemon.wait { numbers() == [1, 2, 3] }, "\(talk)")
        try broker.stop()
        #expect(daemon.wait { kinds().last == "disconnected" }, "\(talk)")
        #expect(daemon.diary("hr").last?.contains("broker-away") == true)
        let strap = try #require(try device())
        #expect(strap["link"]?.string == "disconnected" && strap["why"]?.string?.contains("is away since") == true)
        try broker.start()
        // It is kept for the session that the daemon left there.
        try broker.publish(beats(3), to: topic)
        #expect(daemon.wait { numbers() == Array(1...6) }, "\(daemon.diary("hr")) \(talk)")
        let before = ["restored", "connected", "data", "data", "data", "disconnected"]
        #expect(kinds().filter { $0 != "resumed" } == before + ["connected", "data", "data", "data"])
        #expect(try daemon.stop() == 0)
    }

    @Test(
        "a broker with the settings of the page, killed while a follower is away, keeps its session and what waits there"
    )
    mutating func brokerKilled() throws {
        try daemon.start()
        #expect(daemon.wait { daemon.log.contains("follows bridge kitchen") }, "\(talk)")
        try broker.publish(beats(3), to: topic)
        #expect(daemon.wait { numbers() == [1, 2, 3] }, "\(talk)")
        #expect(try daemon.stop() == 0)
        try broker.publish(beats(5), to: topic)
        try broker.killSaved()
        try broker.start()
        try daemon.start()
        #expect(daemon.wait { numbers() == Array(1...8) }, "\(daemon.diary("hr")) \(talk)")
        #expect(!kinds().contains("gap"))
        #expect(try daemon.stop() == 0)
    }

    @Test("killed amid a stream five times, the daemon gives each value once, or marks it, and loses none")
    mutating func killed() throws {
        let lines = beats(1_500)
        try daemon.start()
        #expect(daemon.wait { daemon.log.contains("follows bridge kitchen") }, "\(talk)")
        let publisher = try publishing(lines)
        for round in 1...5 {
            #expect(daemon.wait { numbers().count >= round * 200 }, "\(numbers().count) \(talk)")
            try daemon.stop(SIGKILL)
            try daemon.start()
        }
        #expect(daemon.wait(60) { numbers().last == 1_500 }, "\(numbers().suffix(3)) \(talk)")
        #expect(publisher.finish(within: 30).exit == 0)
        var seen: Set<Int> = []
        for line in daemon.diary("hr") where line.hasPrefix("data ") {
            let words = line.split(separator: " ", maxSplits: 4)
            let number = line.firstRange(of: "\"n\": ").flatMap { Int(line[$0.upperBound...].prefix { $0.isNumber }) }
            let isNew = seen.insert(number ?? 0).inserted
            #expect(isNew || words[3] == "True" || words[2] != "1", "\(line)")
        }
        #expect(seen.count == 1_500 && seen.max() == 1_500 && !kinds().contains("gap"))
        let firsts = numbers().reduce(into: [Int]()) { if $1 > $0.last ?? 0 { $0.append($1) } }
        #expect(firsts.count == 1_500, "they come in order")
        #expect(try daemon.stop() == 0)
    }

    private func publishing(_ lines: [String]) throws -> Child {
        let file = daemon.folder + "/lines"
        try File.replace(file, with: Array((lines.joined(separator: "\n") + "\n").utf8), mode: 0o644)
        let pub = "mosquitto_pub -p \(broker.port) -q 1 -l -t '\(topic)'"
        return try Child(["sh", "-c", "exec \(pub) < '\(file)'"])
    }
}
