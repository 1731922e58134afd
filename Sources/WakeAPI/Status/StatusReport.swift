// The status of bridge, handlers and devices, as the control API writes it.
import WakeModel

public struct BridgeStatus: Hashable, Sendable {
    /// How handlers are suspended: by the cgroup freezer, or by SIGSTOP, which a handler's children can escape.
    public enum Suspension: String, Hashable, Sendable { case strong, weak }

    public var version: String
    /// The machine's name; nil where the kernel has none.
    public var host: String?
    public var process: Int32
    /// The id that every event's id begins with, such as `j7`.
    public var journal: String
    public var uptime: TimeSpan
    public var suspension: Suspension
    /// `ok`, or a sentence on what is degraded.
    public var journalHealth: String
    /// Resident memory of the daemon, in bytes.
    public var residentBytes: Int
    /// Why the kernel keeps no limit of processes or memory for handlers, a clause; nil where it keeps both.
    public var containmentBlockingReason: String?
    /// The longest call of the loop since the start, and how many calls took more than 50 ms.
    public var longestCall = TimeSpan.zero
    public var longCalls = 0
    /// The same by cause; causes without calls are left out.
    public var stays: [LoopStayReport] = []
    public var warnings: [BridgeWarning] = []
    public var unwatched: [UnwatchedStatus] = []

    public init(
        version: String, process: Int32, journal: String, uptime: TimeSpan, suspension: Suspension,
        journalHealth: String, residentBytes: Int
    ) {
        self.version = version
        self.process = process
        self.journal = journal
        self.uptime = uptime
        self.suspension = suspension
        self.journalHealth = journalHealth
        self.residentBytes = residentBytes
    }
}

/// The loop's calls of one cause.
public struct LoopStayReport: Hashable, Sendable {
    public var cause: String
    public var longest: TimeSpan
    /// How many calls took more than 50 ms.
    public var overPatience: Int

    public init(cause: String, longest: TimeSpan, overPatience: Int) {
        (self.cause, self.longest, self.overPatience) = (cause, longest, overPatience)
    }
}

public struct HandlerReport: Hashable, Sendable {
    public var id: String
    /// A state's name in lower case: `suspended`, `active`, `held`…
    public var state: String
    /// A sentence: why it is, or is not, awake.
    public var why: String
    /// Nil while there is no process.
    public var process: Int32?
    public var epoch: Epoch
    /// Events that wait, and events delivered and not yet acknowledged.
    public var queued = 0
    public var open = 0
    public var strikes = 0
    /// The rest of a penalty; zero where none runs.
    public var heldFor: TimeSpan = .zero
    /// Since the daemon started.
    public var wakes: UInt64 = 0
    public var events: UInt64 = 0
    public var awake: TimeSpan = .zero
    public var work = WorkReport()
    /// The status that the process reports of itself; nil where it has reported none.
    public var status: String?
    /// How its last process ended, as a sentence; nil where none has.
    public var lastExit: String?
    /// Aliases of the devices that it watches and is not woken for until they are bonded.
    public var unbonded: [String] = []
    public var agenda = AgendaReport()
    public var transfers = TransfersReport()

    public init(id: String, state: String, why: String, process: Int32? = nil, epoch: Epoch = Epoch(rawValue: 0)) {
        self.id = id
        self.state = state
        self.why = why
        self.process = process
        self.epoch = epoch
    }
}

/// The work that is due to a handler besides events of devices.
public struct AgendaReport: Hashable, Sendable {
    /// How many entries of kinds that ``TriggerKind/Traits/isScheduled`` names wait or run, and when the next of them comes due by
    /// time; nil where none does.
    public var scheduled = 0
    public var nextDue: WallTime?
    /// Messages of its inbox that wait or are on their way.
    public var messages = 0
    /// The names of the flows that hold it awake.
    public var flows: [String] = []

    public init() {}
}

/// How far a handler's open transfers are, all together.
public struct TransfersReport: Hashable, Sendable {
    public var open = 0
    public var moving = 0
    /// Bytes.
    public var done: Int64 = 0
    /// Bytes; nil where that is not known of each.
    public var total: Int64? = 0

    public init() {}
}

public struct DeviceStatus: Hashable, Sendable {
    /// The properties that its profile matches: a trace with these gets the same profile again.
    public struct Match: Hashable, Sendable {
        public struct Property: Hashable, Sendable {
            public var name: String
            public var value: String

            public init(name: String, value: String) {
                self.name = name
                self.value = value
            }
        }

        public var services: [BluetoothUUID]
        public var namePrefix: String?
        public var properties: [Property]
        /// An AD structure that fits, of a device that is known by what it broadcasts; empty for others.
        public var advertisement: [UInt8]

        public init(
            services: [BluetoothUUID], namePrefix: String? = nil, properties: [Property] = [],
            advertisement: [UInt8] = []
        ) {
            self.services = services
            self.namePrefix = namePrefix
            self.properties = properties
            self.advertisement = advertisement
        }
    }

