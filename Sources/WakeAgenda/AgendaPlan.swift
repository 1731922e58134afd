// The part of a manifest that concerns the agenda, from its alarms to its gates.
import WakeModel

public struct AgendaPlan: Hashable, Sendable {
    /// Nil where the manifest has no `alarms`: then the handler may not order any. Empty permits orders alone.
    public var alarms: [AlarmRule]?
    public var poll: PollRule?
    public var jobs: [JobRule] = []
    /// The regions whose entries and exits are reported to the handler.
    public var regions: [RegionRule] = []
    /// Nil where the handler takes no messages.
    public var inbox: InboxRule?
    /// While data of these flows, the handler stays awake.
    public var flows: [FlowRule] = []
    /// The sessions in which it may order transfers.
    public var transfers: [TransferRule] = []
    /// Held for it while it is frozen or gone.
    public var sockets: [SocketRule] = []
    /// The services that it offers to centrals; nil for none.
    public var peripheral: PeripheralRule?
    /// `after`: what must have come true since boot before the handler is launched.
    public var gates: [Condition] = []

    /// Values of keys that other modules registered; their books read them again.
    package var registered: [String: JSONValue] = [:]

    public init() {}

    /// Reads the value of the kind's key.
    public mutating func read(_ value: JSONValue, of kind: TriggerKind) throws(ProtocolFault) {
        try Agenda.rows.first { $0.kind.word == kind.word }?.read(value, into: &self)
    }

    /// Keys of kinds that demand more than its program can do.
    public func contradictions(with program: ScheduledProgram) -> [PlanContradiction] {
        Agenda.rows.flatMap { $0.contradictions(in: self, with: program) }
    }

    /// The manifest's `after`.
    public static func gates(_ value: JSONValue) throws(ProtocolFault) -> [Condition] {
        try Condition.list(value, for: "\"after\"")
    }

    /// The conditions that anything in the plan may have to wait for, each once.
    public var conditions: [Condition] {
        var seen: Set<Condition> = []
        let all = gates + (poll?.require ?? []) + jobs.flatMap(\.require) + transfers.flatMap(\.require)
        return all.filter { seen.insert($0).inserted }
    }

    /// The same with its conditions bound to the handler whose manifest it is.
    func asked(by handler: HandlerID) -> AgendaPlan {
        var plan = self
        plan.gates = gates.map { $0.asked(by: handler) }
        plan.poll?.require = (poll?.require ?? []).map { $0.asked(by: handler) }
        for place in jobs.indices { plan.jobs[place].require = jobs[place].require.map { $0.asked(by: handler) } }
        for place in transfers.indices {
            plan.transfers[place].require = transfers[place].require.map { $0.asked(by: handler) }
        }
        return plan
    }

    /// The zones that its alarms name, each once.
    public var zones: [String] {
        let names = (alarms ?? []).compactMap(\.zoneName).filter { $0 != AlarmRule.systemZone }
        return Set(names).sorted()
    }

    public var isEmpty: Bool {
        alarms == nil && poll == nil && jobs.isEmpty && gates.isEmpty && regions.isEmpty && inbox == nil
            && flows.isEmpty && transfers.isEmpty && sockets.isEmpty && peripheral == nil && registered.isEmpty
    }
}

/// Facts of a manifest about its program, beside the plan.
public struct ScheduledProgram: Sendable {
    /// Its process is gone after each batch.
    public var endsAfterBatch: Bool
    /// Events are acknowledged as they are written.
    public var acknowledgesByWrite: Bool
    /// Keys of kinds that the manifest has, though perhaps none can be read.
    public var declaredKeys: Set<String>

    public init(endsAfterBatch: Bool, acknowledgesByWrite: Bool, declaredKeys: Set<String>) {
        (self.endsAfterBatch, self.acknowledgesByWrite) = (endsAfterBatch, acknowledgesByWrite)
        self.declaredKeys = declaredKeys
    }
}

/// A fault of a manifest whose keys can all be read.
public struct PlanContradiction: Hashable, Sendable {
    public var key: String
    public var sentence: String

    package init(_ key: String, _ sentence: String) { (self.key, self.sentence) = (key, sentence) }
}
