// A transfer of a handler: its order, its progress, and the events that the handler has got.
import WakeModel
import WakeTransfer

struct TransferEntry: TriggerEntry {
    enum Phase: Hashable, Sendable {
        case waiting
        /// `wakebridge-transferd` was asked to move it.
        case moving
        case ended(TransferResult)
    }

    enum Telling: String, Hashable, Sendable { case finished, challenge }

    /// The server requires a credential.
    struct Challenge: Hashable, Sendable {
        var realm = ""
        /// Unanswered by then, it fails.
        var until = Instant.zero
        var isTold = false
    }

    /// The time that a handler has to answer one.
    static let patience = TimeSpan.seconds(3_600)

    let key: AgendaKey
    var number: Int64
    var order: TransferOrder
    /// Nil from the start of the bridge until its manifest was read.
    var rule: TransferRule?
    var phase = Phase.waiting
    var delivery = DeliveryState()
    /// The event that is raised; nil where none is.
    var telling: Telling?
    var challenge: Challenge?
    /// Instants of CLOCK_BOOTTIME.
    var earliest: Instant
    var deadline: Instant?
    var giveUp: Instant
    /// The wait before an undelivered event is raised again.
    var restsUntil: Instant?
    /// The conditions with which the handler handed its end or its challenge back, and how often.
    var until: [Condition] = []
    var handBacks: Int64 = 0
    var isDiscretionary = false
    var isPaused = false
    var status = TransferStatus()
    var waitingSince: WallTime
    /// As ``BootShift/zero``: its instants wait for a synchronized clock.
    var assumedZero: WallTime?
    var history = ChangeHistory()

    init(
        key: AgendaKey, number: Int64, order: TransferOrder, earliest: Instant, giveUp: Instant, waitingSince: WallTime
    ) {
        (self.key, self.number, self.order) = (key, number, order)
        (self.earliest, self.giveUp, self.waitingSince) = (earliest, giveUp, waitingSince)
    }

    var session: AgendaKey { AgendaKey(key.handler, .transfer, TransferName(key.id)?.session ?? "") }
    var result: TransferResult? { if case .ended(let result) = phase { result } else { nil } }
    var isOpen: Bool { result == nil }
    /// Bytes of the whole file, as far as is known.
    var total: Int64? { status.total ?? order.expected }
    /// Its end is with the core, or about to be.
    var isEndTold: Bool { telling == .finished }

    /// The session's end is raised without it: its own end is with the core, or the handler wants that later.
    var isEndLeft: Bool { isEndTold || handBacks > 0 }

    /// Its event may be raised now.
    func mayBeTold(_ step: AgendaStep) -> Bool {
        delivery.isWaiting && restsUntil == nil && until.allSatisfy(step.conditions.isTrue)
    }

    var conditions: [Condition] {
        let wanted =
            (rule?.require ?? []) + (isDiscretionary ? [.power, .unmetered, .cool] : [])
            // Certificates are judged by the clock.
            + (order.address.isSecure ? [.timeSynced] : [])
        var seen: Set<Condition> = []
        return wanted.filter { seen.insert($0).inserted }
    }

    /// The conditions that are watched for it.
    func watched(_ step: AgendaStep) -> [Condition] {
        let own: [Condition] =
            switch phase {
            case .waiting: requirement.used(at: step.boottime)
            case .moving: conditions
            case .ended: []
            }
        return own + until.filter { !own.contains($0) }
    }

    var requirement: Requirement {
        Requirement(start: earliest, deadline: max(earliest, deadline ?? giveUp), conditions: conditions)
    }

    mutating func shift(by span: TimeSpan) {
        (earliest, giveUp, deadline) = (earliest + span, giveUp + span, deadline.map { $0 + span })
        if let until = challenge?.until { challenge?.until = until + span }
        status.shift(by: span)
        restsUntil = nil
    }

    /// Its waits before it may move; a place among those of its session comes last of all.
    func waits(_ step: AgendaStep) -> [PendingEntry.Wait] {
        var waits = rule == nil ? [PendingEntry.Wait(.manifest, since: waitingSince)] : []
        if isPaused { waits.append(.init(.paused, since: waitingSince)) }
        if challenge != nil { waits.append(.init(.credential, since: waitingSince)) }
        if step.boottime < earliest { waits.append(.init(.time, since: waitingSince)) }
        let used = requirement.used(at: step.boottime)
        for condition in requirement.missing(step).unmet where used.contains(condition) {
            waits.append(step.wait(for: condition))
        }
        if let retry = status.retry, retry.at > step.boottime { waits.append(.init(.retry, since: retry.since)) }
        return waits
    }

    /// The condition whose loss pauses it.
    func lost(_ step: AgendaStep) -> Condition? {
        let isWaived = deadline.map { $0 <= step.boottime } ?? false
        return conditions.first { step.conditions.isLost($0) && ($0.isHard || !isWaived) }
    }

