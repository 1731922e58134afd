// Writes to a handler's standard input: at once while the pipe has room, the rest when the handler reads.
import WakeLoop
import WakeModel
import WakeSystem

/// Owns our end of the pipe, the bytes not yet written, and the watch for room.
final class InputWriter {
    enum Progress {
        /// Until the pipe has room.
        case waiting
        /// All is written. `delivery` is the last event of a tracked delivery.
        case written(delivery: Sequence?)
        case failed
    }

    private var pipe: PipeEnd
    private let errorLog: ProcessErrorLog
    /// Changed in place: a second owner of its bytes would make every line a copy.
    private var lines = JSONWriter(reserving: 0)
    private var written = 0
    private var writtenInAll = 0
    private var closesWhenWritten = false
    private var room: Watch?
    /// Only where writing counts as delivery.
    private var firstRead: FirstRead?
    /// A tracked delivery that is not fully written: its last event, and how long to wait for the first read.
    private var tracked: (last: Sequence, patience: TimeSpan)?
    /// The last event of the tracked delivery that was fully written.
    private var lastWritten = Sequence(0)

    init(_ pipe: consuming PipeEnd, _ errorLog: ProcessErrorLog) {
        self.pipe = pipe
        self.errorLog = errorLog
    }

    /// Before the descriptor that it watches is closed.
    deinit { room?.cancel() }

    /// Past it notices are dropped, but never events.
    static let noticeBacklogLimit = 64 << 10
    var isBackedUp: Bool { lines.count - written > Self.noticeBacklogLimit }
    /// The first line after a launch names every device, and many short lines follow.
    private static let memoryKept = 64 << 10

    /// Adds what `compose` appends; the next ``write()`` writes it.
    /// - Returns: how many bytes were added.
    @discardableResult func append(_ compose: (inout JSONWriter) -> Void) -> Int {
        let before = lines.count
        compose(&lines)
        return lines.count - before
    }

    /// End-of-file follows the last line.
    func closeWhenWritten() { closesWhenWritten = true }

    func write() -> Progress {
        while written < lines.count {
            let result = errorLog.attempt("write to") { () throws(SystemError) in
                try pipe.write(lines.bytes, from: written)
            }
            switch result {
            case .wrote(let count):
                written += count
                writtenInAll += count
            case .wouldBlock: return .waiting
            case .closed: giveUp()
            case nil: return .failed
            }
        }
        return .written(delivery: finishWriting())
    }

    /// Watches for room in the pipe; `make` makes the watch, once.
    func awaitRoom(_ make: (Int32) -> Watch?) {
        if let room { return room.enable() }
        guard let descriptor = pipe.raw else { return }
        room = make(descriptor)
    }

    private func finishWriting() -> Sequence? {
        guard lines.count > 0 || closesWhenWritten else { return nil }
        lines.removeAll(keepingUpTo: Self.memoryKept)
        written = 0
        room?.disable()
        if closesWhenWritten { close() }
        guard let (last, patience) = tracked else { return nil }
        (tracked, lastWritten) = (nil, last)
        if firstRead?.hasHappened ?? false { return last }
        firstRead?.begin(after: writtenInAll, patience: patience)
        return nil
    }

    /// The handler closed its side. Its next process gets what was not written.
    private func giveUp() {
        tracked = nil
        firstRead?.stop()
        written = lines.count
        close()
    }

    func close() {
        room = nil
        pipe.close()
    }

    // MARK: Deliveries that count when they are written

    /// The next lines are a delivery that ends with `last`. It counts when all of it is written and the program has begun to read,
    /// because a program may crash before its first line. The timer is for ``checkForFirstRead()``.
    func trackDelivery(
        _ last: Sequence, _ patience: TimeSpan, timer: () throws(SystemError) -> Timer
    ) throws(SystemError) {
        tracked = (last, patience)
        if firstRead == nil { firstRead = FirstRead(try timer()) }
    }

    /// The delivery that the program has begun to read.
    func checkForFirstRead() -> Sequence? {
        let unread = errorLog.attempt("look at the input of") { () throws(SystemError) in try pipe.bytesWaiting() }
        return firstRead?.check(bytesWaiting: unread ?? nil) ?? false ? lastWritten : nil
    }

    /// A program that exits with 0 without reading has ignored its input. One that fails did not get it.
    func recordExit(_ status: ExitStatus) -> Sequence? {
        guard let firstRead, firstRead.isAwaited else { return nil }
        self.firstRead?.stop()
        return status == .exited(code: 0) ? lastWritten : nil
    }
}

/// Whether a program has begun to read its input. The kernel does not report reads of a pipe, so it is polled with doubling delays,
/// until the first read.
struct FirstRead {
    private enum State {
        case unread
        /// How much has been written, until when to wait, and how long until the next check.
        case awaited(bytes: Int, until: Instant, delay: TimeSpan)
        case happened
    }

    private var state = State.unread
    private let timer: Timer

    private static let firstDelay = TimeSpan.milliseconds(1)
    private static let longestDelay = TimeSpan.milliseconds(100)

    /// Call ``check(bytesWaiting:)`` when the timer fires.
    init(_ timer: Timer) { self.timer = timer }

    var hasHappened: Bool { if case .happened = state { true } else { false } }
    var isAwaited: Bool { if case .awaited = state { true } else { false } }

    /// It happens when some of the `bytes` written in all have been read. A program that reads nothing for `patience` ignores its
    /// input, and counts as one that has begun.
    mutating func begin(after bytes: Int, patience: TimeSpan) {
        let now = SystemClock.monotonic()
        state = .awaited(bytes: bytes, until: now + patience, delay: Self.firstDelay)
        timer.arm(at: now + Self.firstDelay)
    }

    /// The program will never read again.
    mutating func stop() {
        if isAwaited { state = .unread }
        timer.disarm()
    }

    /// True once, when it has happened. `bytesWaiting` is what the pipe holds; nil where that is unknown.
    mutating func check(bytesWaiting: Int?) -> Bool {
        guard case .awaited(let bytes, let until, let delay) = state else { return false }
        let now = SystemClock.monotonic()
        if bytesWaiting.map({ $0 < bytes }) ?? false || now >= until {
            state = .happened
            return true
        }
        let next = min(delay + delay, Self.longestDelay)
        state = .awaited(bytes: bytes, until: until, delay: next)
        timer.arm(at: now + next)
        return false
    }
}
