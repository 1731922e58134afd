// The table of the kinds of events that the agenda raises: one row each, by the key path of its book.
import Synchronization
import WakeModel

/// The entries of one kind. A book raises at most one occasion of an entry at a time; what falls due meanwhile is
/// folded.
package protocol AgendaBook: Sendable {
    static var kind: TriggerKind { get }
    init()
    /// Reads the value of its key in a manifest.
    static func read(_ value: JSONValue, into plan: inout AgendaPlan) throws(ProtocolFault)
    static func contradictions(in plan: AgendaPlan, with program: ScheduledProgram) -> [PlanContradiction]
    /// Does what a handler orders with one of its kind's verbs.
    static func carryOut(
        _ order: HandlerOrder, from sender: OrderSender, in agenda: inout Agenda, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> Agenda.OrderAnswer.Content
    /// Does what a handler orders with `cancel` and its kind's word, or with the plural for all.
    static func carryOut(
        _ cancellation: Cancellation, from sender: OrderSender, in agenda: inout Agenda, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> Agenda.OrderAnswer.Content
    /// Reads one stored row; false where it cannot be read.
    mutating func restore(_ row: AgendaRow, _ step: inout AgendaStep) -> Bool
    /// Adds what a new or changed manifest declares, and removes what it no longer declares.
    mutating func configure(_ handler: HandlerID, _ plan: AgendaPlan, _ step: inout AgendaStep)
    /// Receives a report from outside; most of these are for other kinds.
    mutating func receive(_ input: AgendaInput, _ step: inout AgendaStep)
    mutating func remove(_ handler: HandlerID, _ step: inout AgendaStep)
    mutating func recordRaised(_ key: AgendaKey, as sequence: Sequence, _ step: inout AgendaStep)
    mutating func conclude(
        _ key: AgendaKey, _ conclusion: Conclusion, awake: TimeSpan, cpu: TimeSpan, _ step: inout AgendaStep)
    /// Raises what is due and allowed, and brings every entry up to the step's clocks.
    mutating func advance(_ step: inout AgendaStep)
    /// Raises an entry for a person; false where there is no such entry, or none can be raised by hand.
    mutating func raiseNow(_ key: AgendaKey, _ step: inout AgendaStep) -> Bool
    /// Cancels an entry for a person, where that is possible.
    mutating func cancel(_ key: AgendaKey, _ step: inout AgendaStep)
    /// When ``advance(_:)`` has to be called again without another input, on each clock.
    var nextMonotonic: Instant? { get }
    var nextBoottime: Instant? { get }
    var nextWall: WallTime? { get }
    /// Something of it has to be carried over a reboot by the time that has passed.
    var hasStoredEntries: Bool { get }
    /// The entry whose occasion has this number.
    func key(of sequence: Sequence, for handler: HandlerID) -> AgendaKey?
    /// The numbers of the handler's occasions that the journal keeps over a restart.
    func raised(for handler: HandlerID) -> [Sequence]
    func pending(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry]
    func add(_ handler: HandlerID, to outlook: inout AgendaOutlook, _ step: AgendaStep)
    /// The names of the entries that a person may have raised; of a kind without names, the empty text.
    func startable(of handler: HandlerID, _ plan: AgendaPlan) -> [String]
}

// A kind implements of these only what applies to it.
extension AgendaBook {
    package static func contradictions(
        in plan: AgendaPlan, with program: ScheduledProgram
    ) -> [PlanContradiction] { [] }
    package static func carryOut(
        _ order: HandlerOrder, from sender: OrderSender, in agenda: inout Agenda, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> Agenda.OrderAnswer.Content {
        throw .notCarriedOut(order.verb, kind)
    }
    package static func carryOut(
        _ cancellation: Cancellation, from sender: OrderSender, in agenda: inout Agenda, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> Agenda.OrderAnswer.Content {
        throw .notCarriedOut(.cancel, kind)
    }
    package mutating func receive(_ input: AgendaInput, _ step: inout AgendaStep) {}
    package mutating func raiseNow(_ key: AgendaKey, _ step: inout AgendaStep) -> Bool { false }
    package mutating func cancel(_ key: AgendaKey, _ step: inout AgendaStep) {}
    package var nextMonotonic: Instant? { nil }
    package var nextWall: WallTime? { nil }
    package var hasStoredEntries: Bool { false }
    package func raised(for handler: HandlerID) -> [Sequence] { [] }
    package func pending(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry] { [] }
    package func add(_ handler: HandlerID, to outlook: inout AgendaOutlook, _ step: AgendaStep) {}
    package func startable(of handler: HandlerID, _ plan: AgendaPlan) -> [String] { [] }
}

/// A row of the table: where the agenda keeps the book of a kind.
protocol TriggerRow: Sendable {
    associatedtype Book: AgendaBook
    var source: AgendaSource { get }
    var book: WritableKeyPath<Agenda, Book> & Sendable { get }
}

/// Each call changes its book in place: a copy would copy all of its entries.
extension TriggerRow {
    func restore(_ row: AgendaRow, in agenda: inout Agenda, _ step: inout AgendaStep) -> Bool {
        agenda[keyPath: book].restore(row, &step)
    }
    func configure(_ handler: HandlerID, _ plan: AgendaPlan, in agenda: inout Agenda, _ step: inout AgendaStep) {
        agenda[keyPath: book].configure(handler, plan, &step)
    }
    var kind: TriggerKind { Book.kind }

    func read(_ value: JSONValue, into plan: inout AgendaPlan) throws(ProtocolFault) {
        try Book.read(value, into: &plan)
    }
    func contradictions(in plan: AgendaPlan, with program: ScheduledProgram) -> [PlanContradiction] {
        Book.contradictions(in: plan, with: program)
    }
    func carryOut(
        _ order: HandlerOrder, from sender: OrderSender, in agenda: inout Agenda, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> Agenda.OrderAnswer.Content {
        try Book.carryOut(order, from: sender, in: &agenda, &step)
    }
    func carryOut(
        _ cancellation: Cancellation, from sender: OrderSender, in agenda: inout Agenda, _ step: inout AgendaStep
    ) throws(ProtocolFault) -> Agenda.OrderAnswer.Content {
        try Book.carryOut(cancellation, from: sender, in: &agenda, &step)
    }
    func receive(_ input: AgendaInput, in agenda: inout Agenda, _ step: inout AgendaStep) {
        agenda[keyPath: book].receive(input, &step)
    }
    func remove(_ handler: HandlerID, from agenda: inout Agenda, _ step: inout AgendaStep) {
        agenda[keyPath: book].remove(handler, &step)
    }
    func recordRaised(
        _ key: AgendaKey, as sequence: Sequence, in agenda: inout Agenda, _ step: inout AgendaStep
    ) {
        agenda[keyPath: book].recordRaised(key, as: sequence, &step)
    }
    func conclude(
        _ key: AgendaKey, _ conclusion: Conclusion, awake: TimeSpan, cpu: TimeSpan, in agenda: inout Agenda,
        _ step: inout AgendaStep
    ) {
        agenda[keyPath: book].conclude(key, conclusion, awake: awake, cpu: cpu, &step)
    }
    func advance(_ agenda: inout Agenda, _ step: inout AgendaStep) { agenda[keyPath: book].advance(&step) }
    func raiseNow(_ key: AgendaKey, in agenda: inout Agenda, _ step: inout AgendaStep) -> Bool {
        agenda[keyPath: book].raiseNow(key, &step)
    }
    func cancel(_ key: AgendaKey, in agenda: inout Agenda, _ step: inout AgendaStep) {
        agenda[keyPath: book].cancel(key, &step)
    }
    func nextBoottime(_ agenda: Agenda) -> Instant? { agenda[keyPath: book].nextBoottime }
    func nextMonotonic(_ agenda: Agenda) -> Instant? { agenda[keyPath: book].nextMonotonic }
    func nextWall(_ agenda: Agenda) -> WallTime? { agenda[keyPath: book].nextWall }
    func key(of sequence: Sequence, for handler: HandlerID, in agenda: Agenda) -> AgendaKey? {
        agenda[keyPath: book].key(of: sequence, for: handler)
    }
    /// A copy to read; what a step reads each time has a function of its own above.
    func entries(in agenda: Agenda) -> Book { agenda[keyPath: book] }
}

private struct Row<Book: AgendaBook>: TriggerRow {
    let source = AgendaSource(Book.kind)
    let book: WritableKeyPath<Agenda, Book> & Sendable

    init(_ book: WritableKeyPath<Agenda, Book> & Sendable) { self.book = book }
}

/// Names the book of a kind of another module in a key path.
private struct RegisteredBook<Book: AgendaBook>: Hashable, Sendable {}

extension Agenda {
    /// In the order in which a step brings them up to date, and in which pending entries are listed.
    private static let table = Mutex<[any TriggerRow]>([
        Row(\.alarms), Row(\.polls), Row(\.jobs), Row(\.regions), Row(\.inboxes), Row(\.flows), Row(\.transfers),
        Row(\.sockets), Row(\.peripherals),
    ])

    static var rows: [any TriggerRow] { table.withLock { $0 } }

    /// Nil for what is stored beside the kinds of events, such as gates.
    static func row(of source: AgendaSource) -> (any TriggerRow)? { rows.first { $0.source == source } }

    /// The books, to be read.
    var books: [any AgendaBook] { Self.rows.map { $0.entries(in: self) } }

    /// A kind of another module makes itself known, once, before any agenda is made or any manifest read.
    package static func register<Book: AgendaBook>(_ book: Book.Type) {
        TriggerKind.register(book.kind)
        table.withLock { rows in
            guard !rows.contains(where: { $0.source == AgendaSource(book.kind) }) else { return }
            rows.append(Row(\.[registered: RegisteredBook<Book>()]))
        }
    }

    private subscript<Book: AgendaBook>(registered book: RegisteredBook<Book>) -> Book {
        get { registered[Book.kind.word] as? Book ?? Book() }
        set { registered[Book.kind.word] = newValue }
    }
}
