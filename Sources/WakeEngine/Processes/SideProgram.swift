// A program that the daemon runs for a while beside its handlers: fed, bounded in time, and ended with all that it started.
import Glibc
import WakeLoop
import WakeModel
import WakeSystem

/// Owns the process, its container and our ends of its pipes. Its owner is called when something may have happened to it.
package final class SideProgram {
    package enum Ending: Hashable {
        case exited(code: Int32)
        case signalled(Int32)
        case neverRan(SystemError)
        /// It took longer than it may, and was killed.
        case overdue
    }

    /// How it is spoken with.
    package enum Talk: Hashable {
        /// It is fed once, and its last line alone is kept.
        case once
        /// Its input stays open, and each line that it writes is kept for ``removeSaid()``.
        case dialogue(longestLine: Int)
    }

    package struct Said: Hashable {
        package var line: String
        package var isError: Bool
    }

    private enum Phase {
        case running
        case killed
        /// The processes that it started are killed, and not gone yet.
        case emptying(Ending, since: Instant)
    }

    /// Its last line: most programs write there why they failed.
    package private(set) var lastLine: String?
    private var said: [Said] = []
    private let talk: Talk
    private let child: ChildProcess
    /// Closed where it is fed once.
    private var feed: PipeEnd
    private let output: LogDrain
    private let errors: LogDrain
    private var exitWatch: Watch?
    private var timer: Timer?
    private var phase = Phase.running
    private var end: Instant

    private static let longestLine = 512
    /// From the request to end to the kill.
    private static let longestEnd = TimeSpan.seconds(5)
    private static let emptyingLook = TimeSpan.milliseconds(10)
    /// The sweep of the next start removes processes that cannot die by then.
    private static let longestEmptying = TimeSpan.seconds(1)

    /// - Parameters:
    ///   - child: that has not been thawed yet.
    ///   - input: what it is given to read; no more than a pipe holds.
    ///   - patience: for how long it may run.
    package init(
        _ child: consuming ChildProcess, input: [UInt8], patience: TimeSpan, talk: Talk = .once
    ) throws(SystemError) {
        let log = ProcessErrorLog(log: Log("programs"), pid: child.pid)
        let longestLine = if case .dialogue(let longest) = talk { longest } else { Self.longestLine }
        var feed = child.input.release()
        output = LogDrain(child.output.release(), longestLine: longestLine, log)
        errors = LogDrain(child.errors.release(), longestLine: longestLine, log)
        child.replies.close()
        end = SystemClock.monotonic() + patience
        do throws(SystemError) {
            if !input.isEmpty { _ = try feed.write(input) }
            if talk == .once { feed.close() }
            try child.container.thaw()
        } catch {
            child.abandon()
            throw error
        }
        self.talk = talk
        self.feed = feed
        self.child = child
    }

    deinit { close() }

    /// Calls `body` when ``advance()`` may have more lines.
    package func listen<Owner: AnyObject>(
        on loop: EventLoop, of owner: Owner, _ body: @escaping (Owner) -> Void
    ) throws(SystemError) {
        try output.listen(on: loop, of: owner, body)
        try errors.listen(on: loop, of: owner, body)
        exitWatch = try loop.watch(child.pidfd.raw, for: .readable, cause: .handler, of: owner, body)
        timer = try loop.timer(on: .monotonic, of: owner, body)
        timer?.arm(at: end)
    }

    /// Reads its output. Returns how it ended, when it and all that it started are gone; nil before that.
    package func advance() -> Ending? {
        switch phase {
        case .running, .killed:
            output.read { keep($0, isError: false) }
            errors.read { keep($0, isError: true) }
            if let ending = reap() {
                begin(ending)
            } else if case .running = phase, SystemClock.monotonic() >= end {
                phase = .killed
                try? child.container.kill()
            }
        case .emptying: break
        }
        return emptied()
    }

    /// The lines since the last call.
    package func removeSaid() -> [Said] {
        defer { said = [] }
        return said
    }

    /// Writes a line to it. One that reads so slowly that there is no room has its input closed.
    package func say(_ line: [UInt8]) {
        guard case .wrote(let count)? = try? feed.write(line), count == line.count else { return feed.close() }
    }

    /// Asks it to end; it is killed where it takes too long.
    package func interrupt() {
        guard case .running = phase else { return }
        try? child.signal(SIGTERM)
        end = min(end, SystemClock.monotonic() + Self.longestEnd)
        timer?.arm(at: end)
    }

    /// Ends it at once, whatever it is doing.
    package func abandon() {
        close()
        try? child.container.kill()
        child.abandon()
    }

    private func close() {
        feed.close()
        output.close()
        errors.close()
        (exitWatch, timer) = (nil, nil)
    }

    private func keep(_ line: String, isError: Bool) {
        guard !line.isEmpty else { return }
        lastLine = line
        if case .dialogue = talk { said.append(Said(line: line, isError: isError)) }
    }

    private func reap() -> Ending? {
        guard let status = try? child.reap() else { return nil }
        if case .failed(_, let error) = try? child.startupOutcome() { return .neverRan(error) }
        if case .killed = phase { return .overdue }
        return switch status {
        case .exited(let code): .exited(code: code)
        case .signalled(let number): .signalled(number)
        }
    }

    private func begin(_ ending: Ending) {
        // Its end may be noticed before its output. The line on stderr counts if two lines were not read yet.
        output.drain { keep($0, isError: false) }
        errors.drain { keep($0, isError: true) }
        phase = .emptying(ending, since: SystemClock.monotonic())
        exitWatch?.disable()
        try? child.container.kill()
    }

    private func emptied() -> Ending? {
        guard case .emptying(let ending, let since) = phase else { return nil }
        let now = SystemClock.monotonic()
        if child.container.remove() || now - since > Self.longestEmptying {
            close()
            return ending
        }
        timer?.arm(at: now + Self.emptyingLook)
        return nil
    }
}
