// The state machine of one handler: each call moves it to the state that follows from the facts
// (docs/dev/invariants.md).
import WakeModel

/// An input changes facts, then ``settle(_:)`` moves the phase until no more moves follow from them. So no change can be
/// missed, and every move is one case of one switch.
struct HandlerLifecycle: Sendable {
    enum Phase: Hashable, Sendable {
        case stopped
        case idle
        case launching(deadline: Instant)
        case active
        case expiring
        case suspending(Suspension)
        case suspended
        /// Indirect because it is rare and large: every event reads the phase.
        indirect case terminating(Termination)
        case quarantined
    }

    /// The deadlines and flags that the dispatcher indexes after each change of a handler.
    struct NextDeadlines {
        var monotonic: Instant?
        var boottime: Instant?
        var flags: HandlerFlags
    }

    struct Suspension: Hashable, Sendable {
        enum Purpose: Hashable, Sendable {
            /// It has no open work.
            case rest
            /// The budget and its grace are over; an acknowledgement found in the drain cancels this.
            case overrun
            /// The machine took its time away; it is not charged for its open work.
            case pressure
        }
        var purpose: Purpose
        var deadline: Instant
        var isSecondTry = false
    }

    struct Termination: Hashable, Sendable {
        var reason: EndReason
        /// When SIGTERM follows the end of its input; nil once it is sent.
        var askAt: Instant?
        /// When the kill follows SIGTERM; nil once it is sent.
        var killAt: Instant?
        /// When to give up on a leaf that stays populated after the kill.
        var abandonAt: Instant?
        var exit: ExitStatus?
        var isEmpty = false
    }

    let id: HandlerID
    var settings: HandlerSettings { didSet { rules = settings.rules } }
    /// The rules of each subscription.
    private(set) var rules: [DeliveryRules]
    var phase = Phase.idle
    var epoch = Epoch(rawValue: 0)

    var queue = EventQueue()
    var batch = Batch()
    var standing = StandingLeases()
    var budget: BudgetLedger
    var penalty = Penalty()
    var gaps = PendingGaps()

    /// Set by an operator; a disabled manifest stops it too.
    var isStoppedByOperator: Bool
    var isAttached = false
    /// It may not be launched before its gates have opened.
    var isGated = false
    /// A wake without an event: at boot, or by an operator.
    var requestedWake: WakeReason?

    var process = ProcessFacts()
    var dialogue = Dialogue()
    var sleep = SleepFacts()
    var pressures = Pressures()
    var statistics = Statistics()

    init(id: HandlerID, settings: HandlerSettings, isStopped: Bool) {
        self.id = id
        self.settings = settings
        rules = settings.rules
        budget = BudgetLedger(settings.timers)
        isStoppedByOperator = isStopped
        isGated = settings.hasGates
        if settings.startsAtBoot { requestedWake = .autostart }
        if isBarred { phase = .stopped }
    }

    var timers: HandlerTimers { settings.timers }
    /// True while it must not run for any event.
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

    /// True while a process exists that may run again.
    var isLive: Bool {
        switch phase {
        case .launching, .active, .expiring, .suspending, .suspended: true
        case .stopped, .idle, .terminating, .quarantined: false
        }
    }

    /// Applies one change of the facts, makes every move that follows, and returns the next deadlines. All in place: a
    /// handler is large, and copies of it would cost more than the work.
    mutating func react(_ step: inout Step, _ body: (inout HandlerLifecycle, inout Step) -> Void) -> NextDeadlines {
        queue.release(at: step.boottime)
        body(&self, &step)
        return settle(&step)
    }

    /// Not inlined, so that its code is not repeated behind every change.
    @inline(never)
    private mutating func settle(_ step: inout Step) -> NextDeadlines {
        while advance(&step) {}
        return nextDeadlines(step)
    }

