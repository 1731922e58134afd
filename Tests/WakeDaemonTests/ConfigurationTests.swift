// Manifests, settings and profiles as people write them: which are accepted, and which are refused with which sentence.
import Foundation
import Testing
import WakeAgenda
import WakeCore
import WakeModel
import WakeProfiles
import WakeSystem

@testable import WakeDaemon
@testable import WakeEngine

private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

private func shippedProfiles() throws -> ProfileLibrary {
    let devices = root.appendingPathComponent("Devices")
    let names = try FileManager.default.contentsOfDirectory(atPath: devices.path).filter { $0 != "gatt" }
    let sources = try names.map { name in
        let data = try Data(contentsOf: devices.appendingPathComponent(name).appendingPathComponent("profile.json5"))
        return ProfileLibrary.Source(name: name, file: "Devices/\(name)/profile.json5", text: [UInt8](data))
    }
    return ProfileLibrary.load(sources).library
}

private func manifest(_ text: String, id: String = "hr", isRoot: Bool = false) throws -> HandlerManifest {
    try HandlerManifest(id: id, file: "handlers.d/\(id).json5", text: Array(text.utf8), isRoot: isRoot)
}

@Suite("Configuration")
struct ConfigurationTests {
    /// Every sentence about a broken file.
    private func sentences(of fault: ConfigurationFault) throws -> [String] {
        let text = Array(fault.text.utf8)
        do {
            switch fault.kind {
            case .manifest:
                return try manifest(fault.text).faults(against: shippedProfiles()).map(\.description)
            case .rootManifest: _ = try manifest(fault.text, isRoot: true)
            case .settings: _ = try BridgeSettings(text: text, file: "wakebridge.json5")
            case .profile:
                let source = ProfileLibrary.Source(name: "p", file: "Devices/p/profile.json5", text: text)
                return ProfileLibrary.load([source]).errors.map { "\($0.file): \($0.sentence)" }
            }
            return []
        } catch let errors as ConfigurationErrors { return errors.all.map(\.description) }
    }

    @Test(
        "every malformed file is refused with a sentence that names the file, the place and what to do",
        arguments: brokenDocuments + brokenManifests + brokenSettings + brokenProfiles + brokenAccessories)
    func refusal(fault: ConfigurationFault) throws {
        #expect(try sentences(of: fault).joined(separator: "\n") == fault.sentence)
    }

    @Test("one reading of a manifest reports the faults of every job and alarm, and of every other key")
    func allFaults() throws {
        let text = """
            {exec: ["/bin/cat"], modes: [], watch: [], budget: 10, alarms: [7, {id: 8}],
             jobs: [{id: "a", kind: 5}, {id: "b", kind: "refresh"}, {id: "c", kind: "refresh", every: true, wake: 1}]}
            """
        let errors = #expect(throws: ConfigurationErrors.self) { try manifest(text) }
        let expected = [
            "budget must be a duration", "alarms: An alarm must be an object; got 7.",
            "alarms: \"id\" of an alarm must be an id; got 8.", "jobs: \"kind\" of a job must be a word; got 5.",
            "jobs: \"every\" of a job must be a duration in quotes; got true.",
            "jobs: \"wake\" of a job must be true or false; got 1.",
        ]
        let found = errors?.all.map(\.sentence) ?? []
        #expect(found.count == expected.count && zip(found, expected).allSatisfy { $0.hasPrefix($1) }, "\(found)")
    }

    @Test("the manifest of the documentation gives the expected settings")
    func contract() throws {
        let hr = try manifest(
            """
            {
              exec: ["/usr/bin/python3", "/opt/hr/log.py"], user: "pi",       // env, cwd, group as well
              modes: ["bluetooth-central"],
              watch: [{ profile: "heart-rate-monitor", device: "chest-strap", wake: true, policy: "all", durability: "run",
                        max_latency: "0s", queue_cap: "64MiB", retention: "7d" }],
              lifecycle: "resident", ready: "implicit", ack: "explicit",
              budget: "10s", max_extension: "30s", on_overrun: "suspend", max_batch: 64, autostart: false, timers: {},
            }
            """, isRoot: true)
        #expect(hr.exec == ["/usr/bin/python3", "/opt/hr/log.py"])
        #expect(hr.user == "pi")
        var expected = HandlerSettings()
        expected.modes = [.bluetoothCentral]
        expected.maxBatch = 64
        var subscription = Subscription(profile: "heart-rate-monitor", device: "chest-strap")
        subscription.retention = .seconds(7 * 86_400)
        subscription.maxLatency = .zero
        expected.subscriptions = [subscription]
        #expect(hr.settings == expected)
        #expect(hr.faults(against: try shippedProfiles()) == [])
    }

