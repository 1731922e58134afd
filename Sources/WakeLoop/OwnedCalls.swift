// Calls to the owner of what the loop watches: the one place that relies on an owner living as long as what it keeps.
import WakeSystem

/// The owner keeps what is returned, and nothing else does. So it is there whenever it is called, without being held.
extension EventLoop {
    /// Calls `body` with the owner of the watch whenever `raw` is ready for some of `readiness`.
    public func watch<Owner: AnyObject>(
        _ raw: Int32, for readiness: Readiness, priority: Priority = .normal, of owner: Owner,
        _ body: @escaping (Owner) -> Void
    ) throws(SystemError) -> Watch {
        try watch(raw, for: readiness, priority: priority) { [unowned owner] _ in body(owner) }
    }

    /// A timer that is not armed yet and calls its owner.
    public func timer<Owner: AnyObject>(
        on clock: TimerClock, of owner: Owner, _ body: @escaping (Owner) -> Void
    ) throws(SystemError) -> Timer {
        try timer(on: clock) { [unowned owner] in body(owner) }
    }

    /// Work of an owner for the end of a turn; not scheduled yet.
    public func deferred<Owner: AnyObject>(
        priority: Priority = .idle, of owner: Owner, _ body: @escaping (Owner) -> Void
    ) throws(SystemError) -> Deferred {
        try deferred(priority: priority) { [unowned owner] in body(owner) }
    }

    /// Calls the owner of the watch when the signal arrives.
    public func onSignal<Owner: AnyObject>(
        _ number: Int32, of owner: Owner, _ body: @escaping (Owner) -> Void
    ) throws(SystemError) -> SignalWatch {
        try onSignal(number) { [unowned owner] in body(owner) }
    }
}
