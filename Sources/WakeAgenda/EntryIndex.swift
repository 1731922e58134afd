// Which entries of a book a step has to look at, and which it has to store: found without a look at all of them.
import WakeModel

package struct EntryIndex: Sendable {
    private var due = DueQueue<Instant>()
    private var used: [AgendaKey: [Condition]] = [:]
    private var users: [Condition: Set<AgendaKey>] = [:]
    private var sequences: [Sequence: AgendaKey] = [:]
    private var touched: Set<AgendaKey> = []
    private var unsaved: Set<AgendaKey> = []

    var next: Instant? { due.next }

    /// It is looked at in this step.
    package mutating func touch(_ key: AgendaKey) { touched.insert(key) }
    /// It is looked at and stored in this step.
    package mutating func save(_ key: AgendaKey) {
        touched.insert(key)
        unsaved.insert(key)
    }

    package mutating func look(_ key: AgendaKey, at instant: Instant?) { due.set(key, at: instant) }

    /// Removes and returns the keys that a step has to look at, in a fixed order.
    mutating func removeTouched(_ step: AgendaStep) -> [AgendaKey] {
        var keys = touched.union(due.removeDue(by: step.boottime))
        for condition in step.changes.conditions { keys.formUnion(users[condition] ?? []) }
        touched = []
        return keys.sorted()
    }

    mutating func removeUnsaved() -> [AgendaKey] {
        defer { unsaved = [] }
        return unsaved.sorted()
    }

    /// Exactly these conditions are watched for the entry from now on.
    mutating func use(_ conditions: [Condition], for key: AgendaKey, _ step: inout AgendaStep) {
        let before = used[key] ?? []
        guard before != conditions else { return }
        for condition in before where !conditions.contains(condition) {
            users[condition]?.remove(key)
            if users[condition]?.isEmpty == true { users[condition] = nil }
            step.use(condition, -1)
        }
        for condition in conditions where !before.contains(condition) {
            users[condition, default: []].insert(key)
            step.use(condition, 1)
        }
        used[key] = conditions.isEmpty ? nil : conditions
    }

    func key(of sequence: Sequence) -> AgendaKey? { sequences[sequence] }
    mutating func number(_ key: AgendaKey, _ sequence: Sequence) { sequences[sequence] = key }
    mutating func forget(_ sequence: Sequence?) { if let sequence { sequences[sequence] = nil } }

    /// The entry is gone.
    mutating func remove(_ key: AgendaKey, _ step: inout AgendaStep) {
        use([], for: key, &step)
        due.set(key, at: nil)
        touched.remove(key)
        unsaved.remove(key)
    }
}
