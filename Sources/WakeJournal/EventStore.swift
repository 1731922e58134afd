// One database and what stands in for it while it cannot write: what a turn asks for is written at its commit or, degraded, kept in memory.
import Glibc
import WakeModel

extension DeviceEvent {
    /// Of a gap, the first number that it tells of.
    var firstTold: Sequence? { if case .gap(let gap) = kind { gap.first } else { nil } }
}

enum Verb {
    case append(Sequence, DeviceEvent, [HandlerID])
    case update(Sequence, DeviceEvent)
    case acknowledge(ClosedRange<Sequence>, HandlerID)
    case attempts(Sequence, HandlerID, attempts: Int, charges: Int, heldUntil: WallTime?)
    case fact(String, String)
    case device(EventOrigin, Device)
    case handler(HandlerID, HandlerRow)
    /// Before they are all written again, where some were damaged.
    case clearIdentities
    case bury(DeadLetter)
    case unbury(Sequence, HandlerID)
}

final class EventStore {
    let which: Durability
    let path: String
    let strength: Database.Strength
    var database: Database?
    /// Why nothing is written at present; nil while all is well.
    var fault: String?
    /// Set with the fault where the file itself is damaged.
    var corruption: SQLiteFailure?
    var record = EventRecord()

    /// What this turn asks for; written in one go, so that a failed commit loses none of it.
    private(set) var turn: [Verb] = []
    private(set) var notes = NoteBook()
    /// Facts that go with the next commit and are no reason for one.
    private var carried: [String: String] = [:]

    /// What the log of turns has and the database has not.
    var logged = Unwritten()
    /// What only memory has, since there is a fault.
    var held = Unwritten()
    var log: TurnLog?
    /// Bytes; 0 for a database without a log.
    let logCapacity: Int
    /// The log has turns that the database has not.
    var hasLogged = false
    var buffer = TurnBuffer()
    /// What came into the database last, for delivery without a read.
    private(set) var recent = RecentEvents(bound: 256 << 10)
    /// Forgotten whenever the database changes.
    var fetched = FetchedEvents()

    /// The newest number given to an event of this file, as far as this turn.
    var cursor = Cursor.none
    /// The newest number that a note in the file knows; an event that still stands there is its own witness.
    var stated = Sequence(0)
    var mustState = false
    /// Numbers this file may hold for two or more handlers, and those it may hold attempts for; they spare the hot path statements.
    private var shared: ClosedRange<Sequence>?
    var mayHoldAttempts = true
    /// What the file holds was read; until then it may be anything.
    var isRead = false
    /// The oldest number that a gap of this file tells of; forgotten when nothing is owed here.
    var oldestTold: Sequence?
    /// Numbers of events that this file may hold; nil when it holds none.
    private(set) var span: ClosedRange<Sequence>?
    /// The file was there when this life began.
    var wasThere = true
    /// Its log, or SQLite's, holds less than was committed to it, if this is still the same boot.
    var isCut = false
    /// The oldest number that a log may have held which cannot be read from its beginning.
    var firstCarried: UInt64?
    /// The file is not the one that was written: what it should hold is told as lost.
    private(set) var wasDamaged = false
    /// Why rows that were asked for by ``each(_:_:)`` may be missing.
    var readFailure: SQLiteFailure?
    /// Damage met and not told yet.
    var untold: [String] = []

    init(_ which: Durability, path: String, logCapacity: Int = 0) throws(JournalError) {
        self.which = which
        self.path = path
        self.logCapacity = path == ":memory:" ? 0 : logCapacity
        strength = which == .disk ? .full : .normal
        try reopen()
        try takeUpTurns()
        wasThere = database != nil
    }

    func reopen() throws(JournalError) {
        database = nil
        take(try Opening.open(path, strength: strength))
    }

