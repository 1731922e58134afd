// Slows down a handler whose transfers wake it only to order the next one; orders of a person or another event are not
// slowed.
import WakeModel

struct TransferLimiter: Hashable, Sendable {
    static let first = TimeSpan.seconds(60)
    static let longest = TimeSpan.seconds(3_600)

    /// The delay of transfers that were ordered in the last such wake.
    private(set) var delay = TimeSpan.zero
    /// When the end of a session woke the handler last, on CLOCK_BOOTTIME.
    private(set) var wokenAt: Instant?
    /// The wake that goes on, or is about to begin, was caused by the end of a session.
    private var isChained = false
    private var hasRun = false
    private var hasOrdered = false

    init(delay: TimeSpan = .zero, wokenAt: Instant? = nil) { (self.delay, self.wokenAt) = (delay, wokenAt) }

    /// The end of a session wakes the handler. Where it was left alone for twice as long as it last waited, all begins again.
    mutating func wake(at now: Instant) {
        if let wokenAt, now - wokenAt >= max(delay * 2, Self.first) { delay = .zero }
        if isChained { return }
        (wokenAt, isChained, hasRun, hasOrdered) = (now, true, false, false)
    }

    mutating func follow(_ situation: HandlerSituation) {
        switch situation {
        case .attached: self = TransferLimiter()
        case .awake: hasRun = isChained
        case .asleep, .held, .stopped, .quarantined, .unread: if hasRun { (isChained, hasRun) = (false, false) }
        }
    }

    /// The delay of transfers that are ordered now: the same for all of one wake.
    mutating func delayOfOrder() -> TimeSpan {
        guard isChained else { return .zero }
        if !hasOrdered { delay = delay == .zero ? Self.first : min(delay * 2, Self.longest) }
        hasOrdered = true
        return delay
    }

    /// Its state need not be kept.
    var isIdle: Bool { delay == .zero && !isChained }
}
