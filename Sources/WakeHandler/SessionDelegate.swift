// The callbacks that a handler's author writes for all but devices: for what is scheduled, and for launch, thaw and expiry.

/// The result of an event. Return it from a callback, or pass it to ``BackgroundSession/finish(_:_:)``.
public enum WorkResult: Hashable, Sendable {
    /// Done; the daemon deletes the event.
    case useful
    /// Done; there was nothing to do.
    case nothing
    /// Failed for good: the event does not come again.
    case failed
    /// Not now: it comes again, with its device's later events, after that time (0 to 86,400 s) or the daemon's back-off.
    case retry(after: Duration?)
    /// Not yet: call ``BackgroundSession/finish(_:_:)`` later. The event's budget runs on.
    case pending
}

/// Notifications beside the events of devices, for which there are ``PeripheralDelegate`` and ``AccessoryDelegate``, and of
/// centrals, for which there is ``LocalPeripheralDelegate``.
/// All callbacks run on the main actor, one at a time. All have a default.
@MainActor
public protocol BackgroundSessionDelegate: AnyObject {
    /// An alarm fired for which ``BackgroundSession/alarms`` has no closure.
    func session(
        _ session: BackgroundSession, alarmDidFire alarm: FiredAlarm, for event: BackgroundEvent
    ) -> WorkResult
    /// It is time to look for news, and ``BackgroundSession/backgroundFetch`` has no closure.
    func session(
        _ session: BackgroundSession, performFetch fetch: DueFetch, for event: BackgroundEvent
    ) -> WorkResult
    /// A job is due for which ``BackgroundSession/scheduler`` has no closure. Return ``WorkResult/pending`` to complete it later.
    func session(_ session: BackgroundSession, taskIsDue task: ScheduledTask) -> WorkResult
    /// A socket of the manifest was opened or closed, has traffic, or has to be kept alive.
    func session(
        _ session: BackgroundSession, socket: SocketEvent, for event: BackgroundEvent
    ) -> WorkResult
    /// A region of the manifest was entered or left.
    func session(
        _ session: BackgroundSession, regionDidChange change: RegionChange, for event: BackgroundEvent
    ) -> WorkResult
    /// A transfer has ended or is asked for a credential, or a session of them has settled, and that has no
    /// ``TransferSessionDelegate``.
    func session(
        _ session: BackgroundSession, transfersDidChange change: TransferChange, for event: BackgroundEvent
    ) -> WorkResult

    /// A message came into the inbox, and ``BackgroundSession/remoteNotifications`` has no closure.
    func session(
        _ session: BackgroundSession, didReceiveRemoteNotification message: ReceivedMessage, for event: BackgroundEvent
    ) -> WorkResult

    /// A flow of the manifest began, was interrupted, or ended. Return ``WorkResult/pending`` for one that began: it keeps the process
    /// awake while data flows, and any other result ends it.
    func session(_ session: BackgroundSession, flowDidChange change: FlowChange, for event: BackgroundEvent)
        -> WorkResult

    /// Called first, after a launch.
    func session(_ session: BackgroundSession, wasRestored restoration: Restoration)
    /// The process was frozen for that long: connections may be dead, and timers are late.
    func session(_ session: BackgroundSession, didResumeAfter frozen: Duration, reason: WakeReason)
    /// The last chance before the freeze or the end; the expiration closures of open tasks were called before this.
    func session(_ session: BackgroundSession, willExpireIn remaining: Duration, reason: ExpirationReason)
    /// The process is ended after that long, unless it exits by itself.
    func session(_ session: BackgroundSession, willTerminateIn remaining: Duration, reason: TerminationReason)
    /// Memory is short: free what you can make again.
    func sessionDidReceiveMemoryWarning(_ session: BackgroundSession, level: MemoryLevel)
    /// The wall clock jumped; forward is positive.
    func session(_ session: BackgroundSession, clockDidJumpBy step: Duration)
    /// The daemon itself changed: an adapter went or came, or events are kept otherwise.
    func session(_ session: BackgroundSession, didChange condition: BridgeCondition, detail: String?)
    /// A path of `after` in the manifest is there, or is gone.
    func session(_ session: BackgroundSession, storageAt path: String, isAvailable: Bool)
    /// The daemon refused a line for which no completion closure waits.
    func session(_ session: BackgroundSession, didFailWith error: BridgeError)
}

