// The one place where a test that blocks its thread looks again for what gives it no notice: the end of a process, a line in a file.
import Glibc
import WakeModel
import WakeSystem

package enum Patience {
    /// Looks again this much later: far below what a person notices, far above what a look costs.
    private static let microseconds: UInt32 = 200

    /// Waits until the condition is true; returns false after `limit`, which only a fault reaches.
    package static func wait(
        _ limit: TimeSpan = .seconds(120), until condition: () throws -> Bool
    ) rethrows -> Bool {
        let end = SystemClock.monotonic() + limit
        while try !condition() {
            guard SystemClock.monotonic() < end else { return false }
            usleep(microseconds)
        }
        return true
    }
}
