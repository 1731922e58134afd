// What a daemon publishes to a real mosquitto, seen by a client that knows nothing of it.
import Glibc
import TestBench
import Testing
import WakeModel

@Suite("Publishing to a broker", .serialized, .tags(.outside), .enabled(unless: MQTTBench.hindrance))
struct PublishingTests {
    private let ground = Ground("mqtt")
    private let kept = Kept()
    private static let strapTopic =
        "homeassistant/device/wakebridge_pi__2fbluetooth_2fC0_3aF1_3aF2_3aF3_3aF4_3a01/config"

    private func setUp(
        _ more: String = "", beats: Int = 20
    ) async throws -> (Broker, OutsideClient, PublishedBridge) {
        let broker = try Broker(ground)
        try await broker.start()
        let outside = try await OutsideClient(ground, broker.port, topics: ["#"])
        let bridge = PublishedBridge(
            ground, trace: PublishedBridge.straps(ground, beats: beats),
            settings: PublishedBridge.settings(broker, more))
        kept.things = [broker, bridge.daemon]
        return (broker, outside, bridge)
    }

    @Test("each event is one line of the stream, and the state of its device is retained")
    func publishesEvents() async throws {
        let (_, outside, bridge) = try await setUp()
        try bridge.daemon.start()
        _ = try await outside.await("wakebridge/pi/events") {
            $0.payload.contains("\"n\":21,") || $0.payload.contains("\"n\":21}")
        }
        let lines = outside.messages.filter { $0.topic == "wakebridge/pi/events" }.compactMap(\.value)
        #expect(lines.compactMap { $0["stream"]?["n"]?.integer } == Array(1...21))
        #expect(lines.first?["type"]?.string == "wakebridge.device.connected")
        #expect(lines.last?["data"]?["value"]?["bpm"] == .integer(79))
        #expect(lines.last?["subject"]?.string == "strap-1")
        let state = try await outside.await("wakebridge/pi/devices/strap-1/state") { $0.payload.contains("\"bpm\":79") }
        #expect(state.value?["time"]?.string == lines.last?["time"]?.string)
        #expect(outside.last("wakebridge/pi/devices/strap-1/availability")?.payload == "online")
        let about = outside.last("wakebridge/pi/devices/strap-1/about")?.value
        #expect(about?["profile"]?.string == "heart-rate-monitor")
        #expect(about?["source"]?.string == "/bluetooth/C0:F1:F2:F3:F4:01")
    }

    @Test("a reader of the tutorial about thermometers sees the lines that it shows in the log and at watch")
    func showsThermometers() async throws {
        let page = try Document("docs/tutorials/twelve-thermometers-in-home-assistant.md")
        let broker = try Broker(ground)
        try await broker.start()
        let structure = "10161a18" + "a4c138001123" + "00554d550b3407"
        let heard = (1...40).map { _ in "+1 1 data advertisement \(structure)\n" }.joined()
        let trace = ground.write(
            "wakebridge-trace 1\nclock 2026-11-29T08:00:00Z\n"
                + "device 1 bluetooth A4:C1:38:00:11:23 alias=\"cellar\" advertisement=\(structure)\n\(heard)end\n",
            to: "cellar.trace")
        let bridge = PublishedBridge(ground, trace: trace, settings: PublishedBridge.settings(broker))
        kept.things = [broker, bridge.daemon]
        try bridge.daemon.start()
        let logged = try #require(page.block("text", with: "connected to the broker")).text
            .replacing("… ", with: "").replacing("raspberrypi", with: "pi")
        #expect(try await wait(60) { bridge.log.contains(logged) }, "\(bridge.log)")
        let seen = ground.file("watch.log")
        let watch = try spawn(
            [Built.tool, "watch", "cellar", "--socket", ground.socket], output: .file(seen), talk: .file(seen))
        defer { killAndReap(watch) }
        let shown = try #require(page.block("text", with: "advertisement temperature_c")).lines[0]
        let line = shown.replacing(" …", with: "").drop { $0 != "c" }
        #expect(try await wait(60) { text(of: seen).contains(line) }, "\(text(of: seen))")
    }

