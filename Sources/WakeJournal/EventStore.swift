// One database and what stands in for it while it cannot write: what a turn asks for is written at its commit or, degraded, kept in memory.
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
    case device(DeviceID, Device)
    case handler(HandlerID, HandlerRow)
    /// Before they are all written again, where some were damaged.
    case clearIdentities
    case bury(DeadLetter)
    case unbury(Sequence, HandlerID)
}

final class EventStore {
    let which: Durability
    let path: String
    private let strength: Database.Strength
    var database: Database?
    /// Why nothing is written at present; nil while all is well.
    private(set) var fault: String?
    /// Set with the fault where the file itself is damaged.
    private var corruption: SQLiteFailure?
    var record = EventRecord()

    /// What this turn asks for; written in one go, so that a failed commit loses none of it.
    private(set) var turn: [Verb] = []
    private var notes = NoteBook()
    /// Facts that go with the next commit and are no reason for one.
    private var carried: [String: String] = [:]

    var held = RamStore()
    private(set) var backlog: [Verb] = []
    private var heldNotes = NoteBook()

    /// The newest number given to an event of this file, as far as this turn.
    var cursor = Cursor.none
    /// The newest number that a note in the file knows; an event that still stands there is its own witness.
    private var stated = Sequence(0)
    private var mustState = false
    /// Numbers this file may hold for two or more handlers, and those it may hold attempts for; they spare the hot path statements.
    var shared: ClosedRange<Sequence>?
    var mayHoldAttempts = true
    /// The oldest number that a gap of this file tells of; forgotten when nothing is owed here.
    var oldestTold: Sequence?
    /// Numbers of events that this file may hold; nil when it holds none.
    private(set) var span: ClosedRange<Sequence>?
    /// The file was there when this life began.
    private(set) var wasThere = true
    /// Damage met and not told yet.
    private(set) var untold: [String] = []

    init(_ which: Durability, path: String) throws(JournalError) {
        self.which = which
        self.path = path
        strength = which == .disk ? .full : .normal
        try reopen()
        wasThere = database != nil
    }

    func reopen() throws(JournalError) {
        database = nil
        take(try Opening.open(path, strength: strength))
    }

    /// The file is set aside and what is readable of it goes into a new one.
    func rebuild(after failure: SQLiteFailure) {
        database = nil
        take(Opening.replace(path, strength, failure))
    }

    private func take(_ opened: Opening.Outcome) {
        database = opened.database
        corruption = nil
        if opened.database == nil { fault = opened.loss }
        if let loss = opened.loss { untold.append(loss) }
        if opened.wasDamaged { wasDamaged = true }
        isCut = opened.isCut
    }

    /// Its log holds less than was committed to it, if this is still the same boot.
    private(set) var isCut = false

