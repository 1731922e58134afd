// The one place where a test that blocks its thread looks again for what gives it no notice: the end of a process, a line in a file.
import Glibc
import WakeModel

package enum Patience {
    /// Looks again this much later: far below what a person notices, far above what a look costs.
    package static let period = TimeSpan.microseconds(200)

    /// Waits until the condition is true; returns false after `limit`, which only a fault reaches.
    package static func wait(
        _ limit: TimeSpan = .seconds(120), every period: TimeSpan = period, until condition: () throws -> Bool
    ) rethrows -> Bool {
        // The limit counts by the kernel's clock, even if the thread holds its own.
        let end = monotonicNow() + limit.seconds
        while try !condition() {
            guard monotonicNow() < end else { return false }
            usleep(UInt32(period.nanoseconds / 1000))
        }
        return true
    }
}
