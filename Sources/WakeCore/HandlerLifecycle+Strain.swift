// A handler under strain: what presses it, what it is told of that, and how it makes way without being blamed.
import WakeModel

extension HandlerLifecycle {
    /// Longer than the kernel's pressure figures take to tell again that memory is short: by then it was let go, or may go
    /// on.
    static let memoryRest = TimeSpan.seconds(3)

    /// Owed or begun, and kept over a freeze.
    var hasUnfinished: Bool { batch.hasOpen || !budget.tasks.isEmpty }

    /// Attached it has no deadline; a oneshot can be told nothing, and is never frozen.
    private var canBeStrained: Bool { !isAttached && !isOneshot }

    private func hasWorkInHand(at now: Instant) -> Bool { hasUnfinished || hasOpenRequest(at: now) }

    func strain(_ step: Step) -> ResourcePressure? { strain(step.machine, at: step.now) }

    /// Of several causes the one that asks the least of it: the machine's sleep costs nothing, and ends the others.
    func strain(_ machine: MachineCondition, at now: Instant) -> ResourcePressure? {
        guard machine.sleepsAt != nil || memoryUntil != nil || heatUntil != nil, canBeStrained else { return nil }
        if hasWorkInHand(at: now) {
            if let end = machine.sleepsAt { return ResourcePressure(cause: .systemSleep, deadline: end, end: end) }
            if let end = memoryUntil { return ResourcePressure(cause: .memory, deadline: end, end: end + timers.grace) }
        }
        guard !budget.tasks.isEmpty, let end = heatUntil else { return nil }
        return ResourcePressure(cause: .thermal, deadline: end, end: end + timers.grace)
    }

    /// Why it is frozen as soon as nothing is in hand, and is given nothing more until then.
    func makesWayFor(_ step: Step) -> ResourcePressure.Cause? {
        guard canBeStrained else { return nil }
        if step.machine.sleepsAt != nil { return .systemSleep }
        return memoryUntil == nil ? nil : .memory
    }

    /// True where what it still has in hand does not keep it from being frozen any more.
    func isTimeToMakeWay(_ step: Step) -> Bool {
        memoryUntil != nil || step.machine.sleepsAt.map { step.now >= $0 } ?? false
    }

    mutating func tell(_ strain: ResourcePressure, _ step: inout Step) {
        strainTold = strain.cause
        notifyExpiring(strain.cause.rawValue, remaining: timeLeft(step) ?? .zero, &step)
    }

    /// The time given is over. Leases wait frozen; tasks do too where all the machine stops, but neither memory nor heat
    /// can wait for them.
    mutating func makeWay(for cause: ResourcePressure.Cause, _ step: inout Step) {
        switch cause {
        case .systemSleep: freeze(for: .strain, because: cause.rawValue, &step)
        case .memory where budget.tasks.isEmpty: freeze(for: .strain, because: cause.rawValue, &step)
        case .memory: requestTermination(.memory, &step)
        case .thermal: requestTermination(.thermal, &step)
        }
    }

    mutating func forgetStrain() {
        memoryUntil = nil
        heatUntil = nil
        strainTold = nil
    }

    // MARK: Sleep

    /// However long the machine slept, it was not the handler that kept its leases waiting.
    mutating func noteEndOfSleep(_ step: Step) {
        if leasesKeptSince != nil { leasesKeptSince = step.boottime }
    }

    var isReadyForSleep: Bool {
        switch phase {
        case .active, .expiring, .suspending: !canBeStrained
        case .stopped, .idle, .launching, .suspended, .terminating, .quarantined: true
        }
    }

    // MARK: Memory

    /// Suspended handlers go first and are not told.
    mutating func reclaim(_ step: inout Step) { kill(.reclaimed, &step) }

    mutating func warnOfMemory(_ level: MemoryLevel, _ step: inout Step) {
        switch phase {
        case .launching, .active, .expiring: tell(.memory(level: level.written), &step)
        case .stopped, .idle, .suspending, .suspended, .terminating, .quarantined: break
        }
    }

    /// What is only lingering is frozen in a moment anyway.
    func canMakeWay(at now: Instant) -> Bool {
        (phase == .active || phase == .expiring) && canBeStrained && rescue == nil && hasWorkInHand(at: now)
    }

    var isMakingWayForMemory: Bool {
        if case .terminating(let termination) = phase { return termination.reason == .memory }
        return memoryUntil != nil
    }

    mutating func pressForMemory(_ step: Step) {
        memoryUntil = step.now + (budget.tasks.isEmpty ? timers.budgetWarning : timers.extensionWarning)
    }

    // MARK: Heat

    /// Heat takes the extension, never the budget: open tasks have the warning's time left, once.
    mutating func feelHeat(_ step: Step) {
        guard step.machine.isHot, !budget.tasks.isEmpty, canBeStrained else {
            heatUntil = nil
            return
        }
        heatUntil = heatUntil ?? step.now + timers.extensionWarning
    }

    func isExtensionDenied(_ step: Step) -> Bool {
        !isAttached && (step.machine.isHot || memoryUntil != nil)
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