    /// The file is not the one that was written: what it should hold is told as lost.
    private(set) var wasDamaged = false
    func acceptDamage() { wasDamaged = false }

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
        case .update(_, let event): noteTold(event)
        case .fact, .device, .handler, .clearIdentities, .bury, .unbury: break
        }
        turn.append(verb)
    }

    /// Who loses a gap loses what it tells of.
    func noteTold(_ event: DeviceEvent) {
        if let first = event.firstTold { oldestTold = min(first, oldestTold ?? first) }
    }

    func note(_ key: Note.Key, _ value: [UInt8]) {
        if fault == nil { notes.set(key, to: value) } else { heldNotes.set(key, to: value) }
    }

    /// A number was given that no event of this file shows.
    func state(_ newest: Cursor) {
        cursor = newest
        mustState = true
        if fault != nil { heldNotes.set(.cursor, to: []) }
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
        do {
            try writeTurn()
            return .committed
        } catch { return degrade(error) }
    }

    private func writeTurn() throws(SQLiteFailure) {
        guard let database else { return endTurn() }
        if mustState, notes.entries.isEmpty { notes.set(.cursor, to: []) }
        if try !writeAtOnce(to: database) {
            try database.statement(.begin).run()
            for verb in turn { try write(verb, to: database) }
            for (key, value) in notes.entries { try write(key, value, to: database) }
            try database.statement(.commit).run()
        }
        if !notes.entries.isEmpty { stated = cursor.seq }
        endTurn()
    }

    /// The two turns that a wake is made of, each as one statement that is its own transaction; false for any other.
    private func writeAtOnce(to database: Database) throws(SQLiteFailure) -> Bool {
        guard turn.count == 1 else { return false }
        switch turn[0] {
        case .append(let seq, let event, let owners):
            guard owners.count == 1, notes.entries.count == 1 else { return false }
            let (key, value) = notes.entries[0]
            try insert(
                event, as: seq, owner: owners[0], with: Note(key: key, cursor: cursor, value: value), in: database)
            return true
        case .acknowledge(let range, let handler):
            guard notes.entries.isEmpty, !mayHoldAttempts, shared?.overlaps(range) != true else { return false }
            try erase(range, by: handler, in: database)
            return true
        case .update, .attempts, .fact, .device, .handler, .clearIdentities, .bury, .unbury: return false
        }
    }

    private func endTurn() {
        turn.removeAll(keepingCapacity: true)
        notes.removeAll()
        mustState = false
    }

    // MARK: Degrading and healing

    /// Rolls back and keeps the whole turn in memory: a failed commit delays durability, it never loses an event.
    func degrade(_ error: SQLiteFailure) -> CommitOutcome {
        rollBack()
        let remedy =
            error.isCorruption
            ? "the file will be set aside and begun anew"
            : error.isFull ? "make room on its file system" : "check its directory and file system"
        let sentence = "cannot write the journal \(path): \(error.message); its events are kept in memory, \(remedy)"
        fault = sentence
        corruption = error.isCorruption ? error : nil
        for (key, value) in notes.entries { heldNotes.set(key, to: value) }
        if mustState || !turn.isEmpty { heldNotes.set(.cursor, to: []) }
        let kept = turn
        endTurn()
        for verb in kept { keep(verb) }
        return .lost(DurabilityLoss(which: which, sentence: sentence))
    }

    private func rollBack() {
        if database?.isInTransaction == true { try? database?.statement(.rollback).run() }
    }

    private func keep(_ verb: Verb) {
        switch verb {
        case .append(let seq, let event, let owners):
            held.append(event, as: seq, owedTo: owners)
            cursor = Cursor(seq: seq, wall: event.stamp.wall)
            heldNotes.set(.cursor, to: [])
        case .update(let seq, let event): if !held.update(event, as: seq) { backlog.append(verb) }
        case .acknowledge(let range, let handler):
            let count = held.acknowledge(range, by: handler)
            if count <= range.upperBound.rawValue - range.lowerBound.rawValue { backlog.append(verb) }
        case .attempts, .fact, .device, .handler, .clearIdentities, .bury, .unbury: backlog.append(verb)
        }
    }

    /// Tries to write what memory holds; true when the database is whole again.
    /// `objection` refuses a file that came back and is not the one that this life goes on with; it says what to do.
    func heal(unless objection: (EventStore) -> String?) -> Bool {
        guard fault != nil else { return false }
        do {
            try openAgain()
            guard let database else { return false }
            if let refusal = objection(self) { return refuse(refusal) }
            // Cuts the WAL first: on a full file system it may be the only room there is.
            try? database.checkpoint()
            try writeHeld(to: database)
        } catch {
            rollBack()
            if let error = error as? SQLiteFailure, error.isCorruption { corruption = error }
            return false
        }
        for one in held.events { noteHeld(one.seq, isShared: true) }
        (fault, held, backlog, wasThere) = (nil, RamStore(), [], true)
        heldNotes.removeAll()
        return true
    }

    private func openAgain() throws(JournalError) {
        if let corruption { return rebuild(after: corruption) }
        guard database == nil else { return }
        let known = untold
        try reopen()
        // Said once already, at the first try.
        if database == nil { untold = known }
    }

    private func refuse(_ refusal: String) -> Bool {
        (fault, database) = (refusal, nil)
        return false
    }

    private func writeHeld(to database: Database) throws(SQLiteFailure) {
        try database.statement(.begin).run()
        for verb in backlog { try write(verb, to: database) }
        for one in held.events {
            try write(.append(one.seq, one.event, one.owners), to: database)
        }
        for (key, value) in heldNotes.entries { try write(key, value, to: database) }
        try database.statement(.commit).run()
    }

    // MARK: What it may hold

    func noteHeld(_ seq: Sequence, isShared: Bool) {
        span = span.map { min($0.lowerBound, seq)...max($0.upperBound, seq) } ?? seq...seq
        if isShared { shared = shared.map { min($0.lowerBound, seq)...max($0.upperBound, seq) } ?? seq...seq }
    }

    /// What recovery found in the notes of the file.
    func noteStated(_ found: Cursor) {
        stated = max(stated, found.seq)
        if found.seq > cursor.seq { cursor = found }
    }

    func mayHold(_ seq: Sequence) -> Bool { mayHold(seq...seq) }
    func mayHold(_ range: ClosedRange<Sequence>) -> Bool { fault != nil || span?.overlaps(range) == true }
    var health: StoreHealth { fault.map(StoreHealth.degraded) ?? .ok }
}
