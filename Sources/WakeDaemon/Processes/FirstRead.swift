// Whether a program has begun to read what is written to it: until then its pipe holds what nobody has been given.
import WakeLoop
import WakeModel
import WakeSystem

/// The kernel tells nobody that a pipe is being read, so it is looked at, ever more seldom, and only until it was once.
final class FirstRead {
    private(set) var hasHappened = false
    private let bytesWaiting: () -> Int?
    private let tell: () -> Void
    private var timer: Timer?
    private var delay = FirstRead.firstLook
    /// How much has been written, and until when it is waited for; nil where nobody waits.
    private var awaited: (bytes: Int, until: Instant)?

    private static let firstLook = TimeSpan.milliseconds(1)
    private static let lastLook = TimeSpan.milliseconds(100)

    /// `bytesWaiting` is what stands in the pipe; nil where that cannot be known.
    init(
        on loop: EventLoop, bytesWaiting: @escaping () -> Int?, tell: @escaping () -> Void
    ) throws(SystemError) {
        self.bytesWaiting = bytesWaiting
        self.tell = tell
        timer = try loop.timer(on: .monotonic) { [unowned self] in look() }
    }

    var isAwaited: Bool { awaited != nil }

    /// Calls `tell` when some of the `bytes` written in all have been read. A program that lives and reads nothing for
    /// `patience` has no use for its input: it is taken for one that has begun.
    func begin(after bytes: Int, patience: TimeSpan) {
        let now = SystemClock.monotonic()
        awaited = (bytes, now + patience)
        delay = Self.firstLook
        timer?.arm(at: now + delay)
    }

    /// It will never read again.
    func stop() {
        awaited = nil
        timer?.disarm()
    }

    private func look() {
        guard let awaited else { return }
        let now = SystemClock.monotonic()
        guard bytesWaiting().map({ $0 < awaited.bytes }) ?? false || now >= awaited.until else {
            delay = min(delay + delay, Self.lastLook)
            timer?.arm(at: now + delay)
            return
        }
        hasHappened = true
        stop()
        tell()
    }
}
