// A job of a handler: its requests, its run in the core, and its progress so far.
import WakeModel

/// The time window of one run. Instants are of CLOCK_BOOTTIME.
struct JobRequest: Hashable, Sendable {
    var earliest = Instant.zero
    var deadline = Instant.zero
    /// Nil for the manifest's conditions.
    var require: [Condition]?
    /// A handler or a person ordered it; otherwise it is an occurrence of the manifest's schedule.
    var isOrdered = false
    /// Its instants come of an earlier boot, and wait for a synchronized clock.
    var isAssumed = false

    mutating func shift(by span: TimeSpan) { (earliest, deadline) = (earliest + span, deadline + span) }
}

/// The manifest's `every`: a phase that no run moves.
struct JobSchedule: Hashable, Sendable {
    var period = TimeSpan.zero
    /// The first occurrence that is neither run nor counted as missed.
    var nominal = Instant.zero
    /// Occurrences that passed without a run of their own since the last one.
    var missed: Int64 = 0
    /// The run that is raised, or comes back, counts for its occurrence already.
    var isCounted = false
    /// As ``JobRequest/isAssumed``.
    var isAssumed = false

    /// The run that begins now counts for one of the passed occurrences.
    mutating func begin(at now: Instant) {
        let passed = pass(now)
        missed += isCounted ? passed : max(0, passed - 1)
        isCounted = true
    }

    /// Counts occurrences that passed meanwhile as missed. A run has reported those before it; without a run they are
    /// still to be reported.
    mutating func end(at now: Instant) {
        missed = (isCounted ? 0 : missed) + pass(now)
        isCounted = false
    }

    /// Its occurrence was not run after all.
    mutating func skip() {
        if isCounted { missed += 1 }
        isCounted = false
    }

    /// Moves on to the first occurrence after `now`, and returns the number of passed ones.
    private mutating func pass(_ now: Instant) -> Int64 {
        guard nominal <= now else { return 0 }
        let passed = (now - nominal).nanoseconds / period.nanoseconds + 1
        nominal = nominal + period * passed
        return passed
    }
}

struct JobProgress: Hashable, Sendable {
    var done: Int64
    var total: Int64?
    /// The largest that `done` ever was in this run.
    var furthest: Int64
}

/// Why a run that was begun, or on its way, waits again.
enum JobReturn: String, Hashable, Sendable, CaseIterable {
    case condition, stalled, cancelled
    /// Its handler was stopped or quarantined, or its gates were closed.
    case stopped

    init(_ reason: Withdrawal?) {
        switch reason {
        case .condition: self = .condition
        case .stalled: self = .stalled
        case .cancelled: self = .cancelled
        case nil: self = .stopped
        }
    }
}

struct JobEntry: TriggerEntry {
    let key: AgendaKey
    /// Nil from the start of the bridge until its manifest was read, and after it was taken out of that.
    var rule: JobRule?
    var current: JobRequest
    /// Ordered while the current one is raised, or for later than the schedule's occurrence that waits.
    var next: JobRequest?
    var schedule: JobSchedule?
    var delivery = DeliveryState()
    /// The conditions with which it was handed back, in addition.
    var until: [Condition] = []
    var handBacks: Int64 = 0
    /// Why it was taken back from the core.
    var returned: JobReturn?
    /// When the raised run ends, it does not come back.
    var isCancelled = false
    /// A person started it: it waits for no time, no soft condition and no attachment.
    var isOperated = false
    /// Runs in a row that the handler called failed.
    var failures: Int64 = 0
    var progress: JobProgress?
    /// Since when it has run without coming further; nil while its handler sleeps, or has a person's attention.
    var steadySince: Instant?
    var waitingSince: WallTime
    /// As ``BootShift/zero``: its instants wait for a synchronized clock.
    var assumedZero: WallTime?
    var history = ChangeHistory()

    init(key: AgendaKey, rule: JobRule?, current: JobRequest, waitingSince: WallTime) {
        (self.key, self.rule, self.current, self.waitingSince) = (key, rule, current, waitingSince)
    }

    init(key: AgendaKey, row: JSONValue) {
        self.init(key: key, rule: nil, current: JobRequest(), waitingSince: WallTime(microseconds: 0))
    }

