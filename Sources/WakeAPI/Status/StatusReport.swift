// The status of bridge, handlers and devices. The shape of each explains its members, writes it, and is its schema.
import WakeControl
import WakeCore
import WakeModel

struct BridgeStatus: Hashable, Sendable {
    /// How handlers are suspended: by the cgroup freezer, or by SIGSTOP, which a handler's children can escape.
    enum Suspension: String, Hashable, Sendable, CaseIterable, Shaped { case strong, weak }

    var version: String
    var host: String?
    var process: Int32
    var configuration: String?
    var journal: String
    var uptime: TimeSpan
    var suspension: Suspension
    var journalHealth: String
    var residentBytes: Int
    var containmentBlockingReason: String?
    /// The longest call of the loop since the start, and how many calls took more than 50 ms.
    var longestCall = TimeSpan.zero
    var longCalls = 0
    /// The same by cause; causes without calls are left out.
    var stays: [LoopStayReport] = []
    var warnings: [BridgeWarning] = []
    var unwatched: [UnwatchedStatus] = []
}

extension BridgeStatus: Described {
    static let shape = Shape<Self>([
        .always("version", \.version), .always("host", \.host, "the machine's name; null where the kernel has none"),
        .always("pid", \.process), .always("configuration", \.configuration, "the directory that it is read from"),
        .always("journal", \.journal, "every event's id begins with it"),
        .always("uptime_s", \.uptime.inSeconds),
        .always("suspend", \.suspension, "by the cgroup freezer, or by SIGSTOP, which a handler's children can escape"),
        .always("journal_health", \.journalHealth, "ok, or a sentence on what is degraded"),
        .always("memory", \.residentBytes, "resident memory of the daemon, in bytes"),
        .always("uncontained", \.containmentBlockingReason, "why the kernel keeps no limit of processes or memory"),
        .object(
            "loop",
            [
                .always("longest_ms", \.longestCall.inMilliseconds, "the longest call since the start"),
                .always("over_50ms", \.longCalls, "how many calls took longer"), .always("causes", \.stays),
            ]),
        .always("warnings", \.warnings),
    ])
}

/// All that `status` answers.
struct WholeStatus: Described {
    let bridge: BridgeStatus
    let handlers: [HandlerReport]
    let devices: [DeviceStatus]
    let adapters: [AdapterStatus]?

    static let shape = Shape<Self>([
        .always("bridge", \.bridge), .always("handlers", \.handlers), .always("devices", \.devices),
        .always("unwatched", \.bridge.unwatched, "present devices that no handler watches"),
        .always("adapters", \.adapters, "null where no Bluetooth is watched"),
    ])
}

/// The loop's calls of one cause.
struct LoopStayReport: Hashable, Sendable {
    var cause: String
    var longest: TimeSpan
    var overPatience: Int
}

extension LoopStayReport: Described {
    static let shape = Shape<Self>([
        .always("cause", \.cause), .always("longest_ms", \.longest.inMilliseconds),
        .always("over_50ms", \.overPatience),
    ])
}

struct HandlerReport: Hashable, Sendable {
    var id: String
    /// A state's name in lower case: `suspended`, `active`, `held`…
    var state: String
    var why: String
    var process: Int32?
    var epoch = Epoch(rawValue: 0)
    var queued = 0
    var open = 0
    var strikes = 0
    var heldFor: TimeSpan = .zero
    var wakes: UInt64 = 0
    var events: UInt64 = 0
    var awake: TimeSpan = .zero
    var work = WorkReport()
    var status: String?
    var lastExit: String?
    var unbonded: [String] = []
    var agenda = AgendaReport()
    var transfers = TransfersReport()
}

