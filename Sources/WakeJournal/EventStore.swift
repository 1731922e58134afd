// A database of events. It writes a turn's operations at its commit, and keeps them in memory while it cannot be
// written.
import Glibc
import WakeModel

/// An operation of a turn on a database.
enum JournalOp {
    case append(Sequence, DeviceEvent, [HandlerID])
    case update(Sequence, DeviceEvent)
    case acknowledge(ClosedRange<Sequence>, HandlerID)
    case attempts(Sequence, HandlerID, attempts: Int, charges: Int, heldUntil: WallTime?)
    case fact(String, String)
    case device(EventOrigin, Device)
    case handler(HandlerID, HandlerRow)
    /// Where some were damaged, before all are written again.
    case clearIdentities
    case addDeadLetter(DeadLetter)
    case removeDeadLetter(Sequence, HandlerID)
    case setEntry(StoredEntry)
    case removeEntry(StoredEntry.Key)
}

struct OpenTurn {
    var ops: [JournalOp] = []
    private(set) var progress: [(key: ProgressRecord.Key, value: [UInt8])] = []
    /// The database must learn how far numbers went, although no row of this turn shows it.
    var writesCursor = false

    var isEmpty: Bool { ops.isEmpty && progress.isEmpty && !writesCursor }

    /// A later record replaces an earlier one.
    mutating func record(_ key: ProgressRecord.Key, _ value: [UInt8]) {
        if let place = progress.firstIndex(where: { $0.key == key }) {
            progress[place].value = value
        } else {
            progress.append((key, value))
        }
    }

    mutating func removeAll() {
        ops.removeAll(keepingCapacity: true)
        progress.removeAll(keepingCapacity: true)
        writesCursor = false
    }
}

/// The possible contents of the file. Spares statements that would find no row.
struct StoredEvents {
    /// The file was read; until then it may hold anything.
    var isRead = false
    var mayHaveAttempts = true
    private(set) var span: ClosedRange<Sequence>?
    /// Numbers that may be pending for two or more handlers.
    private var shared: ClosedRange<Sequence>?
    /// The first sequence that a gap of this file reports; nil while nothing is pending here.
    var oldestReported: Sequence?

    mutating func include(_ seq: Sequence, _ event: DeviceEvent, isShared: Bool) {
        span = span.map { min($0.lowerBound, seq)...max($0.upperBound, seq) } ?? seq...seq
        if isShared { shared = shared.map { min($0.lowerBound, seq)...max($0.upperBound, seq) } ?? seq...seq }
        includeReport(of: event)
    }

    /// A gap that is lost must be reported again with all that it reported.
    mutating func includeReport(of event: DeviceEvent) {
        if let first = event.firstReported { oldestReported = min(first, oldestReported ?? first) }
    }

    func mayShare(_ range: ClosedRange<Sequence>) -> Bool { !isRead || shared?.overlaps(range) == true }
}

/// Facts about the file itself that recovery needs.
struct FileCondition {
    var wasThere = true
    /// Its turn log, or SQLite's log, holds less than was committed to it. Valid only within the same boot.
    var isCut = false
    /// The oldest number that an unreadable log may have held.
    var firstUnreadable: UInt64?
    /// The file is not the one that was written, so all it should hold counts as lost.
    var wasDamaged = false
    /// Damage that no caller has seen yet.
    var unreported: [String] = []
}

final class EventStore {
    let which: Durability
    let path: String
    var database: Database?
    private var fault: String?
    /// Set with the fault where the file itself is damaged.
    private var corruption: SQLiteFailure?
    var condition = FileCondition()
    var contents = StoredEvents()
    var record = EventRecord()

    private(set) var turn = OpenTurn()
    /// Facts that go with the next commit but do not cause one.
    private var deferredFacts: [String: String] = [:]

    /// Writes that the turn log has and the database has not.
    private(set) var logged = PendingWrites()
    /// Writes that only memory has, since the fault.
    private(set) var unsaved = PendingWrites()
    private var log: TurnLog?
    private let logCapacity: Int
    /// The log has turns that the database has not.
    private var hasLogged = false
    private var buffer = TurnBuffer()
    var cache = EventCache()

