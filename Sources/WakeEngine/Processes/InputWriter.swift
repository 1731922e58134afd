// What is on its way to a handler's standard input: written at once where the pipe takes it, the rest when the handler reads.
import WakeLoop
import WakeModel
import WakeSystem

/// Owns our end of the pipe, the bytes that wait, and the watch for room.
final class InputWriter {
    /// How far it has come.
    enum Progress {
        /// For room in the pipe.
        case waiting
        /// Nothing waits any more. With it the last event of a delivery whose writing is to be told.
        case written(delivery: Sequence?)
        case failed
    }

    private var pipe: PipeEnd
    private let trouble: ProcessTrouble
    /// Written to where it is: a second owner of its bytes would make every line cost a copy of its memory.
    private var lines = JSONWriter(reserving: 0)
    private var written = 0
    private var writtenInAll = 0
    private var closesWhenWritten = false
    private var room: Watch?
    /// Only where what is written counts as delivered.
    private var firstRead: FirstRead?
    /// A delivery that is to be told of and is not written whole: its last event, and how long its first reading is waited for.
    private var unwritten: (last: Sequence, patience: TimeSpan)?
    /// The last event of the one that was written whole.
    private var lastWritten = Sequence(0)

    init(_ pipe: consuming PipeEnd, _ trouble: ProcessTrouble) {
        self.pipe = pipe
        self.trouble = trouble
    }

    /// Before what it watches is closed.
    deinit { room?.cancel() }

    /// Notices may be dropped when a handler has not read for long; events never are.
    static let noticeBacklogLimit = 64 << 10
    var isBackedUp: Bool { lines.count - written > Self.noticeBacklogLimit }
    /// The first line after a launch names every device, and is followed by many that name one.
    private static let memoryKept = 64 << 10

    /// What `compose` writes is on its way from the next ``write()`` on.
    func append(_ compose: (inout JSONWriter) -> Void) { compose(&lines) }

    /// End-of-file follows what waits.
    func closeWhenWritten() { closesWhenWritten = true }

    /// Writes what the pipe takes.
    func write() -> Progress {
        while written < lines.count {
            let result = trouble.attempt("write to") { () throws(SystemError) in
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

    /// Hears of room in the pipe by the watch that `make` gives for its descriptor, at the first time.
    func awaitRoom(_ make: (Int32) -> Watch?) {
        if let room { return room.enable() }
        guard let descriptor = pipe.raw else { return }
        room = make(descriptor)
    }

    func close() { shut() }

    private func finishWriting() -> Sequence? {
        guard lines.count > 0 || closesWhenWritten else { return nil }
        lines.removeAll(keepingUpTo: Self.memoryKept)
        written = 0
        room?.disable()
        if closesWhenWritten { shut() }
        guard let (last, patience) = unwritten else { return nil }
        (unwritten, lastWritten) = (nil, last)
        if firstRead?.hasHappened ?? false { return last }
        firstRead?.begin(after: writtenInAll, patience: patience)
        return nil
    }

    /// The handler closed its side: what it was not given comes again in its next process.
    private func giveUp() {
        unwritten = nil
        firstRead?.stop()
        written = lines.count
        shut()
    }

    private func shut() {
        room = nil
        pipe.close()
    }

    // MARK: Deliveries that count when they are written

    /// What is written next is a delivery that ends with `last`, told of when all of it is out and the program has begun to
    /// read: before that it may be one that never gets as far as its first line. The timer is for ``lookForFirstRead()``.
    func tellWhenWritten(
        _ last: Sequence, _ patience: TimeSpan, timer: () throws(SystemError) -> Timer
    ) throws(SystemError) {
        unwritten = (last, patience)
        if firstRead == nil { firstRead = FirstRead(try timer()) }
    }

    /// The delivery that the program has begun to read.
    func lookForFirstRead() -> Sequence? {
        let unread = trouble.attempt("look at the input of") { () throws(SystemError) in try pipe.bytesWaiting() }
        return firstRead?.look(bytesWaiting: unread ?? nil) ?? false ? lastWritten : nil
    }

    /// A program that ends well without a look at its input wants none of it; one that fails was not given it.
    func noteExit(_ status: ExitStatus) -> Sequence? {
        guard let firstRead, firstRead.isAwaited else { return nil }
        self.firstRead?.stop()
        return status == .exited(code: 0) ? lastWritten : nil
    }
}