    @Test("a manifest that starts its program at boot needs no devices and nothing that comes due")
    func startedAtBoot() throws {
        let started = try manifest("{exec: [\"./index.sh\"], autostart: true, after: [\"mount:/data\"]}")
        #expect(started.settings.startsAtBoot && started.settings.subscriptions.isEmpty && started.settings.hasGates)
    }

    @Test("every key of a manifest reaches its setting")
    func everyKey() throws {
        let hr = try manifest(
            """
            {
              exec: ["./hr.sh"], user: "pi", group: "audio", groups: ["dialout"], env: {A: "", B: "2"}, cwd: "/srv",
              modes: ["bluetooth-central", "external-accessory"],
              watch: [{ profile: "p", wake: false, policy: "latest", durability: "disk", max_latency: "250ms", queue_cap: "1MiB" }],
              lifecycle: "oneshot", ack: "delivery", budget: "30s", max_extension: "180s", on_overrun: "terminate",
              max_batch: 1024, enabled: false, stop_events: "keep", idle_exit: "5m", allow_background_children: true,
              queue_cap: "16MiB", notify: true, timers: { linger: "0", window: "2h", retry_cap: "1h" },
            }
            """)
        #expect(hr.command(in: "/etc/wakebridge/handlers.d") == ["/etc/wakebridge/handlers.d/hr.sh"])
        #expect(hr.group == "audio" && hr.groups == ["dialout"] && hr.notifies)
        #expect(hr.environment == ["A": "", "B": "2"])
        #expect(hr.workingDirectory == "/srv")
        let settings = hr.settings
        #expect(settings.modes == [.bluetoothCentral, .externalAccessory])
        let watch = try #require(settings.subscriptions.first)
        #expect(!watch.wakes && watch.policy == .latest && watch.durability == .disk && watch.device == nil)
        #expect(watch.maxLatency == .milliseconds(250) && watch.queueCap == 1 << 20 && watch.retention == nil)
        #expect(
            settings.lifecycle == .oneshot && settings.acknowledgement == .delivery && settings.onOverrun == .terminate)
        #expect(settings.batchLimit == 1_024 && !settings.isEnabled && settings.stoppedEvents == .keep)
        #expect(settings.allowsBackgroundChildren && settings.queueCap == 16 << 20)
        #expect(settings.timers.budget == .seconds(30) && settings.timers.maxExtension == .seconds(180))
        #expect(settings.timers.idleExit == .seconds(300) && settings.timers.linger == .zero)
        #expect(settings.timers.window == .seconds(7_200) && settings.timers.retryCap == .seconds(3_600))
    }

    @Test("with the mode remote, watch may name a profile that only another bridge has, and one of any mode")
    func remoteProfiles() throws {
        let watched = "{profile: \"kitchen-scale\", device: \"kitchen/scale\"}, {profile: \"heart-rate-monitor\"}"
        let remote = try manifest("{exec: [\"/bin/cat\"], modes: [\"remote\"], watch: [\(watched)]}")
        #expect(remote.faults(against: try shippedProfiles()) == [] && remote.settings.modes == [.remote])
        let local = try manifest("{exec: [\"/bin/cat\"], modes: [\"bluetooth-central\"], watch: [\(watched)]}")
        #expect(local.faults(against: try shippedProfiles()).count == 1)
    }

    @Test("a manifest may require bonds and power, where a watched device can be bonded")
    func requirements() throws {
        let watched = "{profile: \"gps-receiver\"}, {profile: \"heart-rate-monitor\"}"
        let wary = try manifest(
            "{exec: [\"/bin/cat\"], modes: [\"bluetooth-central\", \"external-accessory\"], watch: [\(watched)],"
                + " require: [\"bonded\", \"power\"]}")
        #expect(wary.settings.requirements == [.bonded, .power])
        #expect(wary.faults(against: try shippedProfiles()) == [])
        let serial = ProfileLibrary.Source(
            name: "logger", file: "Devices/logger/profile.json5",
            text: Array(
                "{ name: \"logger\", title: \"Logger\", mode: \"external-accessory\", node: \"rfcomm\",".utf8)
                + Array(" match: { name_prefix: \"Logger\" }, framing: { kind: \"line\" } }".utf8))
        let logger = try manifest(
            "{exec: [\"/bin/cat\"], modes: [\"external-accessory\"], watch: [{profile: \"logger\"}], require: [\"bonded\"]}"
        )
        let faults = logger.faults(against: ProfileLibrary.load([serial]).library)
        #expect(faults == [], "a serial port over Bluetooth has a bond")
    }

    @Test("a manifest starts from the daemon's timers, and a short budget shortens a warning that is not set")
    func timers() throws {
        let bridge = try BridgeSettings(text: Array("{timers: {grace: \"1s\", budget: \"20s\"}}".utf8), file: "w")
        let text = "{exec: [\"/bin/cat\"], modes: [], watch: [], budget: \"1s\"}"
        let timers = try HandlerManifest(
            id: "a", file: "a", text: Array(text.utf8), isRoot: false, defaults: bridge.timers
        ).settings.timers
        #expect(bridge.timers.budget == .seconds(20) && bridge.timers.warn == .seconds(2))
        #expect(timers.grace == .seconds(1) && timers.budget == .seconds(1) && timers.warn == .milliseconds(200))
    }

    @Test("a process survives a changed budget, and restarts where the way it must answer changed")
    func sameProgram() throws {
        func manifest(_ keys: String) throws -> HandlerManifest {
            let text = "{exec: [\"/bin/cat\"], modes: [], watch: []\(keys)}"
            return try HandlerManifest(
                id: "a", file: "a", text: Array(text.utf8), isRoot: false, defaults: HandlerTimers())
        }
        let plain = try manifest("")
        #expect(try plain.runsSameProgram(as: manifest(", budget: \"1s\"")))
        #expect(try !plain.runsSameProgram(as: manifest(", ack: \"delivery\"")))
    }

    @Test("every key of the closed list sets its own timer, and every default lies in its range")
    func timerKeys() throws {
        #expect(TimerKeys.all.count == Mirror(reflecting: HandlerTimers()).children.count)
        var seen: Set<HandlerTimers> = [HandlerTimers()]
        for entry in TimerKeys.all {
            #expect(entry.range.contains(HandlerTimers()[keyPath: entry.timer]), "\(entry.key)")
            var timers = HandlerTimers()
            timers[keyPath: entry.timer] = TimeSpan(nanoseconds: 7)
            #expect(seen.insert(timers).inserted, "\(entry.key) sets what another key sets")
        }
    }

    @Test("the settings file may be empty of keys, and every key of it reaches its setting")
    func settings() throws {
        #expect(try BridgeSettings(text: Array("{}".utf8), file: "w") == BridgeSettings())
        let text = """
            { control_group: "wake", control_role: "operate",
              web: {listen: "[::1]:80", prefix: "/bridge", hosts: ["b.example"], certificate: "/c.pem", key: "/k.pem",
                    metrics: "open", proxies: ["10.0.0.9", "::1"], secure_cookie: true},
              suspend: "signal", storm: {enabled: false, events_per_second: 1, burst: 2},
              flips: {count: 3, within: "4s"}, log: {lines_per_second: 5, burst: 6, longest_line: "1KiB"},
              journal: {retention: "7d", max_size: "8MiB"}, memory: {reclaim_below: "9MiB", reclaim_below_percent: 10},
              thermal: {enabled: false, limit_celsius: 80}, metered_links: ["lte0"],
              replay: {file: "a.trace", speed: 2.5}, timers: {budget: "11s"} }
            """
        let bridge = try BridgeSettings(text: Array(text.utf8), file: "w")
        #expect(bridge.controlGroup == "wake" && bridge.suspension == .signal && bridge.controlRole == .operate)
        let web = try #require(bridge.web)
        #expect(web.listen == NetworkAddress("[::1]:80") && web.prefix == "/bridge/" && web.hosts == ["b.example"])
        #expect(web.certificate == "/c.pem" && web.key == "/k.pem" && web.metrics == .open)
        #expect(web.secureCookie == true)
        #expect(web.proxyBytes == [[10, 0, 0, 9], [UInt8](repeating: 0, count: 15) + [1]])
        #expect(!bridge.storm.isEnabled && bridge.storm.eventsPerSecond == 1 && bridge.storm.burst == 2)
        #expect(bridge.flips.count == 3 && bridge.flips.within == .seconds(4))
        #expect(bridge.log.linesPerSecond == 5 && bridge.log.burst == 6 && bridge.log.longestLine == 1_024)
        #expect(bridge.journal.retention == .seconds(7 * 86_400) && bridge.journal.maxSize == 8 << 20)
        #expect(bridge.memory.reclaimBelow == 9 << 20 && bridge.memory.reclaimBelowPercent == 10)
        #expect(!bridge.thermal.isEnabled && bridge.thermal.limitCelsius == 80)
        #expect(bridge.meteredLinks == ["lte0"])
        #expect(bridge.replay == BridgeSettings.Replay(file: "a.trace", speed: .times(2.5)))
        #expect(bridge.timers.budget == .seconds(11))
    }

    @Test(
        "a file whose name cannot be a handler's id is refused",
        arguments: ["", ".hr", "-hr", "HR", "a b", "a/b", "é", String(repeating: "a", count: 65)])
    func identifiers(id: String) throws {
        do {
            _ = try manifest("{exec: [\"/bin/cat\"], modes: [], watch: []}", id: id)
            Issue.record("\(id) was taken")
        } catch let errors as ConfigurationErrors {
            #expect(errors.all.count == 1)
            #expect(errors.all.first?.sentence.hasPrefix("\"\(id)\" cannot be a handler's id; ") == true)
        }
    }

    @Test("a folder lists added, changed and removed manifests, and skips other files")
    func folder() {
        let before = ConfigurationFolder(files: ["a.json5": [1], "b.json5": [1], "c.json5": [1], ".d.json5": [1]])
        let after = ConfigurationFolder(files: [
            "e.json5": [1], "b.json5": [2], "c.json5": [1], "f.json5~": [1], "README": [],
        ])
        let changes = before.changes(to: after)
        #expect(changes == .init(added: ["e"], changed: ["b"], removed: ["a"]))
        #expect(!changes.isEmpty)
        #expect(before.changes(to: before).isEmpty)
    }

    @Test("docs/reference/manifest.md and settings.md explain every key of the closed lists, and no other")
    func documentation() throws {
        let folder = root.appendingPathComponent("docs/reference")
        let text = try String(contentsOf: folder.appendingPathComponent("manifest.md"), encoding: .utf8)
        let settingsText = try String(contentsOf: folder.appendingPathComponent("settings.md"), encoding: .utf8)
        func documented(_ page: String) -> Set<String> {
            let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }
            let keys = rows.compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
            return Set(keys.filter { !$0.hasPrefix("\"") && $0 != "durability" })
        }
        func nested(_ lists: [(String, [String])]) -> [String] {
            lists.flatMap { (place, keys) in keys.map { "\(place).\($0)" } }
        }
        let inManifest = nested([
            ("watch[]", HandlerManifest.watchKeys), ("limits", HandlerLimits.keys),
            ("timers", TimerKeys.all.map(\.key)), ("alarms[]", AlarmRule.manifestKeys),
            ("poll", PollRule.manifestKeys), ("jobs[]", JobRule.manifestKeys),
            ("regions[]", RegionRule.manifestKeys), ("inbox", InboxRule.manifestKeys),
            ("flows[]", FlowRule.manifestKeys), ("sockets[]", SocketRule.manifestKeys),
            ("transfers[]", TransferRule.manifestKeys), ("peripheral", PeripheralRule.manifestKeys),
        ])
        #expect(documented(text) == Set(HandlerManifest.keys + inManifest))
        let settings = BridgeSettings.self
        let objects = [
            ("devices.NAME", settings.deviceKeys), ("alerts", settings.alertKeys), ("replay", settings.replayKeys),
            ("mqtt", MQTTSettings.keys), ("web", WebConfiguration.keys),
        ]
        let inSettings = nested(objects + settings.groups.map { ($0.name, $0.keys) })
        #expect(documented(settingsText) == Set(settings.keys + inSettings))
        for entry in TimerKeys.all {
            let range = "\(entry.range.lowerBound.text) to \(entry.range.upperBound.text)"
            let row = "| `timers.\(entry.key)` | \(HandlerTimers()[keyPath: entry.timer].text) | \(range) |"
            #expect(text.contains(row), "docs/reference/manifest.md should say: \(row)")
        }
    }
}
