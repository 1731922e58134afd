// The occasions of a handler: answers that name one, leases beside the batch, and the report of each end to the agenda.
import WakeModel

extension HandlerLifecycle {
    /// Reports the end of an occasion to the agenda; other events are left to the code that knows devices.
    func conclude(_ event: QueuedEvent, _ conclusion: Conclusion, awake: TimeSpan, _ step: inout Step) {
        guard event.budgetClass != nil else { return }
        step.emit(.concluded(id, event.sequence, conclusion, awake: awake))
    }

    /// How long the process has been awake with its batch.
    func awakeForBatch(_ step: Step) -> TimeSpan { step.now - max(batch.deliveredAt, budget.awakeSince ?? .zero) }

    /// The process ended with its open occasions.
    mutating func concludeOpen(_ fate: OpenFate, _ step: inout Step) {
        for occasion in batch.openOccasions() {
            conclude(occasion, fate.conclusion(of: occasion.sequence), awake: awakeForBatch(step), &step)
        }
        for lease in standing.leases {
            conclude(lease.event, fate.conclusion(of: lease.event.sequence), awake: lease.awake, &step)
        }
    }

    // MARK: Long jobs

    /// Only an acknowledgement that names a long job or an open-ended event closes it, and it closes nothing else.
    mutating func acknowledgeStanding(_ sequence: Sequence, as result: Reply.Result?, _ step: inout Step) {
        guard let lease = closeStanding(sequence, step) else { return }
        statistics.outcomes.count(1, as: result)
        penalty.progress()
        step.emit(.acknowledge(id, [sequence]))
        conclude(lease.event, .acknowledged(result), awake: lease.awake, &step)
        step.emit(.decision(id, .acknowledged(through: sequence, count: 1, as: result)))
    }

    private mutating func closeStanding(_ sequence: Sequence, _ step: Step) -> StandingLeases.Lease? {
        guard let lease = standing.close(sequence, at: step.now) else { return nil }
        batch.recordFormer(sequence)
        pressures.withdrawn[sequence] = nil
        if pressures.withdrawn.isEmpty { pressures.withdrawalUntil = nil }
        return lease
    }

    /// The event and, of a device, those that follow it. Nil where it holds no lease.
    mutating func closeRefused(_ sequence: Sequence, _ step: Step) -> [QueuedEvent]? {
        closeStanding(sequence, step).map { [$0.event] } ?? batch.refuse(sequence)
    }

    /// Gives a long job a minute more, where it has come further.
    mutating func advance(
        _ sequence: Sequence, to done: Int64, of total: Int64?, _ reference: Reference?, _ step: inout Step
    ) {
        guard standing.advance(sequence, to: done, at: step.now) else {
            return answer(faultOfProgress(on: sequence), reference, &step)
        }
        step.emit(.progressed(id, sequence, done: done, total: total))
        step.emit(.decision(id, .advanced(sequence, done: done)))
    }

    private func faultOfProgress(on sequence: Sequence) -> ProtocolFault {
        if standing.contains(sequence) { return .noLongJob(sequence, verb: "progress") }
        return switch batch.leaseState(of: sequence) {
        case .leased: .noLongJob(sequence, verb: "progress")
        case .answered, .former: .staleLease(sequence, verb: "progress")
        case .unknown: .notDelivered(sequence, verb: "progress")
        }
    }

    // MARK: Handing back

    /// It ends here; the agenda makes another one when the conditions are true.
    mutating func handBack(
        _ sequence: Sequence, until words: [String], _ reference: Reference?, _ step: inout Step
    ) {
        guard
            let event = standing.leases.first(where: { $0.event.sequence == sequence })?.event
                ?? batch.openEvent(sequence)
        else {
            let isUnknown = batch.leaseState(of: sequence) == .unknown
            return answer(
                isUnknown ? .notDelivered(sequence, verb: "nack") : .staleLease(sequence, verb: "nack"), reference,
                &step)
        }
        guard event.budgetClass != nil else { return answer(.noOccasion(sequence), reference, &step) }
        close(event, as: .handedBack(until: words), &step)
        step.emit(.decision(id, .handedBack(sequence, until: words)))
        if !batch.hasOpen { forgiveOverrunInDrain() }
    }

    /// Closes one occasion alone.
    private mutating func close(_ event: QueuedEvent, as conclusion: Conclusion, _ step: inout Step) {
        let lease = closeStanding(event.sequence, step)
        batch.drop(event.sequence)
        step.emit(.acknowledge(id, [event.sequence]))
        conclude(event, conclusion, awake: lease?.awake ?? awakeForBatch(step), &step)
    }

    // MARK: Asked to end

    /// The handler gave it back while it was warned: the agenda decides whether it comes again.
    mutating func withdraw(pressed sequence: Sequence, _ step: inout Step) {
        guard
            let event = standing.leases.first(where: { $0.event.sequence == sequence })?.event
                ?? batch.openEvent(sequence)
        else { return }
        let reason = pressures.withdrawn.removeValue(forKey: sequence) ?? .condition
        close(event, as: .withdrawn, &step)
        step.emit(.decision(id, .withdrawn(sequence, reason)))
        if pressures.withdrawn.isEmpty { pressures.withdrawalUntil = nil }
    }

