// Causes that take time away from awake handlers, beside their own deadlines: the machine's sleep, memory, heat.
import WakeModel

/// The condition of the machine, which is the same for every handler.
struct MachineCondition: Hashable, Sendable {
    /// The machine is about to sleep, at this instant at the latest; nothing is woken until that is over.
    var sleepsAt: Instant?
    var isHot = false
    var isOnBattery = false
}

/// A cause and its deadline for one handler. It does not change the budget. So no handler is charged for time that was
/// taken away, and the budget runs on when the cause ends.
struct ResourcePressure: Hashable, Sendable {
    enum Cause: Hashable, Sendable {
        case systemSleep
        case memory
        case thermal
        /// The agenda takes a job back.
        case withdrawal(Withdrawal)
        /// A long job's time ends.
        case stalled
        case longest

        /// The `reason` of `expiring`.
        var wireName: String {
            switch self {
            case .systemSleep: "system-sleep"
            case .memory: "memory"
            case .thermal: "thermal"
            case .withdrawal(let why): why.rawValue
            case .stalled: StandingLeases.Cause.stalled.rawValue
            case .longest: StandingLeases.Cause.longest.rawValue
            }
        }

        /// It is about a long job, and not about the handler's other work.
        var isOfStanding: Bool {
            switch self {
            case .withdrawal, .stalled, .longest: true
            case .systemSleep, .memory, .thermal: false
            }
        }

        var sentence: String {
            switch self {
            case .withdrawal(.condition): "asked to stop its job, for what that relies on has gone"
            case .withdrawal(.stalled): "asked to give back its job, which stands still while another waits"
            case .withdrawal(.cancelled): "asked to end its job, which an operator cancelled"
            case .stalled: "asked to end its job, which has made no progress for a minute"
            case .longest: "asked to end its job, which has taken as long as it may"
            case .systemSleep: "running while the machine goes to sleep"
            case .memory: "asked to make way for want of memory"
            case .thermal: "asked to end its tasks, for the machine is too hot"
            }
        }
    }

    var cause: Cause
    /// The deadline that the handler is given.
    var deadline: Instant
    /// When the consequence comes.
    var end: Instant
}

// MARK: - One handler

extension HandlerLifecycle {
    /// Longer than the kernel's pressure figures take to report again that memory is short: by then the handler was reclaimed,
    /// or may go on.
    static let memoryRest = TimeSpan.seconds(3)

    /// True while it has leases or tasks, which are kept over a freeze.
    var hasUnfinished: Bool {
        if standing.hasOpen { return true }
        return batch.hasOpen || !budget.tasks.isEmpty
    }

    /// An attached handler has no deadline; a oneshot gets no notices, and is never frozen.
    private var yieldsToPressure: Bool { !isAttached && !process.isOneshot }

    private func hasWorkInHand(at now: Instant) -> Bool { hasUnfinished || hasOpenRequest(at: now) }

    func pressure(_ step: Step) -> ResourcePressure? { pressure(step.machine, at: step.now) }

    /// Returns the mildest cause: the machine's sleep ends no work, and ends the other causes.
    func pressure(_ machine: MachineCondition, at now: Instant) -> ResourcePressure? {
        guard machine.sleepsAt != nil || pressures.hasAny || standing.hasOpen, yieldsToPressure else { return nil }
        if hasWorkInHand(at: now) {
            if let end = machine.sleepsAt { return ResourcePressure(cause: .systemSleep, deadline: end, end: end) }
            if let end = pressures.memoryUntil {
                return ResourcePressure(cause: .memory, deadline: end, end: end + timers.grace)
            }
        }
        if !budget.tasks.isEmpty, let end = pressures.heatUntil {
            return ResourcePressure(cause: .thermal, deadline: end, end: end + timers.grace)
        }
        if let end = pressures.withdrawalUntil, let first = pressures.withdrawn.min(by: { $0.key < $1.key }) {
            return ResourcePressure(cause: .withdrawal(first.value), deadline: end, end: end + timers.grace)
        }
        guard let warning = standingWarningAt, now >= warning, let end = standing.deadline else { return nil }
        let cause: ResourcePressure.Cause = standing.cause == .stalled ? .stalled : .longest
        return ResourcePressure(cause: cause, deadline: end, end: end + timers.grace)
    }

