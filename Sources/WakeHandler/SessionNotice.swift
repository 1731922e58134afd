// Notices to a handler about itself and the daemon; they need no answer.

/// A notice to a handler about itself and the daemon. It needs no answer.
public enum SessionNotice: Hashable, Sendable {
    /// The first after a launch.
    case restored(Restoration)
    /// The process was frozen for that long: connections may be dead, and timers are late.
    case resumed(after: Duration, reason: WakeReason)
    /// The last chance before the freeze or the end; the expiration closures of open tasks were called before this.
    case expiring(in: Duration, reason: ExpirationReason)
    /// The process is ended after that long, unless it exits by itself.
    case terminating(in: Duration, reason: TerminationReason)
    /// Memory is short: free what you can make again.
    case memoryWarning(MemoryLevel)
    /// The wall clock jumped; forward is positive.
    case clockJumped(by: Duration)
    /// The daemon itself changed: an adapter went or came, or events are kept otherwise.
    case conditionChanged(BridgeCondition, detail: String?)
    /// A path of `after` in the manifest is there, or is gone.
    case storageChanged(path: String, isAvailable: Bool)
    /// The daemon refused a line for which no completion closure waits.
    case failed(BridgeError)
}
