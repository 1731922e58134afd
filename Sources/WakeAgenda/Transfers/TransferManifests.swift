// The effect of manifests on present transfers: a session that is not declared any more takes its transfers with it.
import WakeModel

extension TransferBook {
    mutating func configure(_ handler: HandlerID, _ plan: AgendaPlan, _ step: inout AgendaStep) {
        for key in sessions.keys(of: handler) where !plan.transfers.contains(where: { $0.session == key.id }) {
            leave(key, &step)
        }
        for rule in plan.transfers {
            let key = AgendaKey(handler, .transfer, rule.session)
            if sessions[key] == nil { sessions.keep(TransferSession(key: key)) }
            sessions.change(key) { $0.rule = rule }
            for member in (members[key] ?? [:]).values.sorted() { adopt(rule, member, &step) }
        }
    }

    mutating func remove(_ handler: HandlerID, _ step: inout AgendaStep) {
        for key in sessions.keys(of: handler) { leave(key, &step) }
        keysByNumber[handler] = nil
        if limiters.removeValue(forKey: handler) != nil { step.emit(.erase(AgendaKey(handler, .transfer, ""))) }
    }

    /// Restarts moving transfers after a start: transferd may be in the midst of one.
    private mutating func adopt(_ rule: TransferRule, _ key: AgendaKey, _ step: inout AgendaStep) {
        guard var entry = store[key] else { return }
        let isStored = entry.rule == nil
        entry.rule = rule
        store[key] = entry
        store.index.touch(key)
        if isStored, entry.phase == .moving {
            step.emit(.act(AgendaKey(key.handler, .transfer, ""), TransferAction(entry.number, .start(entry.order))))
        }
    }

    private mutating func leave(_ session: AgendaKey, _ step: inout AgendaStep) {
        for key in (members[session] ?? [:]).values.sorted() where cancel(key, &step) {
            step.emit(.notify(key.handler, .error(.sessionUndeclared(key.id))))
        }
        guard let former = sessions.remove(session, &step) else { return }
        former.delivery.recall(session.handler, &step)
        members[session] = nil
        touched.remove(session)
    }
}
