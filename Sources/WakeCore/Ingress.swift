// Filters a device's events before any handler sees them: cuts storms, and folds flapping links.
import WakeModel

/// Daemon-wide limits on what one device may do. A replay has neither: its source sets its own pace.
public struct IngressLimits: Hashable, Sendable {
    public struct Storm: Hashable, Sendable {
        public var eventsPerSecond: Int
        public var burst: Int
        public init(eventsPerSecond: Int = 5_000, burst: Int = 10_000) {
            self.eventsPerSecond = eventsPerSecond
            self.burst = burst
        }
    }
    public struct Flips: Hashable, Sendable {
        public var limit: Int
        public var window: TimeSpan
        public init(limit: Int = 5, window: TimeSpan = .seconds(10)) {
            self.limit = limit
            self.window = window
        }
    }
    public var storm: Storm?
    public var flips: Flips?

    public init(storm: Storm? = Storm(), flips: Flips? = Flips()) {
        self.storm = storm
        self.flips = flips
    }
    public static let none = IngressLimits(storm: nil, flips: nil)
}

/// A token bucket for each device. Events are cut until half the burst is there again, which makes one storm of seconds of
/// an overload. If each event passed as its token comes, the next event would begin another storm.
struct StormLimiter: Sendable {
    /// The tokens, up to the burst: a device begins with all of them.
    private var tokens = Double.infinity
    private var refilledAt = Instant.zero
    private(set) var isCutting = false

    enum Verdict { case pass, cutBegins, cut }

    mutating func judge(at now: Instant, _ limit: IngressLimits.Storm) -> Verdict {
        let gained = (now - refilledAt).seconds * Double(limit.eventsPerSecond)
        let filled = min(Double(limit.burst), tokens + gained)
        refilledAt = now
        let least = isCutting ? max(1, Double(limit.burst) / 2) : 1
        guard filled >= least else {
            tokens = filled
            defer { isCutting = true }
            return isCutting ? .cut : .cutBegins
        }
        tokens = filled - 1
        isCutting = false
        return .pass
    }
}

/// Connects and disconnects of one device: past the limit they are held back until the link has settled.
struct FlipFolder: Sendable {
    private var passed: [Instant] = []
    private var excess = Excess.never

    /// Indirect because it is large and rare: every event reads the rest.
    private indirect enum Excess: Sendable {
        case never
        /// `event` where one is held back, with how many are folded into it, until `releaseAt`.
        case last(Instant, event: DeviceEvent?, folded: UInt32, releaseAt: Instant?)
    }

    enum Verdict {
        case pass
        /// The event is folded into what comes later. `isNews` where no flip was too many for a whole window before it: a
        /// link that flaps for days is reported once.
        case fold(isNews: Bool)
    }

    /// When the held event is passed on.
    var releaseAt: Instant? {
        guard case .last(_, _, _, let releaseAt) = excess else { return nil }
        return releaseAt
    }

    mutating func judge(_ event: DeviceEvent, at now: Instant, _ limit: IngressLimits.Flips) -> Verdict {
        passed.removeAll { now - $0 >= limit.window }
        let former = excess
        var folded: UInt32 = 0
        if case .last(_, .some, let count, _) = former { folded = count + 1 }
        guard folded > 0 || passed.count >= limit.limit else {
            passed.append(now)
            return .pass
        }
        excess = .last(now, event: event, folded: folded, releaseAt: (passed.first ?? now) + limit.window)
        guard case .last(let before, _, _, _) = former else { return .fold(isNews: true) }
        return .fold(isNews: now - before >= limit.window)
    }

    /// The net state, with the number of further flips that it represents.
    mutating func release(at now: Instant) -> DeviceEvent? {
        guard case .last(let last, .some(var event), let folded, _) = excess else { return nil }
        event.kind = event.kind.folding(folded)
        excess = .last(last, event: nil, folded: 0, releaseAt: nil)
        passed.append(now)
        return event
    }
}

extension DeviceEvent.Kind {
    fileprivate func folding(_ more: UInt32) -> DeviceEvent.Kind {
        switch self {
        case .connected(let folded): .connected(folded: folded + more)
        case .disconnected(let reason, let folded): .disconnected(reason: reason, folded: folded + more)
        case .data, .gap, .attention, .occasion: self
        }
    }
}
