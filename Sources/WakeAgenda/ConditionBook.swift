// Which conditions hold: watched while they are used, settled before they count, and lost only after a while.
import WakeModel

struct ConditionBook: Sendable {
    /// The state of a condition that is watched. Its times are of CLOCK_MONOTONIC: a link has its ten seconds after a
    /// sleep.
    private struct Watch {
        /// The last state that its source reported; nil before the first report.
        var raw: Bool?
        var rawAt = Instant.zero
        var isSettled = false
        var isLost = false
        /// Since when it has been settled, or false.
        var since: WallTime
    }

    private struct Played {
        var isTrue: Bool
        var since: WallTime
    }

    private var users: [Condition: Int] = [:]
    private var watches: [Condition: Watch] = [:]
    /// A person simulates a condition for all handlers at once.
    private var played: [Condition: Played] = [:]
    /// When a watch next changes by the passing of time alone.
    private var turns: [Condition: Instant] = [:]

    /// On CLOCK_MONOTONIC.
    var next: Instant? { turns.values.min() }

    /// Something may begin that requires it.
    func isTrue(_ condition: Condition) -> Bool {
        played(condition) ?? watches[condition]?.isSettled ?? false
    }

    /// Whether work that relies on it has to end.
    func isLost(_ condition: Condition) -> Bool {
        played(condition).map { !$0 } ?? watches[condition]?.isLost ?? false
    }

    /// When it will count as true, on CLOCK_MONOTONIC, if it stays true; nil where it is not about to.
    func settles(_ condition: Condition) -> Instant? {
        guard played(condition) == nil, let watch = watches[condition], watch.raw == true else { return nil }
        return watch.isSettled ? nil : turns[condition]
    }

    func isKnown(_ condition: Condition) -> Bool { played(condition) != nil || watches[condition]?.raw != nil }

    /// Conditions that something uses or a person simulates.
    var present: Set<Condition> { Set(watches.keys).union(played.keys) }

    /// Something uses it: its source is asked.
    func isOpen(_ condition: Condition) -> Bool { watches[condition] != nil }

    /// The last state that its source reported; nil before the first report.
    func raw(_ condition: Condition) -> Bool? { watches[condition]?.raw }

    /// Whether its source has reported it true for long enough, whatever a person simulates.
    func isSettled(_ condition: Condition) -> Bool { watches[condition]?.isSettled ?? false }

    /// The state that a person simulates.
    func played(_ condition: Condition) -> Bool? { played[condition.ofAnyHandler]?.isTrue }

    /// Since when ``isTrue(_:)`` has had its value; nil where it is not watched.
    func since(_ condition: Condition) -> WallTime? {
        played[condition.ofAnyHandler]?.since ?? watches[condition]?.since
    }
}

// Changes of a condition. Each returns the conditions of which something changed.
extension ConditionBook {
    /// A source reported a state. The report is ignored where nothing uses the condition.
    mutating func hear(_ condition: Condition, _ isTrue: Bool, at stamp: Stamp) -> Set<Condition> {
        guard var watch = watches[condition], watch.raw != isTrue else { return [] }
        (watch.raw, watch.rawAt) = (isTrue, stamp.moment.monotonic)
        turns[condition] = watch.rawAt + (isTrue ? condition.settle : Condition.loss)
        let hasChanged = watch.isSettled || watch.isLost
        if !isTrue { watch.since = stamp.wall }
        (watch.isSettled, watch.isLost) = (false, false)
        watches[condition] = watch
        return hasChanged ? [condition] : []
    }

    /// A person plays the condition; nil ends that.
    mutating func play(_ condition: Condition, _ isTrue: Bool?, at stamp: Stamp) -> Set<Condition> {
        played[condition] = isTrue.map { Played(isTrue: $0, since: stamp.wall) }
        return Set(watches.keys.filter { $0.ofAnyHandler == condition }).union([condition])
    }

    /// Counts states that have lasted long enough by now.
    mutating func settle(at stamp: Stamp) -> Set<Condition> {
        var changed: Set<Condition> = []
        for (condition, turn) in turns where turn <= stamp.moment.monotonic {
            turns[condition] = nil
            guard var watch = watches[condition] else { continue }
            if watch.raw == true {
                (watch.isSettled, watch.since) = (true, stamp.wall)
            } else {
                watch.isLost = true
            }
            watches[condition] = watch
            changed.insert(condition)
        }
        return changed
    }

    /// More or fewer entries use each condition from now on.
    mutating func use(_ changes: [Condition: Int], at stamp: Stamp) -> [AgendaEffect] {
        var effects: [AgendaEffect] = []
        for (condition, change) in changes.sorted(by: { $0.key < $1.key }) where change != 0 {
            let before = users[condition, default: 0]
            let after = before + change
            users[condition] = after > 0 ? after : nil
            if before <= 0, after > 0 {
                watches[condition] = Watch(since: stamp.wall)
                effects.append(.open(condition))
            } else if before > 0, after <= 0 {
                (watches[condition], turns[condition]) = (nil, nil)
                effects.append(.close(condition))
            }
        }
        return effects
    }
}
