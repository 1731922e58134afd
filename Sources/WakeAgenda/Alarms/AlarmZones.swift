// The time zones of alarms: requested once, and applied when their tables come or change.
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
    /// Perhaps of no use any more.
    private var doubtful: Set<String> = []

    subscript(name: String) -> Finding { findings[name] ?? .unknown }

    /// Asks for it where it is not known yet.
    mutating func look(for name: String, _ step: inout AgendaStep) -> Finding {
        if let finding = findings[name] { return finding }
        let finding = Self.finding(name, step)
        doubtful.insert(name)
        if finding == .unknown {
            if asked.insert(name).inserted { step.emit(.readZone(name)) }
        } else {
            findings[name] = finding
        }
        return finding
    }

    /// An alarm uses it, or an order waits for its table.
    func isWanted(_ name: String) -> Bool { asked.contains(name) || users[name] != nil }

    /// Forgets and returns zones of no use any more: neither to an alarm nor to an order that waits.
    mutating func removeUnused(besides waiting: [WaitingOrder]) -> [String] {
        guard !doubtful.isEmpty else { return [] }
        let awaited = Set(waiting.compactMap(\.rule.zoneName))
        let unused = doubtful.filter { users[$0] == nil && !awaited.contains($0) }.sorted()
        doubtful = doubtful.intersection(awaited)
        for name in unused {
            findings[name] = nil
            asked.remove(name)
        }
        return unused
    }

    /// The zones that have come or changed since the last call, in order, with the former finding.
    mutating func readChanges(_ step: AgendaStep) -> [(name: String, former: Finding)] {
        var changes: [(name: String, former: Finding)] = []
        for name in step.changes.zones.sorted() where isWanted(name) {
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
        if keys.isEmpty { doubtful.insert(name) } else { users[name] = keys }
    }

    func users(of name: String) -> [AgendaKey] { (users[name] ?? []).sorted() }
}
