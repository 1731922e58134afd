// A process's descriptor 3 from our side: what the handler says, cut into lines, and when it is not read.
import WakeLoop
import WakeModel
import WakeSystem

/// Where replies are read into before they are cut into lines; one for all processes, because each empties it at once.
final class ReadSpace {
    fileprivate var bytes = [UInt8](repeating: 0, count: 8 << 10)
}

/// Owns our end of the pipe, and the watch on it. Its owner asks for what was said until there is nothing more for this turn.
final class ReplyReader {
    typealias Line = Result<ArraySlice<UInt8>, ProtocolFault>

    /// What the pipe brought.
    enum News {
        case line(Line)
        /// It says more than its allowance: it is read now and then only, until all it wrote has been read.
        case throttled(Bool)
        /// Every line that was written before the freeze or the exit has been told.
        case drained(Occasion)
    }

    /// Why every line that was written before now is read, paid for or not.
    enum Occasion {
        case freeze
        /// What the process left behind may go on writing for ever.
        case exit(ExitStatus)
    }

    private enum State {
        case listening
        /// Frozen: only escaped root processes write now.
        case asleep
        /// So many of the bytes that were there have not been read.
        case draining(left: Int, Occasion)
        /// All that was there is read, and whether the stream has ended is looked for.
        case ending(ExitStatus)
        /// Tells nothing any more, even from within a call.
        case closed
    }

    /// How the handler stands with its allowance.
    private enum Pace: Equatable {
        case free
        case throttled
        /// It is spent, and nothing is read until some of it is back.
        case waiting(until: Instant)
    }

    /// One reading a turn, so that a handler that floods does not starve the others.
    private enum Reading {
        case due
        case done(count: Int)
    }

    private var pipe: PipeEnd
    private let space: ReadSpace
    private let trouble: ProcessTrouble
    private var watch: Watch?
    private var refill: Timer?
    private var splitter = LineSplitter()
    private var allowance = LineAllowance(now: SystemClock.monotonic())
    private var state = State.listening
    private var pace = Pace.free
    private var reading = Reading.due
    /// The handler does not read its answers, so it is not read either.
    private var isHeld = false

    /// A hundred lines at a time, instead of a wake of ours for each.
    private static let refillPause = TimeSpan.milliseconds(100)

    init(_ pipe: consuming PipeEnd, space: ReadSpace, _ trouble: ProcessTrouble) {
        self.pipe = pipe
        self.space = space
        self.trouble = trouble
    }

    /// The watch first: a descriptor that is closed while it is watched may stay in epoll, as long as a child that is still
    /// frozen on its way to exec holds a copy.
    deinit { watch?.cancel() }

    /// Calls `body` when ``next()`` may have news.
    func listen<Owner: AnyObject>(
        on loop: EventLoop, of owner: Owner, _ body: @escaping (Owner) -> Void
    ) throws(SystemError) {
        guard let raw = pipe.raw else { return }
        watch = try loop.watch(raw, for: .readable, of: owner, body)
        refill = try loop.timer(on: .monotonic, of: owner, body)
    }

    func close() {
        state = .closed
        refill = nil
        endWatch()
    }

    /// Reads nothing until ``release()``; false where it was so already.
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
        // Lines that were read before it was held may not be told yet. The pipe does not have them any more, so it stays silent.
        switch pace {
        case .free, .throttled: refill?.arm(at: SystemClock.monotonic())
        case .waiting(let until): refill?.arm(at: until)
        }
    }

    /// The process was given so many events, and may say what belongs to them. True where that lets it be read on.
    func grant(events: Int) -> Bool {
        allowance.grant(events: events)
        guard isWaiting, events > 0 else { return false }
        pace = .throttled
        return true
    }

    /// It runs, or is about to: what it says is read again. True where there may be something from before, not paid for yet.
    func wake() -> Bool {
        switch state {
        case .listening, .draining(_, .exit), .ending, .closed: return false
        case .asleep, .draining(_, .freeze): break
        }
        state = .listening
        updateWatch()
        return pace != .free
    }

    /// From now on ``next()`` tells every line that was written before now, and that it has. What a pipe holds, which its owner
    /// can make large, is read in pieces over several turns, so that a flood keeps no other handler waiting.
    func drain(_ occasion: Occasion) {
        switch state {
        case .draining(_, .exit), .ending, .closed: return
        case .listening, .asleep, .draining(_, .freeze): break
        }
        if isWaiting { pace = .throttled }
        refill?.disarm()
        let left = trouble.attempt("read from") { () throws(SystemError) in try pipe.bytesWaiting() } ?? nil
        state = .draining(left: left ?? 0, occasion)
        reading = .due
    }

    // MARK: Reading

    /// What is told next; nil where that is all for this turn.
    func next() -> News? {
        switch state {
        case .listening: return isHeld ? nil : nextPaid()
        case .asleep:
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
            // The end of the stream is known only by reading past what is there, and with it a last line without an end.
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
        state = .asleep
        reading = .due
        updateWatch()
        return .drained(occasion)
    }

    /// A line that is told in any case.
    private func nextLine() -> News? {
        guard let line = splitter.next() else { return nil }
        allowance.payLine(now: SystemClock.monotonic())
        return .line(line)
    }

    /// Returns what stands after the last newline where nothing more will come.
    private func readOnce() -> Line? {
        reading = .done(count: 0)
        guard
            let result = trouble.attempt(
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

    /// What is not read is not watched: a pipe that is ready would keep the loop turning. That of a frozen process is silent,
    /// and is left as it is: two system calls a wake.
    private func updateWatch() {
        switch state {
        case .draining, .ending: watch?.enable()
        case .listening, .asleep:
            if isHeld || isWaiting { return watch?.disable() ?? () }
            if case .listening = state { watch?.enable() }
        case .closed: break
        }
    }
}
