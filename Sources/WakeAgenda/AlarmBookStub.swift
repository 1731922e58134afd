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
        _ value: JSONValue, of handler: HandlerID, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> (word: String, keys: [AgendaKey]) { ("set", []) }
    mutating func cancel(
        _ id: String, of handler: HandlerID, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> Bool { false }
    mutating func cancelAll(of handler: HandlerID, _ step: inout AgendaStep) -> [AgendaKey] { [] }
    var nextBoottime: Instant? { nil }
    var nextWall: WallTime? { nil }
    func key(of sequence: Sequence, for handler: HandlerID) -> AgendaKey? { nil }
    func pending(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry] { [] }
}

extension Zone {
    init(tzif bytes: [UInt8]) throws { self.init() }
}
