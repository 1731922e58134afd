// The settings of a manifest for how one handler is woken, budgeted, penalised and fed, with the defaults.
import WakeModel

/// The events that wake the handler, and their treatment while it cannot take them.
public struct Subscription: Hashable, Sendable {
    public enum Policy: String, Hashable, Sendable, CaseIterable {
        /// Every event is queued.
        case all
        /// Only the newest event of each characteristic or stream is queued.
        case latest
        /// No event is queued.
        case drop
    }

    public var profile: String
    /// An alias or a URI; nil for every device of the profile.
    public var device: String?
    /// False for events that wait until the handler is awake for another reason.
    public var wakes: Bool = true
    public var policy: Policy = .all
    public var durability: Durability = .run
    /// How long data may wait for company; connect, disconnect and attention never wait. Nil: advertisements 5 s, other
    /// data not at all.
    public var maxLatency: TimeSpan?
    /// Bytes of event lines.
    public var queueCap: Int = 64 << 20
    /// Nil keeps events until they are acknowledged.
    public var retention: TimeSpan?

    public init(profile: String, device: String? = nil) {
        self.profile = profile
        self.device = device
    }
}

public struct HandlerSettings: Hashable, Sendable {
    public enum Lifecycle: String, Hashable, Sendable, CaseIterable { case resident, oneshot }
    public enum Readiness: String, Hashable, Sendable, CaseIterable { case implicit, explicit }
    public enum Acknowledgement: String, Hashable, Sendable, CaseIterable {
        case explicit
        /// Events are acknowledged when they are written, for programs that cannot answer.
        case delivery
    }
    public enum Overrun: String, Hashable, Sendable, CaseIterable { case suspend, terminate }
    public enum StoppedEvents: String, Hashable, Sendable, CaseIterable { case drop, keep }
    /// A condition that must be true before it is woken.
    public enum Requirement: String, Hashable, Sendable, CaseIterable {
        /// The machine draws from the mains, or has no battery to spare. For work that can wait: its events wait with it.
        case power
        /// A bond proves the device's identity. The handler gets no events of other devices.
        case bonded
    }

    public var modes: Set<SourceKind> = []
    public var subscriptions: [Subscription] = []
    public var lifecycle: Lifecycle = .resident
    public var readiness: Readiness = .implicit
    public var acknowledgement: Acknowledgement = .explicit
    public var onOverrun: Overrun = .suspend
    public var stoppedEvents: StoppedEvents = .drop
    public var startsAtBoot = false
    public var isEnabled = true
    /// It is not launched before its gates were opened, once a boot.
    public var hasGates = false
    public var allowsBackgroundChildren = false
    public var requirements: Set<Requirement> = []
    /// Events in one batch, 1 to 1,024. Nil: 64 for a resident handler, 1 for a oneshot.
    public var maxBatch: Int?
    /// Bytes of event lines queued for this handler over all its subscriptions.
    public var queueCap: Int = 64 << 20
    public var timers = HandlerTimers()

    public init() {}

    /// Whether its manifest means the device, bonded or not.
    public func watches(_ device: Device) -> Bool {
        modes.contains(device.kind) && subscriptions.contains { $0.matches(device) }
    }

    /// Whether it gets events of the device.
    public func takes(_ device: Device) -> Bool { accepts(device) && watches(device) }

    /// Whether it may get events of such a device, if it watches it.
    public func accepts(_ device: Device) -> Bool { device.isBonded || !requirements.contains(.bonded) }

    public var batchLimit: Int { maxBatch ?? (lifecycle == .resident ? 64 : 1) }
}

/// Each is a key of a manifest's `timers` (or its own key) or of `wakebridge.json5`; docs/dev/invariants.md lists them.
public struct HandlerTimers: Hashable, Sendable {
    /// Start to `ready`, explicit-ready handlers only.
    public var launch: TimeSpan = .seconds(20)
    /// Time to make progress, from the writing of a batch or the latest acknowledgement to the next.
    public var budget: TimeSpan = .seconds(10)
    /// How long before a deadline `expiring` is sent.
    public var warn: TimeSpan = .seconds(2)
    /// How long after a deadline the consequence comes.
    public var grace: TimeSpan = .seconds(2)
    /// The pool that all extension tasks of one wake share; up to 180 s.
    public var maxExtension: TimeSpan = .seconds(30)
    /// The time awake without a task after which the pool is full again.
    public var extensionRefill: TimeSpan = .seconds(60)
    /// The time awake after which no new batch is written until a rest; zero is off.
    public var window: TimeSpan = .zero
    public var rest: TimeSpan = .milliseconds(250)
    /// Idle time before freezing.
    public var linger: TimeSpan = .milliseconds(20)
    /// Until `frozen 1` must appear.
    public var freeze: TimeSpan = .seconds(2)
    /// SIGTERM to the kill.
    public var terminate: TimeSpan = .seconds(5)
    /// How long a thaw lasts in which the handler may release a lock that another process waits for.
    public var rescue: TimeSpan = .seconds(1)
    /// The time throttled on descriptor 3, awake and without a pause, after which the process is killed.
    public var flood: TimeSpan = .seconds(10)
    /// First penalty after a crash, an overrun or a leak; doubles up to `failureCap`.
    public var failureBase: TimeSpan = .seconds(1)
    public var failureCap: TimeSpan = .seconds(300)
    /// First wait after a nack that names none; doubles up to `retryCap`.
    public var retryBase: TimeSpan = .seconds(30)
    public var retryCap: TimeSpan = .seconds(5 * 3600)
    /// Overruns within this time count as strikes together.
    public var strikeWindow: TimeSpan = .seconds(600)
    /// A lease kept over suspension goes back to the queue after this long, or three wakes.
    public var leaseKeep: TimeSpan = .seconds(300)
    /// The time suspended without work after which the process is ended; zero is never.
    public var idleExit: TimeSpan = .zero

    public init() {}
}
