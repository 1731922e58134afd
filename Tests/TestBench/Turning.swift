// A loop on the test's own thread, turned until what is waited for has come.
import WakeLoop
import WakeModel
import WakeSystem

extension EventLoop {
    /// False where it has not come within `time`.
    package func turn(for time: TimeSpan = .seconds(10), until condition: () -> Bool) throws -> Bool {
        let end = SystemClock.monotonic() + time
        while !condition() {
            guard SystemClock.monotonic() < end else { return false }
            try runOnce(timeout: .milliseconds(5))
        }
        return true
    }
}
