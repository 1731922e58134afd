// A program that the daemon runs for a moment beside its handlers: fed once, bounded in time, and ended with all that it started.
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

    private enum Phase {
        case running
        case killed
        /// What it started is killed, and not gone yet.
        case emptying(Ending, since: Instant)
    }

    /// What it wrote last: most programs say there why they failed.
    package private(set) var lastLine: String?
    private let child: ChildProcess
    private let output: LogDrain
    private let errors: LogDrain
    private var exitWatch: Watch?
    private var timer: Timer?
    private var phase = Phase.running
    private let end: Instant

    private static let longestLine = 512
    private static let emptyingLook = TimeSpan.milliseconds(10)
    /// What cannot die by then is left to the sweep of the next start.
    private static let longestEmptying = TimeSpan.seconds(1)

    /// - Parameters:
    ///   - child: that has not been thawed yet.
    ///   - input: what it is given to read; no more than a pipe holds.
    ///   - patience: for how long it may run.
    package init(_ child: consuming ChildProcess, input: [UInt8], patience: TimeSpan) throws(SystemError) {
        let log = ProcessErrorLog(log: Log("programs"), pid: child.pid)
        var feed = child.input.release()
        output = LogDrain(child.output.release(), longestLine: Self.longestLine, log)
        errors = LogDrain(child.errors.release(), longestLine: Self.longestLine, log)
        child.replies.close()
        end = SystemClock.monotonic() + patience
        do throws(SystemError) {
            if !input.isEmpty { _ = try feed.write(input) }
            feed.close()
            try child.container.thaw()
        } catch {
            child.abandon()
            throw error
        }
        self.child = child
    }

    deinit { close() }

    /// Calls `body` when ``advance()`` may have more to say.
    package func listen<Owner: AnyObject>(
        on loop: EventLoop, of owner: Owner, _ body: @escaping (Owner) -> Void
    ) throws(SystemError) {
        try output.listen(on: loop, of: self) { $0.output.read($0.keep) }
        try errors.listen(on: loop, of: self) { $0.errors.read($0.keep) }
        exitWatch = try loop.watch(child.pidfd.raw, for: .readable, of: owner, body)
        timer = try loop.timer(on: .monotonic, of: owner, body)
        timer?.arm(at: end)
    }

    /// How it ended, when it and all that it started are gone; nil before that.
    package func advance() -> Ending? {
        switch phase {
        case .running, .killed:
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

    /// Ends it at once, whatever it is doing.
    package func abandon() {
        close()
        try? child.container.kill()
        child.abandon()
    }

    private func close() {
        output.close()
        errors.close()
        (exitWatch, timer) = (nil, nil)
    }

    private func keep(_ line: String) { if !line.isEmpty { lastLine = line } }

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
        // Its end may be heard before what it wrote. Of two lines that were not heard yet the one on stderr counts.
        output.drain(keep)
        errors.drain(keep)
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
