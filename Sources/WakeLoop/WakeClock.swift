// The engine's clock: the kernel's clocks in the daemon, a clock that the trace moves in a replay.
import WakeModel
import WakeSystem

public protocol WakeClock: AnyObject {
    func now() -> Moment
    /// The current time on every clock, as an event records it.
    func stamp() -> Stamp
}

/// The kernel's clocks.
public final class RealClock: WakeClock {
    private var isSynchronized = false
    private var nextLook = Instant.zero

    public init() {}

    public func now() -> Moment { SystemClock.now() }

    public func stamp() -> Stamp {
        let now = SystemClock.now()
        look(at: now.monotonic)
        return Stamp(moment: now, wall: SystemClock.wall(), isClockSynchronized: isSynchronized)
    }

    /// Asking the kernel costs a system call, so it is asked once a second until the clock is set, and then never again.
    private func look(at now: Instant) {
        guard !isSynchronized, now >= nextLook else { return }
        isSynchronized = SystemClock.isSynchronized
        nextLook = now + .seconds(1)
    }
}

/// A clock that stands still until it is moved; all three clocks advance together.
public final class VirtualClock: WakeClock {
    public private(set) var current: Stamp

    public init(startingAt start: Stamp) { current = start }

    /// Starts at zero on both clocks of decisions.
    public convenience init(wall: WallTime) {
        self.init(startingAt: Stamp(moment: Moment(monotonic: .zero, boottime: .zero), wall: wall))
    }

    public func now() -> Moment { current.moment }
    public func stamp() -> Stamp { current }

    public func advance(by span: TimeSpan) {
        precondition(span >= .zero, "time does not run backwards")
        current.moment = current.moment + span
        current.wall = current.wall + span
    }

    /// Moves to `instant` of the monotonic clock; an instant in the past changes nothing.
    public func advance(to instant: Instant) {
        guard instant > current.moment.monotonic else { return }
        advance(by: instant - current.moment.monotonic)
    }
}