    func take(_ opened: Opening.Outcome) {
        database = opened.database
        corruption = nil
        if opened.database == nil { fault = opened.loss }
        if let loss = opened.loss { untold.append(loss) }
        if opened.wasDamaged || access(Opening.mark(of: path), F_OK) == 0 { wasDamaged = true }
        isCut = opened.isCut
    }

    /// The files are another journal's: they are moved out of the way, and new ones begun. Returns where they are now.
    func setAside() -> String {
        (database, log, logged, hasLogged, cursor) = (nil, nil, Unwritten(), false, .none)
        let aside = Opening.free(path)
        // The log first: without its database it is nobody's, the database without its log would be told as cut.
        TurnLog.move(from: path, to: aside)
        Opening.move(path, to: aside)
        do {
            try reopen()
            try takeUpTurns()
        } catch { (fault, database) = (error.description, nil) }
        return aside
    }

    func shut() { (database, log) = (nil, nil) }

    /// The file was begun anew although there was one.
    func noteMissing() {
        wasDamaged = true
        tell(
            "the journal \(path) is not the one that was written; it was begun anew, check who removed it, and its disk"
        )
    }

    func acceptDamage() {
        wasDamaged = false
        unlink(Opening.mark(of: path))
        LogIndex.dismissWitness(of: path)
    }

    func tell(_ sentence: String) { untold.append(sentence) }
    func takeUntold() -> [DurabilityLoss] {
        guard !untold.isEmpty else { return [] }
        defer { untold = [] }
        return untold.map { DurabilityLoss(which: which, sentence: $0) }
    }

    // MARK: The turn

    func perform(_ verb: Verb) {
        guard fault == nil else { return keep(verb) }
        switch verb {
        case .append(let seq, let event, let owners):
            noteHeld(seq, isShared: owners.count > 1)
            noteTold(event)
            cursor = Cursor(seq: seq, wall: event.stamp.wall)
        case .acknowledge(let range, _): if range.upperBound > stated { mustState = true }
        case .attempts: mayHoldAttempts = true
        case .update(let seq, let event):
            noteTold(event)
            recent.update(event, as: seq)
        case .fact, .device, .handler, .clearIdentities, .bury, .unbury: break
        }
        turn.append(verb)
    }

    /// Who loses a gap loses what it tells of.
    func noteTold(_ event: DeviceEvent) {
        if let first = event.firstTold { oldestTold = min(first, oldestTold ?? first) }
    }

    func note(_ key: Note.Key, _ value: [UInt8]) {
        if fault == nil { notes.set(key, to: value) } else { held.set(key, to: value) }
    }

    /// A number was given that no event of this file shows.
    func state(_ newest: Cursor) {
        cursor = newest
        mustState = true
    }

    func carry(_ name: String, _ value: String) { carried[name] = value }

    /// Whatever is carried is asked for now: the file is about to be written in any case.
    func takeCarried() {
        for (name, value) in carried { perform(.fact(name, value)) }
        carried = [:]
    }

    var isDirty: Bool { !turn.isEmpty || !notes.entries.isEmpty || mustState }

    /// Commits what this turn holds. Nil when there was nothing.
    func commit() -> CommitOutcome? {
        guard fault == nil, isDirty else { return nil }
        if !carried.isEmpty { takeCarried() }
        return commitToLog() ?? commitToDatabase()
    }

    func commitToDatabase() -> CommitOutcome {
        do {
            if let database { try writeAll(to: database) } else { endTurn() }
            return .committed
        } catch { return degrade(error) }
    }