    /// An awake handler is processing its job, unless it refused that.
    mutating func meet(_ step: AgendaStep) {
        guard delivery.sequence != nil else { return }
        let isResting = step.restEnd(of: delivery.sequence) != nil
        switch step.facts(of: key.handler).situation {
        case .awake where !isResting: (delivery.isRunning, steadySince) = (true, steadySince ?? step.boottime)
        case .attached where !isResting: (delivery.isRunning, steadySince) = (true, nil)
        case .held: (delivery.isRunning, steadySince) = (false, nil)
        case .awake, .attached, .asleep, .stopped, .quarantined, .unread: steadySince = nil
        }
    }

    /// Whether its handler can run the raised job: it may be asleep, as long as it is woken for it.
    func canRun(_ step: AgendaStep) -> Bool {
        guard step.restEnd(of: delivery.sequence) == nil, step.holdEnd(of: key.handler) == nil else { return false }
        return !isBarred(step)
    }

    /// Its handler gets no job before an operator, a manifest or a gate lets it run.
    func isBarred(_ step: AgendaStep) -> Bool {
        step.obstacle(of: key.handler) != nil && !step.isAwake(key.handler)
    }

    /// It takes one of the few slots while it can run.
    var isWork: Bool { rule?.kind.isWork ?? delivery.holdsSlot }

    /// It yielded its slot to another, which comes first.
    var madeWay: Bool { returned == .stalled }

    /// When it has been without progress for so long that it makes way; nil while that clock does not run.
    func makesWay(_ step: AgendaStep) -> Instant? {
        guard delivery.pressed == nil, let steadySince else { return nil }
        return max(steadySince, step.cameUpAt) + JobBook.patience
    }

    /// An order is still to be raised.
    var hasOrder: Bool { next != nil || delivery.isWaiting && current.isOrdered }

    /// A run is still to be raised.
    var isPending: Bool { delivery.isWaiting || next != nil }

    func requirement(_ step: AgendaStep) -> Requirement {
        let start =
            isOperated
            ? current.earliest : step.spreadStart(of: key, due: current.earliest, deadline: current.deadline)
        return Requirement(
            start: start, deadline: max(start, current.deadline), waives: !maySkip, conditions: required + waitedFor,
            needsWake: !isOperated && rule?.wakes == false)
    }

    /// At its deadline it is skipped, unless a person wants it.
    var maySkip: Bool { rule?.onDeadline == .skip && !isOperated }

    /// The conditions that it relies on while it runs.
    var required: [Condition] { current.require ?? rule?.require ?? [] }
    private var waitedFor: [Condition] { until.filter { !required.contains($0) } }

    /// The occurrence of the schedule that comes next.
    var scheduled: JobRequest? {
        // Before its manifest is read, it has as long as the run before.
        let span = rule?.deadline ?? (current.deadline - current.earliest)
        return schedule.map {
            JobRequest(
                earliest: $0.nominal, deadline: $0.nominal + span, require: nil, isOrdered: false,
                isAssumed: $0.isAssumed)
        }
    }

    /// It waits from now on for another run.
    mutating func wait(for request: JobRequest, _ step: AgendaStep) {
        (current, delivery, progress, steadySince) = (request, DeliveryState(), nil, nil)
        (until, handBacks, returned, isCancelled, isOperated) = ([], 0, nil, false, false)
        waitingSince = step.wall
    }
}

// Orders beside the schedule.
extension JobEntry {
    /// An order replaces the waiting request. An occurrence of the schedule before it comes first.
    mutating func order(_ request: JobRequest, _ step: AgendaStep) {
        guard delivery.isWaiting else {
            next = request
            return
        }
        if let occurrence = earlier(than: request, step) {
            if current.isOrdered { wait(for: occurrence, step) }
            next = request
        } else {
            next = nil
            wait(for: request, step)
        }
    }

    /// The next run: of the schedule, of an order, or none.
    mutating func removeFollowing(_ step: AgendaStep) -> JobRequest? {
        if let next, let occurrence = earlier(than: next, step) { return occurrence }
        defer { next = nil }
        return next ?? scheduled
    }

    /// When an order replaces the waiting occurrence of the schedule: one run counts for both.
    var overtakenAt: Instant? {
        delivery.isWaiting && !current.isOrdered && !isOperated ? next?.earliest : nil
    }

    private func earlier(than request: JobRequest, _ step: AgendaStep) -> JobRequest? {
        guard request.earliest > step.boottime, let occurrence = scheduled else { return nil }
        return occurrence.earliest < request.earliest ? occurrence : nil
    }
}

// Its instants over a reboot.
extension JobEntry {
    mutating func carry(over shift: BootShift, isAnchorAssumed: Bool) {
        assumedZero = shift.zero
        move { request in
            if isAnchorAssumed, !request.isAssumed { return request.shift(by: shift.own) }
            request.shift(by: shift.by)
            request.isAssumed = shift.zero != nil
        }
    }

