// What operators, configuration, memory and the end of the bridge do to one handler.
import WakeModel

extension HandlerLifecycle {
    mutating func perform(_ verb: OperatorVerb, _ step: inout Step) {
        switch verb {
        case .start: start(&step)
        case .stop: stop(&step)
        case .attach: isAttached = true
        case .detach: detach(step)
        case .wake: if phase != .stopped { wanted = .operator }
        case .expire: budget.bringForward(to: step.now)
        case .kill: if isLive { kill(.killedByOperator, &step) }
        }
    }

    /// Lifts a stop, a quarantine and a penalty.
    private mutating func start(_ step: inout Step) {
        penalty.clear()
        switch phase {
        case .stopped:
            step.emit(.setStopped(id, false))
            move(to: .idle, because: "start", &step)
        case .quarantined: move(to: .idle, because: "start", &step)
        case .idle, .launching, .active, .expiring, .suspending, .suspended, .terminating: break
        }
    }

    /// A force-quit: sticky, over a reboot too.
    private mutating func stop(_ step: inout Step) {
        step.emit(.setStopped(id, true))
        isAttached = false
        wanted = nil
        switch phase {
        case .stopped: break
        case .idle, .quarantined: move(to: .stopped, because: "stop", &step)
        case .launching, .active, .expiring, .suspending, .suspended: requestTermination(.stopped, &step)
        case .terminating(var termination):
            termination.reason = .stopped
            phase = .terminating(termination)
        }
        if settings.stoppedEvents == .drop { dropForStop(&step) }
    }

    /// What a process still holds is dropped when it is gone, unless it is acknowledged before.
    mutating func dropForStop(_ step: inout Step) {
        let all = queue.removeAll()
        queue.giveBack(all.filter { $0.kind == .gap })
        for event in all where event.kind != .gap { discard(event, .stopped, &step) }
    }

    private mutating func detach(_ step: Step) {
        isAttached = false
        if batch.hasOpen { budget.renew(at: step.now, timers) }
    }

    mutating func configure(_ next: HandlerSettings, restarts: Bool, _ step: inout Step) {
        let wasEnabled = settings.isEnabled
        settings = next
        if !next.isEnabled {
            if isLive { requestTermination(.stopped, &step) } else { move(to: .stopped, because: "disabled", &step) }
            return
        }
        if !wasEnabled, phase == .stopped { move(to: .idle, because: "enabled", &step) }
        if phase == .quarantined {
            penalty.clear()
            move(to: .idle, because: "reconfigured", &step)
        }
        if restarts, isLive { requestTermination(.reconfigured, &step) }
    }

    mutating func finish(_ step: inout Step) {
        isAttached = false
        if isLive { requestTermination(.finished, &step) }
    }

    /// Suspended handlers go first and are not told.
    mutating func reclaim(_ step: inout Step) { kill(.reclaimed, &step) }

    mutating func warnOfMemory(_ level: MemoryLevel, _ step: inout Step) {
        switch phase {
        case .launching, .active, .expiring: step.emit(.notify(id, epoch, .memory(level: level.rawValue)))
        case .stopped, .idle, .suspending, .suspended, .terminating, .quarantined: break
        }
    }

    mutating func recover(_ events: [RecoveredEvent], route: (DeviceID) -> Int?) {
        queue.giveBack(
            events.map { recovered in
                var event = QueuedEvent(
                    recovered.event, recovered.sequence, route(recovered.event.device) ?? 0, settings.subscriptions,
                    due: .zero)
                event.attempts = recovered.attempts
                event.charges = recovered.charges
                event.isRedelivered = recovered.wasInFlight
                return event
            })
    }
}
