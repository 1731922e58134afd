// Handles the lines that a handler writes to descriptor 3 or NOTIFY_SOCKET, answers them, and limits their rate.
import WakeModel

extension HandlerLifecycle {
    mutating func handle(_ line: ReplyLine, _ step: inout Step) {
        process.hasSpoken = true
        switch line.reply {
        case .ack(let sequence, let result): acknowledge(sequence, as: result, line.reference, &step)
        case .nack(let sequence, let delay): refuse(sequence, after: delay, line.reference, &step)
        case .handBack(let sequence, let words): handBack(sequence, until: words, line.reference, &step)
        case .progress(let sequence, let done, let total):
            advance(sequence, to: done, of: total, line.reference, &step)
        case .order(let order): pass(order, line.reference, &step)
        case .ready: becomeReady(line.reference, &step)
        case .begin(let name): begin(name, line.reference, &step)
        case .end(let name): end(name, line.reference, &step)
        case .remaining: replyRemaining(line.reference, &step)
        case .checkpoint(let text): step.emit(.checkpoint(id, text))
        case .write(let address, let bytes): open(.write(address, bytes: bytes), line.reference, &step)
        case .read(let address): open(.read(address), line.reference, &step)
        }
    }

    mutating func handle(_ fault: ProtocolFault, _ step: inout Step) {
        process.hasSpoken = true
        answer(fault, fault.reference, &step)
    }

    /// Reported once for a process; one that answers on descriptor 3 as well may log what it answers.
    mutating func noteMisdirectedAnswer(_ step: inout Step) {
        guard !process.misdirects, !process.hasSpoken else { return }
        process.hasMisdirected = true
        step.emit(.decision(id, .misdirected))
    }

    /// Closes every lease of this process delivered no later than `sequence`.
    mutating func acknowledge(
        _ sequence: Sequence, as result: Reply.Result? = nil, _ reference: Reference?, isProgress: Bool = true,
        _ step: inout Step
    ) {
        if standing.contains(sequence) { return acknowledgeStanding(sequence, as: result, &step) }
        switch batch.leaseState(of: sequence) {
        case .unknown: return answer(.notDelivered(sequence, verb: "ack"), reference, &step)
        case .former: return answer(.staleLease(sequence, verb: "ack"), reference, &step)
        case .leased, .answered: break
        }
        let occasions = batch.openOccasions(through: sequence)
        let closed = batch.close(through: sequence)
        guard !closed.isEmpty else { return }
        for occasion in occasions { conclude(occasion, .acknowledged(result), awake: awakeForBatch(step), &step) }
        statistics.outcomes.count(closed.count, as: result)
        if isProgress { penalty.progress() }
        budget.renew(at: step.now, for: timeForLeases)
        pressures.earlyDeadlineReason = nil
        forgiveOverrunInDrain()
        step.emit(.acknowledge(id, closed))
        step.emit(.decision(id, .acknowledged(through: sequence, count: closed.count, as: result)))
    }

    /// Acknowledges a written batch if the manifest asks for that. A write proves nothing of the program, so it clears
    /// no crash. A program that acknowledged by itself has another batch by now, which it may not have read.
    mutating func acknowledgeWritten(through last: Sequence, _ step: inout Step) {
        guard settings.acknowledgement == .delivery else { return }
        switch batch.leaseState(of: last) {
        case .leased, .answered: acknowledge(last, nil, isProgress: false, &step)
        case .former, .unknown: break
        }
    }

    /// The time for a batch begins when it is written: a slow disk or a stopped machine takes nothing from it.
    mutating func countFromWriting(at instant: Instant) {
        guard phase == .active, pressures.earlyDeadlineReason == nil, awakeDeadline != nil, budget.tasks.isEmpty else {
            return
        }
        budget.renew(at: instant, for: timeForLeases)
    }

    /// The event and those of its device that follow come again, after exactly `delay` or the growing default.
    mutating func refuse(_ sequence: Sequence, after delay: TimeSpan?, _ reference: Reference?, _ step: inout Step) {
        if pressures.withdrawn[sequence] != nil { return withdraw(pressed: sequence, &step) }
        guard var refused = closeRefused(sequence, step), let device = refused.first?.origin else {
            let isUnknown = batch.leaseState(of: sequence) == .unknown
            let fault: ProtocolFault =
                isUnknown ? .notDelivered(sequence, verb: "nack") : .staleLease(sequence, verb: "nack")
            return answer(fault, reference, &step)
        }
        refused[0].nacks = min(refused[0].nacks + 1, 32)
        // Once refused, it was delivered at once as it should be; if it still passed nacks, it would be refused in a loop.
        refused[0].passesNacks = false
        let until = step.boottime + (delay ?? retryDelay(nacks: refused[0].nacks))
        step.emit(.decision(id, .refused(sequence, until: until)))
        queue.hold(device, until: until)
        for event in refused { conclude(event, .givenBack(until: until), awake: .zero, &step) }
        giveBack(refused, until: until, &step)
        forgiveOverrunIfNothingOpen()
    }

