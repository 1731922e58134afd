// One stream of a handler's log: drained as it comes, told line by line, and left waiting only where it is poured out without end.
import WakeLoop
import WakeModel
import WakeSystem

/// Owns the watch on a stream that its process owns; it must be let go of before the stream is closed.
final class LogDrain {
    /// Reads once what is there, and appends it; nil where that failed.
    typealias Source = (inout [UInt8]) -> ReadResult?

    /// Bytes of one reading: as lines of one byte they keep the loop for some milliseconds.
    static let piece = 16 << 10
    /// KiB a second, and at once: no log that a person reads. Past it the writer waits until some of it is back.
    private static let kibibytesPerSecond = 2 << 10
    private static let burst = 4 << 10
    private static let refillPause = TimeSpan.milliseconds(100)
    /// How long the rest of an ended process's log is read.
    private static let longestDrain = TimeSpan.milliseconds(20)

    private var watch: Watch?
    private var refill: Timer?
    private var lines: LogLines
    private var allowance = RateLimiter(
        perSecond: LogDrain.kibibytesPerSecond, burst: LogDrain.burst, now: SystemClock.monotonic())
    private let read: Source
    private let tell: (String) -> Void

    init(
        of raw: Int32, on loop: EventLoop, longestLine: Int, read: @escaping Source, tell: @escaping (String) -> Void
    ) throws(SystemError) {
        lines = LogLines(longestLine: longestLine)
        self.read = read
        self.tell = tell
        refill = try loop.timer(on: .monotonic) { [unowned self] in watch?.enable() }
        // A log without end must not keep the commit waiting that all others wait for.
        watch = try loop.watch(raw, for: .readable, priority: .background) { [unowned self] _ in listen() }
    }

    private func listen() {
        let now = SystemClock.monotonic()
        if allowance.isEmpty(now: now) {
            watch?.disable()
            refill?.arm(at: now + Self.refillPause)
        } else {
            allowance.draw(max(1, drainOnce() >> 10), now: now)
        }
    }

    /// What a process wrote last is often why it ended. What it left behind may go on writing without end.
    func drain() {
        let end = SystemClock.monotonic() + Self.longestDrain
        while drainOnce() > 0 {
            guard SystemClock.monotonic() < end else { return tell("the rest of its output is too much to be read") }
        }
    }

    /// How many bytes came; zero where there is no more for now.
    private func drainOnce() -> Int {
        var bytes: [UInt8] = []
        let result = read(&bytes)
        lines.append(bytes, isLast: bytes.isEmpty, tell)
        if result != .wouldBlock, bytes.isEmpty { watch?.disable() }
        return bytes.count
    }
}
