// A handler that says more on descriptor 3 than its events call for: how long that is borne, and that it is told.
import WakeModel

extension HandlerLifecycle {
    mutating func noteThrottle(_ isThrottled: Bool, _ step: inout Step) {
        guard isThrottled else {
            flood = nil
            return
        }
        guard flood == nil else { return }
        flood = Flood(since: suspendedSince == nil ? step.now : nil)
        step.emit(.decision(id, .throttled))
        announce(.error(.tooFast), &step)
    }

    /// Asleep it writes nothing, so that time is not counted.
    mutating func pauseFlood(at now: Instant) {
        guard let running = flood, let since = running.since else { return }
        flood = Flood(before: running.before + (now - since))
    }

    /// When a flood that does not pause has lasted too long; while attached nothing runs out.
    var floodEnd: Instant? {
        guard let flood, let since = flood.since, !isAttached else { return nil }
        return since + max(.zero, timers.flood - flood.before)
    }

    mutating func endFlood(_ step: inout Step) -> Bool {
        switch phase {
        case .launching, .active, .expiring: break
        case .stopped, .idle, .suspending, .suspended, .terminating, .quarantined: return false
        }
        guard let end = floodEnd, step.now >= end else { return false }
        kill(.flood, &step)
        return true
    }
}