extension HandlerReport: Described {
    static var reference: String? { "handler" }
    static let shape = Shape<Self>([
        .always("id", \.id), .always("state", \.state, .word(HandlerState.allCases.map(\.rawValue))),
        .always("why", \.why, "why it is, or is not, awake"),
        .always("pid", \.process, "null while there is no process"),
        .always("epoch", \.epoch.rawValue), .always("queued", \.queued, "events that wait"),
        .always("open", \.open, "events delivered and not yet acknowledged"), .always("strikes", \.strikes),
        .always("held_for_ms", \.heldFor.wholeMilliseconds, "the rest of a penalty"),
        .always("wakes", \.wakes, "since the daemon started"), .always("events", \.events, "since the daemon started"),
        .always("awake_ms", \.awake.wholeMilliseconds, "since the daemon started"), .always("work", \.work),
        .always("status", \.status, "what the process reports of itself"),
        .always("last_exit", \.lastExit, "how its last process ended"),
        .always("unbonded", \.unbonded, "devices that it is not woken for until they are bonded"),
        .object(
            "scheduled",
            [
                .always("count", \.agenda.scheduled),
                .always("next", \.agenda.nextDue, "null where none comes due by time"),
            ]),
        .always("messages", \.agenda.messages, "messages of its inbox that wait or are on their way"),
        .always("flows", \.agenda.flows, "the flows that hold it awake"), .always("transfers", \.transfers),
    ])
}

/// The work that is due to a handler besides events of devices.
struct AgendaReport: Hashable, Sendable {
    /// How many entries of kinds that ``TriggerKind/Traits/isScheduled`` names wait or run, and when the next of them comes due by
    /// time; nil where none does.
    var scheduled = 0
    var nextDue: WallTime?
    var messages = 0
    var flows: [String] = []
}

/// How far a handler's open transfers are, all together.
struct TransfersReport: Hashable, Sendable {
    var open = 0
    var moving = 0
    var done: Int64 = 0
    var total: Int64? = 0
}

extension TransfersReport: Described {
    static let shape = Shape<Self>([
        .always("open", \.open), .always("moving", \.moving), .always("done", \.done, "bytes"),
        .always("total", \.total, "bytes; null where that is not known of each"),
    ])
}

struct DeviceStatus: Hashable, Sendable {
    /// The properties that its profile matches: a trace with these gets the same profile again.
    struct Match: Hashable, Sendable {
        struct Property: Hashable, Sendable {
            var name: String
            var value: String
        }

        var services: [BluetoothUUID]
        var namePrefix: String?
        var properties: [Property] = []
        /// An AD structure that fits, of a device that is known by what it broadcasts; empty for others.
        var advertisement: [UInt8] = []
    }

    var device: Device
    /// Nil where no profile knows it.
    var match: Match?
    /// `connected`, `disconnected`, or `unknown` before the first word of it.
    var link: String
    /// The reason why it is not connected, a sentence; nil where it is, or lacks its session alone.
    var why: String?
    var lastData: WallTime?
    /// The session; nil where there is none, as while a trace is played.
    var session: LinkSession?
    var adapter: String?
    var node: String?
}

extension DeviceStatus: Described {
    static var reference: String? { "device" }
    static let shape = Shape<Self>([
        .always("alias", \.device.alias), .always("source", \.device.uri), .always("mode", \.device.kind.rawValue),
        .always("profile", \.device.profile), .always("bonded", \.device.isBonded),
        .always("match", \.match, "a trace with these properties gets the same profile again"),
        .always("report_descriptor", \.device.reportDescriptor.hexadecimalIfAny, .nullable(.hexadecimal)),
        .always("node", \.node, "null for an accessory that is away, and for peripherals"),
        .always("adapter", \.adapter, "the address of the adapter that a peripheral is on"),
        .always("link", \.link, .word(["connected", "disconnected", "unknown"])),
        .always("why", \.why, "why it is not connected, or lacks its profile"), .always("session", \.session),
        .always("last_data", \.lastData, "null for never"),
    ])
}

extension DeviceStatus.Match: Described {
    static let shape = Shape<Self>([
        .always("services", \.serviceTexts), .always("name_prefix", \.namePrefix), .always("properties", \.properties),
        .always("advertisement", \.advertisement.hexadecimalIfAny, .nullable(.hexadecimal)),
    ])

