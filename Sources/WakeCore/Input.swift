// Everything that can happen to the core: arrivals, replies, confirmations, deaths, verbs and the passing of time.
import WakeModel

/// The finding when the leaf had become frozen and the handler's lines were drained.
public enum SuspensionFinding: Hashable, Sendable {
    case clean
    /// It holds a file lock that no other process waits for; the lock is inspected again while it sleeps.
    case holdsLock
    /// It holds a file lock that another process waits for.
    case blocksOthers
    /// Its main process is no longer in its own leaf.
    case escaped
}

public enum OperatorVerb: Hashable, Sendable {
    case start
    case stop
    case attach
    case detach
    /// Wakes as an event would.
    case wake
    /// Brings the deadline of open work so near that its warning is sent at once.
    case expire
    case kill
    /// Ends its process in order and launches the next one; open events come again.
    case restart
}

public enum MemoryLevel: String, Hashable, Sendable, CaseIterable {
    case normal, warning, critical

    /// The word in `wakebridge.memory`, as in the kernel's pressure files.
    public var wireName: String {
        switch self {
        case .normal: "none"
        case .warning: "some"
        case .critical: "full"
        }
    }
}

/// The machine's own sleep, in which nothing runs and CLOCK_MONOTONIC stops.
public enum SystemSleep: Hashable, Sendable {
    /// It begins no later than this from now.
    case preparing(within: TimeSpan)
    case over
}

/// A process that something is written to.
public struct Recipient: Hashable, Sendable {
    public var handler: HandlerID
    public var epoch: Epoch
    /// Nil where the write is still to come, or was a moment ago.
    public var writtenAt: Instant?

    public init(_ handler: HandlerID, _ epoch: Epoch, writtenAt: Instant? = nil) {
        (self.handler, self.epoch, self.writtenAt) = (handler, epoch, writtenAt)
    }
}

public enum Input: Sendable {
    case device(EventOrigin, Device)
    /// Occasions of this origin are for one handler alone.
    case entry(EventOrigin, owner: HandlerID)
    /// A manifest appeared or changed. `isStopped` is what the journal remembers of a new one; `restarts` where the
    /// program itself is another.
    case configure(HandlerID, HandlerSettings, isStopped: Bool, restarts: Bool)
    case remove(HandlerID)
    case recovered(HandlerID, [RecoveredEvent])
    /// A loss that the journal could not keep over a restart, for one handler and device.
    case lost(HandlerID, EventOrigin, Gap)
    /// The loss of an entry of the agenda before it was raised. It is kept as the entry's occasions are.
    case missed(HandlerID, EventOrigin, Gap)
    case event(DeviceEvent)
    case reply(HandlerID, Epoch, ReplyLine)
    case fault(HandlerID, Epoch, ProtocolFault)
    /// True when it writes more to descriptor 3 than it may, and its lines are delayed; false when all were handled.
    case throttled(HandlerID, Epoch, Bool)
    /// It wrote an answer to standard output, where it is a line of its log.
    case misdirected(HandlerID, Epoch)
    /// An order in the words of sd_notify.
    case ordered(HandlerID, Epoch, ServiceMessage.Order)
    /// The batch that ends with this event was written whole; sent only where a write acknowledges.
    case written(HandlerID, Epoch, through: Sequence)
    /// The deliveries of a turn were written only now, long after the core decided on them.
    case given([Recipient])
    /// `isExhausted` where the machine, and not the manifest, is short of something.
    case launchFailed(HandlerID, Epoch, reason: String, isExhausted: Bool)
    case suspended(HandlerID, Epoch, SuspensionFinding)
    case locksInspected(HandlerID, Epoch, SuspensionFinding)
    /// Frozen, it holds a socket that its manifest refuses.
    case listensAsleep(HandlerID, Epoch)
    case answered(HandlerID, Epoch, ref: Reference?, Notice)
    case exited(HandlerID, Epoch, ExitStatus)
    /// No process is left in the leaf.
    case emptied(HandlerID, Epoch)
    case operated(HandlerID, OperatorVerb)
    case memory(MemoryLevel)
    case systemSleep(SystemSleep)
    case thermal(isHot: Bool)
    case power(isOnBattery: Bool)
    /// The daemon's own condition: handlers that are awake get it now, the others with their next wake.
    case announced(Notice)
    /// A notice for one handler.
    case notified(HandlerID, Notice)
    /// The journal is over its cap: this old data of one handler is removed, and a gap reports it.
    case shed(HandlerID, [Sequence])
    /// A dead-lettered event is to be tried again, with a fresh number.
    case revived(HandlerID, DeviceEvent)
    /// An occasion is to end. A waiting one leaves the queue; an open one has the time of a warning left.
    case withdraw(HandlerID, Sequence, Withdrawal)
    /// An occasion was cancelled. A waiting one leaves the queue; an open one goes on.
    case recall(HandlerID, Sequence)
    /// Its maker ended an occasion, wherever it is: the handler need not act, and is not charged.
    case release(HandlerID, Sequence)
    /// Whether it may be launched at all.
    case gate(HandlerID, isOpen: Bool)
    /// Every live handler has to end, and none is started any more.
    case finish
    /// Only time has passed.
    case tick
}