    /// The newest number issued to an event of this file, this turn included.
    private(set) var cursor = Cursor.none
    /// The newest number that a progress record in the file holds. A row that is still there proves its own number.
    private var writtenCursor = Sequence(0)
    /// Why ``each(_:_:)`` may have missed rows.
    var readFailure: SQLiteFailure?

    /// - Parameters:
    ///   - file: nil for a database in memory alone.
    ///   - memory: has that of an earlier journal, and keeps this one.
    init(
        _ which: Durability, path file: String?, logCapacity: Int = 0, memory: JournalMemory? = nil
    ) throws(JournalError) {
        self.which = which
        path = file ?? ":memory:"
        self.logCapacity = file == nil ? 0 : logCapacity
        if file == nil, let kept = memory?[which] { database = kept } else { try open() }
        condition.wasThere = database != nil
        if file == nil { memory?[which] = database }
    }

    private var strength: Database.Strength { which == .disk ? .full : .normal }
    var isDegraded: Bool { fault != nil }
    var health: StoreHealth { fault.map(StoreHealth.degraded) ?? .ok }

    func mayHold(_ range: ClosedRange<Sequence>) -> Bool { isDegraded || contents.span?.overlaps(range) == true }
    func mayHold(_ seq: Sequence) -> Bool { mayHold(seq...seq) }

    // MARK: Opening and closing

    private func open() throws(JournalError) {
        try reopen()
        try loadLoggedTurns()
    }

    private func reopen() throws(JournalError) {
        database = nil
        adopt(try DatabaseOpener.open(path, strength: strength))
    }

    private func adopt(_ opened: DatabaseOpener.Outcome) {
        database = opened.database
        corruption = nil
        if opened.database == nil { fault = opened.loss }
        if let loss = opened.loss { report(loss) }
        if opened.wasDamaged || access(DatabaseOpener.mark(of: path), F_OK) == 0 { condition.wasDamaged = true }
        condition.isCut = opened.isCut
    }

    /// Moves the files of another journal away and begins new ones. Returns where they are now.
    func setAside() -> String {
        (database, log, logged, hasLogged, cursor) = (nil, nil, PendingWrites(), false, .none)
        let aside = DatabaseOpener.unusedName(beside: path)
        // The log first: a crash in between then leaves no database whose log looks cut.
        TurnLog.move(from: path, to: aside)
        DatabaseOpener.move(path, to: aside)
        do { try open() } catch { (fault, database) = (error.description, nil) }
        return aside
    }

    func close() {
        // Syncs the file, for a runtime directory that outlives a reboot.
        try? database?.checkpoint()
        (database, log) = (nil, nil)
    }

    func reportMissing() {
        condition.wasDamaged = true
        report(
            "the journal \(path) is not the one that was written; a new one was begun, check who removed it, and its disk"
        )
    }

    func clearDamage() {
        condition.wasDamaged = false
        unlink(DatabaseOpener.mark(of: path))
        LogIndex.removeWitness(of: path)
    }

    func report(_ sentence: String) { condition.unreported.append(sentence) }

    func removeReports() -> [DurabilityLoss] {
        defer { condition.unreported = [] }
        return condition.unreported.map { DurabilityLoss(which: which, sentence: $0) }
    }

    // MARK: The turn

    func perform(_ op: JournalOp) {
        guard !isDegraded else { return keep(op) }
        switch op {
        case .append(let seq, let event, let handlers):
            contents.include(seq, event, isShared: handlers.count > 1)
            cursor = Cursor(seq: seq, wall: event.stamp.wall)
        case .acknowledge(let range, _): if range.upperBound > writtenCursor { turn.writesCursor = true }
        case .attempts: contents.mayHaveAttempts = true
        case .update(let seq, let event):
            contents.includeReport(of: event)
            cache.recent.update(event, as: seq)
        case .fact, .device, .handler, .clearIdentities, .addDeadLetter, .removeDeadLetter, .setEntry, .removeEntry:
            break
        }
        turn.ops.append(op)
    }

