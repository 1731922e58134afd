// What a handler's author writes: callbacks for what accessories do and for the life of the process.

/// What became of an event. Returned from a callback, or given later to ``BackgroundSession/finish(_:_:)``.
public enum WorkResult: Hashable, Sendable {
    /// Done; it is forgotten by the bridge.
    case useful
    /// Done; there was nothing in it to do.
    case nothing
    /// Done, as far as it can be: it will not come again.
    case failed
    /// Not now: it comes again, with what follows of its device, after that long (0 to 86,400 s) or the bridge's own back-off.
    case retry(after: Duration?)
    /// Not yet: the handler will call ``BackgroundSession/finish(_:_:)``. The event's budget runs on.
    case pending
}

/// Every callback is made on the thread that called ``BackgroundSession/run()``, one at a time. All have a default.
public protocol AccessoryDelegate: AnyObject {
    func accessoryDidConnect(_ event: AccessoryEvent, in session: BackgroundSession) -> WorkResult
    func accessoryDidDisconnect(_ event: AccessoryEvent, reason: String, in session: BackgroundSession) -> WorkResult
    func accessory(_ event: AccessoryEvent, didSend data: AccessoryData, in session: BackgroundSession) -> WorkResult
    func accessory(_ event: AccessoryEvent, didLose gap: AccessoryGap, in session: BackgroundSession) -> WorkResult
    func accessory(
        _ event: AccessoryEvent, needsAttention kind: String, detail: String?, in session: BackgroundSession
    ) -> WorkResult

    /// First of all, after a launch.
    func session(_ session: BackgroundSession, wasRestored restoration: Restoration)
    /// The process was frozen for that long: connections may be dead, and timers are late.
    func session(_ session: BackgroundSession, didResumeAfter frozen: Duration, reason: String)
    /// Last chance before being frozen or ended; the expiration closures of open tasks were called before this.
    func session(_ session: BackgroundSession, willExpireIn remaining: Duration, reason: String)
    func session(_ session: BackgroundSession, willTerminateIn remaining: Duration, reason: String)
    func sessionDidReceiveMemoryWarning(_ session: BackgroundSession, level: String)
    /// The bridge refused a line that no completion closure waits for.
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
