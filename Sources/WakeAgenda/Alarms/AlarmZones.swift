// The time zones that alarms go by: asked for once, and taken over when their tables come or change.
import WakeModel

struct AlarmZones: Sendable {
    enum Finding: Hashable, Sendable {
        case known(Zone)
        /// There is no zone of that name.
        case missing
        /// Its table has not come yet.
        case unknown

        var zone: Zone? { if case .known(let zone) = self { zone } else { nil } }
    }

    private var findings: [String: Finding] = [:]
    private var asked: Set<String> = []
    private var users: [String: Set<AgendaKey>] = [:]

    subscript(name: String) -> Finding { findings[name] ?? .unknown }

    /// Asks for it where it is not known yet.
    mutating func look(for name: String, _ step: inout AgendaStep) -> Finding {
        if let finding = findings[name] { return finding }
        let finding = Self.finding(name, step)
        if finding == .unknown {
            if asked.insert(name).inserted { step.emit(.readZone(name)) }
        } else {
            findings[name] = finding
        }
        return finding
    }

    /// Those that have come or changed since the last call, in order, with what was known of them.
    mutating func takeChanges(_ step: AgendaStep) -> [(name: String, former: Finding)] {
        var changes: [(name: String, former: Finding)] = []
        for name in Set(users.keys).union(asked).sorted() {
            let (former, finding) = (self[name], Self.finding(name, step))
            guard finding != .unknown, finding != former else { continue }
            findings[name] = finding
            changes.append((name, former))
        }
        return changes
    }

    /// A system that names no zone goes by UTC.
    private static func finding(_ name: String, _ step: AgendaStep) -> Finding {
        guard let answer = step.zones[name] else { return .unknown }
        if let zone = answer { return .known(zone) }
        return name == AlarmRule.systemZone ? .known(.utc) : .missing
    }

    mutating func use(_ name: String?, by key: AgendaKey) {
        if let name { users[name, default: []].insert(key) }
    }

    mutating func leave(_ name: String?, _ key: AgendaKey) {
        guard let name, var keys = users.removeValue(forKey: name) else { return }
        keys.remove(key)
        if !keys.isEmpty { users[name] = keys }
    }

    func users(of name: String) -> [AgendaKey] { (users[name] ?? []).sorted() }
}
