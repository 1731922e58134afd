// The core's reports on raised jobs: numbered, on their way, over, or back.
import WakeModel

extension JobBook {
    mutating func recordRaised(_ key: AgendaKey, as sequence: Sequence, _ step: inout AgendaStep) {
        guard store.recordRaised(key, as: sequence, step), var entry = store[key] else { return }
        entry.meet(step)
        store[key] = entry
        if entry.isCancelled { return revoke(key, &step) }
        if entry.isWork, entry.isBarred(step) { entry.delivery.recall(key.handler, &step) }
    }

    mutating func progress(_ key: AgendaKey, done: Int64, total: Int64?, _ step: AgendaStep) {
        guard let entry = store[key], entry.delivery.sequence != nil else { return }
        let furthest = entry.progress?.furthest
        let isFurther = furthest.map { done > $0 } ?? true
        if isFurther, entry.steadySince != nil { store[key]?.steadySince = step.boottime }
        store[key]?.progress = JobProgress(done: done, total: total, furthest: max(done, furthest ?? done))
        store[key]?.delivery.isRunning = true
    }

    mutating func conclude(
        _ key: AgendaKey, _ conclusion: Conclusion, awake: TimeSpan, cpu: TimeSpan, _ step: inout AgendaStep
    ) {
        guard let entry = store[key], !entry.delivery.isWaiting else { return }
        store[key]?.history.add(conclusion.sentence, step)
        switch conclusion {
        case .acknowledged(let result):
            store[key]?.failures = result == .failed ? entry.failures + 1 : 0
            if result == .failed, entry.failures > 0 {
                store[key]?.history.add("\(entry.failures + 1) failures in a row", step)
            }
            goOn(key, &step)
        case .deadLettered, .dropped:
            step.decide(key, conclusion == .dropped ? "dropped" : "dead-lettered")
            goOn(key, &step)
        case .overrun, .crashed, .givenBack:
            store[key]?.delivery.restart()
            store[key]?.progress = nil
            store[key]?.steadySince = nil
            followSlot(of: key, step)
            if entry.isCancelled { revoke(key, &step) } else { store.index.touch(key) }
        case .withdrawn, .ended: comeBack(key, until: nil, &step)
        case .handedBack(let words): comeBack(key, until: step.conditions(named: words, by: key.handler), &step)
        }
    }

    /// Uncharged, with its deadline: for the conditions that it lost, or for those that the handler named.
    private mutating func comeBack(_ key: AgendaKey, until: [Condition]?, _ step: inout AgendaStep) {
        guard var entry = store[key] else { return }
        if entry.isCancelled { return goOn(key, &step) }
        store.index.forget(entry.delivery.sequence)
        freeSlot(of: key)
        let reason = entry.delivery.pressed
        (entry.delivery, entry.progress, entry.steadySince, entry.waitingSince) = (DeliveryState(), nil, nil, step.wall)
        if let until {
            entry.handBacks += 1
            entry.until = until
            let rested = step.boottime + handBackRest(entry.handBacks)
            let deadline = entry.current.deadline
            entry.current.earliest = deadline > step.boottime ? min(rested, deadline) : rested
        } else {
            entry.returned = JobReturn(reason)
        }
        store.put(entry)
    }
}

extension Conclusion {
    /// For a history.
    var sentence: String {
        switch self {
        case .acknowledged(let result): result.map { "acknowledged as \($0.rawValue)" } ?? "acknowledged"
        case .handedBack(let words):
            words.isEmpty ? "handed back" : "handed back until \(words.prefix(4).joined(separator: ", "))"
        case .withdrawn: "came back, not charged"
        case .ended: "over"
        case .overrun: "did not end in time"
        case .crashed: "the process ended over it"
        case .givenBack(let until): until == nil ? "given back, for the process ended" : "refused, so it rests"
        case .deadLettered: "given up after failing too often"
        case .dropped: "dropped before the handler had it"
        }
    }
}