    /// Not mutating, because the compiler copies a mutable value for each call.
    @inline(never)
    private func nextDeadlines(_ step: Step) -> NextDeadlines {
        NextDeadlines(monotonic: nextMonotonicDeadline(step), boottime: nextBoottimeDeadline(step), flags: flags)
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

// MARK: - Facts

extension HandlerLifecycle {
    /// How its process was started, and how far that has come.
    struct ProcessFacts: Sendable {
        var startedAt = Instant.zero
        /// A changed manifest is for the next process.
        var isOneshot = false
        /// True from the first line on descriptor 3: a process that dies before it does not charge an event.
        var hasSpoken = false
        /// Its answers go to standard output, and it has written nothing to descriptor 3.
        var misdirects: Bool { hasMisdirected && !hasSpoken }
        var hasMisdirected = false
        /// Launched and not ready yet: no end of it is clean.
        var isStarting = false
        /// The wake without an event that it was launched for.
        var requestedWake: WakeReason?
    }

    /// Its open requests, and the notices that it has not received.
    struct Dialogue: Sendable {
        var requests: [OpenRequest] = []
        /// Notices that are kept for the next wake.
        var lateAnswers: [Notice] = []
        /// An answer was written while it was being frozen: once a wake it stays awake to read that.
        var hasUnreadAnswer = false
        var wasLetReadAnswer = false
        var flood: Flood?
    }

    struct OpenRequest: Hashable, Sendable {
        var ref: Reference?
        var deadline: Instant
    }

    /// How long it has been throttled on descriptor 3 without a pause; only time awake counts.
    struct Flood: Hashable, Sendable {
        var before = TimeSpan.zero
        /// Nil while it sleeps.
        var since: Instant?
    }

    /// When it goes to sleep, since when it sleeps, and the leases that it keeps asleep.
    struct SleepFacts: Sendable {
        var lingerUntil: Instant?
        var suspendedSince: Instant?
        /// The same on CLOCK_BOOTTIME.
        var frozenAt: Instant?
        var rest: Rest?
        var lockInspection: Instant?
        var lockGrace: LockGrace?
        var hadLockGrace = false
        /// How many wakes and since when leases were kept over a suspension.
        var leaseWakes = 0
        var leasesKeptSince: Instant?
    }

    /// Held frozen although work waits.
    struct Rest: Hashable, Sendable {
        enum Cause: Hashable, Sendable { case window, memory }
        var until: Instant
        var cause: Cause
    }

    /// Time to release a lock that another process waits for.
    struct LockGrace: Hashable, Sendable {
        var until: Instant
        /// The purpose of the freeze that follows.
        var purpose: Suspension.Purpose
    }

    /// Causes that take time away from it beside its own deadlines.
    struct Pressures: Sendable {
        /// Until when it may finish before it makes way for want of memory.
        var memoryUntil: Instant?
        /// Until when its tasks may end before heat ends them.
        var heatUntil: Instant?
        /// Open occasions that are to end, and when.
        var withdrawn: [Sequence: Withdrawal] = [:]
        var withdrawalUntil: Instant?
        /// The pressure that it was warned of last, while that lasts.
        var reportedPressure: ResourcePressure.Cause?
        /// Why a deadline came early; nil where it did not.
        var earlyDeadlineReason: String?

        var hasAny: Bool { memoryUntil != nil || heatUntil != nil || withdrawalUntil != nil }
    }

    struct Statistics: Hashable, Sendable {
        var thaws: UInt64 = 0
        var launches: UInt64 = 0
        var awake = TimeSpan.zero
        var lastEnd: EndReason?
        var outcomes = Outcomes()
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

// MARK: - Deadlines

/// The earliest of the instants offered that are still to come; those in the past have been handled.
private struct Earliest {
    let after: Instant
    var found: Instant?

    mutating func offer(_ candidate: Instant?) {
        guard let candidate, candidate > after else { return }
        found = min(found ?? candidate, candidate)
    }
}

extension HandlerLifecycle {
    /// The next instant on CLOCK_MONOTONIC.
    func nextMonotonicDeadline(_ step: Step) -> Instant? {
        var next = Earliest(after: step.now)
        switch phase {
        case .stopped, .quarantined: break
        case .idle: next.offer(nextWakeDeadline(step))
        case .launching(let deadline):
            if !isAttached { next.offer(deadline) }
            next.offer(floodEnd)
        case .active:
            offerActive(&next)
            next.offer(floodEnd)
            next.offer(budget.lapse)
        case .expiring:
            offerExpiring(&next, step)
            next.offer(floodEnd)
            next.offer(budget.lapse)
        case .suspending(let suspension): next.offer(suspension.deadline)
        case .suspended:
            next.offer(sleep.lockInspection)
            next.offer(idleExitAt)
            next.offer(nextWakeDeadline(step))
        case .terminating(let termination): next.offer(termination.askAt ?? termination.killAt ?? termination.abandonAt)
        }
        return next.found
    }

    private func offerActive(_ next: inout Earliest) {
        if let lockGrace = sleep.lockGrace { return next.offer(lockGrace.until) }
        if let lingerUntil = sleep.lingerUntil {
            next.offer(lingerUntil)
            next.offer(budget.windowEnd(timers))
        }
        next.offer(warningAt)
        if standing.hasOpen { next.offer(standingWarningAt) }
        next.offer(pressures.withdrawalUntil)
        for request in dialogue.requests { next.offer(request.deadline) }
    }

    private func offerExpiring(_ next: inout Earliest, _ step: Step) {
        next.offer(awakeDeadline.map { $0 + timers.grace })
        next.offer(pressure(step)?.end)
        for request in dialogue.requests { next.offer(request.deadline) }
    }

    /// When the next hold ends that keeps work waiting, on CLOCK_BOOTTIME.
    func nextBoottimeDeadline(_ step: Step) -> Instant? {
        guard !step.isFinishing, step.machine.sleepsAt == nil, !awaitsPower(step.machine) else { return nil }
        switch phase {
        case .stopped, .quarantined, .launching, .expiring, .suspending, .terminating: return nil
        case .active:
            return batch.hasOpen || process.isOneshot ? nil : queue.nextRelease(wakingOnly: false)
        case .idle, .suspended: break
        }
        if penalty.isHeld(at: step.boottime) { return hasWork ? penalty.heldUntil : nil }
        return queue.nextRelease(wakingOnly: true)
    }

    private var hasWork: Bool { requestedWake != nil || hasUnfinished || queue.hasWaking }

    func isWarningDue(at now: Instant) -> Bool { warningAt.map { now >= $0 } ?? false }

    /// A oneshot cannot be warned: its input is closed.
    var warningAt: Instant? {
        guard let deadline = awakeDeadline else { return nil }
        if process.isOneshot { return deadline }
        return deadline - (budget.tasks.isEmpty ? timers.budgetWarning : timers.extensionWarning)
    }

    var idleExitAt: Instant? {
        guard timers.idleExit > .zero, !hasUnfinished, let since = sleep.suspendedSince else { return nil }
        return since + timers.idleExit
    }

    private func nextWakeDeadline(_ step: Step) -> Instant? {
        guard !step.isFinishing, step.machine.sleepsAt == nil, !penalty.isHeld(at: step.boottime) else { return nil }
        if awaitsPower(step.machine) { return nil }
        if let rest = sleep.rest, rest.until > step.now { return hasWork ? rest.until : nil }
        return queue.nextDue(after: step.now)
    }
}
