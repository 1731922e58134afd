// Work that may wait long for a device, done on its own thread, so that the loop does not wait.
import CLinux
import Glibc
import Synchronization
import WakeModel

/// A piece of such work. Releasing it before it is done discards the result; the result's resources are then released
/// on that thread.
public final class BackgroundJob<Answer: Sendable>: Sendable {
    private let answer = Mutex<Answer?>(nil)
    private let bell: FileDescriptor

    /// Readable once the result is there.
    public var raw: Int32 { bell.raw }

    public init(_ work: @escaping @Sendable () -> Answer) throws(SystemError) {
        bell = FileDescriptor(owning: Int32(try attemptC { clinux_bell() }.get("make", "an event descriptor")))
        try WorkThread.begin { [self] in finish(work()) }
    }

    /// Runs `work` with the rights of another user: the kernel checks that user, also for links and mounts on the way.
    /// - Parameters:
    ///   - account: nil for this process's own user.
    ///   - work: gets an error where the thread cannot have the rights, and runs with those of this process then.
    init(as account: Account?, _ work: @escaping @Sendable (SystemError?) -> Answer) throws(SystemError) {
        bell = FileDescriptor(owning: Int32(try attemptC { clinux_bell() }.get("make", "an event descriptor")))
        try WorkThread.begin(as: account) { [self] error in finish(work(error)) }
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
        let account: Account?
        let body: @Sendable (SystemError?) -> Void

        init(as account: Account?, _ body: @escaping @Sendable (SystemError?) -> Void) {
            (self.account, self.body) = (account, body)
        }

        func run() {
            guard let account else { return body(nil) }
            let code = clinux_act_as(
                clinux_identity(user: account.user, group: account.group), account.groups, account.groups.count,
                { context in if let context { Unmanaged<Work>.fromOpaque(context).takeUnretainedValue().body(nil) } },
                Unmanaged.passUnretained(self).toOpaque())
            guard code < 0 else { return }
            let advice = "run the daemon as root, or the handler as the daemon's user"
            body(SystemError("act as", "user \(account.name)", Errno(code: -code), advice: advice))
        }
    }

    static func begin(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
        try begin(as: nil) { _ in body() }
    }

    /// - Parameter account: the user whose rights the thread has; nil for this process's own.
    static func begin(
        as account: Account?, _ body: @escaping @Sendable (SystemError?) -> Void
    ) throws(SystemError) {
        let work = Unmanaged.passRetained(Work(as: account, body))
        let code = clinux_thread(
            { context in
                if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run() }
            }, work.toOpaque())
        guard code < 0 else { return }
        work.release()
        throw SystemError("start", "a thread", Errno(code: -code))
    }
}
