// Handles the orders of handlers on descriptor 3: the book for each order, its permission, and its answer.
import WakeModel

extension Agenda {
    /// An answer is composed when the step has shown what follows from the order.
    struct OrderAnswer {
        enum Content {
            case word(String, [AgendaKey])
            case transfer(String, AgendaKey, startsIn: TimeSpan?)
            case pending
            /// As a book composed it.
            case whole(AgendaAnswer)
            /// The answer follows as an effect of a later step.
            case later
        }

        var handler: HandlerID
        var epoch: Epoch
        var verb: HandlerOrder.Verb
        var content: Content
        var ref: Reference?
    }

    mutating func answer(
        _ order: HandlerOrder, of handler: HandlerID, _ epoch: Epoch, _ ref: Reference?, _ step: inout AgendaStep
    ) -> OrderAnswer {
        let content: OrderAnswer.Content
        do throws(ProtocolFault) {
            content = try carryOut(order, of: handler, epoch, ref, &step)
        } catch {
            var fault = error
            fault.reference = ref
            content = .whole(.fault(fault))
        }
        return OrderAnswer(handler: handler, epoch: epoch, verb: order.verb, content: content, ref: ref)
    }

    func composed(_ answer: OrderAnswer, _ step: AgendaStep) -> AgendaAnswer? {
        switch answer.content {
        case .word(let word, let keys):
            return .done(answer.verb, word: word, pending(of: answer.handler, first: keys, step))
        // Alone: there may be a thousand more.
        case .transfer(let word, let key, let startsIn):
            let listed = transfers.entries[key].map { [$0.listed(step)] } ?? []
            return .transfer(answer.verb, word: word, startsIn: startsIn, listed)
        case .pending: return .pending(pending(of: answer.handler, step))
        case .whole(let whole): return whole
        case .later: return nil
        }
    }

    /// The entries of the order first, then what else of its source is pending.
    private func pending(of handler: HandlerID, first keys: [AgendaKey], _ step: AgendaStep) -> [PendingEntry] {
        let sources = Set(keys.map(\.source))
        let all = pending(of: handler, from: sources, step)
        let named = keys.flatMap { key in all.filter { $0.key == key } }
        return named + all.filter { !keys.contains($0.key) }
    }

