// Counts what happens between two scrapes: a sink that keeps numbers alone, and takes no memory for an event that is like one before.
import WakeCore
import WakeEngine
import WakeLoop
import WakeModel

package final class MetricsBook {
    /// A handler that is thawed when this turn ends, and when that was decided.
    private struct Thaw {
        let handler: HandlerCounts
        let since: Instant
    }

    private let clock: any WakeClock
    private let began: Moment
    /// By their numbers, which the journal gives out.
    private var handlers: [HandlerCounts?] = []
    private var devices: [DeviceCounts] = []
    private(set) var gaps: [GapCause: UInt64] = [:]
    /// Counts due occasions by reason; an occasion of a later version has no known reason.
    private(set) var occasions: [Occasion.Reason: UInt64] = [:]
    private var thaws: [Thaw] = []

    package init(clock: any WakeClock) {
        self.clock = clock
        began = clock.now()
        thaws.reserveCapacity(16)
    }

    /// From now on it sees every decision and every event.
    package func listen(to turn: Turn) {
        turn.listeners.add(self as any DecisionListener)
        turn.listeners.add(self as any EventSink)
        turn.listeners.observe(self)
    }

    /// When it began by the wall clock as that is set now, to a tenth of a second: a scrape must not find it moving.
    func startTime(at stamp: Stamp) -> WallTime {
        let start = stamp.wall - (stamp.moment.boottime - began.boottime)
        return WallTime(microseconds: (start.microseconds + 50_000) / 100_000 * 100_000)
    }

    func counts(of device: EventOrigin) -> DeviceCounts {
        let index = Int(device.rawValue)
        return index < devices.count ? devices[index] : DeviceCounts()
    }

    func counts(of handler: HandlerID) -> HandlerCounts {
        let index = Int(handler.rawValue)
        if index < handlers.count, let known = handlers[index] { return known }
        while handlers.count <= index { handlers.append(nil) }
        let made = HandlerCounts()
        handlers[index] = made
        return made
    }

    /// Drops the counts of removed handlers.
    func keepHandlers(where isThere: (HandlerID) -> Bool) {
        for index in handlers.indices where !isThere(HandlerID(rawValue: UInt32(index))) { handlers[index] = nil }
    }
}

extension MetricsBook: DecisionListener {
    package func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        let now = stamp.moment.monotonic
        switch decision {
        case .moved(let from, let to, let because):
            let counts = counts(of: handler)
            if counts.count(from: from, to: to, because: because, at: now) {
                thaws.append(Thaw(handler: counts, since: now))
            }
        case .delivered: counts(of: handler).countDelivery(at: now)
        case .acknowledged: counts(of: handler).countAcknowledgement(at: now)
        case .refused: counts(of: handler).countRefusal()
        case .held: counts(of: handler).countHold()
        case .faulted: counts(of: handler).countFault()
        case .deadLettered: counts(of: handler).countDeadLetter()
        case .handedBack, .withdrawn, .recalled, .released, .advanced, .charged, .lost, .struck, .began, .ended,
            .throttled, .misdirected,
            .notWoken:
            break
        }
    }
}

extension MetricsBook: EventSink {
    package func saw(_ event: DeviceEvent, as sequence: Sequence?) {
        switch event.kind {
        case .occasion(let occasion):
            if let reason = occasion.reason { occasions[reason, default: 0] += 1 }
            return
        case .gap(let gap): gaps[gap.cause, default: 0] += 1
        case .data, .connected, .disconnected, .attention: break
        }
        let index = Int(event.origin.rawValue)
        while devices.count <= index { devices.append(DeviceCounts()) }
        devices[index].count(event.kind, isWatched: sequence != nil)
    }
}

extension MetricsBook: TurnObserver {
    /// The turn has carried out its decisions: every handler that it thawed runs.
    package func turnEnded() {
        guard !thaws.isEmpty else { return }
        let now = clock.now().monotonic
        for thaw in thaws { thaw.handler.countThaw(after: now - thaw.since) }
        thaws.removeAll(keepingCapacity: true)
    }
}
