// One database and what stands in for it while it cannot write: every verb lands in the open transaction or, degraded, in memory.
import WakeModel

enum Verb {
    case append(Sequence, DeviceEvent, [HandlerID])
    case update(Sequence, DeviceEvent)
    case acknowledge(ClosedRange<Sequence>, HandlerID)
    case attempts(Sequence, HandlerID, attempts: Int, charges: Int)
    /// Key 0 is the cursor, -1 the replay position, a handler's number its last batch.
    case state(Int64, [UInt8])
    case fact(String, String)
    case device(DeviceID, Device)
    case handler(HandlerID, String)
    case checkpoint(HandlerID, String)
    case stopped(HandlerID, Bool)
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
    private var isCorrupt = false
    private var record = EventRecord()

    /// The verbs of the open transaction, kept so that a failed commit loses none of them.
    private var turn: [Verb] = []
    private var isOpen = false
    private var failure: SQLiteFailure?

    private(set) var held = RamStore()
    private var backlog: [Verb] = []
    private var heldStates: [Int64: [UInt8]] = [:]

    /// The newest number appended in the open turn.
    private var appended: (Sequence, WallTime)?
    /// Numbers this file may hold for two or more handlers, and those it may hold attempts for; they spare the hot path statements.
    private var shared: ClosedRange<Sequence>?
    private var mayHoldAttempts = true
    /// Numbers of events that this file may hold; nil when it holds none.
    private(set) var span: ClosedRange<Sequence>?

    init(_ which: Durability, path: String) throws(JournalError) {
        self.which = which
        self.path = path
        strength = which == .disk ? .full : .normal
        try reopen()
    }

    func reopen() throws(JournalError) {
        database = nil
        isOpen = false
        let opened = try Opening.open(path, strength: strength)
        database = opened.database
        isCorrupt = false
        if opened.database == nil { fault = opened.loss }
        lastLoss = opened.loss ?? lastLoss
    }

    private(set) var lastLoss: String?
    func takeLoss() -> String? {
        defer { lastLoss = nil }
        return lastLoss
    }

    // MARK: Verbs

    var isDirty: Bool { !turn.isEmpty }

    func perform(_ verb: Verb) {
        guard fault == nil else { return keep(verb) }
        turn.append(verb)
        guard failure == nil else { return }
        do {
            try begin()
            try write(verb)
        } catch { failure = error }
    }

    /// How many numbers of the range were owed here by `handler` and are no longer; 0 while that cannot be known.
    func acknowledge(_ range: ClosedRange<Sequence>, by handler: HandlerID) -> Int {
        guard fault == nil else {
            let count = held.acknowledge(range, by: handler)
            if count <= range.upperBound.rawValue - range.lowerBound.rawValue {
                backlog.append(.acknowledge(range, handler))
            }
            return count
        }
        turn.append(.acknowledge(range, handler))
        guard failure == nil else { return 0 }
        do {
            try begin()
            return try erase(range, by: handler)
        } catch {
            failure = error
            return 0
        }
    }

    /// Commits what this turn holds. Nil when there was nothing.
    func commit() -> CommitOutcome? {
        guard !turn.isEmpty else { return nil }
        do {
            if let failure { throw failure }
            if let (seq, wall) = appended { try writeState(0, Cursor(seq: seq, wall: wall).bytes) }
            try database?.statement(.commit).run()
            endTurn()
            return .committed
        } catch let error as SQLiteFailure {
            return degrade(error)
        } catch { return .committed }
    }

    private func begin() throws(SQLiteFailure) {
        guard !isOpen else { return }
        try database?.statement(.begin).run()
        isOpen = true
    }

    private func endTurn() {
        turn.removeAll(keepingCapacity: true)
        (isOpen, failure, appended) = (false, nil, nil)
    }

    // MARK: Degrading and healing

