// The agenda: alarms, polls and jobs of all handlers, with the conditions and gates that they wait for. Pure.
import WakeModel

public struct Agenda: Sendable {
    private let seed: UInt64
    private var bootID = ""
    private var cameUpAt = Instant.zero
    private var latest: Stamp?
    private var handlers: [HandlerID: HandlerFacts] = [:]
    private var zones: [String: Zone?] = [:]
    private var conditions = ConditionBook()
    private var gates = GateBook()
    var alarms = AlarmBook()
    var polls = PollBook()
    var jobs = JobBook()

    /// - Parameter seed: of all that is spread: two agendas with one seed decide alike.
    public init(seed: UInt64) { self.seed = seed }

    /// Settling and losing conditions takes time in which the machine is awake.
    public var nextMonotonicDeadline: Instant? { conditions.next }
    public var nextBoottimeDeadline: Instant? {
        .earlier(alarms.nextBoottime, .earlier(polls.nextBoottime, jobs.nextBoottime))
    }
    /// Polls and jobs go by real time.
    public var nextWallDeadline: WallTime? { alarms.nextWall }

    /// What happens because of the input, in the order in which it is to happen.
    public mutating func step(_ input: AgendaInput, at stamp: Stamp) -> [AgendaEffect] {
        var changes = AgendaChanges()
        changes.conditions = conditions.settle(at: stamp)
        followClocks(input, stamp, &changes)
        absorb(input, stamp, &changes)
        changes.conditions.formUnion(conditions.settle(at: stamp))
        var step = makeStep(stamp, changes)
        let answer = dispatch(input, &step)
        gates.advance(&step)
        alarms.advance(&step)
        polls.advance(&step)
        jobs.advance(&step)
        if let answer, let content = composed(answer, step) {
            step.emit(.answer(answer.handler, answer.epoch, content, ref: answer.ref))
        }
        handlers = step.handlers
        latest = stamp
        let (effects, uses) = (step.effects, step.uses)
        return effects + conditions.use(uses, at: stamp)
    }

    /// Everything that is pending of one handler, or of all, by handler, source and name.
    public func pending(of handler: HandlerID?, at stamp: Stamp) -> [PendingEntry] {
        // What is due since the last step is still waiting for time: nothing was told that it has passed.
        var known = latest ?? stamp
        known.wall = stamp.wall - (stamp.moment.boottime - known.moment.boottime)
        let step = makeStep(known, AgendaChanges())
        let wanted = handler.map { [$0] } ?? handlers.keys.sorted()
        return wanted.flatMap { pending(of: $0, step) }
    }

    private func pending(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry] {
        alarms.pending(of: handler, step) + polls.pending(of: handler, step) + jobs.pending(of: handler, step)
    }

    private func makeStep(_ stamp: Stamp, _ changes: AgendaChanges) -> AgendaStep {
        AgendaStep(
            stamp: stamp, bootID: bootID, zones: zones, handlers: handlers, seed: seed, cameUpAt: cameUpAt,
            conditions: conditions, changes: changes)
    }
}

// What is known of the world.
extension Agenda {
    private mutating func followClocks(_ input: AgendaInput, _ stamp: Stamp, _ changes: inout AgendaChanges) {
        if let latest, stamp.moment.hasSlept(since: latest.moment) {
            cameUpAt = stamp.moment.boottime
            changes.clock = true
        }
        if case .clockChanged = input { changes.clock = true }
    }

    private mutating func absorb(_ input: AgendaInput, _ stamp: Stamp, _ changes: inout AgendaChanges) {
        switch input {
        case .restored(let rows, let bootID):
            self.bootID = bootID
            // A bridge that only began anew finds rows of this boot: nothing was missed for long.
            if !rows.contains(where: { $0.isOf(bootID) }) { cameUpAt = stamp.moment.boottime }
        case .configured(let handler, let plan):
            handlers[handler, default: HandlerFacts()].plan = plan
            changes.handlers.insert(handler)
        case .removed(let handler):
            handlers[handler]?.plan = AgendaPlan()
            changes.handlers.insert(handler)
        case .situated(let handler, let situation):
            guard handlers[handler]?.situation != situation else { return }
            handlers[handler, default: HandlerFacts()].situation = situation
            handlers[handler]?.situationSince = stamp.wall
            changes.handlers.insert(handler)
        case .condition(let condition, let isTrue):
            changes.conditions.formUnion(conditions.hear(condition, isTrue, at: stamp))
        case .overridden(let condition, let isTrue):
            changes.conditions.formUnion(conditions.play(condition, isTrue, at: stamp))
        case .zone(let name, let bytes): zones[name] = .some(bytes.flatMap { try? Zone(tzif: $0) })
        case .ordered, .raised, .refused, .concluded, .progressed, .clockChanged, .operated, .tick: break
        }
    }
}

