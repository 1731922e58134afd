// The callbacks that a handler's author writes: for events of accessories, and for launch, thaw and expiry.

/// The result of an event. Return it from a callback, or pass it later to ``BackgroundSession/finish(_:_:)``.
public enum WorkResult: Hashable, Sendable {
    /// Done; the bridge deletes the event.
    case useful
    /// Done; there was nothing to do.
    case nothing
    /// Failed for good: the event does not come again.
    case failed
    /// Not now: it comes again, with its device's later events, after that time (0 to 86,400 s) or the bridge's back-off.
    case retry(after: Duration?)
    /// Not yet: call ``BackgroundSession/finish(_:_:)`` later. The event's budget runs on.
    case pending
}

/// All callbacks run on the thread that called ``BackgroundSession/run()``, one at a time. All have a default.
public protocol AccessoryDelegate: AnyObject {
    func accessoryDidConnect(_ event: AccessoryEvent, in session: BackgroundSession) -> WorkResult
    func accessoryDidDisconnect(_ event: AccessoryEvent, reason: String, in session: BackgroundSession) -> WorkResult
    func accessory(_ event: AccessoryEvent, didSend data: AccessoryData, in session: BackgroundSession) -> WorkResult
    func accessory(_ event: AccessoryEvent, didLose gap: AccessoryGap, in session: BackgroundSession) -> WorkResult
    func accessory(
        _ event: AccessoryEvent, needsAttention kind: String, detail: String?, in session: BackgroundSession
    ) -> WorkResult

    /// Called first, after a launch.
    func session(_ session: BackgroundSession, wasRestored restoration: Restoration)
    /// The process was frozen for that long: connections may be dead, and timers are late.
    func session(_ session: BackgroundSession, didResumeAfter frozen: Duration, reason: String)
    /// The last chance before the freeze or the end; the expiration closures of open tasks were called before this.
    func session(_ session: BackgroundSession, willExpireIn remaining: Duration, reason: String)
    func session(_ session: BackgroundSession, willTerminateIn remaining: Duration, reason: String)
    func sessionDidReceiveMemoryWarning(_ session: BackgroundSession, level: String)
    /// The bridge refused a line for which no completion closure waits.
    func session(_ session: BackgroundSession, didFailWith error: BridgeError)
}

extension AccessoryDelegate {
    public func accessoryDidConnect(_ event: AccessoryEvent, in session: BackgroundSession) -> WorkResult { .nothing }
    public func accessoryDidDisconnect(
        _ event: AccessoryEvent, reason: String, in session: BackgroundSession
    ) -> WorkResult { .nothing }
    public func accessory(
        _ event: AccessoryEvent, didSend data: AccessoryData, in session: BackgroundSession
    ) -> WorkResult { .nothing }
    public func accessory(
        _ event: AccessoryEvent, didLose gap: AccessoryGap, in session: BackgroundSession
    ) -> WorkResult { .nothing }
    public func accessory(
        _ event: AccessoryEvent, needsAttention kind: String, detail: String?, in session: BackgroundSession
    ) -> WorkResult { .nothing }
    public func session(_ session: BackgroundSession, wasRestored restoration: Restoration) {}
    public func session(_ session: BackgroundSession, didResumeAfter frozen: Duration, reason: String) {}
    public func session(_ session: BackgroundSession, willExpireIn remaining: Duration, reason: String) {}
    public func session(_ session: BackgroundSession, willTerminateIn remaining: Duration, reason: String) {}
    public func sessionDidReceiveMemoryWarning(_ session: BackgroundSession, level: String) {}
    public func session(_ session: BackgroundSession, didFailWith error: BridgeError) {}
}
