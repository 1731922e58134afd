// The way of a turn into the log, from one half of it into the other, and from there into the database.
import WakeModel

extension EventStore {
    /// Nil where the turn has to go into the database, because there is no log, or none that takes it.
    func commitToLog() -> CommitOutcome? {
        guard let log, log.isBegun, buffer.encode(turn, notes, at: cursor, of: log.generation) else { return nil }
        switch log.append(buffer.bytes) {
        case .failed: return nil
        case .full: return handOver(log)
        case .done:
            endLoggedTurn()
            return .committed
        }
    }

    private func endLoggedTurn() {
        for verb in turn { keep(verb) }
        for note in notes.entries { logged.set(note.key, to: note.value) }
        hasLogged = true
        endTurn()
    }

    /// What is owed of a log that is full goes on to its other half, and the turn behind it; the database gets the rest. Of a
    /// handler that is slower than its device each event would become a row otherwise. Nil where too much is owed.
    private func handOver(_ log: TurnLog) -> CommitOutcome? {
        guard let database else { return nil }
        let next = log.newest &+ 1
        var record = TurnBuffer()
        let isEncoded = record.encode(
            logged.events, limit: log.capacity / 2, before: turn, notes, at: cursor, of: next)
        guard isEncoded, log.prepare(next, record.bytes) else { return nil }
        do { try name(next, in: database) } catch { return degrade(error) }
        log.handOver()
        (stated, fetched) = (cursor.seq, FetchedEvents())
        logged = Unwritten(events: logged.events)
        endLoggedTurn()
        return .committed
    }

    private func name(_ generation: UInt64, in database: Database) throws(SQLiteFailure) {
        try database.statement(.begin).run()
        try writeAllButEvents(of: logged, to: database)
        try write(.cursor, [], to: database)
        try writeFact(Self.logName, "\(generation) \(oldestOnlyLogged.rawValue)", to: database)
        try database.statement(.commit).run()
    }

    /// Nothing older is missed where the log is; what it takes over and the turn that it takes over with are not in the database.
    private var oldestOnlyLogged: Sequence {
        var oldest = logged.events.oldest ?? cursor.seq.next
        for case .append(let seq, let event, _) in turn { oldest = min(oldest, seq, event.firstTold ?? seq) }
        return oldest
    }

    /// What the log has goes into the database, so that the log can begin anew. Nil when there was nothing.
    func settle() -> CommitOutcome? {
        guard fault == nil, logCapacity > 0 else { return nil }
        if log == nil { log = try? TurnLog.open(path, capacity: logCapacity) }
        guard hasLogged || log?.isBegun == false else { return nil }
        let outcome = commitToDatabase()
        if outcome == .committed, mayHoldAttempts, let count = try? database?.integer("SELECT count(*) FROM attempts") {
            mayHoldAttempts = count > 0
        }
        return outcome
    }
}
