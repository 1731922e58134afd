// Closes nodes without waiting for their devices.
import CLinux
import Glibc
import Synchronization
import WakeModel

/// The kernel closes a serial line only when it has sent the bytes written to it, or has tried for 30 s; other nodes when
/// their driver is idle. The loop must not wait for that, and bytes that a handler was told are written must still be sent.
/// So a thread closes a node that is still there. A node that has hung up is closed at once: it needs no wait, and the
/// device must be able to come back under its old name.
public enum NodeClosing {
    private static let underWay = Atomic<Int>(0)

    static func begin(_ raw: Int32) {
        if clinux_is_hung_up(raw) == 1 {
            _ = close(raw)
            return
        }
        underWay.add(1, ordering: .relaxed)
        do throws(SystemError) {
            try WorkThread.begin { finish(raw) }
        } catch {
            // Losing the bytes is better than waiting: every other device would wait too.
            _ = clinux_line_discard(raw)
            finish(raw)
        }
    }

    private static func finish(_ raw: Int32) {
        _ = close(raw)
        underWay.subtract(1, ordering: .releasing)
    }

    /// Waits until all nodes are closed, up to a limit; for the end of the process, which would cut off unsent bytes.
    @discardableResult
    public static func wait(atMost limit: TimeSpan) -> Bool {
        let end = SystemClock.monotonic() + limit
        while underWay.load(ordering: .acquiring) > 0 {
            if SystemClock.monotonic() >= end { return false }
            SystemClock.pause(.milliseconds(2))
        }
        return true
    }
}
