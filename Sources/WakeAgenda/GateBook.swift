// The gates of handlers, `after` in a manifest: closed at boot, open for good once all were true at once.
import WakeModel

struct GateBook: Sendable {
    private struct Gate {
        var conditions: [Condition]
        var isOpen = false
        /// Paths that went after it had opened.
        var gone: Set<Condition> = []

        /// The conditions to watch: all while it is closed, then only whether its storage is there.
        var used: [Condition] { isOpen ? conditions.filter { $0.path != nil } : conditions }
    }

    private var gates: [HandlerID: Gate] = [:]
    /// The conditions that were true when a handler's gates opened, in this boot.
    private var latches: [HandlerID: Set<Condition>] = [:]
    private var users: [Condition: Set<HandlerID>] = [:]
    private var unchecked: Set<HandlerID> = []

    /// False where the row cannot be read. One of another boot opens nothing.
    mutating func restore(_ row: AgendaRow, bootID: String) -> Bool {
        guard let value = try? JSONValue(parsing: row.value), let boot = value["boot"]?.string,
            let list = value["gates"], let gates = try? Condition.list(list, for: "gates")
        else { return false }
        let handler = row.key.handler
        if boot == bootID { latches[handler] = Set(gates.map { $0.asked(by: handler) }) }
        return true
    }

    mutating func configure(_ handler: HandlerID, _ conditions: [Condition], _ step: inout AgendaStep) {
        guard gates[handler]?.conditions != conditions else { return }
        guard !conditions.isEmpty else { return remove(handler, &step) }
        var gate = Gate(conditions: conditions)
        gate.isOpen = latches[handler].map { $0.isSuperset(of: conditions) } ?? false
        replace(handler, with: gate, &step)
        step.setGate(of: handler, isOpen: gate.isOpen)
        unchecked.insert(handler)
    }

    mutating func remove(_ handler: HandlerID, _ step: inout AgendaStep) {
        if latches.removeValue(forKey: handler) != nil { step.emit(.erase(Self.key(handler))) }
        guard let gate = gates[handler] else { return }
        replace(handler, with: nil, &step)
        if !gate.isOpen { step.setGate(of: handler, isOpen: true) }
    }

    /// The conditions that a handler's gates wait for; empty where they are open.
    func closed(of handler: HandlerID, _ conditions: ConditionBook) -> [Condition] {
        guard let gate = gates[handler], !gate.isOpen else { return [] }
        return gate.conditions.filter { !conditions.isTrue($0) }
    }

    /// Opens the gates whose conditions are met, and reports which storage went or came back.
    mutating func advance(_ step: inout AgendaStep) {
        let touched = step.changes.conditions.reduce(into: unchecked) { $0.formUnion(users[$1] ?? []) }
        unchecked = []
        for handler in touched.sorted() {
            guard var gate = gates[handler] else { continue }
            if gate.isOpen {
                follow(handler, &gate, &step)
                gates[handler] = gate
            } else if gate.conditions.allSatisfy(step.conditions.isTrue) {
                open(handler, gate, &step)
            }
        }
    }

    private mutating func open(_ handler: HandlerID, _ gate: Gate, _ step: inout AgendaStep) {
        var gate = gate
        gate.isOpen = true
        replace(handler, with: gate, &step)
        latches[handler] = Set(gate.conditions)
        let row = JSONWriter.whole { writer in
            writer.field("boot", step.bootID)
            writer.field("gates", gate.conditions.map(\.word))
        }
        step.emit(.store(AgendaRow(key: Self.key(handler), value: row)))
        step.setGate(of: handler, isOpen: true)
    }

    private func follow(_ handler: HandlerID, _ gate: inout Gate, _ step: inout AgendaStep) {
        for condition in gate.used {
            guard let path = condition.path else { continue }
            if step.conditions.isLost(condition), gate.gone.insert(condition).inserted {
                step.emit(.notify(handler, .storage(path: path, available: false)))
            } else if step.conditions.isTrue(condition), gate.gone.remove(condition) != nil {
                step.emit(.notify(handler, .storage(path: path, available: true)))
            }
        }
    }

    private mutating func replace(_ handler: HandlerID, with gate: Gate?, _ step: inout AgendaStep) {
        for condition in gates[handler]?.used ?? [] {
            users[condition]?.remove(handler)
            step.use(condition, -1)
        }
        for condition in gate?.used ?? [] {
            users[condition, default: []].insert(handler)
            step.use(condition, 1)
        }
        gates[handler] = gate
    }

    private static func key(_ handler: HandlerID) -> AgendaKey { AgendaKey(handler, .gate, "") }
}