    public var device: Device
    /// Nil where no profile knows it.
    public var match: Match?
    /// `connected`, `disconnected`, or `unknown` before the first word of it.
    public var link: String
    /// The reason why it is not connected, a sentence; nil where it is, or lacks its session alone.
    public var why: String?
    /// When the last data came; nil for never.
    public var lastData: WallTime?
    /// The session; nil where there is none, as while a trace is played.
    public var session: LinkSession?
    /// The address of the adapter that a peripheral is on; nil where it is on none, and for all others.
    public var adapter: String?
    /// The node of an accessory; nil for one that is away or has no node, and for peripherals.
    public var node: String?

    public init(
        device: Device, match: Match? = nil, link: String, why: String? = nil, lastData: WallTime? = nil,
        session: LinkSession? = nil, node: String? = nil, adapter: String? = nil
    ) {
        self.device = device
        self.match = match
        self.link = link
        self.why = why
        self.lastData = lastData
        self.session = session
        self.node = node
        self.adapter = adapter
    }
}

/// A present device that no handler watches.
public struct UnwatchedStatus: Hashable, Sendable {
    public var alias: String
    public var uri: String
    public var kind: SourceKind
    public var isConnected: Bool
    /// The reason why no handler gets it, a sentence.
    public var why: String

    public init(alias: String, uri: String, kind: SourceKind, isConnected: Bool, why: String) {
        (self.alias, self.uri, self.kind) = (alias, uri, kind)
        (self.isConnected, self.why) = (isConnected, why)
    }
}

extension JSONWriter {
    public mutating func field(_ name: StaticString, _ devices: [UnwatchedStatus]) {
        objects(name, devices) { writer, device in
            writer.field("alias", device.alias)
            writer.field("source", device.uri)
            writer.field("mode", device.kind.rawValue)
            writer.field("connected", device.isConnected)
            writer.field("why", device.why)
        }
    }

    /// - Parameter adapters: nil where no Bluetooth is watched.
    public mutating func status(
        _ bridge: BridgeStatus, handlers: [HandlerReport], devices: [DeviceStatus], adapters: [AdapterStatus]?
    ) {
        object { writer in
            writer.object("bridge") { $0.bridge(bridge) }
            writer.field("handlers", handlers)
            writer.field("devices", devices)
            writer.field("unwatched", bridge.unwatched)
            writer.field("adapters", adapters)
        }
    }

    public mutating func field(_ name: StaticString, _ handlers: [HandlerReport]) {
        list(name, handlers) { $0.handler($1) }
    }

    public mutating func field(_ name: StaticString, _ devices: [DeviceStatus]) {
        list(name, devices) { $0.device($1) }
    }

    private mutating func bridge(_ status: BridgeStatus) {
        field("version", status.version)
        field("host", status.host)
        field("pid", status.process)
        field("journal", status.journal)
        key("uptime_s")
        number(Double(status.uptime.wholeMilliseconds) / 1000)
        field("suspend", status.suspension.rawValue)
        field("journal_health", status.journalHealth)
        field("memory", status.residentBytes)
        field("uncontained", status.containmentBlockingReason)
        object("loop") { writer in
            writer.milliseconds("longest_ms", status.longestCall)
            writer.field("over_50ms", status.longCalls)
            writer.objects("causes", status.stays) { writer, stay in
                writer.field("cause", stay.cause)
                writer.milliseconds("longest_ms", stay.longest)
                writer.field("over_50ms", stay.overPatience)
            }
        }
        objects("warnings", status.warnings) { writer, warning in
            writer.field("code", warning.code.rawValue)
            writer.field("what", warning.what)
            writer.field("why", warning.why)
            writer.field("advice", warning.advice)
        }
    }

    public mutating func handler(_ status: HandlerReport) {
        beginObject()
        field("id", status.id)
        field("state", status.state)
        field("why", status.why)
        field("pid", status.process)
        field("epoch", status.epoch.rawValue)
        field("queued", status.queued)
        field("open", status.open)
        field("strikes", status.strikes)
        field("held_for_ms", status.heldFor.wholeMilliseconds)
        field("wakes", status.wakes)
        field("events", status.events)
        field("awake_ms", status.awake.wholeMilliseconds)
        field("work", status.work)
        field("status", status.status)
        field("last_exit", status.lastExit)
        field("unbonded", status.unbonded)
        object("scheduled") { writer in
            writer.field("count", status.agenda.scheduled)
            writer.field("next", status.agenda.nextDue)
        }
        field("messages", status.agenda.messages)
        field("flows", status.agenda.flows)
        object("transfers") { $0.transfers(status.transfers) }
        endObject()
    }

    private mutating func transfers(_ report: TransfersReport) {
        field("open", report.open)
        field("moving", report.moving)
        field("done", report.done)
        key("total")
        if let total = report.total { integer(total) } else { null() }
    }

