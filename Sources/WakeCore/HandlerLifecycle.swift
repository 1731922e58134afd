// One handler's state machine: each call moves it to the state that follows from the facts (docs/dev/invariants.md).
import WakeModel

/// Level-triggered: an input changes facts, then ``settle(_:)`` moves the phase until nothing more follows from them.
/// So no edge can be missed, and every move is one case of one switch.
struct HandlerLifecycle: Sendable {
    enum Phase: Hashable, Sendable {
        case stopped
        case idle
        case launching(deadline: Instant)
        case active
        case expiring
        case suspending(Suspension)
        case suspended
        /// Rare and large: beside the others, which are looked at with every event.
        indirect case terminating(Termination)
        case quarantined
    }

    /// What the dispatcher keeps of a handler beside itself.
    struct NextDeadlines {
        var monotonic: Instant?
        var boottime: Instant?
        var marks: HandlerFlags
    }

    struct Suspension: Hashable, Sendable {
        enum Purpose: Hashable, Sendable {
            /// Nothing is in hand.
            case rest
            /// The budget and its grace are over; an acknowledgement found in the drain takes this back.
            case overrun
            /// It had to make way with work in hand, which is nobody's fault.
            case strain
        }
        var purpose: Purpose
        var deadline: Instant
        var isSecondTry = false
    }

    struct Termination: Hashable, Sendable {
        var reason: EndReason
        /// When SIGTERM follows an end of file that did not do; nil where it is out already.
        var askAt: Instant?
        /// When to stop asking; nil where the kill is out already.
        var killAt: Instant?
        /// When to give up on a leaf that stays populated after the kill.
        var abandonAt: Instant?
        var exit: ExitStatus?
        var isEmpty = false
    }

    struct OpenRequest: Hashable, Sendable {
        var ref: Reference?
        var deadline: Instant
    }

    /// Time given to let go of a lock that somebody waits for.
    struct Rescue: Hashable, Sendable {
        var until: Instant
        /// What it was frozen for counts again when this is over.
        var purpose: Suspension.Purpose
    }

    /// Held frozen although work waits.
    struct Rest: Hashable, Sendable {
        enum Cause: Hashable, Sendable { case window, memory }
        var until: Instant
        var cause: Cause
    }

    /// How long it has been throttled on descriptor 3 without a pause, counted while it is awake.
    struct Flood: Hashable, Sendable {
        var before = TimeSpan.zero
        /// Nil while it sleeps.
        var since: Instant?
    }

    let id: HandlerID
    var settings: HandlerSettings { didSet { rules = settings.rules } }
    /// One a subscription.
    private(set) var rules: [DeliveryRules]
    var phase = Phase.idle
    var epoch = Epoch(rawValue: 0)

    var queue = EventQueue()
    var batch = Batch()
    var budget: BudgetLedger
    var penalty = Penalty()
    /// What the last hold was for.
    var heldBecause = ""
    var gaps = PendingGaps()
    var requests: [OpenRequest] = []
    var lateAnswers: [Notice] = []

    /// An operator's word; a disabled manifest stops it beside this.
    var isStoppedByOperator: Bool
    var isAttached = false
    /// A wake that no event asks for: at boot, or by an operator.
    var wanted: WakeReason?
    /// The one that its process was launched for.
    var wantedAtLaunch: WakeReason?
    var rescue: Rescue?
    var wasRescued = false
    var lockInspection: Instant?
    /// How many wakes and since when leases were kept over a suspension.
    var leaseWakes = 0
    var leasesKeptSince: Instant?

    var flood: Flood?
    var launchedAt = Instant.zero
    /// How the process was started; a changed manifest is for the next.
    var isOneshot = false
    /// True from the process's first line on descriptor 3: before it, a death is nobody's event's fault.
    var hasSpoken = false
    /// Launched and not ready yet: no end of it is clean.
    var isStarting = false
    var lingerUntil: Instant?
    var suspendedSince: Instant?
    /// The same on CLOCK_BOOTTIME.
    var frozenAt: Instant?
    var rest: Rest?
    /// Until when it may finish before it makes way for want of memory.
    var memoryUntil: Instant?
    /// Until when its tasks may end before heat ends them.
    var heatUntil: Instant?
    /// The strain it was told of last, while that lasts.
    var strainTold: ResourcePressure.Cause?
    /// Why a deadline came early; nil where it did not.
    var hurriedBy: String?
    /// An answer was written to it while it was being frozen: it is let read it, once a wake.
    var hasUnreadAnswer = false
    var wasLetReadAnswer = false
    var statistics = Statistics()

