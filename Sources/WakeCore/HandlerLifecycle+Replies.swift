// What a handler says on descriptor 3, and what it is told back.
import WakeModel

extension HandlerLifecycle {
    mutating func hear(_ line: ReplyLine, _ step: inout Step) {
        hasSpoken = true
        switch line.reply {
        case .ack(let sequence, _): acknowledge(sequence, ref: line.reference, &step)
        case .nack(let sequence, let delay): refuse(sequence, after: delay, ref: line.reference, &step)
        case .ready: becomeReady(line.reference, &step)
        case .begin(let name): begin(name, line.reference, &step)
        case .end(let name): end(name, line.reference, &step)
        case .remaining: step.emit(.notify(id, epoch, remaining(line.reference, step)))
        case .checkpoint(let text): step.emit(.checkpoint(id, text))
        case .write(let address, let bytes): open(.write(address, bytes: bytes), line.reference, &step)
        case .read(let address): open(.read(address), line.reference, &step)
        }
    }

    mutating func hear(_ fault: ProtocolFault, _ step: inout Step) {
        hasSpoken = true
        answer(fault, fault.reference, &step)
    }

    /// Everything delivered to this process no later than `sequence` is done and forgotten.
    mutating func acknowledge(_ sequence: Sequence, ref: Reference? = nil, _ step: inout Step) {
        switch batch.close(through: sequence) {
        case .closed(let closed):
            penalty.progress()
            budget.renew(at: step.now, timers)
            step.emit(.acknowledge(id, closed))
            step.emit(.decision(id, .acknowledged(through: sequence, count: closed.count)))
        case .nothingLeft: break
        case .notDelivered: answer(.notDelivered(sequence, verb: "ack"), ref, &step)
        }
    }

    /// It and what follows from its device come again, after exactly `delay` or the growing default.
    mutating func refuse(_ sequence: Sequence, after delay: TimeSpan?, ref: Reference? = nil, _ step: inout Step) {
        guard var refused = batch.refuse(sequence), let device = refused.first?.device else {
            return answer(.notDelivered(sequence, verb: "nack"), ref, &step)
        }
        refused[0].nacks = min(refused[0].nacks + 1, 32)
        let until = step.boottime + (delay ?? retryDelay(nacks: refused[0].nacks))
        nackHolds[device] = max(nackHolds[device] ?? .zero, until)
        step.emit(.decision(id, .refused(sequence, until: until)))
        giveBack(refused, &step)
    }

    private func retryDelay(nacks: UInt8) -> TimeSpan {
        min(timers.retryBase * (1 << Int64(nacks - 1)), timers.retryCap)
    }

    private mutating func becomeReady(_ ref: Reference?, _ step: inout Step) {
        guard case .launching = phase else { return answer(.unexpectedReady, ref, &step) }
        move(to: .active, because: "ready", &step)
    }

    private mutating func begin(_ name: String, _ ref: Reference?, _ step: inout Step) {
        switch budget.begin(name, at: step.now, timers) {
        case nil: step.emit(.decision(id, .began(name)))
        case .alreadyOpen: answer(.alreadyOpen(task: name), ref, &step)
        case .tooMany: answer(.tooManyTasks(task: name, limit: BudgetLedger.taskLimit), ref, &step)
        case .noExtensionLeft: answer(.noExtensionLeft(task: name), ref, &step)
        case .notOpen: break
        }
    }

    private mutating func end(_ name: String, _ ref: Reference?, _ step: inout Step) {
        if budget.end(name, at: step.now, timers) == .notOpen {
            answer(.notOpen(task: name), ref, &step)
        } else {
            step.emit(.decision(id, .ended(name)))
        }
    }

    private mutating func open(_ request: DeviceRequest, _ ref: Reference?, _ step: inout Step) {
        requests.append(OpenRequest(ref: ref, deadline: step.now + timers.budget))
        step.emit(.perform(id, epoch, request, ref: ref))
    }

    /// A late answer comes with the next wake and never causes one.
    mutating func pass(_ notice: Notice, ref: Reference?, _ step: inout Step) {
        if let index = requests.firstIndex(where: { $0.ref == ref }) { requests.remove(at: index) }
        announce(notice, &step)
    }

    /// Tells a process that is awake now, one that sleeps with its next wake.
    mutating func announce(_ notice: Notice, _ step: inout Step) {
        switch phase {
        case .launching, .active, .expiring: step.emit(.notify(id, epoch, notice))
        case .suspending, .suspended: if lateAnswers.count < 64 { lateAnswers.append(notice) }
        case .stopped, .idle, .terminating, .quarantined: break
        }
    }

    private mutating func answer(_ fault: ProtocolFault, _ reference: Reference?, _ step: inout Step) {
        var fault = fault
        fault.reference = reference
        step.emit(.decision(id, .faulted(fault.code.rawValue)))
        step.emit(.notify(id, epoch, .error(fault)))
    }

    private func remaining(_ reference: Reference?, _ step: Step) -> Notice {
        let left = awakeDeadline.map { max(.zero, $0 - step.now) } ?? timers.budget
        return .remaining(left, extensionLeft: budget.extensionLeft(at: step.now), reference: reference)
    }
}

extension ProtocolFault {
    fileprivate static let unexpectedReady = ProtocolFault(
        .malformed, "ready: nothing waits for it.", advice: "Send it once a launch, and only with ready: \"explicit\".")
}
