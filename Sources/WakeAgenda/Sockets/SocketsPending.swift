// The entries of sockets in `pending` and `why`: whether each is open, and the conditions that it waits for.
import WakeModel

extension SocketBook {
    func pending(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry] {
        keys(of: handler).compactMap { entries[$0]?.pending(step) }
    }

    func add(_ handler: HandlerID, to outlook: inout AgendaOutlook, _ step: AgendaStep) {
        for key in keys(of: handler) {
            let due = entries[key].flatMap { $0.isOpen ? $0.keepalive.dueAt : nil }
            outlook.add(due: due.map(step.wallTime), step)
        }
    }
}

extension SocketEntry {
    fileprivate func pending(_ step: AgendaStep) -> PendingEntry {
        var entry = PendingEntry(key: key, state: state(step), sequence: delivery.sequence, history: history.changes)
        entry.interval = keepalive.period
        if isOpen { entry.due = keepalive.dueAt.map(step.wallTime) }
        guard entry.state == .waiting else { return entry }
        entry.waitsFor = [PendingEntry.Wait(word: obstacle(step) ?? reason(step).word, since: linkSince)]
        entry.nextChance = nextLook.map(step.wallTime)
        return entry
    }

    private func state(_ step: AgendaStep) -> PendingEntry.State {
        if delivery.isWaiting { return .waiting }
        return delivery.sequence != nil && step.isAwake(key.handler) ? .running : .queued
    }

    private func obstacle(_ step: AgendaStep) -> String? { isShut ? step.obstacle(of: key.handler) : nil }

    private func reason(_ step: AgendaStep) -> WaitReason {
        switch link {
        case .shut, .opening: rule.isConnection ? .connection : .address
        case .retrying: .retry
        case .open(.handlers): .handler
        case .open(.ours): unread.fruitless > 0 ? .unread : rule.isConnection ? .traffic : .peer
        }
    }
}