    struct Statistics: Hashable, Sendable {
        public var wakes: UInt64 = 0
        public var launches: UInt64 = 0
        public var awake = TimeSpan.zero
        public var lastEnd: EndReason?
        public var outcomes = Outcomes()
    }

    init(id: HandlerID, settings: HandlerSettings, isStopped: Bool) {
        self.id = id
        self.settings = settings
        rules = settings.rules
        budget = BudgetLedger(settings.timers)
        isStoppedByOperator = isStopped
        if settings.startsAtBoot { wanted = .autostart }
        if isBarred { phase = .stopped }
    }

    var timers: HandlerTimers { settings.timers }
    /// It must not run, whatever comes.
    var isBarred: Bool { isStoppedByOperator || !settings.isEnabled }

    func rules(of subscription: Int?) -> DeliveryRules {
        guard let subscription, subscription < rules.count else { return .orphaned }
        return rules[subscription]
    }

    var state: HandlerState {
        switch phase {
        case .stopped: .stopped
        case .idle: .idle
        case .launching: .launching
        case .active: .active
        case .expiring: .expiring
        case .suspending: .suspending
        case .suspended: .suspended
        case .terminating: .terminating
        case .quarantined: .quarantined
        }
    }

    /// True while a process exists that may be let run.
    var isLive: Bool {
        switch phase {
        case .launching, .active, .expiring, .suspending, .suspended: true
        case .stopped, .idle, .terminating, .quarantined: false
        }
    }

    /// Takes one change of the facts, makes every move that follows, and tells when more does. All in place: a handler
    /// is large, and a copy for each question would cost more than the answers.
    mutating func react(_ step: inout Step, _ body: (inout HandlerLifecycle, inout Step) -> Void) -> NextDeadlines {
        queue.release(at: step.boottime)
        body(&self, &step)
        return settle(&step)
    }

    /// Apart, so that its code does not stand behind every change.
    @inline(never)
    private mutating func settle(_ step: inout Step) -> NextDeadlines {
        while advance(&step) {}
        return nextDeadlines(step)
    }

    /// Apart, because the compiler copies a value that may change for each question it is asked: here it cannot.
    @inline(never)
    private func nextDeadlines(_ step: Step) -> NextDeadlines {
        NextDeadlines(monotonic: nextMonotonicDeadline(step), boottime: nextBoottimeDeadline(step), marks: marks)
    }

    /// Makes the one move that follows from the facts; false when none does.
    private mutating func advance(_ step: inout Step) -> Bool {
        if endFlood(&step) { return true }
        if phase == .active || phase == .expiring, endLapsedExtension(&step) { return true }
        return switch phase {
        case .stopped, .quarantined: false
        case .idle: launchIfDue(&step)
        case .launching(let deadline): expireLaunch(deadline, &step)
        case .active: advanceActive(&step)
        case .expiring: advanceExpiring(&step)
        case .suspending(let suspension): advanceSuspending(suspension, &step)
        case .suspended: advanceSuspended(&step)
        case .terminating(let termination): advanceTerminating(termination, &step)
        }
    }

    mutating func move(to next: Phase, because reason: String, _ step: inout Step) {
        let from = state
        phase = next
        guard from != state else { return }
        step.emit(.decision(id, .moved(from: from, to: state, because: reason)))
    }

    private mutating func expireLaunch(_ deadline: Instant, _ step: inout Step) -> Bool {
        guard step.now >= deadline, !isAttached else { return false }
        kill(.launchTimeout, &step)
        return true
    }
}

extension HandlerLifecycle.Phase {
    var hasProcess: Bool {
        switch self {
        case .stopped, .idle, .quarantined: false
        case .launching, .active, .expiring, .suspending, .suspended, .terminating: true
        }
    }
}

extension HandlerSettings {
    fileprivate var rules: [DeliveryRules] {
        subscriptions.enumerated().map { index, one in
            DeliveryRules(
                subscription: index, wakes: one.wakes, policy: one.policy, durability: one.durability,
                maxLatency: one.maxLatency, queueCap: one.queueCap, retention: one.retention)
        }
    }
}
