// Reading and closing a device's node, shared by serial lines, hidraw and evdev.
import CLinux
import Glibc
import Synchronization
import WakeModel

/// The result of one read of a node. Read until it would block: one read of a ready node is not enough.
public enum NodeReading<Content: Sendable>: Sendable {
    case content(Content)
    /// No content to read yet; wait for readiness.
    case wouldBlock
    /// The device is gone. Close the node at once: as long as it is open, the device cannot come back under its old name.
    case closed
}

extension NodeReading: Equatable where Content: Equatable {}

extension Errno {
    /// The advice for opening a node that answered this; nil if none is known.
    fileprivate func adviceOfNode(_ path: String) -> String? {
        switch self {
        case .busy: "another program has it for itself; 'fuser -v \(path)' names it"
        case .denied: "install the udev rules and join their group: wakebridge doctor"
        // For a node, the kernel answers this only for the device control group.
        case .notPermitted: "its container or unit was not given it: '--device=\(path)', or DeviceAllow= of the unit"
        default: nil
        }
    }

    /// The errors of calls on a node whose device is gone.
    public var tellsGone: Bool { [EIO, ENODEV, ENXIO, ESHUTDOWN].contains(code) }
}

extension FileDescriptor {
    /// Opens a node for reading and writing without waiting, and never as the controlling terminal.
    static func openNode(_ path: String) throws(SystemError) -> FileDescriptor {
        let answer = attempt { Int(open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) }
        if case .failure(.busy) = answer { throw SystemError.inUse(path) }
        if case .failure(let errno) = answer, let advice = errno.adviceOfNode(path) {
            throw SystemError("open", path, errno, advice: advice)
        }
        return FileDescriptor(owningNode: Int32(try answer.get("open", path)))
    }

    /// Reads once, at most `limit` bytes, from the node at `path`. An end of file follows a hang-up. But another program that
    /// shares the line may have set it so that an empty line reads as its end; then it means nothing.
    borrowing func readNode(_ path: String, limit: Int) throws(SystemError) -> NodeReading<[UInt8]> {
        var bytes: [UInt8] = []
        switch answerOfRead(appendingTo: &bytes, limit: limit) {
        case .value(0): return hasHungUp() ? .closed : .wouldBlock
        case .value: return .content(bytes)
        case .failure(.wouldBlock): return .wouldBlock
        case .failure(let errno) where errno.tellsGone: return .closed
        case .failure(let errno): throw SystemError("read", path, errno)
        }
    }

    /// Writes once to the node at `path`. Drivers answer EIO also for a present device that refuses the bytes; the device is
    /// gone only where it has hung up as well.
    borrowing func writeNode(_ bytes: ArraySlice<UInt8>, _ path: String) throws(SystemError) -> WriteResult {
        switch answerOfWrite(bytes) {
        case .value(let count): return .wrote(count)
        case .failure(.wouldBlock): return .wouldBlock
        case .failure(let errno) where errno.tellsGone && (errno.code != EIO || hasHungUp()): return .closed
        case .failure(let errno): throw SystemError("write to", path, errno)
        }
    }

    private borrowing func hasHungUp() -> Bool { clinux_is_hung_up(raw) > 0 }
}

extension SystemError {
    /// Another program has the node exclusively.
    static func inUse(_ path: String) -> SystemError {
        SystemError("open", path, .busy, advice: Errno.busy.adviceOfNode(path))
    }
}

/// The kernel closes a serial line only when it has sent the bytes written to it, or has tried for 30 s. It closes
/// other nodes when their driver is idle. The loop must not wait for that, and bytes that were reported to a handler as
/// written must still be sent. So a thread closes a node that is still there. A node that has hung up is closed at
/// once: it needs no wait, and the device must be able to come back under its old name.
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
