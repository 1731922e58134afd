// One stream of a handler's log: drained whatever comes, so that its writer never waits, and told line by line.
import WakeLoop
import WakeModel
import WakeSystem

/// Owns the watch on a stream that its process owns; it must be let go of before the stream is closed.
final class LogDrain {
    /// Reads once what is there, and appends it; nil where that failed.
    typealias Source = (inout [UInt8]) -> ReadResult?

    private var watch: Watch?
    private var lines: LogLines
    private let read: Source
    private let tell: (String) -> Void

    init(
        of raw: Int32, on loop: EventLoop, longestLine: Int, read: @escaping Source, tell: @escaping (String) -> Void
    ) throws(SystemError) {
        lines = LogLines(longestLine: longestLine)
        self.read = read
        self.tell = tell
        // Whoever pours out a log without end must not keep the commit waiting that all others wait for.
        watch = try loop.watch(raw, for: .readable, priority: .background) { [unowned self] _ in _ = drainOnce() }
    }

    /// What a process wrote last is often why it ended; a pipe holds little more than its capacity then.
    func drain() {
        for _ in 0..<64 { guard drainOnce() else { return } }
    }

    /// True while there may be more.
    private func drainOnce() -> Bool {
        var bytes: [UInt8] = []
        let result = read(&bytes)
        let isMore = !bytes.isEmpty
        lines.append(bytes, isLast: !isMore, tell)
        if result != .wouldBlock, !isMore { watch?.disable() }
        return isMore
    }
}
