// A loop on the test's own thread, turned until what is waited for has come.
import WakeLoop
import WakeModel

extension EventLoop {
    /// False where it has not come within `time`.
    package func turn(for time: TimeSpan = .seconds(10), until condition: () -> Bool) throws -> Bool {
        let end = monotonicNow() + time.seconds
        while !condition() {
            guard monotonicNow() < end else { return false }
            try runOnce(timeout: .milliseconds(5))
        }
        return true
    }
}
