// Timers: any number on one kernel timer for each clock, so that deadlines that come together cost one wake-up.
import Glibc
import WakeModel
import WakeSystem

/// The clock a timer waits on.
public enum TimerClock: Hashable, Sendable {
    /// Stops while the system sleeps: for execution.
    case monotonic
    /// Goes on while the system sleeps; does not wake it: for waiting.
    case boottime

    var number: Int32 {
        switch self {
        case .monotonic: CLOCK_MONOTONIC
        case .boottime: CLOCK_BOOTTIME
        }
    }

    func now() -> Instant {
        switch self {
        case .monotonic: SystemClock.monotonic()
        case .boottime: SystemClock.boottime()
        }
    }
}

/// A timer that fires once for each time it is armed, never before its instant. Releasing it disarms it.
public final class Timer {
    private let queue: TimerQueue
    private let body: () -> Void
    /// Its place in the queue, which updates it.
    var position: Int?

    init(in queue: TimerQueue, _ body: @escaping () -> Void) {
        self.queue = queue
        self.body = body
    }

    deinit { queue.remove(self) }

    /// When it will fire; nil while disarmed.
    public private(set) var armedAt: Instant?

    /// Fires once at `instant` of its clock, or in the next turn if that has passed; replaces an earlier arming.
    public func arm(at instant: Instant) {
        if armedAt == instant { return }
        armedAt = instant
        queue.insert(self, due: instant)
    }

    public func disarm() {
        guard armedAt != nil else { return }
        armedAt = nil
        queue.remove(self)
    }

    func fire() {
        armedAt = nil
        body()
    }
}
