// Calls to the owners of watches of the loop and the bus: only this file relies on an owner living as long as its
// watches.
import WakeModel
import WakeSystem

/// Only the owner keeps the returned watch. So the owner exists whenever it is called, without being retained.
extension EventLoop {
    /// Calls `body` with the owner of the watch whenever `raw` is ready for some of `readiness`.
    public func watch<Owner: AnyObject>(
        _ raw: Int32, for readiness: Readiness, priority: Priority = .normal, cause: LoopCause = .other,
        of owner: Owner,
        _ body: @escaping (Owner) -> Void
    ) throws(SystemError) -> Watch {
        try watch(raw, for: readiness, priority: priority, cause: cause) { [unowned owner] _ in body(owner) }
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

extension SystemBus {
    /// Reports every change to the owner, the present state at once.
    public func listen<Owner: AnyObject>(of owner: Owner, _ listener: @escaping (Owner, Change) -> Void) {
        listen { [unowned owner] in listener(owner, $0) }
    }
}

extension BusConnection {
    /// Calls `body` with the owner of the subscription for each signal that the rule names.
    public func subscribe<Owner: AnyObject>(
        _ rule: BusRule, of owner: Owner, _ body: @escaping (Owner, BusSignal) -> Void
    ) throws(SystemError) -> BusSubscription {
        try subscribe(rule) { [unowned owner] in body(owner, $0) }
    }

    /// Publishes an object that the owner keeps; `body` answers every request.
    package func export<Owner: AnyObject>(
        at path: String, of owner: Owner, _ body: @escaping (Owner, BusRequest) -> Void
    ) throws(SystemError) -> BusObject {
        try export(at: path) { [unowned owner] in body(owner, $0) }
    }

    /// Calls a method and gives its answer to the owner of the connection.
    public func call<Owner: AnyObject>(
        _ call: BusCall, within timeout: TimeSpan, of owner: Owner,
        _ answer: @escaping (Owner, Result<[BusValue], BusError>) -> Void
    ) {
        self.call(call, within: timeout) { [unowned owner] in answer(owner, $0) }
    }
}
