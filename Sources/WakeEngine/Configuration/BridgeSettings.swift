// `wakebridge.json5`: the settings of the whole daemon.
import WakeCore
import WakeModel
import WakeProfiles
import WakeSources

public struct BridgeSettings: Hashable, Sendable {
    /// How handlers are suspended.
    public enum Suspension: String, Hashable, Sendable, CaseIterable {
        /// cgroup where one can be had, signal elsewhere.
        case auto
        case cgroup
        /// SIGSTOP: weak, because any process of the same user can continue a stopped one.
        case signal
    }

    /// A token bucket for each device; past it a gap with cause `storm` replaces events.
    public struct StormLimit: Hashable, Sendable {
        public var isEnabled = true
        public var eventsPerSecond = 5_000
        public var burst = 10_000
    }

    /// A device with so many connects and disconnects within so long is flapping.
    public struct FlipLimit: Hashable, Sendable {
        public var count = 5
        public var within = TimeSpan.seconds(10)
    }

    /// The limit of a handler's log; lines past it are counted and dropped.
    public struct LogLimit: Hashable, Sendable {
        public var linesPerSecond = 100
        public var burst = 1_000
        /// Bytes.
        public var longestLine = 8 << 10
    }

    public struct JournalLimit: Hashable, Sendable {
        /// Nil keeps events until they are acknowledged.
        public var retention: TimeSpan?
        /// Bytes on disk; past them the oldest data is dropped.
        public var maxSize = 1 << 30
    }

    /// Suspended handlers end when available memory falls below either limit.
    public struct MemoryLimit: Hashable, Sendable {
        /// Bytes.
        public var reclaimBelow = 64 << 20
        public var reclaimBelowPercent = 5
    }

    /// Past it the machine is too hot for extension tasks.
    public struct ThermalLimit: Hashable, Sendable {
        public var isEnabled = true
        /// Nil uses each sensor's own limit.
        public var limitCelsius: Int?
    }

    /// Where the texts of alarms go, for people.
    public struct Alerts: Hashable, Sendable {
        /// A program and its arguments, to which the text is added; empty for none.
        public var command: [String] = []
        /// The user that the command and the tool for ntfy run as; nil for the daemon's own user.
        public var user: String?
        /// The address of a topic of ntfy.
        public var ntfy: String?
    }

    /// A trace to play instead of devices.
    public struct Replay: Hashable, Sendable {
        public var file: String
        public var speed = ReplaySpeed.times(1)
    }

    /// Members of this group may use the control socket, beside root and the daemon's own user.
    public var controlGroup: String?
    public var controlRole = AccessRole.pair
    /// Nil listens on the control socket alone.
    public var web: WebConfiguration?
    public var suspension: Suspension = .auto
    /// On which adapter peripherals are watched.
    public var adapterPins = AdapterPins()
    /// The devices to accept among those that broadcast.
    public var broadcasts = BroadcastRules()
    public var storm = StormLimit()
    public var flips = FlipLimit()
    public var log = LogLimit()
    public var journal = JournalLimit()
    public var memory = MemoryLimit()
    public var thermal = ThermalLimit()
    /// Patterns of the names of links whose traffic costs money.
    public var meteredLinks = ["wwan*", "ppp*"]
    public var alerts = Alerts()
    public var replay: Replay?
    /// Nil where nothing is published to a broker.
    public var mqtt: MQTTSettings?
    /// Bridges whose devices are devices here.
    public var remotes: [RemoteSettings] = []
    /// The defaults of every manifest.
    public var timers = HandlerTimers()

    /// The defaults.
    public init() {}
}

extension BridgeSettings {
    static let keys = [
        "control_group", "control_role", "web", "suspend", "adapter", "devices", "broadcasts", "storm", "flips", "log",
        "journal", "memory", "thermal", "metered_links", "alerts", "replay", "mqtt", "remote", "timers",
    ]
    static let alertKeys = ["command", "user", "ntfy"]
    static let deviceKeys = ["adapter"]
    static let replayKeys = ["file", "speed"]

