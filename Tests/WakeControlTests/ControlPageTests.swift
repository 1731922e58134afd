// The calls, answers and words that docs/reference/http-api.md shows, held to what is asked and answered.
import TestBench
import Testing
import WakeModel

@testable import WakeAPI
@testable import WakeControl

@Suite("The page of the control API") struct ControlPageTests {
    private let page: Document

    init() throws { page = try Document("docs/reference/http-api.md") }

    /// Without what only makes it readable.
    private func compact(_ text: String) -> String {
        text.split(separator: "\n").map { $0.drop { $0 == " " } }.joined()
    }

    private var handler: HandlerReport {
        var strap = HandlerReport(
            id: "strap", state: "suspended", why: "asleep: no event waits", process: 4242, epoch: Epoch(rawValue: 3))
        strap.wakes = 60
        strap.events = 61
        strap.awake = .milliseconds(1_830)
        strap.work.useful = 52
        strap.work.nothing = 6
        strap.work.failed = 1
        strap.work.unsaid = 2
        strap.work.judgedWakes = 59
        strap.work.usefulWakes = 52
        strap.work.awakeRatio = 0.000244
        strap.work.processorTime = TimeSpan(nanoseconds: 41_930_000)
        strap.work.acknowledgedByProcess = 61
        strap.agenda.scheduled = 2
        strap.agenda.nextDue = WallTime(rfc3339: "2026-11-21T19:30:00.000000Z")
        return strap
    }

    private func device() throws -> DeviceStatus {
        let device = Device(
            uri: "/bluetooth/C0:F1:F2:F3:F4:01", alias: "chest-strap", profile: "heart-rate-monitor",
            kind: .bluetoothCentral, isBonded: true)
        let service = try #require(BluetoothUUID("180d"))
        return DeviceStatus(
            device: device, match: .init(services: [service]), link: "connected",
            lastData: try #require(WallTime(rfc3339: "2026-11-21T07:42:46.727125Z")), session: .open,
            adapter: "00:1A:7D:DA:71:13")
    }

    @Test("the status that the page shows is one that is answered, key for key")
    func status() throws {
        var bridge = BridgeStatus(
            version: "0.30.0", process: 77, journal: "j7", uptime: .milliseconds(7_500_200), suspension: .strong,
            journalHealth: "ok", residentBytes: 10_276_045)
        (bridge.host, bridge.configuration) = ("pi", "/etc/wakebridge")
        bridge.longestCall = TimeSpan(nanoseconds: 4_218_000)
        bridge.stays = [LoopStayReport(cause: "turn", longest: bridge.longestCall, overPatience: 0)]
        bridge.warnings = [
            BridgeWarning(
                "handlers \"gps\" and \"strap\" run as one user, pi",
                why: "each can read the other's memory and state, and answer in its name",
                advice: "write user: \"auto\" in their manifests"),
            BridgeWarning(
                "the manifest of handler \"gps\" is refused for 2 faults", code: .manifestRefused, of: "gps",
                why: "the manifest from before stays in force",
                advice: "correct /etc/wakebridge/handlers.d/gps.json5: line 4: max_batch is 0",
                refusal: RefusedFile(
                    file: "/etc/wakebridge/handlers.d/gps.json5", line: 4, fault: "max_batch is 0", more: 1,
                    isFormerInForce: true)),
        ]
        let adapter = AdapterStatus(
            address: "00:1A:7D:DA:71:13", isPowered: true, links: 5, mostLinks: 5, waiting: ["scale"])
        var writer = JSONWriter()
        WholeStatus(bridge: bridge, handlers: [handler], devices: [try device()], adapters: [adapter]).write(
            into: &writer)
        let shown = try #require(page.block("", with: "\"bridge\":"))
        #expect(compact(shown.text) == String(decoding: writer.bytes, as: UTF8.self))
    }

    @Test("every key of the status is explained, or says itself what it is")
    func keys() throws {
        let shown = try #require(page.block("", with: "\"bridge\":")).text
        let keys = Set(shown.split(separator: "\"").filter { shown.contains("\"\($0)\":") }.map(String.init))
        let explained = Set(page.words(below: "### Status"))
        let plain: Set<String> = [
            "bridge", "handlers", "devices", "adapters", "version", "journal", "uptime_s", "id", "strikes", "work",
            "alias",
            "source", "what", "advice", "profile", "services", "name_prefix", "properties", "address", "powered",
        ]
        #expect(keys.subtracting(explained).subtracting(plain) == [])
    }

    @Test("what a disconnected reader finds is what the page shows")
    func gap() throws {
        let shown = try #require(page.block("", with: "{\"gap\":"))
        let stream = ControlStream(contentType: "application/x-ndjson")
        let line = Array((String(repeating: "x", count: ControlStream.capacity / 17) + "\n").utf8)
        for _ in 0..<17 { stream.send(line) }
        guard case .bytes(let bytes) = stream.read(upTo: 1 << 20) else {
            Issue.record("nothing was to be had")
            return
        }
        #expect(String(decoding: bytes, as: UTF8.self).split(separator: "\n").last.map(String.init) == shown.text)
    }

    @Test("the calls that the page shows are answered")
    func calls() throws {
        let fixture = try Fixture { request in
            do throws(ControlRefusal) { _ = try API.read(request) } catch { return .refusal(error) }
            return .done
        }
        let commands = try #require(page.block("", with: "curl ")).lines
        #expect(commands.count == 3)
        for command in commands {
            let tried = command.replacing("/run/wakebridge/control.sock", with: "'\(fixture.path)'")
            #expect(try fixture.run(["sh", "-c", "\(tried) --silent"]).output == "{\"done\":true}\n", "\(command)")
        }
    }

    @Test("what can be simulated stands in the page, and nothing else")
    func simulations() {
        let rows = page.text.split(separator: "\n").filter { $0.hasPrefix("| `{\"what\":\"") }
        let kinds = rows.compactMap { $0.split(separator: "\"").dropFirst(3).first.map(String.init) }
        #expect(Set(kinds) == Set(Simulation.names))
    }
}
