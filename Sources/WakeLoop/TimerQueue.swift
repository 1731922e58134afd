// The armed timers of one clock, earliest first, and the one kernel timer that waits for the earliest.
import CSystemd
import WakeModel
import WakeSystem

/// sd-event has timers of its own, but calls one a turn and sets the kernel's timer anew in between: three system calls for
/// each of two hundred handlers whose deadlines fall together. Here they are all called in the turn in which they are due.
final class TimerQueue {
    private struct Entry {
        let due: Instant
        /// Of two due at the same instant, the one armed first goes first.
        let order: UInt64
        /// The timer takes itself out before it goes away.
        unowned let timer: Timer

        func precedes(_ other: Entry) -> Bool { due == other.due ? order < other.order : due < other.due }
    }

    private let clock: TimerClock
    private var source = SourceHandle(nil)
    /// A binary heap; each timer knows its place, so that arming anew moves it instead of leaving a dead entry.
    private var heap: [Entry] = []
    private var armed: UInt64 = 0
    /// While timers are being called: the instant up to which they are due.
    private var horizon: Instant?
    /// What the kernel's timer waits for.
    private var awaited: Instant?

    /// sd-event may call so much later to fold wake-ups. It folds towards the end of what it is allowed, so that anything
    /// larger would be added to every deadline.
    private static let accuracyMicroseconds: UInt64 = 1

    /// What the kernel's timer waits for further ahead than this may be put off again before it comes.
    private static let distance = TimeSpan.milliseconds(10)

    init(on loop: EventLoop, clock: TimerClock) throws(SystemError) {
        self.clock = clock
        var made: OpaquePointer?
        let code = sd_event_add_time(
            loop.handle, &made, clock.number, .max, TimerQueue.accuracyMicroseconds,
            { _, _, owner in
                if let owner { Unmanaged<TimerQueue>.fromOpaque(owner).takeUnretainedValue().fireDue() }
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        try check(code, "make", "a timer")
        source = SourceHandle(made)
        source.setEnabled(Int32(SD_EVENT_OFF))
    }

    deinit { source.cancel() }

    func insert(_ timer: Timer, due: Instant) {
        take(timer)
        armed += 1
        // One that arms itself for the past from its own call is due in the next turn, not in this one for ever.
        let due = horizon.map { max(due, $0 + TimeSpan(nanoseconds: 1)) } ?? due
        heap.append(Entry(due: due, order: armed, timer: timer))
        rise(from: heap.count - 1)
    }

    func remove(_ timer: Timer) { take(timer) }

    private func fireDue() {
        awaited = nil
        let now = clock.now()
        horizon = now
        while let entry = heap.first, entry.due <= now {
            let timer = entry.timer
            take(timer)
            timer.fire()
        }
        horizon = nil
    }

    /// Has the kernel's timer wait for the first. To be called before the loop waits, and not sooner: most of what is armed in a
    /// wake is disarmed in the same.
    ///
    /// It is not set for a later instant while it is far from its own: who speaks every millisecond puts off each time when his
    /// handler is frozen. Once it is near it is set. Where nothing happens until then, the loop wakes for it once, and for nothing.
    func settle() {
        let first = heap.first?.due
        if let awaited, let first, awaited < first, awaited - clock.now() > Self.distance { return }
        guard awaited != first else { return }
        awaited = first
        guard let due = awaited else { return source.setEnabled(Int32(SD_EVENT_OFF)) }
        // Rounded up: never early.
        source.setTime(microseconds: UInt64(max(due.nanoseconds, 0) / 1000 + 1))
        source.setEnabled(Int32(SD_EVENT_ONESHOT))
    }

    /// Takes the timer out of the heap, if it is in it, and mends the heap where it stood.
    private func take(_ timer: Timer) {
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
