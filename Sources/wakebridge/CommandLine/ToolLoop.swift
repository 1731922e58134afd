// The event loop of verbs that use devices themselves; Ctrl-C ends it.
import Glibc
import WakeArguments
import WakeLoop
import WakeModel
import WakeSystem

final class ToolLoop {
    let loop: EventLoop
    private(set) var isInterrupted = false
    /// Called regularly while the loop runs, to update the output during a wait.
    var meanwhile: (() -> Void)?
    private var meanwhileDue = SystemClock.monotonic()
    private var didInterrupt: () -> Void = {}
    private var signals: [SignalWatch] = []

    init() throws(Complaint) {
        do {
            loop = try EventLoop()
            for number in [SIGINT, SIGTERM, SIGHUP] {
                signals.append(try loop.onSignal(number) { [unowned self] in interrupt() })
            }
        } catch {
            throw .failure("\(error.description); try again")
        }
    }

    private func interrupt() {
        isInterrupted = true
        didInterrupt()
    }

    /// Calls `body` at Ctrl-C while `work` goes on.
    func onInterrupt(_ body: @escaping () -> Void) { didInterrupt = body }

    /// Runs the loop until `condition` holds or `deadline` has come; false for the latter, and where it was interrupted.
    @discardableResult
    func turn(until deadline: Instant? = nil, stopsAtInterrupt: Bool = true, _ condition: () -> Bool) throws(Complaint)
        -> Bool
    {
        while !condition() {
            if isInterrupted, stopsAtInterrupt { return false }
            let left = deadline.map { $0 - SystemClock.monotonic() }
            if let left, left <= .zero { return false }
            let pause = meanwhile == nil ? left : min(left ?? Self.pace, Self.pace)
            do {
                try loop.runOnce(timeout: pause)
            } catch {
                throw .failure("\(error.description); try again")
            }
            showMeanwhile()
        }
        return true
    }

    /// The interval of output: changes within it are shown together.
    static let pace = TimeSpan.milliseconds(250)

    private func showMeanwhile() {
        guard let meanwhile, SystemClock.monotonic() >= meanwhileDue else { return }
        meanwhileDue = SystemClock.monotonic() + Self.pace
        meanwhile()
    }
}
