// Everything that can happen to the agenda: manifests, orders, conclusions, conditions, clocks and the passing of time.
import WakeModel
import WakeTransfer

/// The kind of event that an entry of the agenda is for; also the word in its origin's URI, `/alarm/HANDLER/ID`.
public struct AgendaSource: RawRepresentable, Hashable, Sendable, Comparable {
    public let rawValue: String

    package init(_ kind: TriggerKind) { rawValue = kind.word }
    private init(rowsOnly word: String) { rawValue = word }

    /// Nil for a word that is no registered kind, and no kind of row.
    public init?(rawValue: String) {
        let isKnown = TriggerKind.named(rawValue) != nil || Self.rowsOnly.contains { $0.rawValue == rawValue }
        guard isKnown else { return nil }
        self.rawValue = rawValue
    }

    /// Nil for rows that raise nothing.
    public var kind: TriggerKind? { TriggerKind.named(rawValue) }

    /// Only of stored rows: that a handler's gates have opened in this boot. It raises nothing, and is never pending.
    public static let gate = AgendaSource(rowsOnly: "gate")
    /// Only of one stored row: until when an earlier life ran.
    public static let seen = AgendaSource(rowsOnly: "seen")
    private static let rowsOnly = [gate, seen]

    public static func < (left: AgendaSource, right: AgendaSource) -> Bool { left.rawValue < right.rawValue }

    /// Handler and name distinguish keys well enough; a few bytes of the word cost less than all of it.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue.utf8.first ?? 0) }
}

/// The key of an entry: its handler, its source, and a name that is unique among these.
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

/// How far a handler is available for an occasion now.
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
    /// Once for each handler of which something was restored, when its manifest is known: the events that the journal
    /// still owes it. A raised occasion that is not among them has gone, and no other input would report it.
    case recovered(HandlerID, owed: Set<Sequence>)
    /// After ``restored(_:bootID:)``: an open-ended event that the journal still owes its handler. It is concluded with the start.
    case owed(AgendaKey, Sequence)
    /// A manifest appeared or changed.
    case configured(HandlerID, AgendaPlan)
    case removed(HandlerID)
    case situated(HandlerID, HandlerSituation)
    case ordered(HandlerID, Epoch, HandlerOrder, ref: Reference?)
    /// The core numbered the occasion that was raised for the entry.
    case raised(AgendaKey, Sequence)
    /// The core raised no occasion: it knows no handler of that name any more.
    case refused(AgendaKey)
    /// - Parameters:
    ///   - awake: how long the process was awake for it.
    ///   - cpu: how much processor time it used meanwhile; zero where that is unknown.
    case concluded(HandlerID, Sequence, Conclusion, awake: TimeSpan, cpu: TimeSpan)
    /// A long job reports its progress.
    case progressed(HandlerID, Sequence, done: Int64, total: Int64?)
    /// The state that a watch found, unsettled. Sent after ``AgendaEffect/open(_:)``, first at once.
    case condition(Condition, isTrue: Bool)
    /// Whether beacons of this kind are near, as the radio reports.
    case region(BeaconPattern, RegionPresence)
    /// Something sent it. Answered with an ``InboxReceipt`` of the same ticket.
    case message(HandlerID, InboxMessage, ticket: UInt64)
    /// Data arrived from this origin, at the time of the stamp. For a steady stream only some pieces are reported.
    case traffic(TrafficOrigin)
    /// The machine is about to sleep; false when it has woken.
    case sleeping(Bool)
    /// News that `wakebridge-transferd` sent about the order with this number.
    case transfer(HandlerID, Int64, TransferNews)
    /// From those who hold the sockets of handlers.
    case socket(AgendaKey, SocketReport)
    /// From bluetoothd, about the peripheral of the handler.
    case peripheral(HandlerID, PeripheralReport)
    /// A person plays a condition; nil ends that.
    case overridden(Condition, isTrue: Bool?)
    /// The answer to ``AgendaEffect/readZone(_:)``: the bytes of a TZif file; nil where there is none. Comes again where it changes.
    case zone(String, [UInt8]?)
    /// The wall clock was set, or became synchronized, or the system resumed: the stamp contains the new time.
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
