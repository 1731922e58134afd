// Hands messages to the agenda, and their receipts to whoever sent them.
import WakeAgenda
import WakeModel

package final class InboxReceipts: TriggerExecutor {
    private let turn: Turn
    private var lastTicket: UInt64 = 0
    private var owed: [UInt64: (InboxReceipt.Outcome) -> Void] = [:]

    init(of turn: Turn) {
        self.turn = turn
        turn.listeners.register(self)
    }

    /// The receipt comes once the commit holds the message.
    package func send(
        _ message: InboxMessage, to handler: HandlerID, _ receive: @escaping (InboxReceipt.Outcome) -> Void
    ) {
        lastTicket += 1
        owed[lastTicket] = receive
        turn.schedule(.message(handler, message, ticket: lastTicket))
    }

    package func perform(_ receipt: InboxReceipt, of key: AgendaKey) {
        owed.removeValue(forKey: receipt.ticket)?(receipt.outcome)
    }
}
