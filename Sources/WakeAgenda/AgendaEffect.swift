// Everything that the agenda may ask for, in the order in which it is to happen.
import WakeModel

public enum AgendaEffect: Hashable, Sendable {
    /// Answered with ``AgendaInput/raised(_:_:)``. `rides` where it may wait for another reason to wake, and wakes by itself after that.
    case raise(AgendaKey, Occasion)
    /// The same for an event that another machine caused, which may not have proved who it is.
    case report(AgendaKey, Occasion, isAuthenticated: Bool)
    /// Its condition went before it was delivered: it leaves the queue, and is no loss. Answered with `concluded(.withdrawn)`.
    case withdraw(HandlerID, Sequence)
    /// It was cancelled: it leaves the queue, and what the handler has by now runs on. Answered as ``withdraw(_:_:)`` is.
    case recall(HandlerID, Sequence)
    /// It is over, wherever it is: at once, and without a question. Answered with `concluded(.ended)` where the handler had got it, and
    /// otherwise as ``withdraw(_:_:)`` is.
    case release(HandlerID, Sequence)
    /// The handler has it, and is asked to end it. Answered as ``withdraw(_:_:)`` is, unless it ends by itself.
    case press(HandlerID, Sequence, Withdrawal)
    case answer(HandlerID, Epoch, AgendaAnswer, ref: Reference?)
    /// Goes to the database, in the same commit as its cause.
    case store(AgendaRow)
    case erase(AgendaKey)
    /// Whether the handler may be launched: false until all its gates have opened.
    case gate(HandlerID, isOpen: Bool)
    /// Something waits for the condition, or relies on it, from now on or no more.
    case open(Condition)
    case close(Condition)
    /// Answered with ``AgendaInput/zone(_:_:)``.
    case readZone(String)
    /// No entry uses the zone any more: its changes need no report.
    case leaveZone(String)
    /// From now on the machine is to be woken at these instants, and at no other.
    case wakeMachine(MachineWake)
    /// For the executor of the entry's kind, once the commit holds its cause.
    case act(AgendaKey, AgendaAction)
    /// An occasion that was never raised is lost: a gap of the entry's origin, before the next one is raised.
    case lose(AgendaKey, Gap)
    case notify(HandlerID, Notice)
    /// Its process has to end and begin again: only so it receives the next events.
    case restart(HandlerID)
    /// For the decision log and `why`.
    case decision(HandlerID, AgendaDecision)
}

/// When a sleeping machine has to wake, on each clock; nil where nothing asks for it.
public struct MachineWake: Hashable, Sendable {
    public var boottime: Instant?
    public var wall: WallTime?

    public init(boottime: Instant? = nil, wall: WallTime? = nil) { (self.boottime, self.wall) = (boottime, wall) }
}

/// The answer to an order.
public enum AgendaAnswer: Hashable, Sendable {
    /// `word` is such as `set`, `replaced`, `cancelled`.
    case done(HandlerOrder.Verb, word: String, [PendingEntry])
    /// The answer about one transfer, and for how long a new one waits at least.
    case transfer(HandlerOrder.Verb, word: String, startsIn: TimeSpan?, [PendingEntry])
    case pending([PendingEntry])
    case fault(ProtocolFault)
}

/// A decision of the agenda; `wireName` is its line in the decision log, without instant and handler.
public struct AgendaDecision: Hashable, Sendable {
    public var key: AgendaKey
    public var wireName: String

    public init(_ key: AgendaKey, _ wireName: String) { (self.key, self.wireName) = (key, wireName) }
}

/// An entry as `pending` lists it.
public struct PendingEntry: Hashable, Sendable {
    public enum State: String, Hashable, Sendable, CaseIterable { case waiting, queued, running }

    /// Something that must come true before it is raised.
    public struct Wait: Hashable, Sendable {
        /// The word of a ``WaitReason``, of a condition such as `mount:/data`, or a group such as `group:audio`.
        public var word: String
        public var since: WallTime
        /// When a condition that is true and does not count yet will count, if it stays true.
        public var settles: WallTime?

        public init(word: String, since: WallTime, settles: WallTime? = nil) {
            (self.word, self.since, self.settles) = (word, since, settles)
        }

        public init(_ reason: WaitReason, since: WallTime) { self.init(word: reason.word, since: since) }
    }

    public var key: AgendaKey
    public var state: State
    /// When it is due at the earliest; nil where that is not known yet.
    public var due: WallTime?
    public var deadline: WallTime?
    /// Never empty for one that waits, nor for one that is queued or runs while its handler cannot have it.
    public var waitsFor: [Wait]
    /// The conditions that it requires once it is due, whether they are true now or not watched yet.
    public var requires: [Condition] = []
    /// When it may be raised next if what it waits for comes true; nil where only a condition decides.
    public var nextChance: WallTime?
    public var sequence: Sequence?
    var isWaiting: Bool { state == .waiting }
    public var progress: (done: Int64, total: Int64?)? { progressDone.map { ($0, progressTotal) } }
    public var progressDone: Int64?
    public var progressTotal: Int64?
    /// The interval of a poll; the period of a repeating alarm or job, where it has one.
    public var interval: TimeSpan?
    /// How many messages of an inbox wait or are on their way.
    public var messages: Int64?
    /// How a poll's due time was computed, beside the interval.
    public var pace: Pace?
    /// The one of its group that it waits for.
    public var holder: AgendaKey?
    /// In percent of one processor, where it has such a limit.
    public var processorShare: Int?
    /// Its last changes, the newest last, 32 at most.
    public var history: [Change]

    public struct Pace: Hashable, Sendable {
        /// The due time is a multiple of this, so that polls come together.
        public var slot: TimeSpan
        /// The hour of the week that contains the due time: `Tue 03:00`, in UTC.
        public var hour: String
        /// The number of polls in that hour that reported whether they were useful, the older ones faded: in
        /// thousandths.
        public var polls: Int64
        public var useful: Int64
        /// So few were useful that the poll keeps out of it.
        public var isQuiet: Bool
    }

    public struct Change: Hashable, Sendable {
        public var at: WallTime
        public var sentence: String

        public init(at: WallTime, sentence: String) { (self.at, self.sentence) = (at, sentence) }
    }

    public init(
        key: AgendaKey, state: State, due: WallTime? = nil, deadline: WallTime? = nil, waitsFor: [Wait] = [],
        nextChance: WallTime? = nil, sequence: Sequence? = nil, progressDone: Int64? = nil, progressTotal: Int64? = nil,
        interval: TimeSpan? = nil, history: [Change] = []
    ) {
        (self.key, self.state, self.due, self.deadline) = (key, state, due, deadline)
        (self.waitsFor, self.nextChance, self.sequence) = (waitsFor, nextChance, sequence)
        (self.progressDone, self.progressTotal) = (progressDone, progressTotal)
        (self.interval, self.history) = (interval, history)
    }
}