    /// Rolls back and keeps the whole turn in memory: a failed commit delays durability, it never loses an event.
    func degrade(_ error: SQLiteFailure) -> CommitOutcome {
        if database?.isInTransaction == true { try? database?.statement(.rollback).run() }
        let remedy =
            error.isCorruption
            ? "the file will be set aside and begun anew"
            : error.isFull ? "make room on its file system" : "check its directory and file system"
        let sentence = "cannot write the journal \(path): \(error.message); its events are kept in memory, \(remedy)"
        (fault, isCorrupt) = (sentence, error.isCorruption)
        let kept = turn
        if let (seq, wall) = appended { heldStates[0] = Cursor(seq: seq, wall: wall).bytes }
        endTurn()
        for verb in kept { keep(verb) }
        return .lost(DurabilityLoss(which: which, sentence: sentence))
    }

    private func keep(_ verb: Verb) {
        switch verb {
        case .append(let seq, let event, let owners):
            held.append(event, as: seq, owedTo: owners)
            heldStates[0] = Cursor(seq: seq, wall: event.stamp.wall).bytes
        case .update(let seq, let event): if !held.update(event, as: seq) { backlog.append(verb) }
        case .acknowledge(let range, let handler):
            let count = held.acknowledge(range, by: handler)
            if count <= range.upperBound.rawValue - range.lowerBound.rawValue { backlog.append(verb) }
        case .state(let key, let value): heldStates[key] = value
        case .attempts, .fact, .device, .handler, .checkpoint, .stopped, .bury, .unbury: backlog.append(verb)
        }
    }

    /// Tries to write what memory holds; true when the database is whole again.
    /// `agrees` refuses a file that came back with other identities than this life has given out.
    func heal(if agrees: (EventStore) -> Bool) -> Bool {
        guard fault != nil else { return false }
        do {
            if database == nil || isCorrupt { try reopen() }
            guard agrees(self) else { return false }
            guard let database else { return false }
            // Cuts the WAL first: on a full file system it may be the only room there is.
            try? database.checkpoint()
            try database.statement(.begin).run()
            isOpen = true
            for verb in backlog { try write(verb) }
            for (seq, one) in held.events.sorted(by: { $0.key < $1.key }) {
                try write(.append(seq, one.event, one.owners))
            }
            for (key, value) in heldStates { try writeState(key, value) }
            try database.statement(.commit).run()
        } catch {
            if database?.isInTransaction == true { try? database?.statement(.rollback).run() }
            (isOpen, appended) = (false, nil)
            return false
        }
        (fault, held, backlog, heldStates) = (nil, RamStore(), [], [:])
        endTurn()
        return true
    }

    // MARK: Statements

    private func write(_ verb: Verb) throws(SQLiteFailure) {
        guard let database else { return }
        switch verb {
        case .append(let seq, let event, let owners): try insert(event, as: seq, owedTo: owners)
        case .update(let seq, let event):
            if let found = try read(seq) { try insertRow(event, as: seq, owner: found.owner) }
        case .acknowledge(let range, let handler): _ = try erase(range, by: handler)
        case .state(let key, let value):
            // The newest number, said outright, is above every number appended in this turn so far.
            if key == 0 { appended = nil }
            try writeState(key, value)
        case .attempts(let seq, let handler, let attempts, let charges):
            mayHoldAttempts = true
            let statement = try database.statement(.setAttempts)
            statement.bind(1, Int64(handler.rawValue))
            statement.bind(2, seq.rawValue)
            statement.bind(3, Int64(attempts))
            statement.bind(4, Int64(charges))
            try statement.run()
        case .fact, .device, .handler, .checkpoint, .stopped: try writeIdentity(verb, to: database)
        case .bury(let letter): try bury(letter, in: database)
        case .unbury(let seq, let handler):
            let statement = try database.statement(.unbury)
            statement.bind(1, seq.rawValue)
            statement.bind(2, Int64(handler.rawValue))
            try statement.run()
        }
    }

    private func insert(_ event: DeviceEvent, as seq: Sequence, owedTo owners: [HandlerID]) throws(SQLiteFailure) {
        guard let database, let first = owners.first else { return }
        noteHeld(seq, isShared: owners.count > 1)
        appended = (seq, event.stamp.wall)
        try insertRow(event, as: seq, owner: owners.count == 1 ? first.rawValue : 0)
        guard owners.count > 1 else { return }
        let statement = try database.statement(.owe)
        for owner in owners {
            statement.bind(1, seq.rawValue)
            statement.bind(2, Int64(owner.rawValue))
            try statement.run()
        }
    }

