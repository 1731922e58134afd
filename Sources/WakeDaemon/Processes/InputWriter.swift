// What is on its way to a handler's standard input: written at once where the pipe takes it, the rest when the handler reads.
import WakeLoop
import WakeModel
import WakeSystem

/// The process behind the pipe, and what it is told of.
protocol InputReader: AnyObject {
    /// Nil where it failed and was told.
    func writeInput(_ bytes: [UInt8], from offset: Int) -> WriteResult?
    func watchInput(_ loop: EventLoop, _ body: @escaping () -> Void) -> Watch?
    /// Bytes that stand in the pipe; nil where that cannot be known.
    var unreadInput: Int? { get }
    func shutInput()
    /// Nothing waits to be written any more.
    func inputWasWritten()
    func deliveryWasWritten(through last: Sequence)
}

/// Owns the bytes that wait, and the watch for room.
final class InputWriter {
    private unowned let reader: any InputReader
    private unowned let loop: EventLoop
    /// Written to where it is: a second owner of its bytes would make every line cost a copy of its memory.
    private var lines = JSONWriter(reserving: 0)
    private var written = 0
    private var writtenInAll = 0
    private var closesWhenWritten = false
    private var watch: Watch?
    /// Only where what is written counts as delivered.
    private var firstRead: FirstRead?
    /// A delivery that is to be told of and is not written whole: its last event, and how long its first reading is waited for.
    private var unwritten: (last: Sequence, patience: TimeSpan)?
    /// The last event of the one that was written whole.
    private var lastWritten = Sequence(0)

    init(to reader: any InputReader, on loop: EventLoop) {
        self.reader = reader
        self.loop = loop
    }

    /// Notices may be dropped when a handler has not read for long; events never are.
    static let noticeBacklogLimit = 64 << 10
    var isBackedUp: Bool { lines.count - written > Self.noticeBacklogLimit }
    /// The first line after a launch names every device, and is followed by many that name one.
    private static let memoryKept = 64 << 10

    func write(_ compose: (inout JSONWriter) -> Void) {
        compose(&lines)
        flush()
    }

    /// What is written next is a delivery that ends with `last`, told of when all of it is out and the program has begun to
    /// read: before that it may be one that never gets as far as its first line.
    func tellWhenWritten(_ last: Sequence, _ patience: TimeSpan) throws(SystemError) {
        unwritten = (last, patience)
        guard firstRead == nil else { return }
        firstRead = try FirstRead(
            on: loop, bytesWaiting: { [unowned reader] in reader.unreadInput },
            tell: { [unowned self] in reader.deliveryWasWritten(through: lastWritten) })
    }

    /// Who ends well without a look at its input wants none of it; who fails was not given it.
    func noteExit(_ status: ExitStatus) {
        guard let firstRead, firstRead.isAwaited else { return }
        firstRead.stop()
        if status == .exited(code: 0) { reader.deliveryWasWritten(through: lastWritten) }
    }

    func closeWhenWritten() {
        closesWhenWritten = true
        flush()
    }

    /// The watches go before the descriptor does.
    func stop() { (watch, firstRead) = (nil, nil) }

    private func flush() {
        while written < lines.count {
            switch reader.writeInput(lines.bytes, from: written) {
            case .wrote(let count):
                written += count
                writtenInAll += count
            case .wouldBlock: return awaitRoom()
            case .closed: giveUp()
            case nil: return
            }
        }
        finishWriting()
    }

    private func finishWriting() {
        guard lines.count > 0 || closesWhenWritten else { return }
        lines.removeAll(keepingUpTo: Self.memoryKept)
        written = 0
        watch?.disable()
        reader.inputWasWritten()
        if closesWhenWritten { shut() }
        if let unwritten { tellOfDelivery(through: unwritten.last, unwritten.patience) }
    }

    private func tellOfDelivery(through last: Sequence, _ patience: TimeSpan) {
        (unwritten, lastWritten) = (nil, last)
        guard let firstRead else { return }
        if firstRead.hasHappened { return reader.deliveryWasWritten(through: last) }
        firstRead.begin(after: writtenInAll, patience: patience)
    }

    private func awaitRoom() {
        if let watch { return watch.enable() }
        watch = reader.watchInput(loop) { [unowned self] in flush() }
    }

    /// The handler closed its side: what it was not given comes again in its next life.
    private func giveUp() {
        unwritten = nil
        firstRead?.stop()
        written = lines.count
        shut()
    }

    private func shut() {
        watch?.cancel()
        watch = nil
        reader.shutInput()
    }
}
