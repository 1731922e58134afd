// Stops the clocks of a test's own thread and the alarms of its loop until the test moves them.
import SteppedClock
import WakeLoop
import WakeModel
import WakeSystem

/// Made, moved and released on one thread. Other threads and all processes keep the kernel's clocks.
package final class HeldTime: LoopTimers {
    private var alarms: [HeldAlarm] = []
    private var overdue: Deferred?
    /// The processes that the loop talks to. Time stops while any of them has something to do.
    package var peers: [any Peer] = []

    /// How many alarms have fired.
    package private(set) var fired = 0

    package init() { stepped_clock_hold() }

    deinit { stepped_clock_release() }

    package func alarm(
        of queue: TimerQueue, clock: TimerClock, on loop: EventLoop
    ) throws(SystemError) -> any LoopAlarm {
        if overdue == nil { overdue = try loop.deferred(priority: .normal, of: self) { $0.fireDue() } }
        let alarm = HeldAlarm(of: queue, clock: clock, by: self)
        alarms.append(alarm)
        return alarm
    }

    package func loopWaits() {}

    /// Moves the clocks; the loop's next turns call the alarms that are due then.
    package func move(by span: TimeSpan) {
        stepped_clock_move(span.nanoseconds)
        fireLater()
    }

    fileprivate func fireLater() { if alarms.contains(where: \.isDue) { overdue?.schedule() } }

    private func fireDue() {
        for alarm in alarms where alarm.isDue {
            fired += 1
            alarm.fire()
        }
    }

    /// Turns the loop until nothing is ready on it and no peer has anything to do, or until the condition is true.
    /// Returns whether it is true. The condition is checked after each turn, and may ask a peer.
    @discardableResult
    package func settle(_ loop: EventLoop, until condition: () throws -> Bool = { false }) throws -> Bool {
        while try !condition() {
            var hasTurned = false
            let isSettled = try Patience.wait {
                let before = QuietProcesses.runs(of: peers)
                hasTurned = try loop.runOnce(timeout: .zero)
                // No peer has run between two equal looks, so nothing can be on its way.
                return hasTurned || before != nil && QuietProcesses.runs(of: peers) == before
            }
            guard isSettled else { throw SystemError("settle", "a test's loop and its peers", .timedOut) }
            guard hasTurned else { return false }
        }
        return true
    }

    /// Moves the clocks from deadline to deadline, each time after all has settled, until the span is over.
    package func pass(_ span: TimeSpan, on loop: EventLoop) throws {
        var left = span
        try settle(loop)
        while left > .zero {
            left = left - step(atMost: left)
            try settle(loop)
        }
    }

    /// Moves the clocks until the condition is true, at most by the span; false then. Without a deadline left, it waits
    /// for others: the bus ends calls by the kernel's clock.
    package func pass(_ span: TimeSpan, on loop: EventLoop, until condition: () throws -> Bool) throws -> Bool {
        var left = span
        while try !settle(loop, until: condition) {
            if isDue(within: left) {
                left = left - step(atMost: left)
                continue
            }
            var isTrue = false
            let goesOn = try Patience.wait {
                isTrue = try settle(loop, until: condition)
                return isTrue || isDue(within: left)
            }
            guard goesOn, !isTrue else { return isTrue }
        }
        return true
    }

    private func isDue(within span: TimeSpan) -> Bool { distance.map { $0 <= span } ?? false }

    private func step(atMost limit: TimeSpan) -> TimeSpan {
        let span = min(max(distance ?? limit, TimeSpan(nanoseconds: 1)), limit)
        move(by: span)
        return span
    }

    /// The time until the first deadline; nil where there is none.
    private var distance: TimeSpan? { alarms.compactMap(\.distance).min() }
}

private final class HeldAlarm: LoopAlarm {
    private unowned let queue: TimerQueue
    private unowned let time: HeldTime
    private let clock: TimerClock
    private var due: Instant?

    init(of queue: TimerQueue, clock: TimerClock, by time: HeldTime) {
        (self.queue, self.clock, self.time) = (queue, clock, time)
    }

    private var now: Instant {
        switch clock {
        case .monotonic: SystemClock.monotonic()
        case .boottime, .boottimeAlarm: SystemClock.boottime()
        case .realtime, .realtimeAlarm: SystemClock.realtime()
        }
    }

    var distance: TimeSpan? { due.map { $0 - now } }
    var isDue: Bool { due.map { $0 <= now } ?? false }

    func set(for instant: Instant?) {
        due = instant
        if isDue { time.fireLater() }
    }

    func fire() {
        due = nil
        queue.fireDue()
    }
}