    private func insertRow(_ event: DeviceEvent, as seq: Sequence, owner: UInt32) throws(SQLiteFailure) {
        guard let database else { return }
        let check = record.encode(event, seq: seq.rawValue, owner: owner)
        let statement = try database.statement(.append)
        statement.bind(1, seq.rawValue)
        statement.bindBody(of: event, owner: owner, kind: record.kind, check: check)
        try statement.run(blob: record.buffer, from: EventRecord.headerSize, at: 10)
    }

    private func bury(_ letter: DeadLetter, in database: Database) throws(SQLiteFailure) {
        let check = record.encode(letter.event, seq: letter.seq.rawValue, owner: letter.handler.rawValue)
        let statement = try database.statement(.bury)
        statement.bind(1, letter.seq.rawValue)
        statement.bindBody(of: letter.event, owner: letter.handler.rawValue, kind: record.kind, check: check)
        statement.bind(11, letter.reason)
        statement.bind(12, letter.at.microseconds)
        try statement.run(blob: record.buffer, from: EventRecord.headerSize, at: 10)
    }

    private func erase(_ range: ClosedRange<Sequence>, by handler: HandlerID) throws(SQLiteFailure) -> Int {
        guard let database, let span, span.overlaps(range) else { return 0 }
        var count = try run(.acknowledgeSole, range, handler, database)
        if let shared, shared.overlaps(range) {
            count += try run(.acknowledgeShared, range, handler, database)
            _ = try run(.dropOrphans, range, nil, database)
        }
        if mayHoldAttempts { _ = try run(.forgetAttempts, range, handler, database) }
        return count
    }

    private func run(
        _ query: Query, _ range: ClosedRange<Sequence>, _ handler: HandlerID?, _ database: Database
    ) throws(SQLiteFailure) -> Int {
        let statement = try database.statement(query)
        statement.bind(1, range.lowerBound.rawValue)
        statement.bind(2, range.upperBound.rawValue)
        if let handler { statement.bind(3, Int64(handler.rawValue)) }
        try statement.run()
        return database.changes
    }

    private func writeState(_ key: Int64, _ value: [UInt8]) throws(SQLiteFailure) {
        guard let statement = try database?.statement(.setState) else { return }
        statement.bind(1, key)
        try statement.run(blob: value, at: 2)
    }

    func read(_ seq: Sequence) throws(SQLiteFailure) -> (owner: UInt32, event: DeviceEvent)? {
        guard let database, let span, span.contains(seq) else { return nil }
        let statement = try database.statement(.find)
        statement.bind(1, seq.rawValue)
        defer { statement.reset() }
        guard try statement.step(), let found = record.decode(statement) else { return nil }
        return (found.owner, found.event)
    }

    /// What recovery found here: everything it owes, and whether it may hold shared events and attempts.
    func noteHeld(_ seq: Sequence, isShared: Bool) {
        span = span.map { min($0.lowerBound, seq)...max($0.upperBound, seq) } ?? seq...seq
        if isShared { shared = shared.map { min($0.lowerBound, seq)...max($0.upperBound, seq) } ?? seq...seq }
    }
    func noteAttempts(_ found: Bool) { mayHoldAttempts = found }
}

extension Statement {
    /// Columns 2 to 9 of the tables that hold events.
    fileprivate func bindBody(of event: DeviceEvent, owner: UInt32, kind: UInt8, check: UInt32) {
        bind(2, Int64(owner))
        bind(3, Int64(event.device.rawValue))
        bind(4, Int64(kind))
        bind(5, event.stamp.moment.monotonic.nanoseconds)
        bind(6, event.stamp.moment.boottime.nanoseconds)
        bind(7, event.stamp.wall.microseconds)
        bind(8, Int64(event.stamp.isClockSynchronized ? 1 : 0))
        bind(9, Int64(check))
    }
}
