// A stream of a handler's log: read as it comes, and slowed down only where it floods. Long lines are cut, and control
// characters are replaced.
import WakeLoop
import WakeModel
import WakeSystem

/// Owns our end of the stream, and the watch on it.
final class LogDrain {
    /// Bytes of one read: as lines of one byte they occupy the loop for some milliseconds.
    static let piece = 16 << 10
    /// KiB a second, and at once. Past it the writer waits.
    private static let kibibytesPerSecond = 2 << 10
    private static let burst = 4 << 10
    private static let refillPause = TimeSpan.milliseconds(100)
    /// How long to read the rest of an ended process's log.
    private static let longestDrain = TimeSpan.milliseconds(20)

    private var stream: PipeEnd
    private let errorLog: ProcessErrorLog
    private var watch: Watch?
    private var refill: Timer?
    private var lines: LogLines
    private var allowance = RateLimiter(
        perSecond: LogDrain.kibibytesPerSecond, burst: LogDrain.burst, now: SystemClock.monotonic())

    init(_ stream: consuming PipeEnd, longestLine: Int, _ errorLog: ProcessErrorLog) {
        self.stream = stream
        self.errorLog = errorLog
        lines = LogLines(longestLine: longestLine)
    }

    /// Before the descriptor that it watches is closed.
    deinit { watch?.cancel() }

    /// Calls `body` when ``read(_:)`` has something to read.
    func listen<Owner: AnyObject>(
        on loop: EventLoop, of owner: Owner, _ body: @escaping (Owner) -> Void
    ) throws(SystemError) {
        guard let raw = stream.raw else { return }
        refill = try loop.timer(on: .monotonic, of: self) { $0.watch?.enable() }
        // A flood must not delay the commit that all handlers wait for.
        watch = try loop.watch(raw, for: .readable, priority: .background, cause: .handler, of: owner, body)
    }

    /// Reads once, within the allowance.
    func read(_ emit: (String) -> Void) {
        let now = SystemClock.monotonic()
        if allowance.isEmpty(now: now) {
            watch?.disable()
            refill?.arm(at: now + Self.refillPause)
        } else {
            allowance.draw(max(1, readOnce(emit) >> 10), now: now)
        }
    }

    /// The last lines often contain the reason of the end. Children may write without end, so this is limited.
    func drain(_ emit: (String) -> Void) {
        let end = SystemClock.monotonic() + Self.longestDrain
        while readOnce(emit) > 0 {
            guard SystemClock.monotonic() < end else { return emit("the rest of its output is too much to be read") }
        }
    }

    func close() {
        watch = nil
        stream.close()
    }

    /// How many bytes were read; zero where there is no more for now.
    private func readOnce(_ emit: (String) -> Void) -> Int {
        var bytes: [UInt8] = []
        let result = errorLog.attempt("read the log of") { () throws(SystemError) in
            try stream.read(appendingTo: &bytes, limit: Self.piece)
        }
        lines.append(bytes, isLast: bytes.isEmpty, emit)
        if result != .wouldBlock, bytes.isEmpty { watch?.disable() }
        return bytes.count
    }
}

/// A stream as lines.
struct LogLines {
    /// Bytes.
    let longestLine: Int
    private var partial: [UInt8] = []

    init(longestLine: Int) { self.longestLine = longestLine }

    /// Emits each whole line; with `isLast`, the rest too.
    mutating func append(_ bytes: [UInt8], isLast: Bool, _ emit: (String) -> Void) {
        var start = 0
        for place in 0..<bytes.count {
            let isEnd = bytes[place] == UInt8(ascii: "\n")
            guard isEnd || partial.count + place - start + 1 == longestLine else { continue }
            partial.append(contentsOf: bytes[start..<(isEnd ? place : place + 1)])
            start = place + 1
            flush(emit)
        }
        partial.append(contentsOf: bytes[start...])
        if isLast, !partial.isEmpty, bytes.isEmpty { flush(emit) }
    }

    /// Control characters could rewrite an operator's terminal, so they are replaced. Plain ASCII skips the search, which costs much
    /// more than reading.
    private mutating func flush(_ emit: (String) -> Void) {
        let isPlain = partial.allSatisfy { $0 >= 0x20 && $0 < 0x7f || $0 == UInt8(ascii: "\t") }
        let text = String(decoding: partial, as: UTF8.self)
        partial.removeAll(keepingCapacity: true)
        emit(isPlain ? text : String(text.map { $0.isControl ? "\u{fffd}" : $0 }))
    }
}

extension Character {
    fileprivate var isControl: Bool {
        self != "\t" && unicodeScalars.contains { $0.value < 0x20 || (0x7f..<0xa0).contains($0.value) }
    }
}