    private mutating func forgiveOverrunIfNothingOpen() {
        if !batch.hasOpen { forgiveOverrunInDrain() }
    }

    private func retryDelay(nacks: UInt8) -> TimeSpan {
        min(timers.retryBase * (1 << Int64(nacks - 1)), timers.retryCap)
    }

    private mutating func becomeReady(_ reference: Reference?, _ step: inout Step) {
        guard case .launching = phase else { return answer(.unexpectedReady, reference, &step) }
        process.isStarting = false
        move(to: .active, because: "ready", &step)
    }

    /// A program without an explicit ready is ready from its start, so it has no moment before which to register.
    private mutating func pass(_ order: HandlerOrder, _ reference: Reference?, _ step: inout Step) {
        let isReady = settings.readiness == .explicit && !process.isStarting
        if order.verb == .register, isReady { return answer(.registeredLate, reference, &step) }
        step.emit(.order(id, epoch, order, ref: reference))
    }

    private mutating func begin(_ name: String, _ reference: Reference?, _ step: inout Step) {
        if let denial = denial(of: name, step) { return answer(denial, reference, &step) }
        guard let fault = budget.begin(name, at: step.now, timers) else {
            return step.emit(.decision(id, .began(name)))
        }
        refuseTask(name, fault, reference, &step)
    }

    mutating func refuseTask(
        _ name: String, _ fault: BudgetLedger.TaskFault, _ reference: Reference?, _ step: inout Step
    ) {
        switch fault {
        case .alreadyOpen: answer(.alreadyOpen(task: name), reference, &step)
        case .tooMany: answer(.tooManyTasks(task: name, limit: BudgetLedger.taskLimit), reference, &step)
        case .noExtensionLeft: answer(.noExtensionLeft(task: name), reference, &step)
        case .notOpen: break
        }
    }

    private mutating func end(_ name: String, _ reference: Reference?, _ step: inout Step) {
        if budget.end(name, isOwing: batch.hasOpen || process.isOneshot, at: step.now, timers) == .notOpen {
            answer(.notOpen(task: name), reference, &step)
        } else {
            step.emit(.decision(id, .ended(name)))
        }
    }

    private mutating func open(_ request: DeviceRequest, _ reference: Reference?, _ step: inout Step) {
        dialogue.requests.removeAll { $0.deadline <= step.now }
        dialogue.requests.append(OpenRequest(ref: reference, deadline: step.now + timers.budget))
        step.emit(.perform(id, epoch, request, ref: reference))
    }

    /// A late answer comes with the next wake and never causes one.
    mutating func answerRequest(_ reference: Reference?, with notice: Notice, _ step: inout Step) {
        if let index = dialogue.requests.firstIndex(where: { $0.ref == reference }) {
            dialogue.requests.remove(at: index)
        }
        announce(notice, &step)
    }

    /// Sends the notice to a process that is awake; one that sleeps gets it with its next wake.
    mutating func announce(_ notice: Notice, _ step: inout Step) {
        switch phase {
        case .launching, .active, .expiring: send(notice, &step)
        case .suspending, .suspended: keep(notice)
        case .stopped, .idle, .terminating, .quarantined: break
        }
    }

    /// Keeps every answer, since the handler requested it. Keeps only the newest notice of a condition, and the newest
    /// of many conditions.
    private mutating func keep(_ notice: Notice) {
        guard notice.isCondition else { return dialogue.lateAnswers.append(notice) }
        var newest = notice
        if let place = dialogue.lateAnswers.firstIndex(where: { $0.isSameCondition(as: notice) }) {
            newest = notice.following(dialogue.lateAnswers.remove(at: place))
        } else if dialogue.lateAnswers.count(where: \.isCondition) >= Self.conditionLimit,
            let oldest = dialogue.lateAnswers.firstIndex(where: \.isCondition)
        {
            dialogue.lateAnswers.remove(at: oldest)
        }
        dialogue.lateAnswers.append(newest)
    }

    private static let conditionLimit = 64

    /// The time to the awake deadline; without one, the whole budget.
    private mutating func replyRemaining(_ reference: Reference?, _ step: inout Step) {
        let remaining = timeLeft(step) ?? timers.budget
        var left = budget.extensionLeft(at: step.now, timers)
        if isExtensionDenied(step) { left = budget.tasks.isEmpty ? .zero : min(left, remaining) }
        reply(.remaining(remaining, extensionLeft: left, reference: reference), &step)
    }

