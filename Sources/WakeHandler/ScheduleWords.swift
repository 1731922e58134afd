// The words about scheduled work: what it waits for, what it is, and how far it is.

/// A condition that a job may wait for.
public enum RunCondition: BridgeWord {
    /// The machine is on mains, or has no battery.
    case power
    /// The supply of the machine is not too weak.
    case steady
    /// There is a network.
    case network
    /// There is a network that costs nothing by volume.
    case unmetered
    /// Not much is going on, and no handler is in a person's foreground.
    case idle
    /// The disk has room.
    case storage
    /// The machine is not too hot.
    case cool
    /// The wall clock is right.
    case timeSynced
    /// A condition with a path, such as ``mount(_:)``, or a word of a later version.
    case other(String)

    /// The path is mounted.
    public static func mount(_ path: String) -> RunCondition { .other("mount:\(path)") }
    /// The path can be read by the handler's user.
    public static func unlocked(_ path: String) -> RunCondition { .other("unlocked:\(path)") }

    public static let known: [RunCondition] = [
        .power, .steady, .network, .unmetered, .idle, .storage, .cool, .timeSynced,
    ]

    public var word: String {
        switch self {
        case .power: "power"
        case .steady: "steady"
        case .network: "network"
        case .unmetered: "unmetered"
        case .idle: "idle"
        case .storage: "storage"
        case .cool: "cool"
        case .timeSynced: "time-synced"
        case .other(let word): word
        }
    }
}

/// The kind of a job's work.
public enum TaskKind: BridgeWord {
    /// A short look for news: 30 s.
    case refresh
    /// Long work in the background, for as long as its progress grows.
    case processing
    /// Long work that a person began, and waits for.
    case continued
    /// A word of a later version.
    case other(String)

    public static let known: [TaskKind] = [.refresh, .processing, .continued]

    public var word: String {
        switch self {
        case .refresh: "refresh"
        case .processing: "processing"
        case .continued: "continued"
        case .other(let word): word
        }
    }
}

/// The kind of a pending request.
public enum PendingSource: BridgeWord {
    /// An alarm.
    case alarm
    /// The handler's poll.
    case poll
    /// A job.
    case job
    /// The handler's inbox, with messages in it.
    case inbox
    /// A flow.
    case flow
    /// A transfer.
    case transfer
    /// A socket.
    case socket
    /// The handler's own peripheral.
    case peripheral
    /// A word of a later version.
    case other(String)

    public static let known: [PendingSource] = [.alarm, .poll, .job, .inbox, .flow, .transfer, .socket, .peripheral]

    public var word: String {
        switch self {
        case .alarm: "alarm"
        case .poll: "poll"
        case .job: "job"
        case .inbox: "inbox"
        case .flow: "flow"
        case .transfer: "transfer"
        case .socket: "socket"
        case .peripheral: "peripheral"
        case .other(let word): word
        }
    }
}

/// How far a pending request is.
public enum PendingState: BridgeWord {
    /// It waits for its time or its conditions.
    case waiting
    /// It is due, and waits to be delivered.
    case queued
    /// You have it.
    case running
    /// A word of a later version.
    case other(String)

    public static let known: [PendingState] = [.waiting, .queued, .running]

    public var word: String {
        switch self {
        case .waiting: "waiting"
        case .queued: "queued"
        case .running: "running"
        case .other(let word): word
        }
    }
}

/// Where the handler is to a region.
public enum RegionState: BridgeWord {
    /// At least one of its beacons is received.
    case inside
    /// All of its beacons are silent.
    case outside
    /// No radio listens, or it has not listened for long enough.
    case unknown
    /// A word of a later version.
    case other(String)

    public static let known: [RegionState] = [.inside, .outside, .unknown]

    public var word: String {
        switch self {
        case .inside: "inside"
        case .outside: "outside"
        case .unknown: "unknown"
        case .other(let word): word
        }
    }
}

/// The outcome of an order.
public enum ScheduleOutcome: BridgeWord {
    /// An alarm is set, or the poll's interval is.
    case set
    /// A job is submitted.
    case submitted
    /// It took the place of one of the same id.
    case replaced
    /// It is cancelled.
    case cancelled
    /// There was nothing to cancel.
    case notPending
    /// The manifest has the job.
    case registered
    /// Polls are off.
    case never
    /// A flow is open, and keeps the process awake.
    case open
    /// A flow waits for another one of its group, or for its handler to be let run.
    case waiting
    /// A flow is closed.
    case closed
    /// A transfer is handed over, or the same one was before.
    case ordered, alreadyOrdered
    /// A transfer that was paused is so no more, or was not.
    case resumed, moving
    /// A socket's connection is given up for another one.
    case reconnecting
    /// A word of a later version.
    case other(String)

    public static let known: [ScheduleOutcome] = [
        .set, .submitted, .replaced, .cancelled, .notPending, .registered, .never, .open, .waiting, .closed, .ordered,
        .alreadyOrdered,
        .resumed, .moving, .reconnecting,
    ]

    public var word: String {
        switch self {
        case .set: "set"
        case .submitted: "submitted"
        case .replaced: "replaced"
        case .cancelled: "cancelled"
        case .notPending: "not-pending"
        case .registered: "registered"
        case .never: "never"
        case .open: "open"
        case .waiting: "waiting"
        case .closed: "closed"
        case .ordered: "ordered"
        case .alreadyOrdered: "known"
        case .resumed: "resumed"
        case .moving: "moving"
        case .reconnecting: "reconnecting"
        case .other(let word): word
        }
    }
}