    private var serviceTexts: [String] { services.map(\.description) }
}

extension DeviceStatus.Match.Property: Described {
    static let shape = Shape<Self>([.always("name", \.name), .always("value", \.value)])
}

/// A present device that no handler watches.
struct UnwatchedStatus: Hashable, Sendable {
    var alias: String
    var uri: String
    var kind: SourceKind
    var isConnected: Bool
    var why: String
}

extension UnwatchedStatus: Described {
    static var reference: String? { "unwatched" }
    static let shape = Shape<Self>([
        .always("alias", \.alias), .always("source", \.uri), .always("mode", \.kind.rawValue),
        .always("connected", \.isConnected), .always("why", \.why, "why no handler gets it"),
    ])
}

/// An adapter, as the control API writes it: whether it is on and scans, how many links it carries, and which devices wait.
struct AdapterStatus: Hashable, Sendable {
    /// Its identity: its number may change at the next start.
    var address: String
    var isPowered: Bool
    var links: Int
    var mostLinks: Int?
    var waiting: [String] = []
    var isScanning = false
}

extension AdapterStatus: Described {
    static var reference: String? { "adapter" }
    static let shape = Shape<Self>([
        .always("address", \.address), .always("powered", \.isPowered), .always("links", \.links),
        .always("most_links", \.mostLinks, "how many links it carried when it refused another"),
        .always("waiting", \.waiting, "devices that are not connected because it has no room"),
        .always("scanning", \.isScanning, "the daemon scans with it for broadcasts"),
    ])
}

/// A handler's wakes, as the control API writes them: how the handler judged them, and what they cost.
struct WorkReport: Hashable, Sendable {
    /// Acknowledged events, by the `result` of their acknowledgements.
    var useful: UInt64 = 0
    var nothing: UInt64 = 0
    var failed: UInt64 = 0
    var unsaid: UInt64 = 0
    /// Launches and thaws after which it gave any `result`, and those after which it gave `useful`.
    var judgedWakes: UInt64 = 0
    var usefulWakes: UInt64 = 0
    var awakeRatio = 0.0
    /// Processor time of the running process and everything it started; nil where there is none, or it is not counted.
    var processorTime: TimeSpan?
    /// Events that the running process acknowledged.
    var acknowledgedByProcess: UInt64 = 0

    /// Nil before the first acknowledgement, and where the processor time is not known.
    var processorTimePerEvent: TimeSpan? {
        guard let processorTime, acknowledgedByProcess > 0 else { return nil }
        return TimeSpan(nanoseconds: processorTime.nanoseconds / Int64(clamping: acknowledgedByProcess))
    }
}

extension WorkReport: Described {
    static var reference: String? { "work" }
    static let shape = Shape<Self>([
        .always("useful", \.useful), .always("nothing", \.nothing), .always("failed", \.failed),
        .always("unsaid", \.unsaid, "acknowledged without a result"),
        .always("judged_wakes", \.judgedWakes, "wakes after which it gave any result"),
        .always("useful_wakes", \.usefulWakes),
        .always("awake_ratio", \.awakeRatio.inMillionths, "the share of the daemon's time for which it was awake"),
        .always("cpu_ms", \.processorTime?.inMilliseconds, "of the running process and all that it started"),
        .always("cpu_per_event_ms", \.processorTimePerEvent?.inMilliseconds),
    ])
}

extension TimeSpan {
    /// Rounded to the microsecond.
    fileprivate var inMilliseconds: Double { Double(nanoseconds / 1000) / 1000 }
    /// Rounded to the millisecond.
    fileprivate var inSeconds: Double { Double(wholeMilliseconds) / 1000 }
}

extension Double {
    /// Rounded to six digits.
    fileprivate var inMillionths: Double { (self * 1_000_000).rounded() / 1_000_000 }
}

extension [UInt8] {
    fileprivate var hexadecimalIfAny: String? { isEmpty ? nil : hexadecimal }
}