    /// When a long job is warned. A oneshot gets no notices.
    var standingWarningAt: Instant? {
        guard standing.hasOpen, yieldsToPressure else { return nil }
        return standing.deadline.map { $0 - timers.warn }
    }

    /// Why it is frozen as soon as it has no open work, and gets no new work until then.
    func causeToMakeWay(_ step: Step) -> ResourcePressure.Cause? {
        guard yieldsToPressure else { return nil }
        if step.machine.sleepsAt != nil { return .systemSleep }
        return pressures.memoryUntil == nil ? nil : .memory
    }

    /// True when open work no longer keeps it from being frozen.
    func isTimeToMakeWay(_ step: Step) -> Bool {
        pressures.memoryUntil != nil || step.machine.sleepsAt.map { step.now >= $0 } ?? false
    }

    mutating func warn(of pressure: ResourcePressure, _ step: inout Step) {
        pressures.reportedPressure = pressure.cause
        notifyExpiring(pressure.cause.wireName, remaining: timeLeft(step) ?? .zero, concerning: pressure.cause, &step)
    }

    /// The time is over. Leases wait frozen. Tasks do so too when the whole machine stops, but neither memory nor heat can
    /// wait for them.
    mutating func makeWay(for cause: ResourcePressure.Cause, _ step: inout Step) {
        switch cause {
        case .systemSleep: freeze(for: .pressure, because: cause.wireName, &step)
        case .memory where budget.tasks.isEmpty: freeze(for: .pressure, because: cause.wireName, &step)
        case .memory: requestTermination(.memory, &step)
        case .thermal: requestTermination(.thermal, &step)
        case .withdrawal: withdrawOpen(&step)
        case .stalled, .longest: kill(.stalled, &step)
        }
    }

    mutating func clearPressure() {
        pressures.memoryUntil = nil
        pressures.heatUntil = nil
        pressures.reportedPressure = nil
        pressures.withdrawalUntil = nil
        pressures.withdrawn = [:]
    }

    // MARK: Sleep

    /// The machine's sleep does not count as time for which the handler kept its leases.
    mutating func restartLeaseAge(_ step: Step) {
        if sleep.leasesKeptSince != nil { sleep.leasesKeptSince = step.boottime }
    }

    var isReadyForSleep: Bool {
        switch phase {
        case .active, .expiring, .suspending: !yieldsToPressure
        case .stopped, .idle, .launching, .suspended, .terminating, .quarantined: true
        }
    }

    // MARK: Memory

    /// Ends a suspended handler, without a notice.
    mutating func reclaim(_ step: inout Step) { kill(.reclaimed, &step) }

    mutating func warnOfMemory(_ level: MemoryLevel, _ step: inout Step) {
        switch phase {
        case .launching, .active, .expiring: send(.memory(level: level.wireName), &step)
        case .stopped, .idle, .suspending, .suspended, .terminating, .quarantined: break
        }
    }

    /// A handler that only lingers is frozen in a moment anyway.
    func canMakeWay(at now: Instant) -> Bool {
        (phase == .active || phase == .expiring) && yieldsToPressure && sleep.lockGrace == nil && hasWorkInHand(at: now)
    }

    var isMakingWayForMemory: Bool {
        if case .terminating(let termination) = phase { return termination.reason == .memory }
        return pressures.memoryUntil != nil
    }

    mutating func startMemoryDeadline(_ step: Step) {
        pressures.memoryUntil = step.now + (budget.tasks.isEmpty ? timers.budgetWarning : timers.extensionWarning)
    }

