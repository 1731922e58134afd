// One handler through the ten states of semantics 4.2: each call brings it where what is now true says it should be.
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
        case terminating(Termination)
        case quarantined
    }

    struct Suspension: Hashable, Sendable {
        var isOverrun: Bool
        var deadline: Instant
        var isSecondTry = false
    }

    struct Termination: Hashable, Sendable {
        var reason: EndReason
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

    let id: HandlerID
    var settings: HandlerSettings
    var phase = Phase.idle
    var epoch = Epoch(rawValue: 0)

    var queue = EventQueue()
    var batch = Batch()
    var budget: BudgetLedger
    var penalty = Penalty()
    var gaps = PendingGaps()
    /// Devices that a nack holds back, and until when.
    var nackHolds: [DeviceID: Instant] = [:]
    var requests: [OpenRequest] = []
    var lateAnswers: [Notice] = []

    var isAttached = false
    /// A wake that no event asks for: at boot, or by an operator.
    var wanted: WakeReason?
    /// Set while a lock is given time to be released.
    var rescueUntil: Instant?
    var wasRescued = false
    var lockInspection: Instant?
    /// How many wakes and since when leases were kept over a suspension.
    var leaseWakes = 0
    var leasesKeptSince: Instant?

    var launchedAt = Instant.zero
    /// True from the process's first line on descriptor 3: before it, a death is nobody's event's fault.
    var hasSpoken = false
    var lingerUntil: Instant?
    var suspendedSince: Instant?
    /// Held frozen for the rest after an awake window.
    var restUntil: Instant?
    var statistics = Statistics()

    struct Statistics: Hashable, Sendable {
        public var wakes: UInt64 = 0
        public var launches: UInt64 = 0
        public var awake = TimeSpan.zero
        public var lastEnd: EndReason?
    }

    init(id: HandlerID, settings: HandlerSettings, isStopped: Bool) {
        self.id = id
        self.settings = settings
        budget = BudgetLedger(settings.timers)
        if settings.startsAtBoot { wanted = .autostart }
        if isStopped || !settings.isEnabled { phase = .stopped }
    }

    var timers: HandlerTimers { settings.timers }
    var isOneshot: Bool { settings.lifecycle == .oneshot }

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

    mutating func settle(_ step: inout Step) {
        while advance(&step) {}
    }

    /// Makes the one move that follows from the facts; false when none does.
    private mutating func advance(_ step: inout Step) -> Bool {
        switch phase {
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
}

// MARK: - Awake

extension HandlerLifecycle {
    private mutating func expireLaunch(_ deadline: Instant, _ step: inout Step) -> Bool {
        guard step.now >= deadline, !isAttached else { return false }
        kill(.launchTimeout, &step)
        return true
    }

    private mutating func advanceActive(_ step: inout Step) -> Bool {
        if deliverNextBatch(&step) { return true }
        if let warning = warningAt, step.now >= warning {
            beginExpiring(&step)
            return true
        }
        if let rescue = rescueUntil {
            guard step.now >= rescue else { return false }
            rescueUntil = nil
            freeze(isOverrun: false, because: "lock", &step)
            return true
        }
        return lingerOrFreeze(&step)
    }

    private mutating func lingerOrFreeze(_ step: inout Step) -> Bool {
        guard !isKeptAwake(at: step.now) else {
            lingerUntil = nil
            return false
        }
        let deadline = lingerUntil ?? step.now + timers.linger
        lingerUntil = deadline
        guard step.now >= deadline else { return false }
        freeze(isOverrun: false, because: "linger", &step)
        return true
    }

    /// A reason to be awake beside the linger.
    func isKeptAwake(at now: Instant) -> Bool {
        isAttached || isOneshot || batch.hasOpen || !budget.tasks.isEmpty || hasOpenRequest(at: now)
    }

    func hasOpenRequest(at now: Instant) -> Bool { requests.contains { now < $0.deadline } }

    /// While a task is open, leases expire with it.
    var awakeDeadline: Instant? {
        if isAttached { return nil }
        if !budget.tasks.isEmpty { return budget.poolEnd }
        return batch.hasOpen || isOneshot ? budget.batchDeadline : nil
    }

    private mutating func beginExpiring(_ step: inout Step) {
        guard let deadline = awakeDeadline else { return }
        if isOneshot {
            requestTermination(.deadline, &step)
            return
        }
        let reason = budget.tasks.isEmpty ? "budget" : "extension"
        move(to: .expiring, because: reason, &step)
        notifyExpiring(reason, remaining: max(.zero, deadline - step.now), &step)
    }

    func notifyExpiring(_ reason: String, remaining: TimeSpan, _ step: inout Step) {
        let notice = Notice.expiring(
            reason: reason, remaining: remaining, tasks: budget.tasks, open: batch.openSequences)
        step.emit(.notify(id, epoch, notice))
    }

    private mutating func advanceExpiring(_ step: inout Step) -> Bool {
        guard let deadline = awakeDeadline, let warning = warningAt, step.now >= warning else {
            move(to: .active, because: isAttached ? "attached" : "progress", &step)
            return true
        }
        guard step.now >= deadline + timers.grace else { return false }
        if !budget.tasks.isEmpty {
            kill(.taskLeak, &step)
        } else {
            overrun(&step)
        }
        return true
    }

    /// The budget and its grace are over with a lease open: freeze with the lease kept, or kill on the third strike.
    private mutating func overrun(_ step: inout Step) {
        let isLastStrike = penalty.strikeCount(at: step.now, timers) + 1 >= Penalty.strikeLimit
        if isLastStrike || settings.onOverrun == .terminate {
            let strikes = penalty.strike(at: step.now, timers)
            step.emit(.decision(id, .struck(strikes: strikes)))
            kill(.overrun, &step)
        } else {
            freeze(isOverrun: true, because: "overrun", &step)
        }
    }
}
