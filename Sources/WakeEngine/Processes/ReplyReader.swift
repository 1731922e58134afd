// Our end of a process's descriptor 3: reads the handler's lines, and decides when to pause.
import WakeLoop
import WakeModel
import WakeSystem

/// The read buffer; one for all processes, because each read is cut into lines at once.
final class ReadSpace {
    fileprivate var bytes = [UInt8](repeating: 0, count: 8 << 10)
}

/// Owns our end of the pipe, and the watch on it. Call ``next()`` until it returns nil for this turn.
final class ReplyReader {
    typealias Line = Result<ArraySlice<UInt8>, ProtocolFault>

    enum News {
        case line(Line)
        /// True: it writes more than its allowance, so it is read at intervals until all it wrote has been read.
        case throttled(Bool)
        /// Every line that was written before the freeze or the exit has been returned.
        case drained(Occasion)
    }

    /// Why every line written so far is read, beyond the allowance too.
    enum Occasion {
        case freeze
        /// Processes that it left behind may write forever.
        case exit(ExitStatus)
    }

    private enum State {
        case listening
        /// Frozen: only escaped root processes write now.
        case frozen
        /// `left` bytes of those that were there are unread.
        case draining(left: Int, Occasion)
        /// All that was there is read; checks for the end of the stream.
        case ending(ExitStatus)
        /// Returns nothing any more, even when closed during a call.
        case closed
    }

    /// The state of the allowance.
    private enum Pace: Equatable {
        case free
        case throttled
        /// Spent: nothing is read until then.
        case waiting(until: Instant)
    }

    /// Each turn reads once, so that a flood does not starve the other handlers.
    private enum Reading {
        case due
        case done(count: Int)
    }

    private var pipe: PipeEnd
    private let space: ReadSpace
    private let errorLog: ProcessErrorLog
    private var watch: Watch?
    private var refill: Timer?
    private var splitter = LineSplitter()
    private var allowance = LineAllowance(now: SystemClock.monotonic())
    private var state = State.listening
    private var pace = Pace.free
    private var reading = Reading.due
    /// The handler does not read its answers, so its replies are not read.
    private var isHeld = false

    /// A hundred lines at a time, instead of a wake of the daemon for each.
    private static let refillPause = TimeSpan.milliseconds(100)

    init(_ pipe: consuming PipeEnd, space: ReadSpace, _ errorLog: ProcessErrorLog) {
        self.pipe = pipe
        self.space = space
        self.errorLog = errorLog
    }

    /// The watch first: a descriptor closed while watched stays in epoll as long as a child that is frozen before its exec holds a
    /// copy.
    deinit { watch?.cancel() }

    /// Calls `body` when ``next()`` may return something.
    func listen<Owner: AnyObject>(
        on loop: EventLoop, of owner: Owner, _ body: @escaping (Owner) -> Void
    ) throws(SystemError) {
        guard let raw = pipe.raw else { return }
        watch = try loop.watch(raw, for: .readable, cause: .handler, of: owner, body)
        refill = try loop.timer(on: .monotonic, of: owner, body)
    }

    func close() {
        state = .closed
        refill = nil
        endWatch()
    }

