// The event sources that the loop calls. Releasing or cancelling a source ends it at once, even from inside its own call.
// Keep it in a stored property: an optimised build releases a local after its last use.
import CSystemd
import WakeModel
import WakeSystem

/// An sd-event source with one owner. The C side holds an unretained pointer to the Swift object that owns this, or to
/// one that it owns. That is sound, because the owner cancels it no later than in its deinit.
struct SourceHandle {
    private var source: OpaquePointer?

    init(_ source: OpaquePointer?) { self.source = source }

    mutating func cancel() {
        guard let live = source else { return }
        source = nil
        sd_event_source_disable_unref(live)
    }

    func setPriority(_ priority: Priority) {
        guard let source else { return }
        sd_event_source_set_priority(source, priority.rawValue)
    }

    func setEnabled(_ enabled: Int32) {
        guard let source else { return }
        sd_event_source_set_enabled(source, enabled)
    }

    func setReadiness(_ readiness: Readiness) throws(SystemError) {
        guard let source else { return }
        try check(sd_event_source_set_io_events(source, readiness.rawValue), "watch", "a descriptor again")
    }

    func setTime(microseconds: UInt64) {
        guard let source else { return }
        sd_event_source_set_time(source, microseconds)
    }
}

/// A watched descriptor.
public final class Watch {
    private var source = SourceHandle(nil)
    private let listener: Listener

    /// The object that the loop calls and retains during the call. If it were the watch, a watch released in its own
    /// call would end after its descriptor. A child that is frozen before exec may have a copy of that descriptor.
    /// Epoll would then report a source that is gone, and sd-event aborts.
    private final class Listener {
        private let account: LoopAccount
        private let cause: LoopCause
        private let body: (Readiness) -> Void

        init(_ account: LoopAccount, _ cause: LoopCause, _ body: @escaping (Readiness) -> Void) {
            (self.account, self.cause, self.body) = (account, cause, body)
        }

        func call(_ ready: Readiness) {
            account.cause = cause
            body(ready)
        }
    }

    init(
        on loop: EventLoop, descriptor: Int32, for readiness: Readiness, priority: Priority, cause: LoopCause,
        _ body: @escaping (Readiness) -> Void
    ) throws(SystemError) {
        listener = Listener(loop.account, cause, body)
        var made: OpaquePointer?
        let code = sd_event_add_io(
            loop.handle, &made, descriptor, readiness.rawValue,
            { _, _, ready, owner in
                if let owner {
                    Unmanaged<Listener>.fromOpaque(owner).takeUnretainedValue().call(Readiness(rawValue: ready))
                }
                return 0
            }, Unmanaged.passUnretained(listener).toOpaque())
        try check(code, "watch", "descriptor \(descriptor)")
        source = SourceHandle(made)
        source.setPriority(priority)
    }

    deinit { source.cancel() }

    /// The readiness to report from now on. An empty set still reports a hang-up; use `disable` to get no report.
    public func setReadiness(_ readiness: Readiness) throws(SystemError) { try source.setReadiness(readiness) }

    /// Reports nothing until enabled; readiness at that time is reported then.
    public func disable() { source.setEnabled(Int32(SD_EVENT_OFF)) }
    public func enable() { source.setEnabled(Int32(SD_EVENT_ON)) }

    /// Ends the watch for good. The descriptor may be closed afterwards, not before.
    public func cancel() { source.cancel() }
}

/// A watched signal.
public final class SignalWatch {
    private var source = SourceHandle(nil)
    private let account: LoopAccount
    private let body: () -> Void

    init(on loop: EventLoop, signal: Int32, priority: Priority, _ body: @escaping () -> Void) throws(SystemError) {
        (account, self.body) = (loop.account, body)
        try Signals.block(signal)
        var made: OpaquePointer?
        let code = sd_event_add_signal(
            loop.handle, &made, signal,
            { _, _, owner in
                if let owner { Unmanaged<SignalWatch>.fromOpaque(owner).takeUnretainedValue().call() }
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        try check(code, "watch", "signal \(signal)")
        source = SourceHandle(made)
        source.setPriority(priority)
    }

    deinit { source.cancel() }

    public func cancel() { source.cancel() }

    private func call() {
        account.cause = .signal
        body()
    }
}

/// Work that is deferred to the end of the turn.
public final class Deferred {
    private var source = SourceHandle(nil)
    private let account: LoopAccount
    private let body: () -> Void
    public private(set) var isScheduled = false

    init(on loop: EventLoop, priority: Priority, _ body: @escaping () -> Void) throws(SystemError) {
        (account, self.body) = (loop.account, body)
        var made: OpaquePointer?
        let code = sd_event_add_defer(
            loop.handle, &made,
            { _, owner in
                if let owner { Unmanaged<Deferred>.fromOpaque(owner).takeUnretainedValue().fire() }
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        try check(code, "make", "a deferred call")
        source = SourceHandle(made)
        source.setEnabled(Int32(SD_EVENT_OFF))
        source.setPriority(priority)
    }

    deinit { source.cancel() }

    /// Calls once, when no source of a higher priority is ready; scheduling it again before that changes nothing.
    public func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        source.setEnabled(Int32(SD_EVENT_ONESHOT))
    }

    /// Cancels the scheduled call.
    public func unschedule() {
        guard isScheduled else { return }
        isScheduled = false
        source.setEnabled(Int32(SD_EVENT_OFF))
    }

    public func cancel() {
        isScheduled = false
        source.cancel()
    }

    private func fire() {
        isScheduled = false
        account.cause = .deferred
        body()
    }
}
