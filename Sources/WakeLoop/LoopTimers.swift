// The alarms of a loop's timers: timers of the kernel, in every program that is installed.
import CSystemd
import WakeModel
import WakeSystem

/// Makes the alarms of one loop.
public protocol LoopTimers {
    /// An alarm on a clock that is not set yet; the queue keeps it.
    func alarm(of queue: TimerQueue, clock: TimerClock, on loop: EventLoop) throws(SystemError) -> any LoopAlarm
    /// The loop waits next: everything that was ready has been called, and the turn has ended.
    func loopWaits()
}

/// Calls a queue of timers. Releasing it ends it.
public protocol LoopAlarm: AnyObject {
    /// Calls the queue once at the instant, in the next turn if that has passed, and never for nil; replaces an earlier setting.
    func set(for instant: Instant?)
}

/// The kernel's timers.
public struct KernelTimers: LoopTimers {
    public init() {}

    public func alarm(
        of queue: TimerQueue, clock: TimerClock, on loop: EventLoop
    ) throws(SystemError) -> any LoopAlarm {
        try KernelAlarm(of: queue, clock: clock, on: loop)
    }

    public func loopWaits() {}
}

private final class KernelAlarm: LoopAlarm {
    private var source = SourceHandle(nil)

    /// sd-event may call this much later to combine wake-ups. It uses the whole allowance, so a larger one would delay every
    /// deadline.
    private static let accuracyMicroseconds: UInt64 = 1

    init(of queue: TimerQueue, clock: TimerClock, on loop: EventLoop) throws(SystemError) {
        var made: OpaquePointer?
        let code = sd_event_add_time(
            loop.handle, &made, clock.number, .max, Self.accuracyMicroseconds,
            { _, _, owner in
                if let owner { Unmanaged<TimerQueue>.fromOpaque(owner).takeUnretainedValue().fireDue() }
                return 0
            }, Unmanaged.passUnretained(queue).toOpaque())
        try check(code, "make", "a timer")
        source = SourceHandle(made)
        source.setEnabled(Int32(SD_EVENT_OFF))
    }

    deinit { source.cancel() }

    func set(for instant: Instant?) {
        guard let instant else { return source.setEnabled(Int32(SD_EVENT_OFF)) }
        // Rounded up: never early.
        source.setTime(microseconds: UInt64(max(instant.nanoseconds, 0) / 1000 + 1))
        source.setEnabled(Int32(SD_EVENT_ONESHOT))
    }
}
