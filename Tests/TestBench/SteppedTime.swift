// The time of a stepped daemon: it goes on only where a test moves it, from each deadline to the next.
import Glibc
import SteppedPage
import WakeModel
import WakeSystem

/// Somebody outside the daemon whom it asks and answers, as a bus or what lives there.
package protocol Peer: AnyObject {
    var processes: [Int32] { get }
}

package final class SteppedTime {
    /// Of the page, which the daemon and its handlers may read.
    package let path: String
    private let page: SteppedPage
    private let bell: Int32
    /// Time does not move while any of them has something to do.
    package var peers: [any Peer]
    /// How long the machine itself may take until all is quiet.
    private static let patience = TimeSpan.seconds(60)

    /// Begins with the time of the kernel's clocks.
    package init(in folder: String, beside peers: [any Peer] = []) throws {
        self.peers = peers
        path = folder + "/time"
        page = try SteppedPage(path)
        page.start(
            monotonic: SystemClock.monotonic(), boottime: SystemClock.boottime(), realtime: SystemClock.realtime())
        mkfifo(SteppedPage.bell(of: path), 0o600)
        bell = open(SteppedPage.bell(of: path), O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard bell >= 0 else { throw SystemError("open", SteppedPage.bell(of: path), Errno.last) }
    }

    deinit { close(bell) }

    package var boottime: Instant { page.boottime }
    package var wall: WallTime { WallTime(microseconds: page.realtime.nanoseconds / 1000) }

    /// Goes before the program of a daemon, for the shell.
    package var setting: String { "\(SteppedPage.variable)='\(path)'" }

    /// Moves to each deadline in turn, and waits each time until all is quiet. A daemon that does not run finds it past.
    /// - Returns: how often it moved: once for each deadline, and to the end.
    @discardableResult
    package func advance(by span: TimeSpan, of daemon: Int32) -> Int {
        var (left, moves) = (span, 0)
        settle(daemon)
        while left > .zero {
            left = left - step(atMost: left, isAlive(daemon))
            moves += 1
            settle(daemon)
        }
        return moves
    }

    /// Advances until the condition is true, by so much at most; false then.
    package func wait(_ span: TimeSpan, of daemon: Int32, until condition: () throws -> Bool) rethrows -> Bool {
        let end = SystemClock.monotonic() + Self.patience
        var left = span
        while try !condition() {
            if !settle(daemon) {
                guard SystemClock.monotonic() < end else { return false }
                continue
            }
            if try condition() { return true }
            guard left > .zero else { return false }
            left = left - step(atMost: left, true)
        }
        return true
    }

    private func step(atMost limit: TimeSpan, _ isWatched: Bool) -> TimeSpan {
        let span = isWatched ? min(max(page.distance ?? limit, TimeSpan(nanoseconds: 1)), limit) : limit
        page.move(by: span)
        return span
    }

    /// Waits until the loop of the daemon waits, every handler is frozen or blocked in a read, and no peer has anything to do;
    /// false where the daemon ends.
    ///
    /// Between two looks that find the same, the daemon had called everything that was ready, and no handler had run.
    @discardableResult
    package func settle(_ daemon: Int32) -> Bool {
        let end = SystemClock.monotonic() + Self.patience
        var before: [Int32: String]?
        while SystemClock.monotonic() < end {
            guard ask(daemon, until: end) else { return false }
            let runs = QuietProcesses.runs(below: daemon, beside: peers.flatMap(\.processes))
            if let runs, runs == before { return true }
            before = runs
        }
        return false
    }

    /// Rings, and waits until the daemon's loop waits again.
    private func ask(_ daemon: Int32, until end: Instant) -> Bool {
        page.question += 1
        write(bell, [0], 1)
        _ = Patience.wait(end - SystemClock.monotonic()) { page.answer == page.question || !isAlive(daemon) }
        return page.answer == page.question
    }
}
