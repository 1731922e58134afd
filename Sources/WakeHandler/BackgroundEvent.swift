// Events as a handler gets them: plain values, copied out of the line.

/// An event of a device or of anything else in the manifest. It may come more than once; its ``id`` stays the same.
///
/// ```swift
/// switch event.kind {
/// case .peripheral(let strap, .data(let data)): store(data, of: strap)
/// case .alarm(let alarm): remind(alarm)
/// default: break
/// }
/// ```
public struct BackgroundEvent: Hashable, Sendable {
    /// The event's content, and its subject.
    public enum Kind: Hashable, Sendable {
        /// A Bluetooth LE peripheral did something.
        case peripheral(Peripheral, PeripheralEvent)
        /// An accessory did something.
        case accessory(Accessory, AccessoryEvent)
        /// An alarm fired.
        case alarm(FiredAlarm)
        /// It is time to look for news.
        case fetch(DueFetch)
        /// A job may begin. ``BackgroundTaskScheduler/task(for:)`` gives the task.
        case task(DueTask)
        /// A region of the manifest was entered or left.
        case region(RegionChange)
        /// Something sent a message.
        case message(ReceivedMessage)
        /// A flow of the manifest began, was interrupted, or ended.
        case flow(FlowChange)
        /// A transfer has ended or is asked for a credential, or a session of them has settled.
        case transfer(TransferChange)
        /// A socket that the daemon holds was opened or closed, has traffic, or has to be kept alive.
        case socket(SocketEvent)
        /// A central used the handler's own peripheral.
        case central(CentralEvent)
        /// A CloudEvents type that this version of the library does not know.
        case other(type: String)
    }

    /// The event's content, and its subject.
    public let kind: Kind
    /// Journal and sequence, such as `j7-42`; store it with your data to recognise a repeated delivery.
    public let id: String
    /// The journal's number of the event; an acknowledgement names it.
    public let sequence: UInt64
    /// Counts deliveries, from 1.
    public let attempt: Int
    /// True for an event that was in flight when the daemon ended.
    public let isRedelivered: Bool
    /// The name that you gave the device; of an alarm or a job its id.
    public let name: String
    /// A stable identity, such as `/bluetooth/C0:F1:F2:F3:F4:01`; of an alarm such as `/alarm/my-handler/pill`.
    public let source: String
    /// True where a bond proved the device's identity when the event arose.
    public let isAuthenticated: Bool
    /// When it arrived; 1970 where the line names no time.
    public let time: Timestamp
    /// False where the wall clock had not been set since boot; ``time`` is then a guess.
    public let isClockSynchronized: Bool
}

/// A peripheral's event.
public enum PeripheralEvent: Hashable, Sendable {
    /// Ready for use. `folded` counts connects and disconnects that were folded into this one.
    case connected(folded: Int)
    /// Gone. `folded` counts as for ``connected(folded:)``.
    case disconnected(reason: DisconnectReason, folded: Int)
    /// It sent bytes.
    case data(PeripheralData)
    /// Events of it were lost.
    case gap(EventGap)
    /// It needs an operator's attention; `detail` is a sentence or a command.
    case attention(kind: AttentionKind, detail: String?)
}

/// An accessory's event.
public enum AccessoryEvent: Hashable, Sendable {
    /// Ready for use. `folded` counts connects and disconnects that were folded into this one.
    case connected(folded: Int)
    /// Gone. `folded` counts as for ``connected(folded:)``.
    case disconnected(reason: DisconnectReason, folded: Int)
    /// It sent bytes.
    case data(AccessoryData)
    /// Events of it were lost.
    case gap(EventGap)
    /// It needs an operator's attention; `detail` is a sentence or a command.
    case attention(kind: AttentionKind, detail: String?)
}

/// Bytes that a peripheral sent, and the value that its profile decoded.
public struct PeripheralData: Hashable, Sendable {
    /// The characteristic that they are the value of; nil for a broadcast without a link.
    public let characteristic: Characteristic?
    /// Exactly what the peripheral sent.
    public let bytes: [UInt8]
    /// Nil where no profile knows the data, or the data could not be decoded.
    public let value: DecodedValue?
    /// Why the data could not be decoded, as the end of a sentence.
    public let undecodable: String?
}

/// Bytes that an accessory sent, and the value that its profile decoded.
public struct AccessoryData: Hashable, Sendable {
    /// `serial`, `input` or `report-N`.
    public let stream: String?
    /// Exactly what the accessory sent.
    public let bytes: [UInt8]
    /// Nil where no profile knows the data, or the data could not be decoded.
    public let value: DecodedValue?
    /// Why the data could not be decoded, as the end of a sentence.
    public let undecodable: String?
    /// Why the bytes are no whole message of their line; nil where they are one.
    public let fragment: Fragment?
}

/// A loss. Every loss is reported as such a gap.
public struct EventGap: Hashable, Sendable {
    /// Why events were lost.
    public let cause: GapCause
    /// How many; nil where it cannot be known.
    public let count: Int?
    /// When the loss began.
    public let from: Timestamp
    /// When the loss ended.
    public let to: Timestamp
}

extension BackgroundEvent {
    /// False for what is scheduled or comes by other ways: of such an entry one event at a time is in hand. Centrals do as much as
    /// devices.
    var isOfDevice: Bool {
        switch kind {
        case .peripheral, .accessory, .central, .other: true
        case .alarm, .fetch, .task, .region, .message, .flow, .transfer, .socket: false
        }
    }

    /// Its time is its own: acknowledgements of other events pass over it, and only one that names it ends it.
    var isStanding: Bool {
        switch kind {
        case .task(let task):
            switch task.kind {
            case .processing, .continued: true
            case .refresh, .other: false
            }
        case .flow(let change): change.hasStarted
        case .peripheral, .accessory, .alarm, .fetch, .region, .message, .transfer, .socket, .central, .other: false
        }
    }

    /// A flow that began stays open until it is over.
    var startsFlow: Bool { if case .flow(let change) = kind { change.hasStarted } else { false } }
    var isFetch: Bool { if case .fetch = kind { true } else { false } }
    var isTask: Bool { if case .task = kind { true } else { false } }

    /// The loss, if this reports one.
    var gap: EventGap? {
        switch kind {
        case .peripheral(_, .gap(let gap)), .accessory(_, .gap(let gap)): gap
        default: nil
        }
    }

    /// A device needs an operator for this, if it needs one.
    var attention: AttentionKind? {
        switch kind {
        case .peripheral(_, .attention(let kind, _)), .accessory(_, .attention(let kind, _)): kind
        default: nil
        }
    }
}
