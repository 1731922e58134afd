// The status of a handler for people: its state, why it is or is not awake, and its counters.
import WakeModel

public struct HandlerStatus: Hashable, Sendable {
    public var handler: HandlerID
    public var state: HandlerState
    /// The reason as a sentence.
    public var why: String
    public var epoch: Epoch
    public var queuedCount: Int
    public var queuedBytes: Int
    public var openCount: Int
    public var strikes: Int
    public var crashes: Int
    public var heldFor: TimeSpan?
    public var isAttached: Bool
    public var launches: UInt64
    public var thaws: UInt64
    /// As everywhere: launches and thaws.
    public var wakes: UInt64 { launches + thaws }
    public var awake: TimeSpan
    public var lastEnd: EndReason?
    public var outcomes: Outcomes
}

/// The handler's readiness for an occasion now.
public struct HandlerPosture: Hashable, Sendable {
    public var state: HandlerState
    public var isAttached: Bool
    /// An operator or its manifest keeps it from running.
    public var isBarred: Bool
    /// It failed, and sleeps at least until then, by CLOCK_BOOTTIME.
    public var heldUntil: Instant?
}

extension Dispatcher {
    /// - Parameter boottime: now.
    public func posture(of id: HandlerID, at boottime: Instant) -> HandlerPosture? {
        handler(id).map { handler in
            let isAsleep = handler.phase == .idle || handler.phase == .suspended
            let isHeld = isAsleep && handler.penalty.isHeld(at: boottime)
            return HandlerPosture(
                state: handler.state, isAttached: handler.isAttached, isBarred: handler.isBarred,
                heldUntil: isHeld ? handler.penalty.heldUntil : nil)
        }
    }

    /// How every handler is at `moment`.
    public func handlerStatuses(at moment: Moment) -> [HandlerStatus] {
        handlers.map { $0.handlerStatus(at: moment, machine) }
    }
    public func handlerStatus(of id: HandlerID, at moment: Moment) -> HandlerStatus? {
        handler(id)?.handlerStatus(at: moment, machine)
    }

    /// True once nothing is open, and nothing is queued that will be delivered by itself.
    public var isSettled: Bool { !flags.has(.unsettled) }
    public func isExpiring(_ id: HandlerID) -> Bool { handler(id)?.phase == .expiring }
    /// True once no handler has a process.
    public var isQuiet: Bool { isEverybodyAsleep && !hasSuspended }
    /// True while all handlers are frozen: the time for maintenance.
    public var isEverybodyAsleep: Bool { !flags.has(.awake) }

    /// True once no handler runs that could be frozen before the machine sleeps. The kernel stops attached, oneshot, starting
    /// and ending processes wherever they are; their clock stops with them.
    public var isReadyForSleep: Bool { !flags.has(.unreadyForSleep) }

    public var hasAttached: Bool { handlers.contains(where: \.isAttached) }

    public var hasSuspended: Bool { flags.has(.suspended) }

    /// True while a source that can wait should: a handler's queue is half full, and will be delivered by itself.
    public var isBackedUp: Bool { flags.has(.backedUp) }
    /// True while a source without a clock should wait too: a handler is at work and has several batches to come. More
    /// events would only wait in the journal.
    public var isFed: Bool { flags.has(.fed) || isBackedUp }
}

extension HandlerLifecycle {
    var hasProcess: Bool { phase.hasProcess }

    var flags: HandlerFlags {
        var flags: HandlerFlags = []
        if phase == .suspended { flags.insert(.suspended) } else if hasProcess { flags.insert(.awake) }
        if !isSettled { flags.insert(.unsettled) }
        if !isReadyForSleep { flags.insert(.unreadyForSleep) }
        if isBackedUp { flags.insert(.backedUp) }
        if isFed { flags.insert(.fed) }
        return flags
    }

    /// A source would wait without end for a handler that runs only for an operator, or that no queued event wakes.
    var isBackedUp: Bool {
        guard isHalfFull, phase != .quarantined, !isBarred else { return false }
        return queue.hasWaking || phase == .active || phase == .expiring
    }

    /// It is busy for a while, in which the source comes back. An attached handler may stay idle without end.
    var isFed: Bool {
        phase == .active && !isAttached && queue.count >= max(256, settings.batchLimit * 4) && queue.hasReady
    }

    private var isHalfFull: Bool {
        if queue.bytes * 2 >= settings.queueCap { return true }
        return rules.contains { share in share.subscription.map { queue.bytes(of: $0) * 2 >= share.queueCap } ?? false }
    }

    /// True once nothing is queued or open, or nothing will be delivered without an operator.
    var isSettled: Bool {
        switch phase {
        case .stopped, .quarantined: true
        case .launching, .expiring, .terminating: false
        case .active, .suspending: queue.isEmpty && !hasUnfinished
        // Events that do not wake stay queued without end.
        case .idle, .suspended: !queue.hasWaking && !hasUnfinished
        }
    }

