// What a handler orders in the words of sd_notify: that it is ready, needs longer, or has given itself up.
import WakeModel

extension HandlerLifecycle {
    mutating func obey(_ order: ServiceMessage.Order, _ step: inout Step) {
        guard isLive else { return }
        hasSpoken = true
        switch order {
        case .ready:
            // Programs say it again after they reread their configuration, and whether or not somebody waits for it.
            if case .launching = phase { hear(ReplyLine(.ready), &step) }
        case .extend(let span): extend(by: span, &step)
        case .abort: kill(.watchdog, &step)
        }
    }

    private mutating func extend(by span: TimeSpan, _ step: inout Step) {
        if case .launching(let deadline) = phase {
            let latest = launchedAt + timers.launch + timers.maxExtension
            phase = .launching(deadline: max(deadline, min(step.now + span, latest)))
            return
        }
        let isNew = !budget.tasks.contains(BudgetLedger.serviceTask)
        if isNew, let denial = denial(of: BudgetLedger.serviceTask, step) { return answer(denial, nil, &step) }
        let fault = budget.extend(by: span, at: step.now, timers)
        if let fault { return refuseTask(BudgetLedger.serviceTask, fault, nil, &step) }
        if isNew { step.emit(.decision(id, .began(BudgetLedger.serviceTask))) }
    }

    /// Not renewed in time: the task has ended by itself.
    mutating func endLapsedExtension(_ step: inout Step) -> Bool {
        guard let lapse = budget.lapse, step.now >= lapse else { return false }
        hear(ReplyLine(.end(BudgetLedger.serviceTask)), &step)
        return true
    }
}
