// The handler's scheduled work, as the daemon lists it, and the daemon's answer to an order.

/// An alarm, poll, job, inbox, flow, transfer, socket or peripheral that waits or runs.
public struct PendingRequest: Hashable, Sendable {
    /// The kind of work.
    public let source: PendingSource
    /// Its id; empty for the poll, of which there is one.
    public let identifier: String
    /// How far it is.
    public let state: PendingState
    /// When it is due at the earliest; nil where that is not known yet.
    public let due: Timestamp?
    /// By then it runs, though some of its conditions may not be met; nil where it has no deadline.
    public let deadline: Timestamp?
    /// Why it does not run now: `time`, or a word such as `power`, `slot` and `stopped`.
    public let waitsFor: [String]
    /// When it may run next; nil where only a condition decides.
    public let nextChance: Timestamp?
    /// The event's number, of one that is queued or running.
    public let sequence: UInt64?
    /// Bytes of a transfer that have been moved; nil while none is known, and for all else.
    public let bytesDone: Int?
    /// Bytes of a transfer in all; nil where the server does not report them.
    public let bytesTotal: Int?
}

/// The daemon's answer to an order that it follows.
public struct ScheduleAnswer: Hashable, Sendable {
    /// The order's outcome.
    public let outcome: ScheduleOutcome
    /// The wait before an ordered transfer moves. Nil for all else.
    public let startsIn: Duration?
    /// The work that is pending now.
    public let pending: [PendingRequest]
}
