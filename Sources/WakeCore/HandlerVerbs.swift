// Applies an operator's verbs, a changed manifest, the daemon's end and its recovery to one handler.
import WakeModel

extension HandlerLifecycle {
    mutating func perform(_ verb: OperatorVerb, _ step: inout Step) {
        switch verb {
        case .start: start(&step)
        case .stop: stop(&step)
        case .attach: attach(step)
        case .detach: detach(step)
        case .wake: requestWake(.operator)
        case .expire: bringDeadlineForward("operator", step)
        case .kill: if hasProcess { kill(.killedByOperator, &step) }
        case .restart: restart(&step)
        }
    }

    /// The handler is not barred meanwhile, so no event is dropped. Lifts a penalty, or the next process would wait for
    /// its end.
    private mutating func restart(_ step: inout Step) {
        guard !isBarred, phase != .quarantined else { return }
        penalty.clear()
        if isLive { requestTermination(.restarted, &step) }
        requestWake(.operator)
    }

    /// Lifts a stop, a quarantine and a penalty.
    private mutating func start(_ step: inout Step) {
        penalty.clear()
        if isStoppedByOperator {
            isStoppedByOperator = false
            step.emit(.setStopped(id, false))
            if settings.startsAtBoot { requestedWake = .autostart }
        }
        if phase == .quarantined { move(to: .idle, because: "start", &step) }
        leaveStopped(because: "start", &step)
    }

    private mutating func leaveStopped(because reason: String, _ step: inout Step) {
        if phase == .stopped, !isBarred { move(to: .idle, because: reason, &step) }
    }

    /// A forced stop that lasts over a reboot.
    private mutating func stop(_ step: inout Step) {
        step.emit(.setStopped(id, true))
        isStoppedByOperator = true
        detach(step)
        bar(.stopped, &step)
    }

    /// Keeps it from running. Its leases return to the queue when it is gone, unless it acknowledges them before.
    private mutating func bar(_ reason: EndReason, _ step: inout Step) {
        requestedWake = nil
        switch phase {
        case .stopped: break
        case .idle, .quarantined: move(to: .stopped, because: reason.wireName, &step)
        case .launching, .active, .expiring, .suspending, .suspended: requestTermination(reason, &step)
        case .terminating(var termination):
            termination.reason = reason
            phase = .terminating(termination)
        }
        dropWhereStoppedDrops(&step)
    }

    mutating func dropWhereStoppedDrops(_ step: inout Step) {
        guard settings.stoppedEvents == .drop else { return }
        for event in queue.removeAllButGaps() { discard(event, .stopped, &step) }
    }

    /// While attached there is neither budget nor penalty.
    private mutating func attach(_ step: Step) {
        guard !isAttached else { return }
        isAttached = true
        penalty.release()
        sleep.rest = nil
        clearPressure()
        budget.pause(at: step.now, timers)
        standing.pause(at: step.now)
        requestWake(.attach)
    }

    private mutating func detach(_ step: Step) {
        guard isAttached else { return }
        isAttached = false
        budget.resume(at: step.now, timers)
        if phase.hasProcess, phase != .suspended { standing.restart(at: step.now) }
        if dialogue.flood?.since != nil { dialogue.flood = Flood(since: step.now) }
        if requestedWake == .attach { requestedWake = nil }
        if case .launching = phase { phase = .launching(deadline: step.now + timers.launch) }
    }

    /// Requests a wake without an event; a handler that is awake needs none.
    private mutating func requestWake(_ reason: WakeReason) {
        switch phase {
        case .idle, .suspended, .suspending, .terminating: if !isBarred { requestedWake = reason }
        case .launching, .active, .expiring, .stopped, .quarantined: break
        }
    }

    /// Moves the deadline of open work so near that its warning is sent at once.
    private mutating func bringDeadlineForward(_ reason: String, _ step: Step) {
        guard phase == .active else { return }
        standing.bringForward(to: timers.warn, at: step.now)
        guard let deadline = awakeDeadline else { return }
        let warning = budget.tasks.isEmpty ? timers.budgetWarning : timers.extensionWarning
        pressures.earlyDeadlineReason = reason
        budget.bringForward(to: min(deadline, step.now + warning), from: step.now)
    }

    mutating func configure(_ next: HandlerSettings, restarts: Bool, _ step: inout Step) {
        settings = next
        if !next.hasGates { isGated = false }
        sleep.lingerUntil = nil
        guard next.isEnabled else { return bar(.reconfigured, &step) }
        leaveStopped(because: "enabled", &step)
        if phase == .quarantined {
            penalty.clear()
            move(to: .idle, because: "reconfigured", &step)
        }
        if restarts, isLive { requestTermination(.reconfigured, &step) }
    }

    mutating func finish(_ step: inout Step) {
        detach(step)
        guard isLive else { return }
        if process.isOneshot { return requestTermination(.finished, &step) }
        warnOfShutdown(&step)
        endInput(&step)
    }

    /// Queues the events that were pending when the daemon went down. The machine may have rebooted since. So an
    /// event's age comes from the wall clock, or is zero if a clock was not synchronized.
    mutating func recover(_ events: [RecoveredEvent], _ step: inout Step, rules: (EventOrigin) -> DeliveryRules) {
        for recovered in events {
            var event = QueuedEvent(recovered)
            // No open-ended event outlives the daemon: its maker begins another.
            if event.isOpenEnded {
                conclude(released: event, awake: .zero, &step)
                continue
            }
            let age = step.stamp.wall.microseconds - recovered.stamp.wall.microseconds
            let isKnown = step.stamp.isClockSynchronized && recovered.stamp.isClockSynchronized
            event.arrived = step.boottime - (isKnown ? max(.zero, .microseconds(age)) : .zero)
            queue.insert(event, rules(event.origin))
            if let left = recovered.rest(at: step.stamp.wall) { queue.hold(event.origin, until: step.boottime + left) }
        }
        if phase == .stopped { dropWhereStoppedDrops(&step) }
    }
}

extension RecoveredEvent {
    /// The rest of a nack's wait. A changed clock must not make it longer than a nack may request.
    package func rest(at wall: WallTime) -> TimeSpan? {
        guard let heldUntil else { return nil }
        let left = min(.microseconds(heldUntil.microseconds - wall.microseconds), ReplyLine.longestWait)
        return left > .zero ? left : nil
    }
}
