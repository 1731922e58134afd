// A process's descriptor 3 from our side: what the handler says, cut into lines, and when it is not listened to.
import WakeLoop
import WakeModel
import WakeSystem

/// Where replies are read into before they are cut into lines; one for all processes, because each empties it at once.
final class ReadSpace {
    fileprivate var bytes = [UInt8](repeating: 0, count: 8 << 10)
}

/// What a reader needs of the process whose socket it reads.
protocol ReplySpeaker: AnyObject {
    /// Reads once into the front of the bytes; nil where that failed.
    func readReplies(into bytes: inout [UInt8]) -> ReadResult?
    /// Bytes that have been written and not been read.
    var replyBytesWaiting: Int { get }
    func said(_ line: Result<ArraySlice<UInt8>, ProtocolFault>)
    /// It says more than its allowance: it is listened to now and then only, until all it wrote has been heard.
    func becameThrottled(_ isThrottled: Bool)
}

/// Owns the watch on a socket that its process owns; it must be stopped before the socket is closed.
final class ReplyReader {
    private unowned let speaker: any ReplySpeaker
    private let space: ReadSpace
    private var watch: Watch?
    private var refill: Timer?
    private var splitter = LineSplitter()
    private var allowance = LineAllowance(now: SystemClock.monotonic())

    private struct Drain {
        var left: Int
        var isLast: Bool
        var then: () -> Void
    }
    private var drain: Drain?

    private var isHeld = false
    /// Its allowance is spent, and it is not listened to until some of it is back.
    private var isWaiting = false
    private var isThrottled = false
    private var isAsleep = false
    /// Its other side was closed.
    private var hasEnded = false
    private var isOver = false
    /// A line is being told, and what it causes may ask to hear more: that has to wait, or lines would change places.
    private var isTelling = false

    init(of raw: Int32, on loop: EventLoop, space: ReadSpace, speaker: any ReplySpeaker) throws(SystemError) {
        self.space = space
        self.speaker = speaker
        watch = try loop.watch(raw, for: .readable) { [unowned self] _ in heed() }
        refill = try loop.timer(on: .monotonic) { [unowned self] in listen() }
    }

    /// Tells nothing any more, even from within a call.
    func stop() {
        isOver = true
        drain = nil
        refill = nil
        watch = nil
    }

    /// Hears nothing until ``release()``; false where it was so already.
    func hold() -> Bool {
        guard !isHeld else { return false }
        isHeld = true
        updateWatch()
        return true
    }

    func release() {
        guard isHeld else { return }
        isHeld = false
        updateWatch()
        // What came before it was held may not be told by now, and nothing of it is in the socket any more.
        if isThrottled, !isWaiting { refill?.arm(at: SystemClock.monotonic()) }
    }

    /// The process was given so many events, and may say what belongs to them.
    func grant(events: Int) {
        allowance.grant(events: events)
        if isWaiting, events > 0 { listen() }
    }

    /// Does not wait for the loop to find that something was said.
    func hear() { if !isWaiting, !isTelling { listen() } }

    /// It runs, or is about to: what it says is listened to again.
    func wake() {
        guard isAsleep, !isEnding else { return }
        drain = nil
        isAsleep = false
        updateWatch()
        // What it owes from before may not be paid by now.
        if isThrottled { listen() }
    }

    /// Hears every line that was written before now, paid for or not, and then calls `done`: after a freeze, and with
    /// `isLast` after an exit, when whom it left behind may go on writing for ever. What a socket holds, which its owner can
    /// make large, is read in pieces over several turns, so that a flood keeps nobody else waiting here either.
    func drain(isLast: Bool = false, then done: @escaping () -> Void) {
        guard !isEnding else { return }
        isAsleep = true
        isWaiting = false
        refill?.disarm()
        drain = Drain(left: speaker.replyBytesWaiting, isLast: isLast, then: done)
        drainPiece()
    }

    // MARK: Listening

    /// Of one that sleeps nothing comes, but of root's processes that have left its cgroup.
    private func heed() { if isAsleep, drain == nil { watch?.disable() } else { listen() } }

    /// One reading a turn, so that a handler that floods does not starve the others.
    private func listen() {
        if drain != nil { return drainPiece() }
        isWaiting = false
        guard !isHeld, !isAsleep, !isOver else { return }
        guard tellPaid() else { return }
        let count = readOnce() ?? 0
        guard tellPaid() else { return }
        if count < space.bytes.count { catchUp() }
        updateWatch()
    }

    /// Tells what is there of whole lines; false where the allowance does not reach, or nobody listens any more.
    private func tellPaid() -> Bool {
        let now = SystemClock.monotonic()
        while !isOver {
            if allowance.isSpent(now: now) {
                waitForRefill(from: now)
                return false
            }
            guard let line = splitter.next() else { return true }
            allowance.payLine(now: now)
            tell(line)
        }
        return false
    }

    private func tell(_ line: Result<ArraySlice<UInt8>, ProtocolFault>) {
        isTelling = true
        speaker.said(line)
        isTelling = false
    }

    private func waitForRefill(from now: Instant) {
        isWaiting = true
        updateWatch()
        refill?.arm(at: now + Self.refillPause)
        guard !isThrottled else { return }
        isThrottled = true
        speaker.becameThrottled(true)
    }

    /// A hundred lines at a time, instead of a wake of ours for each.
    private static let refillPause = TimeSpan.milliseconds(100)

    private func catchUp() {
        guard isThrottled, !isOver else { return }
        isThrottled = false
        speaker.becameThrottled(false)
    }

    // MARK: Draining

    /// Its end is being told: nothing else matters then.
    private var isEnding: Bool { drain?.isLast ?? false }

    private func drainPiece() {
        tellAll()
        if let left = drain?.left, left > 0, let count = readOnce() {
            tellAll()
            drain?.left = left - count
            if left > count { return updateWatch() }
        }
        endDrain()
    }

    private func endDrain() {
        guard let ended = drain else { return }
        // The end of the socket is known only by reading past what is there, and with it a last line without an end.
        if ended.isLast, readOnce() != nil { tellAll() }
        drain = nil
        updateWatch()
        ended.then()
    }

    private func tellAll() {
        let now = SystemClock.monotonic()
        while !isOver, let line = splitter.next() {
            allowance.payLine(now: now)
            tell(line)
        }
    }

    /// How many bytes came; nil where none did.
    private func readOnce() -> Int? {
        guard !isOver, let result = speaker.readReplies(into: &space.bytes) else { return nil }
        switch result {
        case .bytes(let count):
            splitter.append(space.bytes[..<count])
            allowance.pay(bytes: count, now: SystemClock.monotonic())
            return count
        case .wouldBlock: return nil
        case .endOfFile, .closed:
            if let rest = splitter.finish() { tell(rest) }
            hasEnded = true
            watch?.disable()
            return nil
        }
    }

    /// Who would not listen does not watch: a socket that is ready for nobody would keep the loop turning. That of one that
    /// sleeps is silent, and is left as it is: two system calls a wake.
    private func updateWatch() {
        if hasEnded || drain == nil && (isHeld || isWaiting) {
            watch?.disable()
        } else if drain != nil || !isAsleep {
            watch?.enable()
        }
    }
}
