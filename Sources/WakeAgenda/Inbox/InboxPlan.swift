// Whether an inbox wakes its handler now, when it would next, and its waits until then.
import WakeModel

enum InboxWake: Hashable, Sendable {
    case none
    /// The handler is awake, or about to be.
    case rides
    /// The inbox wakes it; `isCounted` where the wake is one of the bucket's.
    case wakes(isCounted: Bool)
}

extension InboxEntry {
    /// Its handler can have messages, once it is awake.
    func mayRaise(_ step: AgendaStep) -> Bool {
        step.obstacle(of: key.handler) == nil && step.holdEnd(of: key.handler) == nil
    }

    /// - Parameter ready: the messages that would be raised, all together.
    func wake(for ready: [KeptMessage], _ step: AgendaStep) -> InboxWake {
        if step.isAwake(key.handler) || isWaking { return .rides }
        let due = ready.filter { wakeTime(of: $0, step) == step.boottime }
        guard !due.isEmpty else { return .none }
        return .wakes(isCounted: !due.contains(where: passesBucket))
    }

    /// The conditions that its waiting messages still rely on.
    var conditionsNeeded: [Condition] {
        var seen: Set<Condition> = []
        return messages.filter(\.isWaiting).flatMap(\.until).filter { seen.insert($0).inserted }
    }

    /// When something follows by the passing of time alone.
    func nextLook(_ step: AgendaStep) -> Instant? {
        var instants = messages.filter(\.isKept).map(\.end)
        instants += messages.compactMap { step.restEnd(of: $0.delivery.sequence) }
        if rule != nil, let next = nextWake(step) { instants.append(next) }
        return instants.filter { $0 > step.boottime }.min()
    }

    /// When it wakes its handler next, if the handler can be woken then; nil where no time decides.
    func nextWake(_ step: AgendaStep) -> Instant? {
        messages.compactMap { wakeTime(ofWaiting: $0, step) }.min()
    }

    private func wakeTime(ofWaiting message: KeptMessage, _ step: AgendaStep) -> Instant? {
        guard message.isWaiting, let wakesAt = wakeTime(of: message, step) else { return nil }
        let holds = [message.restsUntil, blockedUntil(message, step), step.holdEnd(of: key.handler)]
        let time = holds.compactMap { $0 }.reduce(wakesAt, max)
        return time <= message.expires ? time : nil
    }

    /// For the receipt: zero where it is on its way.
    func wakesIn(_ number: Int64, _ step: AgendaStep) -> TimeSpan? {
        guard let message = self[number] else { return nil }
        guard message.isWaiting else { return .zero }
        guard step.obstacle(of: key.handler) == nil else { return nil }
        return wakeTime(ofWaiting: message, step).map { max(.zero, $0 - step.boottime) }
    }
}

// As `pending` and `why` list it: one entry, however many messages there are.
extension InboxEntry {
    /// Nil where nothing waits and nothing is on its way.
    func listed(_ step: AgendaStep) -> PendingEntry? {
        guard !messages.isEmpty else { return nil }
        let waiting = messages.filter(\.isWaiting)
        let next = nextWake(step).map(step.wallTime)
        var entry = PendingEntry(
            key: key, state: state, due: next, sequence: messages.lazy.compactMap(\.delivery.sequence).first,
            history: history.changes)
        entry.messages = Int64(messages.count)
        guard !waiting.isEmpty else { return entry }
        entry.waitsFor = waits(of: waiting, step)
        if step.obstacle(of: key.handler) == nil { entry.nextChance = next }
        return entry
    }

    private var state: PendingEntry.State {
        if messages.contains(where: \.isWaiting) { return .waiting }
        return messages.contains(where: \.isQueued) ? .queued : .running
    }

    /// Never none: the waits of all of them, or those of the first to come.
    private func waits(of waiting: [KeptMessage], _ step: AgendaStep) -> [PendingEntry.Wait] {
        let facts = step.facts(of: key.handler)
        if rule == nil { return [.init(.manifest, since: waitingSince)] }
        if let obstacle = step.obstacle(of: key.handler) { return [.init(word: obstacle, since: facts.obstacleSince)] }
        if step.holdEnd(of: key.handler) != nil { return [.init(.held, since: facts.situationSince)] }
        guard let first = waiting.min(by: { isSooner($0, $1, step) }) else { return [] }
        let unmet = first.until.filter { !step.conditions.isTrue($0) }.map(step.wait)
        if !unmet.isEmpty { return unmet }
        guard let wakesAt = first.wakesAt else { return [.init(.wake, since: facts.situationSince)] }
        let isEarly = step.boottime < wakesAt || isResting(first, step)
        return [.init(isEarly ? .time : .rate, since: waitingSince)]
    }

    private func isSooner(_ one: KeptMessage, _ other: KeptMessage, _ step: AgendaStep) -> Bool {
        switch (wakeTime(ofWaiting: one, step), wakeTime(ofWaiting: other, step)) {
        case (let left?, let right?): left < right
        case (_?, nil): true
        case (nil, _): false
        }
    }
}