    /// Reads nothing until ``release()``; false where it is held already.
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
        // Lines read before the hold may still be in the splitter. The pipe no longer has them, so it reports nothing.
        switch pace {
        case .free, .throttled: refill?.arm(at: SystemClock.monotonic())
        case .waiting(let until): refill?.arm(at: until)
        }
    }

    /// Pays for an answer to the process.
    func payAnswer(bytes: Int) { allowance.payAnswer(bytes: bytes, now: SystemClock.monotonic()) }

    /// The process got so many events and may answer them. True where reading continues by that.
    func grant(events: Int) -> Bool {
        allowance.grant(events: events)
        guard isWaiting, events > 0 else { return false }
        pace = .throttled
        return true
    }

    /// It runs, or is about to: reads its replies again. True where unread lines from before may be left.
    func wake() -> Bool {
        switch state {
        case .listening, .draining(_, .exit), .ending, .closed: return false
        case .frozen, .draining(_, .freeze): break
        }
        state = .listening
        updateWatch()
        return pace != .free
    }

    /// From now on ``next()`` returns every line written before now, then ``News/drained(_:)``. A handler may enlarge its pipe, so this
    /// takes several turns and delays no other handler.
    func drain(_ occasion: Occasion) {
        switch state {
        case .draining(_, .exit), .ending, .closed: return
        case .listening, .frozen, .draining(_, .freeze): break
        }
        if isWaiting { pace = .throttled }
        refill?.disarm()
        let left = errorLog.attempt("read from") { () throws(SystemError) in try pipe.bytesWaiting() } ?? nil
        state = .draining(left: left ?? 0, occasion)
        reading = .due
    }

    // MARK: Reading

    /// Nil where that is all for this turn.
    func next() -> News? {
        switch state {
        case .listening: return isHeld ? nil : nextPaid()
        case .frozen:
            watch?.disable()
            return nil
        case .draining(let left, let occasion): return nextDrained(left, occasion)
        case .ending(let status): return nextLine() ?? endDrain(.exit(status))
        case .closed: return nil
        }
    }

    private func nextPaid() -> News? {
        let now = SystemClock.monotonic()
        if case .waiting(let until) = pace {
            guard now >= until else { return nil }
            pace = .throttled
        }
        while !allowance.isSpent(now: now) {
            if let line = splitter.next() {
                allowance.payLine(now: now)
                return .line(line)
            }
            switch reading {
            case .due: if let rest = readOnce() { return .line(rest) }
            case .done(let count): return endListening(after: count)
            }
        }
        return waitForRefill(from: now)
    }

    private func endListening(after count: Int) -> News? {
        if count < space.bytes.count, pace != .free {
            pace = .free
            return .throttled(false)
        }
        reading = .due
        updateWatch()
        return nil
    }

    private func waitForRefill(from now: Instant) -> News? {
        let wasFree = pace == .free
        let until = now + Self.refillPause
        pace = .waiting(until: until)
        reading = .due
        updateWatch()
        refill?.arm(at: until)
        return wasFree ? .throttled(true) : nil
    }

    private func nextDrained(_ left: Int, _ occasion: Occasion) -> News? {
        if let line = nextLine() { return line }
        guard left > 0 else {
            guard case .exit(let status) = occasion else { return endDrain(occasion) }
            // Only a read past the rest shows the end of the stream, and with it a last line without a newline.
            state = .ending(status)
            return readOnce().map(News.line) ?? next()
        }
        guard case .due = reading else {
            reading = .due
            updateWatch()
            return nil
        }
        let rest = readOnce()
        if case .done(let count) = reading { state = .draining(left: count > 0 ? left - count : 0, occasion) }
        return rest.map(News.line) ?? next()
    }

    private func endDrain(_ occasion: Occasion) -> News {
        state = .frozen
        reading = .due
        updateWatch()
        return .drained(occasion)
    }

    /// A line that is returned in any case.
    private func nextLine() -> News? {
        guard let line = splitter.next() else { return nil }
        allowance.payLine(now: SystemClock.monotonic())
        return .line(line)
    }

    /// Returns what follows the last newline where the stream has ended.
    private func readOnce() -> Line? {
        reading = .done(count: 0)
        guard
            let result = errorLog.attempt(
                "read from", { () throws(SystemError) in try pipe.read(into: &space.bytes) })
        else { return nil }
        switch result {
        case .bytes(let count):
            reading = .done(count: count)
            splitter.append(space.bytes[..<count])
            allowance.pay(bytes: count, now: SystemClock.monotonic())
            return nil
        case .wouldBlock: return nil
        case .endOfFile, .closed:
            endWatch()
            return splitter.finish()
        }
    }

    private func endWatch() {
        watch = nil
        pipe.close()
    }

    private var isWaiting: Bool { if case .waiting = pace { true } else { false } }

    /// Stops the watch while nothing is read, because a readable pipe would keep the loop busy. The watch of a frozen process stays:
    /// its pipe is silent, and changing it costs two system calls a wake.
    private func updateWatch() {
        switch state {
        case .draining, .ending: watch?.enable()
        case .listening, .frozen:
            if isHeld || isWaiting { return watch?.disable() ?? () }
            if case .listening = state { watch?.enable() }
        case .closed: break
        }
    }
}