extension BackgroundSessionDelegate {
    public func session(
        _ session: BackgroundSession, alarmDidFire alarm: FiredAlarm, for event: BackgroundEvent
    ) -> WorkResult { .nothing }
    public func session(
        _ session: BackgroundSession, performFetch fetch: DueFetch, for event: BackgroundEvent
    ) -> WorkResult { .nothing }
    public func session(_ session: BackgroundSession, taskIsDue task: ScheduledTask) -> WorkResult { .nothing }
    public func session(
        _ session: BackgroundSession, socket: SocketEvent, for event: BackgroundEvent
    ) -> WorkResult { .nothing }
    public func session(
        _ session: BackgroundSession, regionDidChange change: RegionChange, for event: BackgroundEvent
    ) -> WorkResult { .nothing }
    public func session(
        _ session: BackgroundSession, didReceiveRemoteNotification message: ReceivedMessage, for event: BackgroundEvent
    ) -> WorkResult { .nothing }

    public func session(
        _ session: BackgroundSession, flowDidChange change: FlowChange, for event: BackgroundEvent
    ) -> WorkResult { change.hasStarted ? .pending : .nothing }

    public func session(
        _ session: BackgroundSession, transfersDidChange change: TransferChange, for event: BackgroundEvent
    ) -> WorkResult { .nothing }
    public func session(_ session: BackgroundSession, wasRestored restoration: Restoration) {}
    public func session(_ session: BackgroundSession, didResumeAfter frozen: Duration, reason: WakeReason) {}
    public func session(_ session: BackgroundSession, willExpireIn remaining: Duration, reason: ExpirationReason) {}
    public func session(_ session: BackgroundSession, willTerminateIn remaining: Duration, reason: TerminationReason) {}
    public func sessionDidReceiveMemoryWarning(_ session: BackgroundSession, level: MemoryLevel) {}
    public func session(_ session: BackgroundSession, clockDidJumpBy step: Duration) {}
    public func session(_ session: BackgroundSession, didChange condition: BridgeCondition, detail: String?) {}
    public func session(_ session: BackgroundSession, storageAt path: String, isAvailable: Bool) {}
    public func session(_ session: BackgroundSession, didFailWith error: BridgeError) {}

    func call(_ event: BackgroundEvent, in session: BackgroundSession) -> WorkResult {
        switch event.kind {
        case .peripheral(let peripheral, let happened):
            (self as? any PeripheralDelegate)?.call(peripheral, happened, event, session) ?? .nothing
        case .accessory(let accessory, let happened):
            (self as? any AccessoryDelegate)?.call(accessory, happened, event, session) ?? .nothing
        case .alarm(let alarm): self.session(session, alarmDidFire: alarm, for: event)
        case .fetch(let fetch): self.session(session, performFetch: fetch, for: event)
        case .task: session.scheduler.task(for: event).map { self.session(session, taskIsDue: $0) } ?? .nothing
        case .socket(let happened): self.session(session, socket: happened, for: event)
        case .region(let change): self.session(session, regionDidChange: change, for: event)
        case .message(let message): self.session(session, didReceiveRemoteNotification: message, for: event)
        case .flow(let change): self.session(session, flowDidChange: change, for: event)
        case .transfer(let change): self.session(session, transfersDidChange: change, for: event)
        case .central(let happened): (self as? any LocalPeripheralDelegate)?.call(happened, session) ?? .nothing
        case .other: .nothing
        }
    }

    func call(_ notice: SessionNotice, in session: BackgroundSession) {
        switch notice {
        case .restored(let restoration): self.session(session, wasRestored: restoration)
        case .resumed(let frozen, let reason): self.session(session, didResumeAfter: frozen, reason: reason)
        case .expiring(let remaining, let reason): self.session(session, willExpireIn: remaining, reason: reason)
        case .terminating(let remaining, let reason): self.session(session, willTerminateIn: remaining, reason: reason)
        case .memoryWarning(let level): sessionDidReceiveMemoryWarning(session, level: level)
        case .clockJumped(let step): self.session(session, clockDidJumpBy: step)
        case .conditionChanged(let condition, let detail):
            self.session(session, didChange: condition, detail: detail)
        case .storageChanged(let path, let isAvailable):
            self.session(session, storageAt: path, isAvailable: isAvailable)
        case .failed(let error): self.session(session, didFailWith: error)
        }
    }
}
