// Jobs that manifests declare or drop, and jobs that an earlier life of the bridge stored.
import WakeModel

extension JobBook {
    mutating func restore(_ row: AgendaRow, _ step: inout AgendaStep) -> Bool {
        guard store.restore(row, step) else { return false }
        if store[row.key]?.delivery.holdsSlot == true { working.insert(row.key) }
        return true
    }

    mutating func configure(_ handler: HandlerID, _ plan: AgendaPlan, _ step: inout AgendaStep) {
        let declared = Set(plan.jobs.map(\.id))
        for key in store.keys(of: handler) where !declared.contains(key.id) { undeclare(key, &step) }
        for rule in plan.jobs { declare(rule, AgendaKey(handler, .job, rule.id), &step) }
    }

    mutating func remove(_ handler: HandlerID, _ step: inout AgendaStep) {
        for key in store.keys(of: handler) { erase(key, &step) }
        registrations[handler] = nil
    }

    private mutating func declare(_ rule: JobRule, _ key: AgendaKey, _ step: inout AgendaStep) {
        if var entry = store[key] {
            guard entry.rule != rule else { return }
            adapt(&entry, to: rule, step)
            let isUnscheduled = entry.delivery.isWaiting && !entry.current.isOrdered && entry.schedule == nil
            if isUnscheduled, let next = entry.next { entry.order(next, step) }
            store.put(entry)
            if isUnscheduled, !entry.current.isOrdered { erase(key, &step) }
        } else if let every = rule.every {
            let schedule = JobSchedule(period: every, nominal: step.boottime + every)
            let first = JobRequest(
                earliest: schedule.nominal, deadline: schedule.nominal + rule.deadline, require: nil, isOrdered: false)
            var entry = JobEntry(key: key, rule: rule, current: first, waitingSince: step.wall)
            entry.schedule = schedule
            entry.history.add("scheduled by the manifest", step)
            store.put(entry)
        }
    }

    private func adapt(_ entry: inout JobEntry, to rule: JobRule, _ step: AgendaStep) {
        let longer = entry.rule.map { rule.deadline - $0.deadline } ?? .zero
        entry.rule = rule
        let isScheduled = entry.delivery.isWaiting && !entry.current.isOrdered
        if entry.schedule?.period == rule.every {
            if isScheduled { entry.current.deadline = entry.current.deadline + longer }
            return
        }
        entry.schedule = rule.every.map { JobSchedule(period: $0, nominal: step.boottime + $0) }
        entry.history.add(rule.every == nil ? "no more scheduled by the manifest" : "scheduled again", step)
        if isScheduled, let request = entry.scheduled { entry.wait(for: request, step) }
    }

    /// The manifest does not have it any more: it is cancelled, and the handler is notified if that had ordered it.
    private mutating func undeclare(_ key: AgendaKey, _ step: inout AgendaStep) {
        guard let entry = store[key], entry.rule != nil || !entry.isCancelled else { return }
        if entry.current.isOrdered || entry.next != nil {
            step.emit(.notify(key.handler, .error(.jobUndeclared(key.id))))
        }
        step.decide(key, "cancel manifest")
        store[key]?.rule = nil
        store[key]?.schedule = nil
        store[key]?.next = nil
        revoke(key, &step)
    }

    /// Cancels it: a raised run does not come back, and a waiting one is removed at once.
    /// - Parameter asks: whether the handler that has it is to end it.
    mutating func revoke(_ key: AgendaKey, asks: Bool = false, _ step: inout AgendaStep) {
        guard var entry = store[key] else { return }
        if entry.delivery.isWaiting { return erase(key, &step) }
        entry.isCancelled = true
        if asks {
            entry.delivery.press(key.handler, because: .cancelled, &step)
        } else {
            entry.delivery.recall(key.handler, &step)
        }
        store.put(entry)
    }
}
