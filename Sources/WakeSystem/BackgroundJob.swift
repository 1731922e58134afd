// Work that may wait long for a device, done on its own thread, so that the loop does not wait.
import CLinux
import Glibc
import Synchronization
import WakeModel

/// One piece of such work. Releasing it before it is done discards the result; what the result owns is then released on that
/// thread.
public final class BackgroundJob<Answer: Sendable>: Sendable {
    private let answer = Mutex<Answer?>(nil)
    private let bell: FileDescriptor

    /// Readable once the result is there.
    public var raw: Int32 { bell.raw }

    public init(_ work: @escaping @Sendable () -> Answer) throws(SystemError) {
        bell = FileDescriptor(owning: Int32(try attemptC { clinux_bell() }.get("make", "an event descriptor")))
        try WorkThread.begin { [self] in finish(work()) }
    }

    private func finish(_ answer: Answer) {
        self.answer.withLock { $0 = answer }
        _ = try? bell.write([1, 0, 0, 0, 0, 0, 0, 0])
    }

    /// Waits for the result up to `limit`, and removes it; nil where it is not there by then.
    public func removeResult(within limit: TimeSpan) -> Answer? {
        var ring = pollfd(fd: bell.raw, events: Int16(POLLIN), revents: 0)
        _ = poll(&ring, 1, Int32(clamping: limit.nanoseconds / 1_000_000))
        return removeResult()
    }

    /// Removes and returns the result; nil while there is none.
    public func removeResult() -> Answer? {
        answer.withLock { answer in
            defer { answer = nil }
            return answer
        }
    }
}

/// A detached thread for one call.
enum WorkThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    static func begin(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let work = Unmanaged.passRetained(Work(body))
        let code = clinux_thread(
            { context in
                if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
            }, work.toOpaque())
        guard code < 0 else { return }
        work.release()
        throw SystemError("start", "a thread", Errno(code: -code))
    }
}