    mutating func answer(_ fault: ProtocolFault, _ reference: Reference?, _ step: inout Step) {
        var fault = fault
        fault.reference = reference
        step.emit(.decision(id, .faulted(fault.code.rawValue)))
        reply(.error(fault), &step)
    }

    /// A program that is ending does not read it.
    private mutating func reply(_ notice: Notice, _ step: inout Step) {
        guard isLive else { return }
        if case .suspending = phase { dialogue.hasUnreadAnswer = true }
        send(notice, &step)
    }
}

extension Notice {
    /// A notice that the handler did not request.
    fileprivate var isCondition: Bool {
        switch self {
        case .bridge, .time, .memory, .storage: true
        case .restored, .resumed, .expiring, .remaining, .reply, .scheduled, .error, .terminating: false
        }
    }

    fileprivate func isSameCondition(as other: Notice) -> Bool {
        if case .time = self, case .time = other { return true }
        return self == other
    }

    /// Steps of the wall clock add up.
    fileprivate func following(_ earlier: Notice) -> Notice {
        guard case .time(let step) = self, case .time(let before) = earlier else { return self }
        return .time(step: before + step)
    }
}

extension ProtocolFault {
    fileprivate static let unexpectedReady = ProtocolFault(
        .malformed, "ready: no ready is awaited.",
        advice: "Write it once after the start, and only where the manifest says ready: \"explicit\".")

    fileprivate static let registeredLate = ProtocolFault(
        .tooLate, "register: this process has said ready, so its jobs may be given to it already.",
        advice: "Register each job before ready. The manifest's jobs come due without it, too.")
}

// MARK: - Orders of sd_notify

extension HandlerLifecycle {
    mutating func handle(_ order: ServiceMessage.Order, _ step: inout Step) {
        guard isLive else { return }
        process.hasSpoken = true
        switch order {
        case .ready:
            // Programs repeat it after they reread their configuration; only while launching does it matter.
            if case .launching = phase { handle(ReplyLine(.ready), &step) }
        case .extend(let span): extend(by: span, &step)
        case .abort: kill(.watchdog, &step)
        }
    }

    private mutating func extend(by span: TimeSpan, _ step: inout Step) {
        if case .launching(let deadline) = phase {
            let latest = process.startedAt + timers.launch + timers.maxExtension
            phase = .launching(deadline: max(deadline, min(step.now + span, latest)))
            return
        }
        let isNew = !budget.tasks.contains(BudgetLedger.serviceTask)
        if isNew, let denial = denial(of: BudgetLedger.serviceTask, step) { return answer(denial, nil, &step) }
        let fault = budget.extend(by: span, at: step.now, timers)
        if let fault { return refuseTask(BudgetLedger.serviceTask, fault, nil, &step) }
        if isNew { step.emit(.decision(id, .began(BudgetLedger.serviceTask))) }
    }

    /// A task that was not renewed in time ends by itself.
    mutating func endLapsedExtension(_ step: inout Step) -> Bool {
        guard let lapse = budget.lapse, step.now >= lapse else { return false }
        handle(ReplyLine(.end(BudgetLedger.serviceTask)), &step)
        return true
    }
}

// MARK: - Flood

extension HandlerLifecycle {
    mutating func setThrottled(_ isThrottled: Bool, _ step: inout Step) {
        guard isThrottled else {
            dialogue.flood = nil
            return
        }
        guard dialogue.flood == nil else { return }
        dialogue.flood = Flood(since: sleep.suspendedSince == nil ? step.now : nil)
        step.emit(.decision(id, .throttled))
        announce(.error(.tooFast), &step)
    }

    /// A frozen handler writes nothing, so its time does not count.
    mutating func pauseFlood(at now: Instant) {
        guard let running = dialogue.flood, let since = running.since else { return }
        dialogue.flood = Flood(before: running.before + (now - since))
    }

    /// When a flood without a pause has lasted too long; there is no limit while attached.
    var floodEnd: Instant? {
        guard let flood = dialogue.flood, let since = flood.since, !isAttached else { return nil }
        return since + max(.zero, timers.flood - flood.before)
    }

    mutating func endFlood(_ step: inout Step) -> Bool {
        switch phase {
        case .launching, .active, .expiring: break
        case .stopped, .idle, .suspending, .suspended, .terminating, .quarantined: return false
        }
        guard let end = floodEnd, step.now >= end else { return false }
        kill(.flood, &step)
        return true
    }
}
