// Everything that the core may order. The host performs the journal's part at once and the outward part after the
// commit, in the order given.
import WakeModel

/// Why a process is started or thawed; written, it is WAKEBRIDGE_REASON and the `reason` of `restored` and `resumed`.
public enum WakeReason: Hashable, Sendable {
    case connected, disconnected, data, gap, attention
    /// Leases kept over a suspension, or events returned to the queue, are due.
    case owed
    case autostart, attach, `operator`
    case lock
    case coalesced
    case occasion(Occasion.Reason)

    /// The reason of a later version counts as ``owed``.
    init(_ reason: Occasion.Reason?) { self = reason.map { .occasion($0) } ?? .owed }

    public var wireName: String {
        switch self {
        case .connected: "connected"
        case .disconnected: "disconnected"
        case .data, .coalesced: "data"
        case .gap: "gap"
        case .attention: "attention"
        case .owed: "owed"
        case .autostart: "autostart"
        case .attach: "attach"
        case .operator: "operator"
        case .lock: "lock"
        case .occasion(let reason): reason.rawValue
        }
    }
}

extension WakeReason: CaseIterable {
    public static var allCases: [WakeReason] {
        let own: [WakeReason] = [
            .connected, .disconnected, .data, .gap, .attention, .owed, .autostart, .attach, .operator, .lock,
            .coalesced,
        ]
        return own + Occasion.Reason.allCases.map { .occasion($0) }
    }
}

public struct DeliveredEvent: Hashable, Sendable {
    public var sequence: Sequence
    public var origin: EventOrigin
    public var attempt: UInt32
    public var isRedelivered: Bool
    /// The time that it has by itself, where that is not the batch's.
    public var ownBudget: TimeSpan?
    /// It is open until its maker ends it.
    public var isOpenEnded = false
}

/// The lines that a handler gets in one piece before it runs.
public struct Delivery: Hashable, Sendable {
    public enum Preface: Hashable, Sendable {
        case none
        case restored(WakeReason)
        case resumed(frozenFor: TimeSpan, WakeReason, open: [Sequence])
    }
    public var preface: Preface
    /// Notices that were kept while it slept.
    public var notices: [Notice]
    public var events: [DeliveredEvent]
    public var budget: TimeSpan
}

public enum Effect: Sendable {
    // For the journal, in the open transaction.
    case append(Sequence, DeviceEvent, owners: [HandlerID], Durability)
    case update(Sequence, DeviceEvent)
    case lease(HandlerID, [Sequence])
    /// Queued events that were in flight when an earlier daemon crashed; the journal keeps them so.
    case keepInFlight(HandlerID, [Sequence])
    case acknowledge(HandlerID, [Sequence])
    case giveBack(HandlerID, Sequence, attempts: UInt32, charges: UInt8, heldUntil: WallTime?)
    case deadLetter(HandlerID, Sequence, reason: String)
    case checkpoint(HandlerID, String)
    case setStopped(HandlerID, Bool)

    // For the handler's process, after the commit.
    case launch(HandlerID, Epoch, WakeReason)
    case deliver(HandlerID, Epoch, Delivery)
    case notify(HandlerID, Epoch, Notice)
    case closeInput(HandlerID, Epoch)
    case thaw(HandlerID, Epoch)
    case freeze(HandlerID, Epoch)
    case inspectLocks(HandlerID, Epoch)
    case requestTermination(HandlerID, Epoch)
    case kill(HandlerID, Epoch)
    /// It is gone, or does not end: close its descriptors and abandon its leaf.
    case discard(HandlerID, Epoch, isEmpty: Bool)
    case perform(HandlerID, Epoch, DeviceRequest, ref: Reference?)

    // For the agenda, in the turn that causes it.
    case order(HandlerID, Epoch, HandlerOrder, ref: Reference?)
    /// How it ended with an occasion, and for how long the process was awake for it.
    case concluded(HandlerID, Sequence, Conclusion, awake: TimeSpan)
    case progressed(HandlerID, Sequence, done: Int64, total: Int64?)

    /// For the decision log, `why` and the counters.
    case decision(HandlerID, Decision)
}