    private mutating func carryOut(
        _ order: HandlerOrder, of handler: HandlerID, _ epoch: Epoch, _ ref: Reference?, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> OrderAnswer.Content {
        switch order.verb {
        case .alarm:
            try permitAlarms("alarm", handler, step)
            return try alarms.order(handler, epoch, order.value, ref: ref, &step).map { .whole($0) } ?? .later
        case .cancel: return try cancel(order.value, of: handler, &step)
        case .flow:
            let rules = step.facts(of: handler).plan.flows
            guard !rules.isEmpty else {
                throw .notInManifest("flow", key: "flows", example: FlowRule.manifestExample)
            }
            let flow = try FlowOrder(order.value)
            return .word(try flows.order(flow, of: handler, &step), [AgendaKey(handler, .flow, flow.name)])
        case .pending:
            guard order.value.boolean == true else {
                throw .malformed(
                    "\"pending\" takes true; here stands \(order.value.excerpt).", advice: "Write {\"pending\":true}.")
            }
            return .pending
        case .keepalive: return try keepAlive(order.value, of: handler, &step)
        case .reconnect: return try reconnect(order.value, of: handler, &step)
        case .poll: return try poll(order.value, of: handler, step)
        case .register:
            try permitJobs("register", handler, step)
            let id = try order.value.identifier("register", of: "an order")
            try jobs.register(id, of: handler, epoch, step)
            return .word("registered", [AgendaKey(handler, .job, id)])
        case .state: return try regionState(order.value, of: handler, step)
        case .submit:
            try permitJobs("submit", handler, step)
            let submission = try JobOrder(order.value).asked(by: handler)
            try permitPaths(of: submission, handler, step)
            return .word(try jobs.submit(submission, of: handler, &step), [AgendaKey(handler, .job, submission.job)])
        case .transfer, .resume, .credential:
            try permitTransfers(order.verb.rawValue, handler, step)
            return try carryOutTransfer(order, of: handler, &step)
        }
    }

    private mutating func carryOutTransfer(
        _ order: HandlerOrder, of handler: HandlerID, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> OrderAnswer.Content {
        switch order.verb {
        case .resume:
            let name = try TransferName(order.value, of: "\"resume\"")
            let word = try transfers.resume(name, of: handler, &step)
            return .transfer(word, AgendaKey(handler, .transfer, name.text), startsIn: nil)
        case .credential:
            let answer = try CredentialOrder(order.value)
            try transfers.answer(answer, of: handler, &step)
            return .transfer("given", AgendaKey(handler, .transfer, answer.name.text), startsIn: nil)
        case .transfer, .alarm, .cancel, .flow, .keepalive, .pending, .poll, .reconnect, .register, .state, .submit:
            let request = try TransferRequest(order.value)
            let (word, startsIn) = try transfers.order(request, of: handler, &step)
            return .transfer(word, AgendaKey(handler, .transfer, request.name.text), startsIn: startsIn)
        }
    }

    private mutating func poll(
        _ value: JSONValue, of handler: HandlerID, _ step: AgendaStep
    ) throws(ProtocolFault) -> OrderAnswer.Content {
        guard let rule = step.facts(of: handler).plan.poll else {
            throw .notInManifest("poll", key: "poll", example: "\"poll\":{\"min_interval\":\"15m\"}")
        }
        let order = try PollOrder(value, rule)
        return .word(polls.order(order, of: handler, step), [PollBook.key(handler)])
    }

    private func regionState(
        _ value: JSONValue, of handler: HandlerID, _ step: AgendaStep
    ) throws(ProtocolFault) -> OrderAnswer.Content {
        let rules = step.facts(of: handler).plan.regions
        guard !rules.isEmpty else { throw .notInManifest("state", key: "regions", example: RegionRule.manifestExample) }
        let object = try RuleObject(
            value, owner: "\"state\"", keys: ["region"], example: "{\"state\":{\"region\":\"home\"}}")
        let id = try object.identifier("region")
        guard let rule = rules.first(where: { $0.id == id }) else {
            throw .notDeclared(region: id, known: rules.map(\.id))
        }
        return .word(regions.presence(of: rule.beacon).rawValue, [])
    }

    private mutating func cancel(
        _ value: JSONValue, of handler: HandlerID, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> OrderAnswer.Content {
        switch try Cancellation(value) {
        case .alarm, .alarms:
            try permitAlarms("cancel", handler, step)
            return .whole(try alarms.cancel(handler, value, &step))
        case .job(let id):
            try permitJobs("cancel", handler, step)
            let isCancelled = try jobs.cancel(id, of: handler, &step)
            return .word(isCancelled ? "cancelled" : "not-pending", [AgendaKey(handler, .job, id)])
        case .jobs:
            try permitJobs("cancel", handler, step)
            let keys = jobs.keys(of: handler)
            for key in keys { _ = jobs.cancel(key, by: .handler, &step) }
            return .word(keys.isEmpty ? "not-pending" : "cancelled", keys)
        case .transfer(let name):
            try permitTransfers("cancel", handler, step)
            let key = AgendaKey(handler, .transfer, name.text)
            return .transfer(transfers.cancel(key, &step) ? "cancelled" : "not-pending", key, startsIn: nil)
        case .transfers:
            try permitTransfers("cancel", handler, step)
            let cancelled = transfers.keys(of: handler).filter { transfers.cancel($0, &step) }
            return .word(cancelled.isEmpty ? "not-pending" : "cancelled", cancelled)
        }
    }

    private func permitTransfers(_ verb: String, _ handler: HandlerID, _ step: AgendaStep) throws(ProtocolFault) {
        guard step.facts(of: handler).plan.transfers.isEmpty else { return }
        throw .notInManifest(verb, key: "transfers", example: TransferRule.manifestExample)
    }

    private func permitAlarms(_ verb: String, _ handler: HandlerID, _ step: AgendaStep) throws(ProtocolFault) {
        guard step.facts(of: handler).plan.alarms == nil else { return }
        throw .notInManifest(verb, key: "alarms", example: "\"alarms\":[]")
    }

    private func permitJobs(_ verb: String, _ handler: HandlerID, _ step: AgendaStep) throws(ProtocolFault) {
        guard step.facts(of: handler).plan.jobs.isEmpty else { return }
        throw .notInManifest(verb, key: "jobs", example: "\"jobs\":[{\"id\":\"backup\",\"kind\":\"processing\"}]")
    }
}
