// What takes time away from handlers that are awake, beside their own deadlines: the machine's sleep, memory, heat.
import WakeModel

/// What holds for every handler at once.
struct MachineCondition: Hashable, Sendable {
    /// The machine is about to sleep, at this instant at the latest; nothing is woken until that is over.
    var sleepsAt: Instant?
    var isHot = false
    var isOnBattery = false
}

/// One such cause, as it presses one handler. It stands beside the budget and leaves it alone, so that nobody is judged
/// for time that was taken away, and everything runs on where the cause goes.
struct ResourcePressure: Hashable, Sendable {
    /// Written, it is the `reason` of `expiring`.
    enum Cause: String, Hashable, Sendable {
        case systemSleep = "system-sleep"
        case memory
        case thermal

        var sentence: String {
            switch self {
            case .systemSleep: "running while the machine goes to sleep"
            case .memory: "asked to make way for want of memory"
            case .thermal: "asked to end its tasks, for the machine is too hot"
            }
        }
    }

    var cause: Cause
    /// What the handler is told.
    var deadline: Instant
    /// When the consequence comes.
    var end: Instant
}

// MARK: - One handler

extension HandlerLifecycle {
    /// Longer than the kernel's pressure figures take to tell again that memory is short: by then it was let go, or may go
    /// on.
    static let memoryRest = TimeSpan.seconds(3)

    /// Owed or begun, and kept over a freeze.
    var hasUnfinished: Bool { batch.hasOpen || !budget.tasks.isEmpty }

    /// Attached it has no deadline; a oneshot can be told nothing, and is never frozen.
    private var yieldsToPressure: Bool { !isAttached && !process.isOneshot }

    private func hasWorkInHand(at now: Instant) -> Bool { hasUnfinished || hasOpenRequest(at: now) }

    func pressure(_ step: Step) -> ResourcePressure? { pressure(step.machine, at: step.now) }

    /// Of several causes the one that asks the least of it: the machine's sleep costs nothing, and ends the others.
    func pressure(_ machine: MachineCondition, at now: Instant) -> ResourcePressure? {
        guard machine.sleepsAt != nil || pressures.memoryUntil != nil || pressures.heatUntil != nil, yieldsToPressure
        else { return nil }
        if hasWorkInHand(at: now) {
            if let end = machine.sleepsAt { return ResourcePressure(cause: .systemSleep, deadline: end, end: end) }
            if let end = pressures.memoryUntil {
                return ResourcePressure(cause: .memory, deadline: end, end: end + timers.grace)
            }
        }
        guard !budget.tasks.isEmpty, let end = pressures.heatUntil else { return nil }
        return ResourcePressure(cause: .thermal, deadline: end, end: end + timers.grace)
    }

    /// Why it is frozen as soon as nothing is in hand, and is given nothing more until then.
    func causeToMakeWay(_ step: Step) -> ResourcePressure.Cause? {
        guard yieldsToPressure else { return nil }
        if step.machine.sleepsAt != nil { return .systemSleep }
        return pressures.memoryUntil == nil ? nil : .memory
    }

    /// True where what it still has in hand does not keep it from being frozen any more.
    func isTimeToMakeWay(_ step: Step) -> Bool {
        pressures.memoryUntil != nil || step.machine.sleepsAt.map { step.now >= $0 } ?? false
    }

    mutating func warn(of pressure: ResourcePressure, _ step: inout Step) {
        pressures.reportedPressure = pressure.cause
        notifyExpiring(pressure.cause.rawValue, remaining: timeLeft(step) ?? .zero, &step)
    }

    /// The time given is over. Leases wait frozen; tasks do too where all the machine stops, but neither memory nor heat
    /// can wait for them.
    mutating func makeWay(for cause: ResourcePressure.Cause, _ step: inout Step) {
        switch cause {
        case .systemSleep: freeze(for: .pressure, because: cause.rawValue, &step)
        case .memory where budget.tasks.isEmpty: freeze(for: .pressure, because: cause.rawValue, &step)
        case .memory: requestTermination(.memory, &step)
        case .thermal: requestTermination(.thermal, &step)
        }
    }

    mutating func clearPressure() {
        pressures.memoryUntil = nil
        pressures.heatUntil = nil
        pressures.reportedPressure = nil
    }

    // MARK: Sleep

    /// However long the machine slept, it was not the handler that kept its leases waiting.
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

    /// Suspended handlers go first and are not told.
    mutating func reclaim(_ step: inout Step) { kill(.reclaimed, &step) }

    mutating func warnOfMemory(_ level: MemoryLevel, _ step: inout Step) {
        switch phase {
        case .launching, .active, .expiring: send(.memory(level: level.written), &step)
        case .stopped, .idle, .suspending, .suspended, .terminating, .quarantined: break
        }
    }

    /// What is only lingering is frozen in a moment anyway.
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

    /// Heat takes the extension, never the budget: open tasks have the warning's time left, once.
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

    /// What is in hand is finished on battery; nothing more is begun. Whoever attaches wants to see it run here and now.
    func awaitsPower(_ machine: MachineCondition) -> Bool {
        machine.isOnBattery && settings.requirements.contains(.power) && !isAttached
    }

    // MARK: Shutdown

    /// Told before its input ends, so that it can answer what it still owes.
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

    /// Those that have nothing unfinished first: taking one that does would only bring it back.
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
