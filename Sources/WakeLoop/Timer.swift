// Timers: any number on one alarm for each clock, so that deadlines that come together cost one wake-up.
import Glibc
import WakeModel
import WakeSystem

/// The clock a timer waits on.
public enum TimerClock: Hashable, Sendable {
    /// Stops while the system sleeps: for execution.
    case monotonic
    /// Goes on while the system sleeps; does not wake it: for waiting.
    case boottime
    /// The wall clock: setting it moves the deadlines nearer or further, and past one it fires at once.
    case realtime
    /// As ``boottime``, and ends the sleep of the machine; needs CAP_WAKE_ALARM.
    case boottimeAlarm
    /// As ``realtime``, and ends the sleep of the machine; needs CAP_WAKE_ALARM.
    case realtimeAlarm

    var number: Int32 {
        switch self {
        case .monotonic: CLOCK_MONOTONIC
        case .boottime: CLOCK_BOOTTIME
        case .realtime: CLOCK_REALTIME
        case .boottimeAlarm: CLOCK_BOOTTIME_ALARM
        case .realtimeAlarm: CLOCK_REALTIME_ALARM
        }
    }

    var wakesMachine: Bool { self == .boottimeAlarm || self == .realtimeAlarm }

    func now() -> Instant {
        switch self {
        case .monotonic: SystemClock.monotonic()
        case .boottime, .boottimeAlarm: SystemClock.boottime()
        case .realtime, .realtimeAlarm: SystemClock.realtime()
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

/// sd-event's own timers are called one a turn, and the kernel's timer is set in between: three system calls for each of two
/// hundred handlers whose deadlines come together. Here all timers that are due are called in one turn.
public final class TimerQueue {
    private struct Entry {
        let due: Instant
        /// The order of arming: among timers due at the same instant, the one armed first is called first.
        let order: UInt64
        /// The timer removes itself before it is released.
        unowned let timer: Timer

        func precedes(_ other: Entry) -> Bool { due == other.due ? order < other.order : due < other.due }
    }

    private let account: LoopAccount
    private let clock: TimerClock
    private var alarm: (any LoopAlarm)?
    /// A binary heap; each timer knows its place, so that arming it again moves it instead of leaving a dead entry.
    private var heap: [Entry] = []
    private var armed: UInt64 = 0
    /// While timers are being called: the instant up to which they are due.
    private var horizon: Instant?
    /// The instant that the alarm waits for.
    private var awaited: Instant?

    /// An alarm further ahead than this may be postponed again before it comes.
    private static let distance = TimeSpan.milliseconds(10)

    init(on loop: EventLoop, clock: TimerClock, timers: any LoopTimers) throws(SystemError) {
        (account, self.clock) = (loop.account, clock)
        alarm = try timers.alarm(of: self, clock: clock, on: loop)
    }

    func insert(_ timer: Timer, due: Instant) {
        remove(timer)
        armed += 1
        // A timer that arms itself for the past from its own call is due in the next turn, not in this one.
        let due = horizon.map { max(due, $0 + TimeSpan(nanoseconds: 1)) } ?? due
        heap.append(Entry(due: due, order: armed, timer: timer))
        rise(from: heap.count - 1)
    }

    /// Calls every timer that is due; its alarm has gone off.
    public func fireDue() {
        awaited = nil
        account.cause = .timer
        let now = clock.now()
        horizon = now
        while let entry = heap.first, entry.due <= now {
            let timer = entry.timer
            remove(timer)
            timer.fire()
        }
        horizon = nil
    }

    /// Sets the alarm for the first deadline. Call it just before the loop waits: most timers that a wake arms are
    /// disarmed in the same wake.
    ///
    /// It is not set to a later instant while it is far from its current one: a device that sends every millisecond postpones
    /// its handler's freeze each time. Near its instant it is set. Where nothing happens before, the loop wakes once in vain.
    /// A sleeping machine is not woken in vain.
    func settle() {
        let first = heap.first?.due
        if !clock.wakesMachine, let awaited, let first, awaited < first, awaited - clock.now() > Self.distance {
            return
        }
        guard awaited != first else { return }
        awaited = first
        alarm?.set(for: first)
    }

    /// Removes the timer from the heap, if it is in it, and restores the heap's order.
    func remove(_ timer: Timer) {
        guard let position = timer.position else { return }
        timer.position = nil
        let last = heap.removeLast()
        guard position < heap.count else { return }
        heap[position] = last
        rise(from: position)
        if let settled = last.timer.position { sink(from: settled) }
    }

    private func rise(from start: Int) {
        let entry = heap[start]
        var position = start
        while position > 0, entry.precedes(heap[(position - 1) / 2]) {
            place(heap[(position - 1) / 2], at: position)
            position = (position - 1) / 2
        }
        place(entry, at: position)
    }

    private func sink(from start: Int) {
        let entry = heap[start]
        var position = start
        while let child = earlierChild(of: position), heap[child].precedes(entry) {
            place(heap[child], at: position)
            position = child
        }
        place(entry, at: position)
    }

    private func earlierChild(of position: Int) -> Int? {
        let left = 2 * position + 1
        guard left < heap.count else { return nil }
        return left + 1 < heap.count && heap[left + 1].precedes(heap[left]) ? left + 1 : left
    }

    private func place(_ entry: Entry, at position: Int) {
        heap[position] = entry
        entry.timer.position = position
    }
}