    @Test("a bridge that is killed is offline by its last will, and one that ends in order by its own word")
    func hasLastWill() async throws {
        let (broker, outside, bridge) = try await setUp()
        try bridge.daemon.start()
        _ = try await outside.await("wakebridge/pi/status") { $0.payload == "online" }
        bridge.daemon.killForGood()
        _ = try await outside.await("wakebridge/pi/status") { $0.payload == "offline" }
        try bridge.daemon.start()
        _ = try await outside.await("wakebridge/pi/status") { $0.payload == "online" }
        #expect(try await bridge.daemon.stop() == 0)
        let late = try await OutsideClient(
            ground, broker.port, topics: ["wakebridge/pi/status"], options: ["name": "late"])
        let status = try await late.await("wakebridge/pi/status")
        #expect(status.payload == "offline" && status.isRetained)
    }

    @Test("who comes later finds what is retained: status, state and discovery")
    func retains() async throws {
        let (broker, outside, bridge) = try await setUp()
        try bridge.daemon.start()
        _ = try await outside.await("wakebridge/pi/devices/strap-1/state") { $0.payload.contains("\"bpm\":79") }
        let late = try await OutsideClient(ground, broker.port, topics: ["#"], options: ["name": "late"])
        for topic in [
            "wakebridge/pi/status", "wakebridge/pi/devices/strap-1/state", "wakebridge/pi/devices/strap-1/about",
            Self.strapTopic, "homeassistant/binary_sensor/wakebridge_pi/config",
        ] {
            #expect(try await late.await(topic).isRetained, "\(topic)")
        }
        let discovery = late.last(Self.strapTopic)?.value
        let bpm = discovery?["components"]?["bpm"]
        #expect(bpm?["platform"]?.string == "sensor" && bpm?["unit_of_measurement"]?.string == "bpm")
        #expect(bpm?["state_topic"]?.string == "wakebridge/pi/devices/strap-1/state")
    }

    @Test("Home Assistant that starts again is told everything again")
    func announcesAgain() async throws {
        let (_, outside, bridge) = try await setUp()
        try bridge.daemon.start()
        let topic = Self.strapTopic
        _ = try await outside.await("wakebridge/pi/devices/strap-1/state") { $0.payload.contains("\"bpm\":79") }
        let before = outside.messages.count { $0.topic == topic }
        outside.publish("homeassistant/status", "online")
        let isAgain = try await wait(10) { outside.messages.count { $0.topic == topic } > before }
        #expect(isAgain)
    }

    @Test("a device that is gone is removed from the broker and from Home Assistant")
    func removesGone() async throws {
        let (_, outside, bridge) = try await setUp()
        for (topic, payload) in [
            ("wakebridge/pi/devices/gone/about", "{\"discovery\":\"homeassistant/device/wakebridge_pi_gone/config\"}"),
            ("wakebridge/pi/devices/gone/state", "{}"),
            ("homeassistant/device/wakebridge_pi_gone/config", "{}"), ("wakebridge/pi/handlers/gone/about", "{}"),
        ] {
            outside.publish(topic, payload, isRetained: true)
            _ = try await outside.await(topic)
        }
        try bridge.daemon.start()
        for topic in [
            "wakebridge/pi/devices/gone/about", "wakebridge/pi/devices/gone/state",
            "homeassistant/device/wakebridge_pi_gone/config", "wakebridge/pi/handlers/gone/about",
        ] {
            _ = try await outside.await(topic) { $0.payload.isEmpty }
        }
    }

    @Test("without discovery, what was announced before is removed once, and the bridge and its devices stay")
    func removesAnnouncements() async throws {
        let (broker, outside, bridge) = try await setUp("allow: [\"wake\"]")
        bridge.ground.install("h", [])
        let announced = [
            Self.strapTopic, "homeassistant/binary_sensor/wakebridge_pi/config",
            "homeassistant/button/wakebridge_pi_h/config",
        ]
        try bridge.daemon.start()
        for topic in announced { _ = try await outside.await(topic) { !$0.payload.isEmpty } }
        #expect(try await bridge.daemon.stop() == 0)
        put(
            "{ mqtt: { bridge: \"pi\", \(PublishedBridge.settings(broker, "discovery: false")) } }\n",
            at: ground.file("config/wakebridge.json5"))
        try bridge.daemon.start()
        for topic in announced { _ = try await outside.await(topic) { $0.payload.isEmpty } }
        let about = try await outside.await("wakebridge/pi/devices/strap-1/about") {
            $0.value != nil && $0.value?["discovery"]?.string == nil
        }
        #expect(about.value?["source"]?.string != nil)
    }