    func record(_ key: ProgressRecord.Key, _ value: [UInt8]) {
        if isDegraded { unsaved.progress[key] = value } else { turn.record(key, value) }
    }

    /// A number was issued that no event of this file shows.
    func writeCursor(_ newest: Cursor) {
        cursor = newest
        turn.writesCursor = true
    }

    func adoptCursor(_ stored: Cursor) {
        writtenCursor = max(writtenCursor, stored.seq)
        if stored.seq > cursor.seq { cursor = stored }
    }

    func deferFact(_ name: String, _ value: String) { deferredFacts[name] = value }

    func includeDeferredFacts() {
        for (name, value) in deferredFacts { perform(.fact(name, value)) }
        deferredFacts = [:]
    }

    /// Commits this turn. Nil if it was empty.
    func commit() -> CommitOutcome? {
        guard !isDegraded, !turn.isEmpty else { return nil }
        if !deferredFacts.isEmpty { includeDeferredFacts() }
        return commitToLog() ?? commitToDatabase()
    }

    private func commitToDatabase() -> CommitOutcome {
        do {
            if let database { try writeAll(to: database) } else { turn.removeAll() }
            return .committed
        } catch { return degrade(error) }
    }

    /// Everything the database has not yet, and which generation of the log continues from there.
    private func writeAll(to database: Database) throws(SQLiteFailure) {
        if !database.isInTransaction { try begin(database) }
        try write(unsaved, to: database)
        for op in turn.ops { try write(op, to: database) }
        for (key, value) in turn.progress { try write(key, value, to: database) }
        cache.fetched = FetchedEvents()
        let hasProgress = !turn.progress.isEmpty
        let writesCursor = turn.writesCursor || hasLogged || hasProgress || !unsaved.isEmpty
        if writesCursor { try write(.cursor, [], to: database) }
        let generation = log.map { $0.newest &+ 1 }
        if logCapacity > 0 { try writeFact(Self.logFact, generation.map(String.init) ?? "", to: database) }
        try database.statement(.commit).run()
        if writesCursor { writtenCursor = cursor.seq }
        cacheRecentEvents()
        turn.removeAll()
        if hasLogged { (logged, hasLogged) = (PendingWrites(), false) }
        // A log that cannot begin keeps an older generation than the database names, so no start loads it.
        if let generation, log?.begin(generation) != true { log = nil }
    }

    private func cacheRecentEvents() {
        for one in logged.events.events { cache.recent.append(one.event, as: one.seq) }
        for op in turn.ops {
            if case .append(let seq, let event, _) = op { cache.recent.append(event, as: seq) }
            if case .update(let seq, let event) = op { cache.recent.update(event, as: seq) }
        }
    }

    func begin(_ database: Database) throws(SQLiteFailure) {
        try database.statement(.begin).run()
        try write(logged, to: database)
        if hasLogged { try write(.cursor, [], to: database) }
    }

    private func write(_ pending: PendingWrites, to database: Database) throws(SQLiteFailure) {
        try writeAllButEvents(of: pending, to: database)
        for one in pending.events.events { try write(.append(one.seq, one.event, one.handlers), to: database) }
    }

    private func writeAllButEvents(of pending: PendingWrites, to database: Database) throws(SQLiteFailure) {
        for (seq, event) in pending.updates { try write(.update(seq, event), to: database) }
        for op in pending.backlog { try write(op, to: database) }
        for (key, value) in pending.progress { try write(key, value, to: database) }
    }

    /// Keeps it for the database: beside the log or, with a fault, in memory.
    private func keep(_ op: JournalOp) {
        switch op {
        case .append(let seq, let event, _):
            // A later number may have been issued in the same turn.
            if seq > cursor.seq { cursor = Cursor(seq: seq, wall: event.stamp.wall) }
        case .update(let seq, let event):
            cache.recent.update(event, as: seq)
            if unsaved.events.update(event, as: seq) || logged.events.update(event, as: seq) { return }
        case .acknowledge(let range, let handler):
            let count = logged.events.acknowledge(range, by: handler) + unsaved.events.acknowledge(range, by: handler)
            if count > range.upperBound.rawValue - range.lowerBound.rawValue, !contents.mayHaveAttempts { return }
        case .attempts: contents.mayHaveAttempts = true
        case .fact, .device, .handler, .clearIdentities, .addDeadLetter, .removeDeadLetter, .setEntry, .removeEntry:
            break
        }
        if isDegraded { unsaved.add(op) } else { logged.add(op) }
    }

