// What the journal is told and what it tells: settings, outcomes, recovered events, dead letters and errors.
import WakeModel

public struct JournalSettings: Sendable {
    /// Holds `run.sqlite`; nil keeps `run` events in memory.
    public var runtimeDirectory: String?
    /// Holds `journal.sqlite`; nil keeps everything in memory, for replays and tests.
    public var stateDirectory: String?
    /// Sequence numbers reserved at a time, at least 1.
    public var reservation = 4_096
    /// Bytes of each half of the file that takes the turns of the run database before it does; 0 for none. Up to half of one
    /// may be owed before what waits goes into the database, event by event: some 7,000 events of a few bytes.
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
                + "end whoever else writes to it, then start again"
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
    /// Told once: an event that cannot be read, or a database whose events are in memory only from here on.
    case lost(DurabilityLoss)
    /// What memory held is in the database again.
    case restored(Durability)
}

public enum StoreHealth: Hashable, Sendable {
    case ok
    case degraded(String)
}

public struct DeadLetter: Hashable, Sendable {
    public var seq: Sequence
    public var handler: HandlerID
    public var event: DeviceEvent
    public var reason: String
    public var at: WallTime
}

public struct Recovery: Sendable {
    /// Numbers whose events may have existed and are gone: an upper bound.
    public struct Lost: Hashable, Sendable {
        public var first: Sequence
        public var last: Sequence
        public var from: WallTime?
        public var to: WallTime
    }
    public struct ReplayPosition: Hashable, Sendable {
        public var source: String
        public var line: Int
    }

    /// The number the next event gets.
    public var next = Sequence(1)
    /// In the order of their numbers.
    public var owed: [HandlerID: [RecoveredEvent]] = [:]
    public var lost: Lost?
    public var stopped: Set<HandlerID> = []
    /// Whom the journal knew before, and so may have lost something; nil where damage leaves that in doubt.
    public var handlers: Set<HandlerID>?
    public var replayPosition: ReplayPosition?
    /// Damage met on opening or reading, each to be told once.
    public var losses: [DurabilityLoss] = []
}

public struct Compaction: Hashable, Sendable {
    /// Events nobody owed any more, now erased.
    public var orphans = 0
    /// Bytes in use in both files.
    public var bytes = 0
    /// Bytes in use beyond ``JournalSettings/maxBytes``: the core should drop what ``Journal/oldestData(freeing:)`` names.
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
        }
    }
}
