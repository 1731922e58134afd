// Closing nodes without waiting for their devices.
import CLinux
import Glibc
import Synchronization
import WakeModel

/// The kernel closes a serial line only when it has sent what was written to it, or has tried to for 30 s, and other nodes
/// when their driver has come to rest. Nobody is to wait for that, and what a handler was told is written is to be sent all
/// the same. So a thread closes what is still there. What has hung up waits for nothing and is closed at once: the device
/// must be able to come back under its old name.
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
            // Rather lost than waited for: every other device would wait as well.
            _ = clinux_line_discard(raw)
            finish(raw)
        }
    }

    private static func finish(_ raw: Int32) {
        _ = close(raw)
        underWay.subtract(1, ordering: .releasing)
    }

    /// Waits until all is closed, for so long at most; for the end of the process, which would cut off what is not sent yet.
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