    // MARK: Heat

    /// Heat shortens the extension, never the budget: open tasks have the time of one warning left.
    mutating func updateHeatDeadline(_ step: Step) {
        guard step.machine.isHot, !budget.tasks.isEmpty, yieldsToPressure else {
            pressures.heatUntil = nil
            return
        }
        pressures.heatUntil = pressures.heatUntil ?? step.now + timers.extensionWarning
    }

    func isExtensionDenied(_ step: Step) -> Bool {
        !isAttached && (step.machine.isHot || pressures.memoryUntil != nil)
    }

    func denial(of task: String, _ step: Step) -> ProtocolFault? {
        guard isExtensionDenied(step), !budget.tasks.contains(task) else { return nil }
        return step.machine.isHot ? .tooHot(task: task) : .memoryShort(task: task)
    }

    // MARK: Power

    /// On battery open work is finished, and no new work begins. An attached handler runs anyway: its operator waits
    /// for it.
    func awaitsPower(_ machine: MachineCondition) -> Bool {
        machine.isOnBattery && settings.requirements.contains(.power) && !isAttached
    }

    // MARK: Shutdown

    /// Warns it before its input ends, so that it can acknowledge its open events.
    mutating func warnOfShutdown(_ step: inout Step) {
        if hasUnfinished { notifyExpiring("shutdown", remaining: timeToEnd, &step) }
    }
}

// MARK: - All handlers

extension Dispatcher {
    mutating func applySleep(_ sleep: SystemSleep, _ step: inout Step) {
        switch sleep {
        case .preparing(let span):
            let end = step.now + span
            machine.sleepsAt = min(machine.sleepsAt ?? end, end)
            step.machine = machine
            for slot in handlers.indices { change(slot, &step) { _, _ in } }
        case .over:
            machine.sleepsAt = nil
            step.machine = machine
            for slot in handlers.indices { change(slot, &step) { $0.restartLeaseAge($1) } }
        }
    }

    mutating func setHot(_ isHot: Bool, _ step: inout Step) {
        guard machine.isHot != isHot else { return }
        machine.isHot = isHot
        step.machine = machine
        for slot in handlers.indices { change(slot, &step) { _, _ in } }
    }

    mutating func setOnBattery(_ isOnBattery: Bool, _ step: inout Step) {
        guard machine.isOnBattery != isOnBattery else { return }
        machine.isOnBattery = isOnBattery
        step.machine = machine
        for slot in handlers.indices { change(slot, &step) { _, _ in } }
    }

    mutating func relieveMemory(at level: MemoryLevel, _ step: inout Step) {
        guard level != .normal else { return }
        for slot in handlers.indices { change(slot, &step) { $0.warnOfMemory(level, &$1) } }
        guard level == .critical else { return }
        if let victim = leastRecentlyUsedSuspended {
            change(victim, &step) { $0.reclaim(&$1) }
        } else if let slot = longestAwake(at: step.now), !handlers.contains(where: \.isMakingWayForMemory) {
            change(slot, &step) { $0.startMemoryDeadline($1) }
        }
    }

    /// Handlers without unfinished work come first: one that has some would only be launched again.
    private var leastRecentlyUsedSuspended: Int? {
        handlers.indices
            .filter { handlers[$0].phase == .suspended }
            .min {
                (handlers[$0].hasUnfinished ? 1 : 0, handlers[$0].sleep.suspendedSince ?? .zero)
                    < (handlers[$1].hasUnfinished ? 1 : 0, handlers[$1].sleep.suspendedSince ?? .zero)
            }
    }

    private func longestAwake(at now: Instant) -> Int? {
        handlers.indices
            .filter { handlers[$0].canMakeWay(at: now) }
            .min { (handlers[$0].budget.awakeSince ?? now) < (handlers[$1].budget.awakeSince ?? now) }
    }
}