    // MARK: The turn log

    /// The generation of the log that continues from the database. A log that took events over also has the first
    /// number.
    private static let logFact = "turns"

    /// Nil where no log takes the turn, so the database must.
    private func commitToLog() -> CommitOutcome? {
        guard let log, log.isBegun, buffer.encode(turn, at: cursor, of: log.generation) else { return nil }
        switch log.append(buffer.bytes) {
        case .failed: return nil
        case .full: return handOver(log)
        case .done:
            keepTurn()
            return .committed
        }
    }

    private func keepTurn() {
        for op in turn.ops { keep(op) }
        for (key, value) in turn.progress { logged.progress[key] = value }
        hasLogged = true
        turn.removeAll()
    }

    /// Moves pending events from a full half of the log to the other half, with the turn behind them. The database gets
    /// the rest. Otherwise each event for a slow handler would become a row. Nil where too much is pending.
    private func handOver(_ log: TurnLog) -> CommitOutcome? {
        guard let database else { return nil }
        let next = log.newest &+ 1
        var record = TurnBuffer()
        let isEncoded = record.encode(logged.events, limit: log.capacity / 2, before: turn, at: cursor, of: next)
        guard isEncoded, log.prepare(next, record.bytes) else { return nil }
        do throws(SQLiteFailure) {
            try database.statement(.begin).run()
            try writeAllButEvents(of: logged, to: database)
            try write(.cursor, [], to: database)
            try writeFact(Self.logFact, "\(next) \(oldestOnlyLogged.rawValue)", to: database)
            try database.statement(.commit).run()
        } catch { return degrade(error) }
        log.handOver()
        (writtenCursor, cache.fetched) = (cursor.seq, FetchedEvents())
        logged = PendingWrites(events: logged.events)
        keepTurn()
        return .committed
    }

    /// The oldest number that is lost with the log: neither its pending events nor this turn are in the database.
    private var oldestOnlyLogged: Sequence {
        var oldest = logged.events.oldest ?? cursor.seq.next
        for case .append(let seq, let event, _) in turn.ops { oldest = min(oldest, seq, event.firstReported ?? seq) }
        return oldest
    }

    /// Moves the log into the database, so that the log can begin again. Nil when there was nothing.
    func flushLog() -> CommitOutcome? {
        guard !isDegraded, logCapacity > 0 else { return nil }
        if log == nil { log = try? TurnLog.open(path, capacity: logCapacity) }
        guard hasLogged || log?.isBegun == false else { return nil }
        let outcome = commitToDatabase()
        if outcome == .committed, contents.mayHaveAttempts,
            let count = try? database?.integer("SELECT count(*) FROM attempts")
        {
            contents.mayHaveAttempts = count > 0
        }
        return outcome
    }

    /// Writes an earlier session's log to the database, in a transaction that stays open until recovery commits its
    /// findings. Until then the files stay as evidence.
    private func loadLoggedTurns() throws(JournalError) {
        guard logCapacity > 0, let database else { return }
        do { log = try TurnLog.open(path, capacity: logCapacity) } catch {
            if error.isLackOfDescriptors { throw .noDescriptors(path: TurnLog.path(beside: path)) }
        }
        guard let value = facts().values[Self.logFact] else {
            // The log may continue from this database or not, and may have taken over any event.
            let content = log.flatMap { $0.content(of: $0.newest) }
            if let content, !content.isWhole || !content.turns.isEmpty { markUnreadable(from: 1) }
            return
        }
        let numbers = value.split(separator: " ").compactMap { UInt64($0) }
        guard let named = numbers.first else { return }
        let first = numbers.count > 1 ? numbers[1] : nil
        let content = log?.content(of: named)
        // A log that took nothing over begins after the database named it. A crash in between leaves the generation below.
        if !(content?.isWhole ?? (first == nil && log?.newest == named &- 1)) { condition.isCut = true }
        guard let turns = content?.turns, !turns.isEmpty else {
            // A log that took events over was never empty.
            if let first { markUnreadable(from: first) }
            return
        }
        for turn in turns {
            cursor = turn.cursor
            for op in turn.ops { keep(op) }
            for (key, value) in turn.progress { logged.progress[key] = value }
            hasLogged = true
        }
        try beginWithLoggedTurns(database)
    }

