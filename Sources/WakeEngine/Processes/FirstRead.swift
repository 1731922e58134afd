// Whether a program has begun to read what is written to it: until then its pipe holds what it has not been given.
import WakeLoop
import WakeModel
import WakeSystem

/// The kernel does not tell when a pipe is read, so it is looked at, ever more seldom, and only until it was once.
struct FirstRead {
    private enum State {
        case unread
        /// How much has been written, until when a reading is waited for, and how long until the next look.
        case awaited(bytes: Int, until: Instant, delay: TimeSpan)
        case happened
    }

    private var state = State.unread
    private let timer: Timer

    private static let firstLook = TimeSpan.milliseconds(1)
    private static let lastLook = TimeSpan.milliseconds(100)

    /// ``look(bytesWaiting:)`` is to be called when the timer fires.
    init(_ timer: Timer) { self.timer = timer }

    var hasHappened: Bool { if case .happened = state { true } else { false } }
    var isAwaited: Bool { if case .awaited = state { true } else { false } }

    /// It happens when some of the `bytes` written in all have been read. A program that lives and reads nothing for `patience`
    /// has no use for its input: it is taken for one that has begun.
    mutating func begin(after bytes: Int, patience: TimeSpan) {
        let now = SystemClock.monotonic()
        state = .awaited(bytes: bytes, until: now + patience, delay: Self.firstLook)
        timer.arm(at: now + Self.firstLook)
    }

    /// It will never read again.
    mutating func stop() {
        if isAwaited { state = .unread }
        timer.disarm()
    }

    /// True once, when it has happened. `bytesWaiting` is what stands in the pipe; nil where that cannot be known.
    mutating func look(bytesWaiting: Int?) -> Bool {
        guard case .awaited(let bytes, let until, let delay) = state else { return false }
        let now = SystemClock.monotonic()
        if bytesWaiting.map({ $0 < bytes }) ?? false || now >= until {
            state = .happened
            return true
        }
        let next = min(delay + delay, Self.lastLook)
        state = .awaited(bytes: bytes, until: until, delay: next)
        timer.arm(at: now + next)
        return false
    }
}
