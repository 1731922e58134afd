// Everything that can happen to the agenda: manifests, orders, conclusions, conditions, clocks and the passing of time.
import WakeModel
import WakeTransfer

/// Which source an entry of the agenda belongs to; also the word in its origin's URI, `/alarm/HANDLER/ID`.
public enum AgendaSource: String, Hashable, Sendable, CaseIterable, Comparable {
    case alarm, poll, job
    /// It has no time of its own: it is raised when beacons come and go.
    case region
    /// What something sends; its entries are messages, and the one without a name is the inbox itself.
    case inbox
    /// It has no time of its own either: it is raised while data flows. Nothing of it is stored.
    case flow
    /// A transfer is named `session/id`, its session by the session alone.
    case transfer
    /// One of the manifest's sockets: raised when something arrives, or its peer has to hear of the handler.
    case socket
    /// Only of stored rows: that a handler's gates have opened in this boot. It raises nothing, and is never pending.
    case gate
    /// Only of one stored row: until when an earlier life ran.
    case seen

    public static func < (left: AgendaSource, right: AgendaSource) -> Bool { left.rawValue < right.rawValue }
}

/// One entry: of one handler, one source, and with a name that is unique among those.
public struct AgendaKey: Hashable, Sendable, Comparable {
    public var handler: HandlerID
    public var source: AgendaSource
    /// For the poll and the inbox, of which there is one, the empty text.
    public var id: String

    public init(_ handler: HandlerID, _ source: AgendaSource, _ id: String) {
        (self.handler, self.source, self.id) = (handler, source, id)
    }

    public static func < (left: AgendaKey, right: AgendaKey) -> Bool {
        (left.handler, left.source, left.id) < (right.handler, right.source, right.id)
    }
}

/// What a handler can do with an occasion now.
public enum HandlerSituation: Hashable, Sendable {
    /// An operator or its manifest stopped it: nothing is raised for it.
    case stopped
    /// It crashed too often: nothing is raised for it before an operator starts it.
    case quarantined
    /// Its manifest is there and cannot be read: nothing is raised for it before it can.
    case unread
    /// It failed, and sleeps until this instant of CLOCK_BOOTTIME. What is raised waits for that; no long job is.
    case held(until: Instant)
    /// Not running, or frozen.
    case asleep
    case awake
    /// In a person's foreground.
    case attached
}

public enum AgendaInput: Sendable {
    /// Once, first of all: what an earlier life stored. Rows that cannot be read are reported and dropped.
    case restored([AgendaRow], bootID: String)
    /// Once for each handler of which something was restored, when its manifest is known: what the journal still owes it. What was
    /// raised and is not among that has gone, and nothing else would say so.
    case recovered(HandlerID, owed: Set<Sequence>)
    /// After ``restored(_:bootID:)``: a flow's beginning that the journal still owes its handler. It is concluded with the start.
    case owed(AgendaKey, Sequence)
    /// A manifest appeared or changed.
    case configured(HandlerID, AgendaPlan)
    case removed(HandlerID)
    case situated(HandlerID, HandlerSituation)
    case ordered(HandlerID, Epoch, HandlerOrder, ref: Reference?)
    /// The core numbered the occasion that was raised for the entry.
    case raised(AgendaKey, Sequence)
    /// Nothing was raised: no handler of that name is known to the core any more.
    case refused(AgendaKey)
    /// - Parameters:
    ///   - awake: how long the process was awake for it.
    ///   - cpu: how much processor time it used meanwhile; zero where that is unknown.
    case concluded(HandlerID, Sequence, Conclusion, awake: TimeSpan, cpu: TimeSpan)
    /// A long job says how far it has come.
    case progressed(HandlerID, Sequence, done: Int64, total: Int64?)
    /// What a watch found, unsettled. Sent after ``AgendaEffect/open(_:)``, first at once.
    case condition(Condition, isTrue: Bool)
    /// Whether beacons of this kind are near, as the radio tells.
    case region(BeaconPattern, RegionPresence)
    /// Something sent it. Answered with ``AgendaEffect/receipt(_:)`` of the same ticket.
    case message(HandlerID, InboxMessage, ticket: UInt64)
    /// Data came from there, as the stamp says. What flows without a pause is told no more often than ``FlowRule/grain``.
    case traffic(TrafficOrigin)
    /// The machine is about to sleep; false when it has woken.
    case sleeping(Bool)
    /// What `wakebridge-transferd` says of the order with this number.
    case transfer(HandlerID, Int64, TransferNews)
    /// From those who hold the sockets of handlers.
    case socket(AgendaKey, SocketReport)
    /// A person plays a condition; nil ends that.
    case overridden(Condition, isTrue: Bool?)
    /// The answer to ``AgendaEffect/readZone(_:)``: the bytes of a TZif file; nil where there is none. Comes again where it changes.
    case zone(String, [UInt8]?)
    /// The wall clock was set, or became synchronized, or the system resumed: the stamp says what is true now.
    case clockChanged
    /// A person starts a job or fires an alarm now, or makes the poll due.
    case operated(AgendaKey, ref: Reference?)
    /// A person takes a job or a transfer back.
    case cancelled(AgendaKey)
    /// The bridge ends in order.
    case ending
    /// Only time has passed.
    case tick
}

/// An entry as it is stored.
public struct AgendaRow: Hashable, Sendable {
    public var key: AgendaKey
    /// JSON.
    public var value: [UInt8]

    public init(key: AgendaKey, value: [UInt8]) { (self.key, self.value) = (key, value) }
}
