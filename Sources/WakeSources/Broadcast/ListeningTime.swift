// The total time that a radio has listened. This clock counts silence, so that a radio that was off proves nothing.
import WakeModel

struct ListeningTime: Hashable, Sendable {
    private var heard = Instant.zero
    private var since: Instant?

    var isRunning: Bool { since != nil }

    /// The time on this clock.
    func time(at now: Instant) -> Instant { since.map { heard + max(.zero, now - $0) } ?? heard }

    mutating func set(isListening: Bool, at now: Instant) {
        guard isListening != isRunning else { return }
        heard = time(at: now)
        since = isListening ? now : nil
    }

    /// When this clock will show `time`, if the radio listens on; nil while none does.
    func due(at time: Instant) -> Instant? { since.map { $0 + (time - heard) } }
}
