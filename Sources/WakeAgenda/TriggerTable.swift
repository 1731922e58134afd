// The table of the kinds of events that the agenda raises: one row each, by the key path of its book.
import WakeModel

/// One kind's entries. A book raises at most one occasion of an entry at a time; what falls due meanwhile is folded.
protocol AgendaBook: Sendable {
    /// Reads one stored row; false where it cannot be read.
    mutating func restore(_ row: AgendaRow, _ step: inout AgendaStep) -> Bool
    /// Adds what a new or changed manifest declares, and removes what it no longer declares.
    mutating func configure(_ handler: HandlerID, _ plan: AgendaPlan, _ step: inout AgendaStep)
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
    mutating func raiseNow(_ key: AgendaKey, _ step: inout AgendaStep) -> Bool { false }
    mutating func cancel(_ key: AgendaKey, _ step: inout AgendaStep) {}
    var nextMonotonic: Instant? { nil }
    var nextWall: WallTime? { nil }
    var hasStoredEntries: Bool { false }
    func raised(for handler: HandlerID) -> [Sequence] { [] }
    func pending(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry] { [] }
    func add(_ handler: HandlerID, to outlook: inout AgendaOutlook, _ step: AgendaStep) {}
    func startable(of handler: HandlerID, _ plan: AgendaPlan) -> [String] { [] }
}

/// A row of the table: the word of a kind, and where the agenda keeps its book.
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
    let source: AgendaSource
    let book: WritableKeyPath<Agenda, Book> & Sendable

    init(_ source: AgendaSource, _ book: WritableKeyPath<Agenda, Book> & Sendable) {
        (self.source, self.book) = (source, book)
    }
}

extension Agenda {
    /// In the order in which a step brings them up to date, and in which pending entries are listed.
    static let rows: [any TriggerRow] = [
        Row(.alarm, \.alarms), Row(.poll, \.polls), Row(.job, \.jobs), Row(.region, \.regions),
        Row(.inbox, \.inboxes), Row(.flow, \.flows), Row(.transfer, \.transfers), Row(.socket, \.sockets),
    ]

    /// Nil for what is stored beside the kinds of events, such as gates.
    static func row(of source: AgendaSource) -> (any TriggerRow)? { rows.first { $0.source == source } }

    /// The books, to be read.
    var books: [any AgendaBook] { Self.rows.map { $0.entries(in: self) } }
}
