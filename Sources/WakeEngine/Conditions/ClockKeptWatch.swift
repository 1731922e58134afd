// The condition `time-synced`: the wall clock can be believed. Looked at until it is, and again when the clock was set.
import WakeLoop
import WakeModel
import WakeSystem

final class ClockKeptWatch: ConditionWatch {
    private var timer: Timer?
    private var wait: BackOff

    init(on loop: EventLoop, _ places: ConditionPlaces) throws(SystemError) {
        wait = BackOff(from: places.intervals.clock.first, to: places.intervals.clock.longest)
        super.init()
        timer = try loop.timer(on: .monotonic, of: self) { $0.look() }
        look()
    }

    /// The program that keeps the clock reports this a moment after it has set it.
    override func clockWasSet() {
        wait.reset()
        look()
    }

    private func look() {
        let found = SystemClock.isSynchronized
        if found { timer?.disarm() } else { timer?.arm(at: SystemClock.monotonic() + wait.next()) }
        report(found)
    }
}