    @Test("a device whose events were lost is unavailable until it says something again")
    func showsGaps() async throws {
        let broker = try Broker(ground)
        try await broker.start()
        let outside = try await OutsideClient(ground, broker.port, topics: ["wakebridge/pi/devices/#"])
        var trace = TraceText()
        trace.add(0.2, 1, "connect")
        trace.addBeats(1, from: 1, every: 1)
        // Between them is time to publish each: of what changes at once only the last is published.
        trace.add(4, 1, "gap link count=3 for=1")
        trace.addBeats(1, from: 8, every: 1)
        let bridge = PublishedBridge(
            ground, trace: ground.write(trace.text, to: "gap.trace"), settings: PublishedBridge.settings(broker))
        kept.things = [broker, bridge.daemon]
        try bridge.daemon.start()
        let isBack = try await wait(60, every: 0.1) {
            let words = outside.messages.filter { $0.topic.hasSuffix("strap-1/availability") }.map(\.payload)
            return words.suffix(3) == ["online", "offline", "online"]
        }
        #expect(isBack, "\(outside.messages.filter { $0.topic.hasSuffix("/availability") }.map(\.payload))")
    }

    @Test("a broker that is started again gets everything that is retained, and the lines that waited")
    func survivesRestartOfBroker() async throws {
        let (broker, first, bridge) = try await setUp(beats: 60)
        try bridge.daemon.start()
        _ = try await first.await("wakebridge/pi/events")
        broker.kill()
        let isLost = try await wait(60) { bridge.log.contains("lost the broker at mqtt://127.0.0.1:\(broker.port)") }
        #expect(isLost, "\(bridge.log)")
        // Lines wait in the outbox; the last one arrives only once the broker is back.
        let outbox = bridge.ground.runtime + "/mqtt-outbox"
        try #require(try await wait(60) { text(of: outbox).contains("\"bpm\":100") })
        // The second client listens before the daemon is back: what waited is not retained.
        kill(bridge.daemon.pid, SIGSTOP)
        try await broker.start()
        let outside = try await OutsideClient(ground, broker.port, topics: ["#"], options: ["name": "second"])
        kill(bridge.daemon.pid, SIGCONT)
        _ = try await outside.await("wakebridge/pi/events") {
            $0.payload.contains("\"n\":61,") || $0.payload.contains("\"n\":61}")
        }
        _ = try await outside.await("wakebridge/pi/devices/strap-1/state") { $0.payload.contains("\"bpm\":119") }
        #expect(outside.last("wakebridge/pi/status")?.payload == "online")
    }

    @Test("a machine without Paho says what to install, and its handlers run all the same")
    func saysWhatIsMissing() async throws {
        let (_, _, bridge) = try await setUp()
        let hidden = try #require(
            TestBench.text(of: "/proc/self/maps").isEmpty ? nil : ground.file("empty"), "no /proc")
        makeEmptyLibrary(in: hidden)
        let daemon = Daemon(
            ground, trace: PublishedBridge.straps(ground), speed: "1", ahead: ["env", "LD_LIBRARY_PATH=\(hidden)"])
        try daemon.start()
        _ = bridge
        let isTold = try await wait(15) { bridge.log.contains("install the package libpaho-mqtt1.3") }
        #expect(isTold, "\(bridge.log)")
        #expect(daemon.isReady)
        let status = try await daemon.tool("status").output
        #expect(status.contains("warning: nothing is published to the broker at mqtt://127.0.0.1:"), "\(status)")
        #expect(status.contains("could not load Eclipse Paho for MQTT: "), "\(status)")
        #expect(status.contains("; install the package libpaho-mqtt1.3\n"), "\(status)")
    }

    /// A file of that name that is no library comes before the real one.
    private func makeEmptyLibrary(in folder: String) {
        mkdir(folder, 0o755)
        put("no library\n", at: folder + "/libpaho-mqtt3as.so.1")
    }
}
