// The peripherals of handlers in a replay, where bluetoothd takes everything at once.
import WakeAgenda
import WakeModel

final class ReplayedPeripherals: TriggerExecutor {
    private weak var turn: Turn?

    func begin(_ turn: Turn) {
        self.turn = turn
        turn.listeners.register(self)
    }

    func perform(_ command: PeripheralCommand, of key: AgendaKey) {
        let report: PeripheralReport? =
            switch command {
            case .offer: .registered
            case .advertise: .advertised(nil)
            case .send(_, let subscription): .sent(subscription, count: 1)
            case .withdraw, .confirm, .answer, .refuse: nil
            }
        if let report { turn?.schedule(.peripheral(key.handler, report)) }
    }
}