// Which book an input is for.
extension Agenda {
    private mutating func dispatch(_ input: AgendaInput, _ step: inout AgendaStep) -> OrderAnswer? {
        switch input {
        case .restored(let rows, _): for row in rows { restore(row, &step) }
        case .configured(let handler, let plan): configure(handler, plan, &step)
        case .removed(let handler): remove(handler, &step)
        case .ordered(let handler, let epoch, let order, let ref):
            return answer(order, of: handler, epoch, ref, &step)
        case .raised(let key, let sequence): recordRaised(key, sequence, &step)
        case .refused(let key): conclude(key, .dropped, .zero, .zero, &step)
        case .concluded(let handler, let sequence, let conclusion, let awake, let cpu):
            guard let key = key(of: sequence, for: handler) else { break }
            conclude(key, conclusion, max(awake, .zero), max(cpu, .zero), &step)
        case .progressed(let handler, let sequence, let done, let total):
            if let key = jobs.key(of: sequence, for: handler) { jobs.progress(key, done: done, total: total) }
        case .operated(let key, _): operate(key, &step)
        case .situated, .condition, .overridden, .zone, .clockChanged, .tick: break
        }
        return nil
    }

    private mutating func restore(_ row: AgendaRow, _ step: inout AgendaStep) {
        let isReadable =
            switch row.key.source {
            case .alarm: alarms.restore(row, &step)
            case .poll: polls.restore(row, &step)
            case .job: jobs.restore(row, &step)
            case .gate: gates.restore(row, bootID: bootID)
            }
        guard !isReadable else { return }
        step.decide(row.key, "drop unreadable")
        step.emit(.erase(row.key))
    }

    private mutating func configure(_ handler: HandlerID, _ plan: AgendaPlan, _ step: inout AgendaStep) {
        gates.configure(handler, plan.gates, &step)
        alarms.configure(handler, plan, &step)
        polls.configure(handler, plan, &step)
        jobs.configure(handler, plan, &step)
    }

    private mutating func remove(_ handler: HandlerID, _ step: inout AgendaStep) {
        gates.remove(handler, &step)
        alarms.remove(handler, &step)
        polls.remove(handler, &step)
        jobs.remove(handler, &step)
    }

    private mutating func recordRaised(_ key: AgendaKey, _ sequence: Sequence, _ step: inout AgendaStep) {
        switch key.source {
        case .alarm: alarms.recordRaised(key, as: sequence, &step)
        case .poll: polls.recordRaised(key, as: sequence, &step)
        case .job: jobs.recordRaised(key, as: sequence, &step)
        case .gate: break
        }
    }

    private mutating func conclude(
        _ key: AgendaKey, _ conclusion: Conclusion, _ awake: TimeSpan, _ cpu: TimeSpan, _ step: inout AgendaStep
    ) {
        switch key.source {
        case .alarm: alarms.conclude(key, conclusion, awake: awake, cpu: cpu, &step)
        case .poll: polls.conclude(key, conclusion, awake: awake, cpu: cpu, &step)
        case .job: jobs.conclude(key, conclusion, awake: awake, cpu: cpu, &step)
        case .gate: break
        }
    }

    private mutating func operate(_ key: AgendaKey, _ step: inout AgendaStep) {
        let isKnown =
            switch key.source {
            case .alarm: alarms.raiseNow(key, &step)
            case .poll: polls.raiseNow(key, &step)
            case .job: jobs.raiseNow(key, &step)
            case .gate: false
            }
        step.decide(key, isKnown ? "operate" : "operate unknown")
    }

    private func key(of sequence: Sequence, for handler: HandlerID) -> AgendaKey? {
        alarms.key(of: sequence, for: handler) ?? polls.key(of: sequence, for: handler)
            ?? jobs.key(of: sequence, for: handler)
    }
}