    func handlerStatus(at moment: Moment, _ machine: MachineCondition) -> HandlerStatus {
        let isAsleep = phase == .idle || phase == .suspended
        let isHeld = isAsleep && penalty.isHeld(at: moment.boottime)
        let running = budget.awakeSince.map { moment.monotonic - $0 } ?? .zero
        return HandlerStatus(
            handler: id, state: isHeld ? .held : state, why: explanation(at: moment, machine, isHeld: isHeld),
            epoch: epoch,
            queuedCount: queue.count, queuedBytes: queue.bytes, openCount: batch.openCount + standing.leases.count,
            strikes: penalty.strikeCount(at: moment.monotonic, timers), crashes: penalty.crashes,
            heldFor: isHeld ? penalty.heldUntil.map { $0 - moment.boottime } : nil, isAttached: isAttached,
            launches: statistics.launches, thaws: statistics.thaws, awake: statistics.awake + running,
            lastEnd: statistics.lastEnd, outcomes: statistics.outcomes)
    }

    private func explanation(at moment: Moment, _ machine: MachineCondition, isHeld: Bool) -> String {
        if isHeld { return heldExplanation(at: moment) }
        switch phase {
        case .stopped: return settings.isEnabled ? "stopped by an operator; start wakes it" : "disabled by its manifest"
        case .quarantined:
            if statistics.lastEnd == .listensAsleep { return Self.refusal }
            return "crashed \(penalty.crashes.counted("time")) without an acknowledgement; start or change its manifest"
        case .idle where isGated: return "not running: \(NotWoken.gated.rawValue)"
        case .idle: return queue.isEmpty ? "not running: nothing to do" : sleepExplanation(at: moment, machine)
        case .launching: return "starting: its ready line is awaited"
        case .active: return awakeExplanation
        case .expiring: return (pressures.reportedPressure?.sentence ?? "running out of time") + ": " + awakeExplanation
        case .suspending: return "being frozen"
        case .suspended:
            return queue.isEmpty && !hasUnfinished ? "frozen: nothing to do" : sleepExplanation(at: moment, machine)
        case .terminating(let termination): return "ending: \(termination.reason.wireName)"
        }
    }

    private static let refusal =
        "ended, because its manifest says sleepers_listen: \"refuse\" and it held a socket while it was frozen; "
        + "change its program or its manifest, or start it"

    private func heldExplanation(at moment: Moment) -> String {
        let left = ((penalty.heldUntil ?? .zero) - moment.boottime).spoken
        switch penalty.heldBecause {
        case EndReason.overrun.wireName where process.misdirects:
            return "held for \(left) more: it did not acknowledge what it was given in time; \(Decision.misdirection)"
        case EndReason.overrun.wireName:
            return "held for \(left) more: it did not acknowledge what it was given in time; write {\"ack\":SEQ} to "
                + "descriptor 3 after each event, or set ack: \"delivery\" in its manifest if it cannot answer"
        case EndReason.flood.wireName:
            return
                "held for \(left) more: it flooded descriptor 3 and was killed; write a line there only to answer "
                + "an event or to ask for something, and what is a log to stdout"
        default: return "held for \(left) more after \(penalty.heldBecause); start lifts it"
        }
    }

    private var awakeExplanation: String {
        if isAttached { return "attached" }
        if dialogue.flood != nil { return "it floods descriptor 3, is read slowly, and is killed if it goes on" }
        if !budget.tasks.isEmpty { return "task \(budget.tasks.joined(separator: ", ")) is open" }
        if let first = standing.first {
            return first.isOpenEnded
                ? "its \(first.reason.wireName), event \(first.sequence.rawValue), is open, for data flows"
                : "its long job, event \(first.sequence.rawValue), is under way"
        }
        if batch.hasOpen {
            return
                "\(batch.openCount.counted("event")) \(batch.openCount == 1 ? "awaits" : "await") its acknowledgement"
                + (process.misdirects ? "; \(Decision.misdirection)" : "")
        }
        if !dialogue.requests.isEmpty { return "a request to a device is open" }
        if sleep.lockGrace != nil { return "it holds a lock that another process waits for" }
        return process.isOneshot ? "running" : "lingering before the freeze"
    }

    private func sleepExplanation(at moment: Moment, _ machine: MachineCondition) -> String {
        if machine.sleepsAt != nil { return "asleep: the machine is going to sleep; it is woken after that" }
        if awaitsPower(machine) { return "asleep: \(NotWoken.power.rawValue)" }
        if let rest = sleep.rest, moment.monotonic < rest.until {
            return switch rest.cause {
            case .window: "resting after its awake window"
            case .memory: "frozen for want of memory; it rests for a moment"
            }
        }
        if queue.hasHeld(at: moment.boottime) { return "asleep: a nack holds its device back" }
        if queue.hasWaking { return "asleep: its data waits for company (max_latency)" }
        return "asleep: what is queued does not wake it (wake: false)"
    }
}