    /// A oneshot and an attached handler end it in their own time.
    mutating func withdraw(_ sequence: Sequence, _ reason: Withdrawal, _ step: inout Step) {
        if recall(sequence, as: .withdrawn(sequence, reason), &step) { return }
        guard standing.contains(sequence) || batch.openEvent(sequence)?.budgetClass != nil,
            !isAttached, !process.isOneshot
        else { return }
        pressures.withdrawn[sequence] = reason
        pressures.withdrawalUntil = pressures.withdrawalUntil ?? step.now + timers.extensionWarning
    }

    /// Does nothing if it is not in the queue any more: an occasion that the handler has runs on.
    mutating func recall(_ sequence: Sequence, _ step: inout Step) {
        _ = recall(sequence, as: .recalled(sequence), &step)
    }

    /// Removes an occasion from the queue; false if it is not there.
    private mutating func recall(_ sequence: Sequence, as decision: Decision, _ step: inout Step) -> Bool {
        guard let queued = queue.remove(occasion: sequence) else { return false }
        step.emit(.acknowledge(id, [sequence]))
        conclude(queued, .withdrawn, awake: .zero, &step)
        step.emit(.decision(id, decision))
        return true
    }

    /// No failure is charged for it.
    mutating func withdrawOpen(_ step: inout Step) {
        for (sequence, reason) in pressures.withdrawn.sorted(by: { $0.key < $1.key }) {
            let standing = standing.leases.first { $0.event.sequence == sequence }?.event
            guard let event = standing ?? batch.openEvent(sequence) else { continue }
            close(event, as: .withdrawn, &step)
            step.emit(.decision(id, .withdrawn(sequence, reason)))
        }
        pressures.withdrawn = [:]
        pressures.withdrawalUntil = nil
    }

    // MARK: Released by its maker

    /// Removes an occasion from the queue that was never given to a process, or is given to none any more.
    mutating func release(_ sequence: Sequence, _ step: inout Step) {
        if let queued = queue.remove(occasion: sequence) { return conclude(released: queued, awake: .zero, &step) }
        let standing = standing.leases.first { $0.event.sequence == sequence }?.event
        guard let event = standing ?? batch.openEvent(sequence) else { return }
        close(event, as: .ended, &step)
        step.emit(.decision(id, .released(sequence)))
        if !batch.hasOpen { forgiveOverrunInDrain() }
    }

    /// - Parameter awake: for how long its process was so for it, as far as that is known.
    func conclude(released event: QueuedEvent, awake: TimeSpan, _ step: inout Step) {
        step.emit(.acknowledge(id, [event.sequence]))
        conclude(event, event.attempts > 0 ? .ended : .withdrawn, awake: awake, &step)
        step.emit(.decision(id, .released(event.sequence)))
    }

    // MARK: Gates

    mutating func setGate(isOpen: Bool) { isGated = !isOpen }
}

/// The effect of a process's end on the occasions that it had open.
enum OpenFate {
    case allFailed(Conclusion)
    /// A long job took too long; the occasions beside it have done nothing wrong.
    case oneOverran(Sequence?)
    case noneFailed

    /// - Parameter overdue: the long job whose time was over; nil if there was none.
    init(_ reason: EndReason, isFailure: Bool, overdue: Sequence?) {
        guard isFailure else {
            self = .noneFailed
            return
        }
        switch reason {
        case .stalled: self = .oneOverran(overdue)
        case .overrun, .deadline: self = .allFailed(.overrun)
        case .exit, .launchTimeout, .launchFailed, .exhausted, .taskLeak, .flood, .watchdog, .lockHeld, .escaped,
            .unfreezable, .reclaimed, .idle, .stopped, .reconfigured, .finished, .killedByOperator, .restarted,
            .memory, .thermal, .listensAsleep:
            self = .allFailed(.crashed)
        }
    }

    func conclusion(of sequence: Sequence) -> Conclusion {
        switch self {
        case .allFailed(let conclusion): conclusion
        case .oneOverran(let overdue): sequence == overdue ? .overrun : .givenBack(until: nil)
        case .noneFailed: .givenBack(until: nil)
        }
    }
}

extension ProtocolFault {
    fileprivate static func noLongJob(_ sequence: Sequence, verb: String) -> ProtocolFault {
        ProtocolFault(
            .notPermitted, "\(verb) \(sequence.rawValue): that event is no long job, so it has no progress.",
            advice: "Acknowledge it within its budget, or open a task with begin.")
    }

    fileprivate static func noOccasion(_ sequence: Sequence) -> ProtocolFault {
        ProtocolFault(
            .notPermitted,
            "nack \(sequence.rawValue): until goes with \(TriggerKind.nouns(.returnsUntil)), and this is a device's event.",
            advice: "Use after_s, or leave both out for the bridge's own back-off.")
    }
}
