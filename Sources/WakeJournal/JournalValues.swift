// Values of the journal's interface: settings, outcomes, recovery, dead letters and errors.
import WakeModel

public struct JournalSettings: Sendable {
    /// Holds `run.sqlite`; nil keeps `run` events in memory.
    public var runtimeDirectory: String?
    /// Holds `journal.sqlite`; nil keeps everything in memory, for replays and tests.
    public var stateDirectory: String?
    /// Sequence numbers reserved at a time, at least 1.
    public var reservation = 4_096
    /// Bytes of each half of the run database's turn log; 0 for none. Once more than half of one is pending, events become rows of
    /// the database: at some 7,000 events of a few bytes.
    public var turnLogBytes = 1 << 20
    /// Bytes both files may have before there is ``Compaction/excess``.
    public var maxBytes = 256 << 20

    public init(runtimeDirectory: String?, stateDirectory: String?) {
        self.runtimeDirectory = runtimeDirectory
        self.stateDirectory = stateDirectory
    }
}

public enum JournalError: Error, Hashable, Sendable, CustomStringConvertible {
    case newerSchema(path: String, found: Int, known: Int)
    case noDescriptors(path: String)
    case notTakenUp(path: String, reason: String)

    public var description: String {
        switch self {
        case .newerSchema(let path, let found, let known):
            "cannot open the journal \(path): it has schema version \(found) and this wakebridged knows \(known); "
                + "install the newer wakebridged again or move the file away"
        case .notTakenUp(let path, let reason):
            "cannot open the journal \(path): what the log beside it holds cannot be added to it: \(reason); "
                + "stop any other program that writes to it, then start again"
        case .noDescriptors(let path):
            "cannot open the journal \(path): no more files may be opened; raise LimitNOFILE, then start again"
        }
    }
}

public struct DurabilityLoss: Hashable, Sendable {
    /// `run` or `disk`.
    public var which: Durability
    public var sentence: String
}

public enum CommitOutcome: Hashable, Sendable {
    case committed
    /// Reported once: an event that cannot be read, or a database whose events are only in memory from here on.
    case lost(DurabilityLoss)
    /// The database has all its events again.
    case restored(Durability)
}

public enum StoreHealth: Hashable, Sendable {
    case ok
    case degraded(String)
}

/// An entry of the agenda, which alone reads its value.
public struct StoredEntry: Hashable, Sendable {
    public struct Key: Hashable, Sendable {
        public var handler: HandlerID
        public var source: String
        public var id: String

        public init(handler: HandlerID, source: String, id: String) {
            (self.handler, self.source, self.id) = (handler, source, id)
        }
    }
    public var key: Key
    public var value: [UInt8]

    public init(key: Key, value: [UInt8]) { (self.key, self.value) = (key, value) }
}

public struct DeadLetter: Hashable, Sendable {
    public var seq: Sequence
    public var handler: HandlerID
    public var event: DeviceEvent
    public var reason: String
    public var at: WallTime
}

public struct Recovery: Sendable {
    /// An upper bound: numbers of events that may have existed.
    public struct Lost: Hashable, Sendable {
        public var first: Sequence
        public var last: Sequence
        public var from: WallTime?
        public var to: WallTime
        /// Until when single devices were surely followed; their later data may be missing too.
        public var since: [EventOrigin: WallTime] = [:]
    }
    public struct ReplayPosition: Hashable, Sendable {
        public var source: String
        public var line: Int
    }

    /// The number the next event gets.
    public var next = Sequence(1)
    /// Unacknowledged events, in the order of their numbers.
    public var pending: [HandlerID: [RecoveredEvent]] = [:]
    public var lost: Lost?
    public var stopped: Set<HandlerID> = []
    /// The handlers that the journal knew before, which may have lost events; nil where damage leaves that in doubt.
    public var handlers: Set<HandlerID>?
    public var replayPosition: ReplayPosition?
    /// Damage found on opening or reading, each to be reported once.
    public var losses: [DurabilityLoss] = []
}

public struct Compaction: Hashable, Sendable {
    /// Bytes in use beyond ``JournalSettings/maxBytes``: drop what ``Journal/oldestData(freeing:)`` returns.
    public var excess = 0
    public var outcomes: [CommitOutcome] = []
}

extension RecoveredEvent.Content {
    init(_ kind: DeviceEvent.Kind) {
        switch kind {
        case .connected: self = .connected
        case .disconnected: self = .disconnected
        case .data(let channel, _): self = .data(channel)
        case .gap: self = .gap
        case .attention: self = .attention
        case .occasion(let occasion): self = .occasion(occasion.budgetClass, occasion.reason)
        }
    }
}
