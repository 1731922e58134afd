// One stream of a handler's log: drained as it comes, told line by line, and left waiting only where it is poured out without end.
import WakeLoop
import WakeModel
import WakeSystem

/// Owns our end of the stream, and the watch on it.
final class LogDrain {
    /// Bytes of one reading: as lines of one byte they keep the loop for some milliseconds.
    static let piece = 16 << 10
    /// KiB a second, and at once: no log that a person reads. Past it the writer waits until some of it is back.
    private static let kibibytesPerSecond = 2 << 10
    private static let burst = 4 << 10
    private static let refillPause = TimeSpan.milliseconds(100)
    /// How long the rest of an ended process's log is read.
    private static let longestDrain = TimeSpan.milliseconds(20)

    private var stream: PipeEnd
    private let trouble: ProcessTrouble
    private var watch: Watch?
    private var refill: Timer?
    private var lines: LogLines
    private var allowance = RateLimiter(
        perSecond: LogDrain.kibibytesPerSecond, burst: LogDrain.burst, now: SystemClock.monotonic())

    init(_ stream: consuming PipeEnd, longestLine: Int, _ trouble: ProcessTrouble) {
        self.stream = stream
        self.trouble = trouble
        lines = LogLines(longestLine: longestLine)
    }

    /// Before what it watches is closed.
    deinit { watch?.cancel() }

    /// Calls `body` when there is something to ``read(_:)``.
    func listen<Owner: AnyObject>(
        on loop: EventLoop, of owner: Owner, _ body: @escaping (Owner) -> Void
    ) throws(SystemError) {
        guard let raw = stream.raw else { return }
        refill = try loop.timer(on: .monotonic, of: self) { $0.watch?.enable() }
        // A log without end must not keep the commit waiting that all others wait for.
        watch = try loop.watch(raw, for: .readable, priority: .background, of: owner, body)
    }

    /// Reads once, as far as the allowance goes.
    func read(_ tell: (String) -> Void) {
        let now = SystemClock.monotonic()
        if allowance.isEmpty(now: now) {
            watch?.disable()
            refill?.arm(at: now + Self.refillPause)
        } else {
            allowance.draw(max(1, readOnce(tell) >> 10), now: now)
        }
    }

    /// What a process wrote last is often why it ended. What it left behind may go on writing without end.
    func drain(_ tell: (String) -> Void) {
        let end = SystemClock.monotonic() + Self.longestDrain
        while readOnce(tell) > 0 {
            guard SystemClock.monotonic() < end else { return tell("the rest of its output is too much to be read") }
        }
    }

    func close() {
        watch = nil
        stream.close()
    }

    /// How many bytes came; zero where there is no more for now.
    private func readOnce(_ tell: (String) -> Void) -> Int {
        var bytes: [UInt8] = []
        let result = trouble.attempt("read the log of") { () throws(SystemError) in
            try stream.read(appendingTo: &bytes, limit: Self.piece)
        }
        lines.append(bytes, isLast: bytes.isEmpty, tell)
        if result != .wouldBlock, bytes.isEmpty { watch?.disable() }
        return bytes.count
    }
}
