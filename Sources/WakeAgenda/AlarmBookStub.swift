// Stands where the alarms will be, until they are.
import WakeModel

struct AlarmBook: AgendaBook, Sendable {
    mutating func restore(_ row: AgendaRow, _ step: inout AgendaStep) -> Bool { false }
    mutating func configure(_ handler: HandlerID, _ plan: AgendaPlan, _ step: inout AgendaStep) {}
    mutating func remove(_ handler: HandlerID, _ step: inout AgendaStep) {}
    mutating func recordRaised(_ key: AgendaKey, as sequence: Sequence, _ step: inout AgendaStep) {}
    mutating func conclude(
        _ key: AgendaKey, _ conclusion: Conclusion, awake: TimeSpan, cpu: TimeSpan, _ step: inout AgendaStep
    ) {}
    mutating func advance(_ step: inout AgendaStep) {}
    mutating func raiseNow(_ key: AgendaKey, _ step: inout AgendaStep) -> Bool { false }
    mutating func order(
        _ handler: HandlerID, _ epoch: Epoch, _ value: JSONValue, ref: Reference?, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> AgendaAnswer? { .done(.alarm, word: "set", []) }
    mutating func cancel(
        _ handler: HandlerID, _ value: JSONValue, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> AgendaAnswer { .done(.cancel, word: "cancelled", []) }
    var nextBoottime: Instant? { nil }
    var nextWall: WallTime? { nil }
    func key(of sequence: Sequence, for handler: HandlerID) -> AgendaKey? { nil }
    func pending(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry] { [] }
}

extension Zone {
    init(tzif bytes: [UInt8]) throws { self.init() }
}