    public mutating func device(_ status: DeviceStatus) {
        beginObject()
        field("alias", status.device.alias)
        field("source", status.device.uri)
        field("mode", status.device.kind.rawValue)
        field("profile", status.device.profile)
        field("bonded", status.device.isBonded)
        key("match")
        if let match = status.match { object { $0.match(match) } } else { null() }
        let descriptor = status.device.reportDescriptor
        field("report_descriptor", descriptor.isEmpty ? nil : descriptor.hexadecimal)
        field("node", status.node)
        field("adapter", status.adapter)
        field("link", status.link)
        field("why", status.why)
        field("session", status.session?.rawValue)
        field("last_data", status.lastData)
        endObject()
    }

    private mutating func match(_ match: DeviceStatus.Match) {
        field("services", match.services.map(\.description))
        field("name_prefix", match.namePrefix)
        objects("properties", match.properties) { writer, property in
            writer.field("name", property.name)
            writer.field("value", property.value)
        }
        field("advertisement", match.advertisement.isEmpty ? nil : match.advertisement.hexadecimal)
    }
}

/// An adapter, as the control API writes it: whether it is on and scans, how many links it carries, and which devices wait.
public struct AdapterStatus: Hashable, Sendable {
    /// Its identity: its number may change at the next start.
    public var address: String
    public var isPowered: Bool
    public var links: Int
    /// How many links it carried when it refused another; nil where it has refused none.
    public var mostLinks: Int?
    /// The aliases of devices that are not connected because it has no room.
    public var waiting: [String]
    /// The daemon scans with it for broadcasts; other programs' scans do not count.
    public var isScanning = false

    public init(address: String, isPowered: Bool, links: Int, mostLinks: Int? = nil, waiting: [String] = []) {
        self.address = address
        self.isPowered = isPowered
        self.links = links
        self.mostLinks = mostLinks
        self.waiting = waiting
    }
}

extension JSONWriter {
    /// Writes null where no Bluetooth device is watched.
    mutating func field(_ name: StaticString, _ adapters: [AdapterStatus]?) {
        guard let adapters else {
            key(name)
            return null()
        }
        objects(name, adapters) { writer, status in
            writer.field("address", status.address)
            writer.field("powered", status.isPowered)
            writer.field("links", status.links)
            writer.field("most_links", status.mostLinks)
            writer.field("waiting", status.waiting)
            writer.field("scanning", status.isScanning)
        }
    }
}

/// A warning for the administrator about something that the bridge accepts.
public struct BridgeWarning: Hashable, Sendable {
    /// The code of the doctor's finding about the same fault.
    public enum Code: String, Hashable, Sendable {
        case handlerRights = "handler-rights"
        case handlerLacks = "handler-lacks"
        case longMessages = "long-messages"
        case webKey = "web-key"
    }

    public var code: Code
    /// The fault, without a full stop.
    public var what: String
    /// The fault's consequence, without a full stop.
    public var why: String
    /// The remedy.
    public var advice: String

    public init(_ what: String, code: Code = .handlerRights, why: String, advice: String) {
        self.what = what
        self.code = code
        self.why = why
        self.advice = advice
    }

    public var sentence: String { "\(what): \(why); \(advice)" }
}

/// A handler's wakes, as the control API writes them: how the handler judged them, and what they cost.
public struct WorkReport: Hashable, Sendable {
    /// Acknowledged events, by the `result` of their acknowledgements.
    public var useful: UInt64 = 0
    public var nothing: UInt64 = 0
    public var failed: UInt64 = 0
    public var unsaid: UInt64 = 0
    /// Launches and thaws after which it gave any `result`, and those after which it gave `useful`.
    public var judgedWakes: UInt64 = 0
    public var usefulWakes: UInt64 = 0
    /// The share of the daemon's running time for which it was awake.
    public var awakeRatio = 0.0
    /// Processor time of the running process and everything it started; nil where there is none, or it is not counted.
    public var processorTime: TimeSpan?
    /// Events that the running process acknowledged.
    public var acknowledgedByProcess: UInt64 = 0

    public init() {}

    /// Nil before the first acknowledgement, and where the processor time is not known.
    public var processorTimePerEvent: TimeSpan? {
        guard let processorTime, acknowledgedByProcess > 0 else { return nil }
        return TimeSpan(nanoseconds: processorTime.nanoseconds / Int64(clamping: acknowledgedByProcess))
    }
}

extension JSONWriter {
    public mutating func field(_ name: StaticString, _ work: WorkReport) {
        key(name)
        beginObject()
        field("useful", work.useful)
        field("nothing", work.nothing)
        field("failed", work.failed)
        field("unsaid", work.unsaid)
        field("judged_wakes", work.judgedWakes)
        field("useful_wakes", work.usefulWakes)
        key("awake_ratio")
        number((work.awakeRatio * 1_000_000).rounded() / 1_000_000)
        milliseconds("cpu_ms", work.processorTime)
        milliseconds("cpu_per_event_ms", work.processorTimePerEvent)
        endObject()
    }

    /// Rounded to the microsecond; null where it is not known.
    private mutating func milliseconds(_ name: StaticString, _ span: TimeSpan?) {
        key(name)
        if let span { number(Double(span.nanoseconds / 1000) / 1000) } else { null() }
    }
}
