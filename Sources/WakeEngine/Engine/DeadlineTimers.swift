// The deadlines of core and agenda as timers of the loop: execution and waiting are timed on a clock each, calendars on the wall clock.
import WakeLoop
import WakeModel
import WakeSystem

/// A timer that is armed for the right instant is left alone: arming costs.
struct DeadlineTimers {
    private let monotonic: Timer
    private let boottime: Timer
    private let wall: Timer

    init(on loop: EventLoop, of turn: Turn) throws(SystemError) {
        monotonic = try loop.timer(on: .monotonic, of: turn) { $0.ingest(.tick) }
        boottime = try loop.timer(on: .boottime, of: turn) { $0.ingest(.tick) }
        wall = try loop.timer(on: .realtime, of: turn) { $0.ingest(.tick) }
    }

    func arm(monotonic first: Instant?, boottime second: Instant?, wall third: WallTime?) {
        arm(monotonic, at: first)
        arm(boottime, at: second)
        arm(wall, at: third.map { .zero + .microseconds($0.microseconds) })
    }

    private func arm(_ timer: Timer, at instant: Instant?) {
        if let instant { timer.arm(at: instant) } else { timer.disarm() }
    }
}
