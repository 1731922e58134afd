// The words of the protocol as values: known cases, and room for the words of later versions.

/// A word that the daemon writes, such as `overflow`. A word that this version does not know becomes `.other`.
public protocol BridgeWord: Hashable, Sendable, CustomStringConvertible {
    /// The cases that this version knows, in no particular order.
    static var known: [Self] { get }
    /// Holds a word that is none of ``known``.
    static func other(_ word: String) -> Self
    /// The word as the daemon writes it.
    var word: String { get }
}

extension BridgeWord {
    /// The known case with this word, or `.other`.
    public init(word: String) { self = Self.known.first { $0.word == word } ?? .other(word) }

    /// The same as ``word``.
    public var description: String { word }
}

/// Why the process was launched or thawed.
public enum WakeReason: BridgeWord {
    /// An event of this kind came first.
    case connected, disconnected, data, gap, attention
    /// An event from before, which you have not answered or have refused, is due.
    case owed
    /// The manifest has `autostart: true`.
    case autostart
    /// An operator ran `wakebridge attach`.
    case attach
    /// An operator ran `wakebridge simulate wake`.
    case `operator`
    /// Another program waits for a file lock of yours: release it.
    case lock
    /// An alarm fired, a poll is due, or a job is.
    case alarm, poll, job
    /// A region of the manifest was entered or left.
    case region
    /// Something sent you a message.
    case message
    /// A flow of the manifest began, was interrupted or ended.
    case flow
    /// A transfer has ended, or its server asks who you are.
    case transfer
    /// A socket was opened or closed, has traffic, or has to be kept alive.
    case socket, keepalive
    /// A central used your peripheral.
    case peripheral
    /// A word of a later version.
    case other(String)

    public static let known: [WakeReason] = [
        .connected, .disconnected, .data, .gap, .attention, .owed, .autostart, .attach, .operator, .lock, .alarm,
        .poll, .job, .region, .message, .flow, .transfer, .socket, .keepalive,
        .peripheral,
    ]

    public var word: String {
        switch self {
        case .connected: "connected"
        case .disconnected: "disconnected"
        case .data: "data"
        case .gap: "gap"
        case .attention: "attention"
        case .owed: "owed"
        case .autostart: "autostart"
        case .attach: "attach"
        case .operator: "operator"
        case .lock: "lock"
        case .alarm: "alarm"
        case .poll: "poll"
        case .job: "job"
        case .region: "region"
        case .message: "message"
        case .flow: "flow"
        case .transfer: "transfer"
        case .socket: "socket"
        case .keepalive: "keepalive"
        case .peripheral: "peripheral"
        case .other(let word): word
        }
    }
}

/// Why your time ends.
public enum ExpirationReason: BridgeWord {
    /// The budget of your events is used up: you are frozen with what is open.
    case budget
    /// The pool that all tasks share is used up: an open task costs you the process.
    case `extension`
    /// Another program waits for a file lock of yours.
    case lock
    /// An operator ran `wakebridge simulate expire`.
    case `operator`
    /// The machine is about to sleep; all your time is there again after it.
    case systemSleep
    /// Memory is short.
    case memory
    /// The machine is too hot.
    case thermal
    /// The daemon ends.
    case shutdown
    /// A condition of a job has gone, such as the network: the job comes again, and nothing is charged.
    case condition
    /// A job has made no progress for a minute, or for half of one while another job waits for its place.
    case stalled
    /// A job has taken as long as its manifest lets it.
    case maxRun
    /// An operator ran `wakebridge cancel-job`: nothing of that run comes again.
    case cancelled
    /// A word of a later version.
    case other(String)

    public static let known: [ExpirationReason] = [
        .budget, .extension, .lock, .operator, .systemSleep, .memory, .thermal, .shutdown, .condition, .stalled,
        .maxRun, .cancelled,
    ]

    public var word: String {
        switch self {
        case .budget: "budget"
        case .extension: "extension"
        case .lock: "lock"
        case .operator: "operator"
        case .systemSleep: "system-sleep"
        case .memory: "memory"
        case .thermal: "thermal"
        case .shutdown: "shutdown"
        case .condition: "condition"
        case .stalled: "stalled"
        case .maxRun: "max-run"
        case .cancelled: "cancelled"
        case .other(let word): word
        }
    }
}

/// Why the process is about to be ended.
public enum TerminationReason: BridgeWord {
    /// An operator ran `wakebridge stop`.
    case stopped
    /// The manifest was removed, switched off or changed.
    case reconfigured
    /// An operator ran `wakebridge restart`; what is open comes again.
    case restarted
    /// The daemon ends.
    case finished
    /// A task was still open at the end of the time that short memory, or heat, left for it.
    case memory, thermal
    /// A word of a later version.
    case other(String)

    public static let known: [TerminationReason] = [.stopped, .reconfigured, .restarted, .finished, .memory, .thermal]

    public var word: String {
        switch self {
        case .stopped: "stopped"
        case .reconfigured: "reconfigured"
        case .restarted: "restarted"
        case .finished: "finished"
        case .memory: "memory"
        case .thermal: "thermal"
        case .other(let word): word
        }
    }
}

/// How short memory is, after the kernel's pressure files.
public enum MemoryLevel: BridgeWord {
    /// Some programs wait for memory; the daemon's word is `some`.
    case warning
    /// All programs wait for memory; the daemon's word is `full`.
    case critical
    /// A word of a later version.
    case other(String)

    public static let known: [MemoryLevel] = [.warning, .critical]

    public var word: String {
        switch self {
        case .warning: "some"
        case .critical: "full"
        case .other(let word): word
        }
    }
}

/// A condition of the daemon itself that changed.
public enum BridgeCondition: BridgeWord {
    /// Events are kept in memory only from now on.
    case durabilityLost
    /// Events are kept again as their subscriptions demand.
    case durabilityRestored
    /// The Bluetooth adapter was switched on, or came.
    case adapterUp
    /// The Bluetooth adapter was switched off, or went.
    case adapterDown
    /// A word of a later version.
    case other(String)

    public static let known: [BridgeCondition] = [.durabilityLost, .durabilityRestored, .adapterUp, .adapterDown]

    public var word: String {
        switch self {
        case .durabilityLost: "durability-lost"
        case .durabilityRestored: "durability-restored"
        case .adapterUp: "adapter-up"
        case .adapterDown: "adapter-down"
        case .other(let word): word
        }
    }
}