    /// A synchronized clock shows the real place of its assumed instants.
    mutating func mend(by span: TimeSpan) {
        assumedZero = nil
        move { request in
            if request.isAssumed { request.shift(by: span) }
            request.isAssumed = false
        }
    }

    private mutating func move(_ change: (inout JobRequest) -> Void) {
        change(&current)
        if var later = next {
            change(&later)
            next = later
        }
        guard let found = schedule else { return }
        var phase = JobRequest(
            earliest: found.nominal, deadline: found.nominal, require: nil, isOrdered: false,
            isAssumed: found.isAssumed)
        change(&phase)
        schedule?.nominal = phase.earliest
        schedule?.isAssumed = phase.isAssumed
    }
}

// The event for its handler.
extension JobEntry {
    func occasion(_ rule: JobRule, waived: [Condition], _ step: AgendaStep) -> Occasion {
        let payload = JSONWriter.whole { writer in
            writer.field("job", key.id)
            writer.field("kind", rule.kind.rawValue)
            writer.field("deadline", step.wallTime(at: current.deadline))
            writer.field("waived", waived.map(\.word))
            if let returned { writer.field("returned", returned.rawValue) }
            if let missed = schedule?.missed, missed > 0 { writer.field("missed", missed) }
        }
        let budget: BudgetClass = rule.kind.isWork ? .work(longest: rule.maxRun) : .content
        return Occasion(name: "job.due", budgetClass: budget, payload: payload)
    }

    /// For its history.
    func begun(without waived: [Condition]) -> String {
        let missing = waived.isEmpty ? "" : ", without \(waived.map(\.word).joined(separator: ", "))"
        if isOperated { return "started by a person\(missing)" }
        return waived.isEmpty ? "raised" : "raised at its deadline\(missing)"
    }

    /// Why the manifest and the kind of the job let it wait, beside its requirement.
    func ownWaits(_ step: AgendaStep) -> [PendingEntry.Wait] {
        let facts = step.facts(of: key.handler)
        guard let rule else {
            let isUnread = facts.situation == .unread
            return isUnread ? [] : [PendingEntry.Wait(.manifest, since: waitingSince)]
        }
        var waits: [PendingEntry.Wait] = []
        if heldUntil(step) != nil { waits.append(.init(.held, since: facts.situationSince)) }
        if rule.kind == .continued, !isOperated, facts.situation != .attached {
            waits.append(.init(.attached, since: facts.situationSince))
        }
        return waits
    }

    /// A long job takes no slot while its handler may not run.
    func heldUntil(_ step: AgendaStep) -> Instant? { isWork ? step.holdEnd(of: key.handler) : nil }

    func waits(_ step: AgendaStep) -> [PendingEntry.Wait] {
        requirement(step).waits(of: key.handler, since: waitingSince, step) + ownWaits(step)
    }

    private func nextChance(_ step: AgendaStep) -> WallTime? {
        let chance = requirement(step).nextChance(step)
        guard let end = heldUntil(step).map(step.wallTime(at:)) else { return chance }
        if let chance { return max(chance, end) }
        return requirement(step).missing(step).unmet.isEmpty ? end : nil
    }

    func listed(waits: [PendingEntry.Wait], _ step: AgendaStep) -> PendingEntry {
        let isWaiting = delivery.isWaiting
        var listed = PendingEntry(
            key: key, state: delivery.state, due: step.wallTime(at: current.earliest),
            deadline: step.wallTime(at: current.deadline), waitsFor: isWaiting ? waits : [],
            nextChance: isWaiting ? nextChance(step) : nil, sequence: delivery.sequence,
            progressDone: progress?.done, progressTotal: progress?.total, interval: schedule?.period,
            history: history.changes)
        if isWaiting { listed.requires = required + waitedFor }
        return listed
    }

    /// The order beside the current run.
    func listedNext(_ step: AgendaStep) -> PendingEntry? {
        guard let next else { return nil }
        var waits: [PendingEntry.Wait] = []
        if overtakenAt == nil {
            waits.append(.init(.earlierRun, since: waitingSince))
        }
        if step.boottime < next.earliest { waits.append(.init(.time, since: waitingSince)) }
        var listed = PendingEntry(
            key: key, state: .waiting, due: step.wallTime(at: next.earliest),
            deadline: step.wallTime(at: next.deadline),
            waitsFor: waits, interval: schedule?.period)
        listed.requires = next.require ?? rule?.require ?? []
        return listed
    }
}
