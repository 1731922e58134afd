// The receipt for the sender of a message, once the message is kept.
import WakeModel

public struct InboxReceipt: TriggerAction {
    public static let kind = TriggerKind.inbox

    public enum Outcome: Hashable, Sendable {
        /// `wakesIn` is nil where no time decides when the handler gets it.
        case accepted(id: String, lifetime: TimeSpan, wakesIn: TimeSpan?)
        /// The handler has no inbox.
        case refused(ProtocolFault)
    }

    /// As it was given with the message.
    public var ticket: UInt64
    public var outcome: Outcome

    public init(ticket: UInt64, _ outcome: Outcome) { (self.ticket, self.outcome) = (ticket, outcome) }
}

extension ProtocolFault {
    /// - Parameter handler: as a sentence names it.
    public static func noInbox(_ handler: String) -> ProtocolFault {
        ProtocolFault(
            .notPermitted, "\(handler) has no inbox.", advice: "Write inbox: {} into its manifest, and send it again.")
    }
}