// Orders, and their answers.
extension Agenda {
    /// An answer is composed when the step has shown what follows from the order.
    private struct OrderAnswer {
        enum Content {
            case word(String, [AgendaKey])
            case answer(AgendaAnswer)
            /// The book answers when it knows more.
            case later
            case pending
            case fault(ProtocolFault)
        }

        var handler: HandlerID
        var epoch: Epoch
        var verb: HandlerOrder.Verb
        var content: Content
        var ref: Reference?
    }

    private mutating func answer(
        _ order: HandlerOrder, of handler: HandlerID, _ epoch: Epoch, _ ref: Reference?, _ step: inout AgendaStep
    ) -> OrderAnswer {
        let content: OrderAnswer.Content
        do throws(ProtocolFault) {
            content = try carryOut(order, of: handler, epoch, ref, &step)
        } catch {
            var fault = error
            fault.reference = ref
            content = .fault(fault)
        }
        return OrderAnswer(handler: handler, epoch: epoch, verb: order.verb, content: content, ref: ref)
    }

    private func composed(_ answer: OrderAnswer, _ step: AgendaStep) -> AgendaAnswer? {
        switch answer.content {
        case .word(let word, let keys):
            // The entry of the order first, then what else of its source is pending.
            let all = pending(of: answer.handler, step)
            let named = keys.flatMap { key in all.filter { $0.key == key } }
            let others = all.filter { entry in
                keys.contains { $0.source == entry.key.source } && !keys.contains(entry.key)
            }
            return .done(answer.verb, word: word, named + others)
        case .answer(let answer): return answer
        case .later: return nil
        case .pending: return .pending(pending(of: answer.handler, step))
        case .fault(let fault): return .fault(fault)
        }
    }

    private mutating func carryOut(
        _ order: HandlerOrder, of handler: HandlerID, _ epoch: Epoch, _ ref: Reference?, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> OrderAnswer.Content {
        switch order.verb {
        case .alarm:
            return try alarms.order(handler, epoch, order.value, ref: ref, &step).map { .answer($0) } ?? .later
        case .cancel: return try cancel(order.value, of: handler, &step)
        case .pending:
            guard order.value.boolean == true else {
                throw .malformed(
                    "\"pending\" takes true; here stands \(order.value.excerpt).", advice: "Write {\"pending\":true}.")
            }
            return .pending
        case .poll: return try poll(order.value, of: handler, step)
        case .register:
            try permitJobs("register", handler, step)
            let id = try order.value.identifier("register", of: "an order")
            try jobs.register(id, of: handler, epoch, step)
            return .word("registered", [AgendaKey(handler, .job, id)])
        case .submit:
            try permitJobs("submit", handler, step)
            let submission = try JobOrder(order.value)
            return .word(try jobs.submit(submission, of: handler, &step), [AgendaKey(handler, .job, submission.job)])
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

    private mutating func cancel(
        _ value: JSONValue, of handler: HandlerID, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> OrderAnswer.Content {
        switch try Cancellation(value) {
        case .alarm, .alarms: return .answer(try alarms.cancel(handler, value, &step))
        case .job(let id):
            try permitJobs("cancel", handler, step)
            let isCancelled = try jobs.cancel(id, of: handler, &step)
            return .word(isCancelled ? "cancelled" : "not-pending", [AgendaKey(handler, .job, id)])
        case .jobs:
            try permitJobs("cancel", handler, step)
            let keys = jobs.keys(of: handler)
            for key in keys { _ = jobs.cancel(key, &step) }
            return .word(keys.isEmpty ? "not-pending" : "cancelled", keys)
        }
    }

    private func permitJobs(_ verb: String, _ handler: HandlerID, _ step: AgendaStep) throws(ProtocolFault) {
        guard step.facts(of: handler).plan.jobs.isEmpty else { return }
        throw .notInManifest(verb, key: "jobs", example: "\"jobs\":[{\"id\":\"backup\",\"kind\":\"processing\"}]")
    }
}

extension AgendaRow {
    /// It was stored in this boot, as every row says under `boot`.
    fileprivate func isOf(_ bootID: String) -> Bool {
        (try? JSONValue(parsing: value))?["boot"]?.string == bootID
    }
}
