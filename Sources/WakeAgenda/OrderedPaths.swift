// Limits how many paths a handler's orders wait for beside its manifest's: the daemon follows and watches each.
import WakeModel

extension Agenda {
    /// The paths that its orders, and entries that it handed back, wait for now.
    /// - Parameter entry: an entry that is about to be replaced, so it does not count.
    func orderedPaths(of handler: HandlerID, beside entry: AgendaKey? = nil) -> Set<Condition> {
        let ofJobs = jobs.store.entries(of: handler).filter { $0.key != entry }.flatMap(\.ordered)
        let ofAlarms = alarms.keys(of: handler).compactMap { alarms.entries[$0] }.flatMap { $0.ordered(by: handler) }
        let ofMessages = (inboxes.entries[handler]?.messages ?? []).flatMap(\.until)
        let ofTransfers = transfers.store.entries(of: handler).flatMap(\.until)
        let ofSessions = transfers.sessions.entries(of: handler).flatMap(\.until)
        let all =
            ofJobs + ofAlarms + ofMessages + ofTransfers + ofSessions
            + (polls.store[PollBook.key(handler)]?.until ?? [])
        return Set(all.filter { $0.path != nil })
    }

    /// Throws where the order would exceed the number of paths that orders may wait for.
    func permitPaths(
        of order: JobOrder, _ handler: HandlerID, _ step: AgendaStep
    ) throws(ProtocolFault) {
        let wanted = (order.require ?? []).filter { $0.path != nil }
        guard !wanted.isEmpty else { return }
        var paths = orderedPaths(of: handler, beside: AgendaKey(handler, .job, order.job))
        for condition in wanted where !step.permits(condition, beside: &paths, for: handler) {
            throw .tooManyPaths(condition, "submit \"\(order.job)\"")
        }
    }
}

extension AgendaStep {
    /// Whether an order may wait for the condition. If so, its path is added to `paths`; a path of the manifest is
    /// free.
    func permits(_ condition: Condition, beside paths: inout Set<Condition>, for handler: HandlerID) -> Bool {
        guard condition.path != nil, !facts(of: handler).plan.conditions.contains(condition) else { return true }
        let others = paths.subtracting(facts(of: handler).plan.conditions)
        guard others.contains(condition) || others.count < Condition.mostOrderedPaths else { return false }
        paths.insert(condition)
        return true
    }
}

extension JobEntry {
    fileprivate var ordered: [Condition] { (current.require ?? []) + (next?.require ?? []) + until }
}

extension AlarmEntry {
    fileprivate func ordered(by handler: HandlerID) -> [Condition] {
        if case .owed(_, let words) = run { Condition.known(words, to: handler) } else { [] }
    }
}

extension Conclusion {
    /// Whether the handler handed the entry back until a path can be used.
    var namesPath: Bool {
        guard case .handedBack(let words) = self else { return false }
        return words.contains { $0.contains("/") }
    }
}

extension ProtocolFault {
    static func tooManyPaths(_ condition: Condition, _ verb: String) -> ProtocolFault {
        let limit = Condition.mostOrderedPaths.counted("path")
        return ProtocolFault(
            .tooMany,
            "\(verb): orders of this handler may wait for \(limit), and \"\(condition.word)\" would be one more.",
            advice: "Wait for one that is waited for already, or declare it in the manifest.")
    }
}
