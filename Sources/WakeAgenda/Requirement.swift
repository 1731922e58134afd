// The conditions that must be true before an entry is raised, and those that its run relies on afterwards.
import WakeModel

struct Requirement {
    /// Not before this.
    var start: Instant
    /// From here on it may begin sooner, if its handler is awake anyway; nil where it may not.
    var earlyStart: Instant? = nil
    /// From here on its soft conditions are waived. Never before the start.
    var deadline: Instant
    /// Otherwise the deadline waives nothing: the entry is skipped there.
    var waives = true
    var conditions: [Condition]
    /// It goes along with a wake that something else causes.
    var needsWake = false

    /// The conditions watched by now: each as long before the start as it takes to settle.
    func used(at now: Instant) -> [Condition] { conditions.filter { watchStart($0) <= now } }

    private func watchStart(_ condition: Condition) -> Instant { min(start, earlyStart ?? start) - condition.settle }

    /// When more is watched, or it may begin, or conditions are waived; nil where only conditions decide.
    func nextLook(after now: Instant) -> Instant? {
        (conditions.map(watchStart) + [start, deadline]).filter { $0 > now }.min()
    }

    /// The conditions that it waits for, and those that it goes without.
    func missing(_ step: AgendaStep) -> (unmet: [Condition], waived: [Condition]) {
        let missing = conditions.filter { !step.conditions.isTrue($0) }
        guard waives, step.boottime >= deadline else { return (missing, []) }
        return (missing.filter(\.isHard), missing.filter { !$0.isHard })
    }

    /// Why nothing is raised yet: time, the handler, conditions.
    func waits(of handler: HandlerID, since: WallTime, _ step: AgendaStep) -> [PendingEntry.Wait] {
        var waits: [PendingEntry.Wait] = []
        if step.boottime < start { waits.append(.init(.time, since: since)) }
        if let obstacle = step.obstacle(of: handler) {
            waits.append(.init(word: obstacle, since: step.facts(of: handler).obstacleSince))
        }
        if needsWake, !step.isAwake(handler) {
            waits.append(.init(.wake, since: step.facts(of: handler).situationSince))
        }
        let used = used(at: step.boottime)
        for condition in missing(step).unmet where used.contains(condition) {
            waits.append(step.wait(for: condition))
        }
        return waits
    }

    /// When it may be raised if all it waits for comes true; nil where no time decides.
    func nextChance(_ step: AgendaStep) -> WallTime? {
        if step.boottime < start { return step.wallTime(at: start) }
        let unmet = missing(step).unmet
        let settled = step.settled(unmet)
        guard waives, !unmet.isEmpty, unmet.allSatisfy({ !$0.isHard }) else { return settled }
        let waived = step.wallTime(at: deadline)
        return settled.map { min($0, waived) } ?? waived
    }
}

extension AgendaStep {
    func wait(for condition: Condition) -> PendingEntry.Wait {
        PendingEntry.Wait(
            word: condition.word, since: conditions.since(condition) ?? wall,
            settles: conditions.settles(condition).map { wallTime(monotonic: $0) })
    }

    /// When the last of these counts as true; nil where one of them is not about to.
    func settled(_ unmet: [Condition]) -> WallTime? {
        let instants = unmet.compactMap(conditions.settles)
        guard instants.count == unmet.count else { return nil }
        return instants.max().map { wallTime(monotonic: $0) }
    }

    private func wallTime(monotonic instant: Instant) -> WallTime { wall + (instant - stamp.moment.monotonic) }
}

extension AgendaStep {
    /// Entries that were overdue when the system came up or resumed begin within this time, and not all at once.
    static let herd = TimeSpan.seconds(30)

    func spreadStart(of key: AgendaKey, due: Instant, deadline: Instant) -> Instant {
        guard let up = comeUps.first(after: due) else { return due }
        let spread = up + spread(of: key, upTo: Self.herd)
        return deadline > up ? min(spread, deadline) : spread
    }

    /// The conditions until which a handler handed something back. It gets a fault for each unknown word and each path
    /// too many.
    mutating func conditions(named words: [String], by handler: HandlerID) -> [Condition] {
        var (found, paths): ([Condition], Set<Condition>) = ([], orderedPaths)
        for word in words.prefix(Condition.mostInList) {
            do throws(ProtocolFault) {
                let condition = try Condition(word: word).asked(by: handler)
                guard permits(condition, beside: &paths, for: handler) else {
                    throw .tooManyPaths(condition, "nack")
                }
                if !found.contains(condition) { found.append(condition) }
            } catch {
                emit(.notify(handler, .error(error)))
            }
        }
        orderedPaths = paths
        return found
    }
}
