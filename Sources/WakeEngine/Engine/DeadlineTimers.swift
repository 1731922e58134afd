// The core's two deadlines as timers of the loop: execution is timed on one clock and waiting on the other.
import WakeLoop
import WakeModel
import WakeSystem

/// A timer that is armed for the right instant is left alone: arming costs.
struct DeadlineTimers {
    private let monotonic: Timer
    private let boottime: Timer

    init(on loop: EventLoop, of turn: Turn) throws(SystemError) {
        monotonic = try loop.timer(on: .monotonic, of: turn) { $0.ingest(.tick) }
        boottime = try loop.timer(on: .boottime, of: turn) { $0.ingest(.tick) }
    }

    func arm(monotonic first: Instant?, boottime second: Instant?) {
        arm(monotonic, at: first)
        arm(boottime, at: second)
    }

    private func arm(_ timer: Timer, at instant: Instant?) {
        if let instant { timer.arm(at: instant) } else { timer.disarm() }
    }
}
