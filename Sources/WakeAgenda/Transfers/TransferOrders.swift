// The orders of handlers for their transfers, each with an answer or a fault.
import WakeModel
import WakeTransfer

extension TransferBook {
    /// The word of the answer, and for how long the transfer waits at least.
    mutating func order(
        _ request: TransferRequest, of handler: HandlerID, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> (word: String, startsIn: TimeSpan) {
        let rule = try declared(request.name, "transfer", of: handler, step)
        let key = AgendaKey(handler, .transfer, request.name.text)
        if let known = store[key] {
            guard known.order == request.order else { throw .transferConflict(request.name) }
            return ("known", max(.zero, known.earliest - step.boottime))
        }
        try admit(request, handler)
        let delay = max(request.notBefore, delayOfOrder(handler))
        let now = step.boottime
        lastNumber = max(lastNumber + 1, step.wall.microseconds)
        var entry = TransferEntry(
            key: key, number: lastNumber, order: request.order, earliest: now + delay, giveUp: now + rule.giveUp,
            waitingSince: step.wall)
        entry.deadline = request.deadline.map { now + $0 }
        (entry.rule, entry.isPaused) = (rule, request.isPaused)
        entry.isDiscretionary = rule.isDiscretionary ?? (step.facts(of: handler).situation != .attached)
        entry.history.add("ordered" + (entry.isDiscretionary ? ", for when power, link and heat allow it" : ""), step)
        step.decide(key, "order")
        put(entry)
        return ("ordered", delay)
    }

    private mutating func delayOfOrder(_ handler: HandlerID) -> TimeSpan {
        guard limiters[handler] != nil else { return .zero }
        unsavedLimiters.insert(handler)
        return limiters[handler]?.delayOfOrder() ?? .zero
    }

    private func admit(_ request: TransferRequest, _ handler: HandlerID) throws(ProtocolFault) {
        guard openEntries(of: handler).count < Self.mostOpen else {
            throw ProtocolFault(
                .tooMany, "transfer \"\(request.name.text)\": \(Self.mostOpen) of this handler are open already.",
                advice: "Cancel some, or wait until some have ended.")
        }
        guard case .download(let path) = request.order.direction else { return }
        let rival = openEntries(of: handler).first { $0.order.direction == .download(to: path) }
        guard let rival else { return }
        throw ProtocolFault(
            .conflict, "transfer \"\(request.name.text)\": \"\(rival.key.id)\" is received as \"\(path)\" already.",
            advice: "Name another file, or cancel that one.")
    }

    /// Answers with `resumed`, or `moving` where it was not paused.
    mutating func resume(
        _ name: TransferName, of handler: HandlerID, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> String {
        var entry = try open(name, "resume", of: handler, step)
        guard entry.isPaused else { return "moving" }
        entry.isPaused = false
        entry.history.add("resumed", step)
        put(entry)
        return "resumed"
    }

    mutating func answer(
        _ order: CredentialOrder, of handler: HandlerID, _ step: inout AgendaStep
    ) throws(ProtocolFault) {
        var entry = try open(order.name, "credential", of: handler, step)
        guard entry.challenge != nil else {
            throw ProtocolFault(
                .notPermitted, "credential \"\(order.name.text)\": the server has not asked for one.",
                advice: "Wait for wakebridge.transfer.challenge.")
        }
        entry.challenge = nil
        entry.history.add("given a credential", step)
        step.emit(.act(AgendaKey(handler, .transfer, ""), TransferAction(entry.number, .answer(order.credential))))
        put(entry)
    }

    /// A person cancels it: its handler learns that it has failed.
    mutating func fail(_ key: AgendaKey, _ failure: TransferFailure, _ step: inout AgendaStep) {
        if let entry = store[key], entry.isOpen { end(entry, TransferResult(failure: failure), &step) }
    }

    /// True if a transfer was cancelled. Its end is not raised.
    mutating func cancel(_ key: AgendaKey, _ step: inout AgendaStep) -> Bool {
        guard let entry = store[key] else { return false }
        step.decide(key, JobCanceller.handler.wireName)
        entry.delivery.recall(key.handler, &step)
        if entry.isOpen {
            step.emit(.act(AgendaKey(key.handler, .transfer, ""), TransferAction(entry.number, .cancel)))
        }
        erase(entry, &step)
        return true
    }

    private func open(
        _ name: TransferName, _ verb: String, of handler: HandlerID, _ step: AgendaStep
    ) throws(ProtocolFault) -> TransferEntry {
        _ = try declared(name, verb, of: handler, step)
        if let entry = store[AgendaKey(handler, .transfer, name.text)], entry.isOpen { return entry }
        let known = openEntries(of: handler).map(\.key.id)
        throw ProtocolFault(
            .notRegistered,
            "\(verb) \"\(name.text)\": no such transfer is open\(nearest(to: name.text, in: known)).",
            advice: "See what is open with {\"pending\":true}.")
    }

    private func declared(
        _ name: TransferName, _ verb: String, of handler: HandlerID, _ step: AgendaStep
    ) throws(ProtocolFault) -> TransferRule {
        let rules = step.facts(of: handler).plan.transfers
        if let rule = rules.first(where: { $0.session == name.session }) { return rule }
        let known = rules.map(\.session)
        throw ProtocolFault(
            .notRegistered,
            "\(verb) \"\(name.text)\": this handler's manifest declares no such session"
                + "\(nearest(to: name.session, in: known)).",
            advice: "Write one of \(known.listed), or declare it in \"transfers\" of the manifest.")
    }
}

extension ProtocolFault {
    fileprivate static func transferConflict(_ name: TransferName) -> ProtocolFault {
        ProtocolFault(
            .conflict, "transfer \"\(name.text)\": one of that name is there already, and is another request.",
            advice: "Give this one another id, or cancel the other first.")
    }

    static func sessionUndeclared(_ name: String) -> ProtocolFault {
        ProtocolFault(
            .notRegistered, "The transfer \"\(name)\" is cancelled: the manifest declares its session no more.",
            advice: "Declare the session in \"transfers\" of the manifest again, and order it.")
    }
}