    /// Everything that the database has not been told yet, and which generation of the log goes on from there.
    func writeAll(to database: Database) throws(SQLiteFailure) {
        if !database.isInTransaction { try begin(database) }
        try write(held, to: database)
        for verb in turn { try write(verb, to: database) }
        for (key, value) in notes.entries { try write(key, value, to: database) }
        fetched = FetchedEvents()
        let isStated = mustState || hasLogged || !notes.entries.isEmpty || !held.isEmpty
        if isStated { try write(.cursor, [], to: database) }
        let generation = log.map { $0.newest &+ 1 }
        if logCapacity > 0 { try writeFact(Self.logName, generation.map(String.init) ?? "", to: database) }
        try database.statement(.commit).run()
        if isStated { stated = cursor.seq }
        remember()
        endTurn()
        if hasLogged { (logged, hasLogged) = (Unwritten(), false) }
        // Not begun, it is of an earlier generation than the one that the database names: nobody takes it up.
        if let generation, log?.begin(generation) != true { log = nil }
    }

    private func remember() {
        for one in logged.events.events { recent.append(one.event, as: one.seq) }
        for verb in turn {
            if case .append(let seq, let event, _) = verb { recent.append(event, as: seq) }
            if case .update(let seq, let event) = verb { recent.update(event, as: seq) }
        }
    }

    /// The fact that says which generation of the log goes on from the database, and with which number it begins where it took
    /// that over from the one before it.
    static let logName = "turns"

    /// Begins a transaction with what the log has.
    func begin(_ database: Database) throws(SQLiteFailure) {
        try database.statement(.begin).run()
        try write(logged, to: database)
        if hasLogged { try write(.cursor, [], to: database) }
    }

    private func write(_ unwritten: Unwritten, to database: Database) throws(SQLiteFailure) {
        try writeAllButEvents(of: unwritten, to: database)
        for one in unwritten.events.events { try write(.append(one.seq, one.event, one.owners), to: database) }
    }

    func writeAllButEvents(of unwritten: Unwritten, to database: Database) throws(SQLiteFailure) {
        for (seq, event) in unwritten.updates { try write(.update(seq, event), to: database) }
        for verb in unwritten.backlog { try write(verb, to: database) }
        for (key, value) in unwritten.notes { try write(key, value, to: database) }
    }

    func endTurn() {
        turn.removeAll(keepingCapacity: true)
        notes.removeAll()
        mustState = false
    }

    /// Beside the database, in the log or, with a fault, in memory.
    func keep(_ verb: Verb) {
        switch verb {
        case .append(let seq, let event, _):
            // A later number may have been given in the same turn.
            if seq > cursor.seq { cursor = Cursor(seq: seq, wall: event.stamp.wall) }
        case .update(let seq, let event):
            recent.update(event, as: seq)
            if held.events.update(event, as: seq) || logged.events.update(event, as: seq) { return }
        case .acknowledge(let range, let handler):
            let count = logged.events.acknowledge(range, by: handler) + held.events.acknowledge(range, by: handler)
            if count > range.upperBound.rawValue - range.lowerBound.rawValue, !mayHoldAttempts { return }
        case .attempts: mayHoldAttempts = true
        case .fact, .device, .handler, .clearIdentities, .bury, .unbury: break
        }
        if fault == nil { logged.add(verb) } else { held.add(verb) }
    }

    // MARK: What it may hold

    func noteHeld(_ seq: Sequence, isShared: Bool) {
        span = span.map { min($0.lowerBound, seq)...max($0.upperBound, seq) } ?? seq...seq
        if isShared { shared = shared.map { min($0.lowerBound, seq)...max($0.upperBound, seq) } ?? seq...seq }
    }

    func mayShare(_ range: ClosedRange<Sequence>) -> Bool { !isRead || shared?.overlaps(range) == true }

    /// What recovery found in the notes of the file.
    func noteStated(_ found: Cursor) {
        stated = max(stated, found.seq)
        if found.seq > cursor.seq { cursor = found }
    }

    func mayHold(_ seq: Sequence) -> Bool { mayHold(seq...seq) }
    func mayHold(_ range: ClosedRange<Sequence>) -> Bool { fault != nil || span?.overlaps(range) == true }
    var health: StoreHealth { fault.map(StoreHealth.degraded) ?? .ok }
}
