// The cost of bad wakes: the growing hold after a failure, strikes for overruns, and the count that ends in quarantine.
import WakeModel

struct Penalty: Sendable {
    private var next: TimeSpan?
    /// Measured on CLOCK_BOOTTIME: waiting goes on in system sleep.
    private(set) var heldUntil: Instant?
    /// The reason of the last hold.
    private(set) var heldBecause = ""
    private(set) var crashes = 0
    private var strikes: [Instant] = []

    static let strikeLimit = 3
    static let crashLimit = 5

    func isHeld(at boottime: Instant) -> Bool { heldUntil.map { boottime < $0 } ?? false }
    func strikeCount(at now: Instant, _ timers: HandlerTimers) -> Int {
        strikes.count { now - $0 < timers.strikeWindow }
    }

    /// Starts or lengthens the hold and doubles the next one.
    mutating func hold(
        from boottime: Instant, atLeast least: TimeSpan = .zero, because reason: String, _ timers: HandlerTimers
    ) -> Instant {
        heldBecause = reason
        let length = next ?? timers.failureBase
        let until = max(heldUntil ?? .zero, boottime + max(length, least))
        next = min(length * 2, timers.failureCap)
        heldUntil = until
        return until
    }

    mutating func strike(at now: Instant, _ timers: HandlerTimers) -> Int {
        strikes.removeAll { now - $0 >= timers.strikeWindow }
        strikes.append(now)
        return strikes.count
    }

    mutating func crash() -> Bool {
        crashes += 1
        return crashes >= Self.crashLimit
    }

    /// An acknowledgement: the next failure is the first again.
    mutating func progress() {
        next = nil
        crashes = 0
    }

    /// A held handler cannot overrun, so its strikes do not age: else long holds would prevent the third.
    mutating func keepStrikes(for hold: TimeSpan) { strikes = strikes.map { $0 + hold } }

    mutating func forgiveCrashes() { crashes = 0 }
    mutating func forgiveStrikes() { strikes.removeAll() }
    mutating func release() { heldUntil = nil }

    /// An operator's start clears everything.
    mutating func clear() { self = Penalty() }
}