    private func markUnreadable(from first: UInt64) { (condition.isCut, condition.firstUnreadable) = (true, first) }

    /// A session that began without the turns would report all that they hold as lost.
    private func beginWithLoggedTurns(_ database: Database) throws(JournalError) {
        database.wait(milliseconds: 5_000)
        defer { database.wait(milliseconds: Database.usualWait) }
        do { try begin(database) } catch {
            guard error.isCorruption else { throw .notTakenUp(path: path, reason: error.message) }
            rebuild(after: error)
            if self.database == nil { (logged, hasLogged) = (PendingWrites(), false) }
        }
    }

    // MARK: Degrading and healing

    /// Rolls back and keeps the whole turn in memory: a failed commit delays durability and never loses an event.
    func degrade(_ error: SQLiteFailure) -> CommitOutcome {
        rollBack()
        let remedy =
            error.isCorruption
            ? "the file will be set aside and a new one begun"
            : error.isFull ? "make room on its file system" : "check its directory and file system"
        let sentence = "cannot write the journal \(path): \(error.message); its events are kept in memory, \(remedy)"
        (fault, corruption) = (sentence, error.isCorruption ? error : nil)
        for (key, value) in turn.progress { unsaved.progress[key] = value }
        let ops = turn.ops
        turn.removeAll()
        turn.writesCursor = true
        for op in ops { keep(op) }
        return .lost(DurabilityLoss(which: which, sentence: sentence))
    }

    /// SQLite may have rolled back already. A start reads within the transaction that loads the log. Without it the file holds
    /// more again than was read.
    private func rollBack() {
        if database?.isInTransaction == true { try? database?.statement(.rollback).run() }
        (contents.isRead, contents.mayHaveAttempts) = (false, true)
    }

    /// Tries to write the operations in memory; true when the database is complete again.
    /// - Parameter objection: returns why a file that came back must not be written, such as that another session left
    /// it.
    func heal(unless objection: (EventStore) -> String?) -> Bool {
        guard isDegraded else { return false }
        do {
            try reopenAfterFault()
            guard let database else { return false }
            if let refusal = objection(self) {
                refuse(refusal)
                return false
            }
            // Cuts the WAL first: on a full file system it may hold the only room.
            try? database.checkpoint()
            for one in unsaved.events.events { contents.include(one.seq, one.event, isShared: true) }
            for event in unsaved.updates.values { contents.includeReport(of: event) }
            try writeAll(to: database)
        } catch {
            rollBack()
            if let error = error as? SQLiteFailure, error.isCorruption { corruption = error }
            return false
        }
        // The fault already reported a cut log.
        LogIndex.removeWitness(of: path)
        (fault, unsaved, condition.wasThere) = (nil, PendingWrites(), true)
        return true
    }

    private func reopenAfterFault() throws(JournalError) {
        if let corruption { return rebuild(after: corruption) }
        guard database == nil else { return }
        let known = condition.unreported
        try reopen()
        // The first attempt reported the same.
        if database == nil { condition.unreported = known }
    }

    private func refuse(_ refusal: String) {
        rollBack()
        (fault, database) = (refusal, nil)
    }

    /// Sets the file aside and copies its readable rows into a new one.
    func rebuild(after failure: SQLiteFailure) {
        database = nil
        adopt(DatabaseOpener.replace(path, strength, failure))
        guard hasLogged, let database else { return }
        do { try begin(database) } catch { refuse("cannot write the journal \(path): \(error.message)") }
    }
}