    /// In the order in which they are read and shown.
    static let groups = [
        SettingGroup(
            "broadcasts",
            [
                "learn": .flag(\.broadcasts.learns),
                "presence": .span(.zero ... .seconds(86_400), \.broadcasts.presence),
            ]),
        SettingGroup(
            "storm",
            [
                "enabled": .flag(\.storm.isEnabled),
                "events_per_second": .integer(1...1_000_000, \.storm.eventsPerSecond),
                "burst": .integer(1...10_000_000, \.storm.burst),
            ]),
        SettingGroup(
            "flips",
            [
                "count": .integer(2...1_000, \.flips.count),
                "within": .span(.milliseconds(100) ... .seconds(3_600), \.flips.within),
            ]),
        SettingGroup(
            "log",
            [
                "lines_per_second": .integer(1...1_000_000, \.log.linesPerSecond),
                "burst": .integer(1...10_000_000, \.log.burst),
                "longest_line": .size(256...(128 << 10), \.log.longestLine),
            ]),
        SettingGroup(
            "journal",
            [
                "retention": .optionalSpan(.seconds(1) ... .seconds(3_650 * 86_400), \.journal.retention),
                "max_size": .size((1 << 20)...(1 << 40), \.journal.maxSize),
            ]),
        SettingGroup(
            "memory",
            [
                "reclaim_below": .size(0...(1 << 40), \.memory.reclaimBelow),
                "reclaim_below_percent": .integer(0...90, \.memory.reclaimBelowPercent),
            ]),
        SettingGroup(
            "thermal",
            [
                "enabled": .flag(\.thermal.isEnabled),
                "limit_celsius": .optionalInteger(30...150, \.thermal.limitCelsius),
            ]),
    ]

    /// Reads the file; throws all its faults.
    public init(text: [UInt8], file: String) throws(ConfigurationErrors) {
        let report = ConfigurationReport(file: file)
        self.init()
        if let object = ConfigurationObject(document: text, keys: Self.keys, report: report) {
            controlGroup = object.text("control_group")
            controlRole = object.word("control_role") ?? controlRole
            web = WebConfiguration.read("web", of: object)
            suspension = object.word("suspend") ?? suspension
            readAdapters(object)
            for group in Self.groups { group.read(from: object, into: &self) }
            meteredLinks = object.texts("metered_links") ?? meteredLinks
            readAlerts(object)
            readReplay(object)
            mqtt = object.object("mqtt", keys: MQTTSettings.keys, required: ["broker"]).flatMap { MQTTSettings($0) }
            remotes = RemoteSettings.list(of: object)
            TimerKeys.read(from: object, into: &timers)
            TimerKeys.fitWarning(of: object, into: &timers)
            TimerKeys.checkOrder(of: timers, report: report)
        }
        try report.conclude()
    }

    private mutating func readAdapters(_ object: ConfigurationObject) {
        adapterPins.ofBridge = object.adapter("adapter")
        guard let devices = object.object("devices", keys: nil) else { return }
        for name in devices.keys {
            adapterPins.ofDevices[name] = devices.object(name, keys: Self.deviceKeys)?.adapter("adapter")
        }
    }

    private mutating func readAlerts(_ object: ConfigurationObject) {
        guard let found = object.object("alerts", keys: Self.alertKeys) else { return }
        alerts.command = found.texts("command") ?? []
        if found.has("command"), alerts.command.first?.hasPrefix("/") != true {
            found.refuse(
                "command", expected: "a program's absolute path and its arguments, such as [\"/usr/bin/wall\"]")
        }
        alerts.user = found.text("user")
        alerts.ntfy = found.text("ntfy")
        if let address = alerts.ntfy, !["http://", "https://"].contains(where: address.hasPrefix) {
            found.refuse("ntfy", expected: "the address of a topic, such as \"https://ntfy.sh/my-topic\"")
        }
    }

    private mutating func readReplay(_ object: ConfigurationObject) {
        guard let found = object.object("replay", keys: Self.replayKeys, required: ["file"]),
            let file = found.text("file")
        else { return }
        replay = Replay(file: file)
        if found.isText("speed", "max") {
            replay?.speed = .max
        } else if let times = found.number("speed", in: 0.01...1_000, or: ", or \"max\"") {
            replay?.speed = .times(times)
        }
    }
}

extension ConfigurationObject {
    /// The address of an adapter, in upper case: its name, such as hci0, may be another's after a restart.
    fileprivate func adapter(_ key: String) -> String? {
        guard let text = text(key) else { return nil }
        let bytes = text.split(separator: ":", omittingEmptySubsequences: false)
        guard bytes.count == 6, bytes.allSatisfy({ $0.utf8.count == 2 && UInt8($0, radix: 16) != nil }) else {
            refuse(key, expected: "an adapter's address such as \"00:1A:7D:DA:71:13\"")
            return nil
        }
        return text.uppercased()
    }
}