    /// When it must be evaluated again without another input.
    func nextLook(_ step: AgendaStep) -> Instant? {
        switch phase {
        case .ended: return restsUntil
        case .waiting, .moving:
            // While it moves, transferd tries it again by itself.
            let retry = phase == .waiting ? status.retry?.at : nil
            let ends: [Instant?] = [
                requirement.nextLook(after: step.boottime), giveUp, challenge?.until, restsUntil, retry,
            ]
            return ends.compactMap { $0 }.filter { $0 > step.boottime }.min()
        }
    }
}

/// The state of its movement. Only the time of a retry is stored.
struct TransferStatus: Hashable, Sendable {
    var done: Int64 = 0
    var total: Int64?
    /// It failed for now.
    private(set) var retry: Retry?

    struct Retry: Hashable, Sendable {
        var why = ""
        var at = Instant.zero
        var since = WallTime(microseconds: 0)
    }

    mutating func move(done: Int64, total: Int64?) {
        (self.done, self.total) = (done, total)
        tryAgain()
    }

    mutating func tryAgain() { retry = nil }
    mutating func shift(by span: TimeSpan) { if let at = retry?.at { retry?.at = at + span } }

    mutating func fail(_ why: String, until: Instant, since: WallTime) {
        retry = Retry(why: why, at: until, since: since)
    }
}

/// A session of a handler, with the pending event for its end.
struct TransferSession: TriggerEntry {
    let key: AgendaKey
    var rule: TransferRule?
    /// Since it was settled last.
    var tally = TransferTally()
    /// The counts that are on their way to the handler.
    var told = TransferTally()
    var delivery = DeliveryState()
    var restsUntil: Instant?
    /// The conditions with which the handler handed its end back.
    var until: [Condition] = []

    init(key: AgendaKey) { self.key = key }

    var isWorthStoring: Bool { !delivery.isWaiting || !tally.isEmpty }

    /// Its event may be raised now.
    func mayBeTold(_ step: AgendaStep) -> Bool {
        delivery.isWaiting && restsUntil == nil && until.allSatisfy(step.conditions.isTrue)
    }
}

struct TransferTally: Hashable, Sendable {
    var finished: Int64 = 0
    var failed: Int64 = 0

    var isEmpty: Bool { finished + failed == 0 }

    mutating func count(_ result: TransferResult) { if result.failure == nil { finished += 1 } else { failed += 1 } }
    mutating func add(_ other: TransferTally) {
        (finished, failed) = (finished + other.finished, failed + other.failed)
    }
}

// The events for the handler.
extension TransferEntry {
    func occasion(_ telling: Telling) -> Occasion {
        let name = TransferName(key.id) ?? TransferName(session: key.id, id: "")
        let payload = JSONWriter.whole { writer in
            writer.field("session", name.session)
            writer.field("id", name.id)
            writer.field("method", order.method)
            switch telling {
            case .challenge:
                writer.field("url", order.address.text)
                writer.field("realm", challenge?.realm ?? "")
            case .finished:
                result?.write(into: &writer)
                writer.field("path", order.path)
            }
        }
        return Occasion(name: "transfer.\(telling.rawValue)", budgetClass: .content, payload: payload)
    }

    func listed(_ step: AgendaStep) -> PendingEntry {
        var listed = PendingEntry(
            key: key, state: state(step), due: step.wallTime(at: earliest),
            deadline: step.wallTime(at: deadline ?? giveUp), waitsFor: allWaits(step),
            sequence: delivery.sequence, progressDone: status.done, progressTotal: total,
            history: history.changes)
        if phase == .waiting {
            listed.requires = conditions
            listed.nextChance = requirement.nextChance(step)
        }
        if let retry = status.retry, isOpen { listed.nextChance = step.wallTime(at: retry.at) }
        return listed
    }

    private func state(_ step: AgendaStep) -> PendingEntry.State {
        switch phase {
        case .waiting: .waiting
        case .moving: allWaits(step).isEmpty ? .running : .waiting
        case .ended: .queued
        }
    }

    private func allWaits(_ step: AgendaStep) -> [PendingEntry.Wait] {
        switch phase {
        case .waiting:
            let own = waits(step)
            return own.isEmpty ? [.init(.place, since: waitingSince)] : own
        case .moving:
            if challenge != nil { return [.init(.credential, since: waitingSince)] }
            return status.retry.map { [.init(.retry, since: $0.since)] } ?? []
        case .ended:
            guard delivery.isWaiting else { return [] }
            let missing = until.filter { !step.conditions.isTrue($0) }
            if !missing.isEmpty { return missing.map { step.wait(for: $0) } }
            if handBacks > 0, restsUntil != nil { return [.init(.time, since: waitingSince)] }
            // Its session's end wakes the handler.
            return [.init(.session, since: waitingSince)]
        }
    }
}

extension TransferSession {
    func occasion() -> Occasion {
        let payload = JSONWriter.whole { writer in
            writer.field("session", key.id)
            writer.field("finished", told.finished)
            writer.field("failed", told.failed)
        }
        return Occasion(name: "transfer.settled", budgetClass: .content, payload: payload)
    }
}
