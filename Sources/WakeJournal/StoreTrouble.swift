// A database that is damaged, full or gone, and the log that an earlier life left: what is taken up, kept in memory and written later.
import WakeModel

extension EventStore {
    // MARK: What an earlier life left

    /// What the log of turns holds is written to the database, in a transaction that stays open until recovery commits what
    /// it found: until then what was left is evidence.
    func takeUpTurns() throws(JournalError) {
        guard logCapacity > 0, let database else { return }
        try openLog()
        guard let word = facts().values[Self.logName] else {
            // Whether it goes on from the database cannot be known, nor what it took over.
            let content = log.flatMap { $0.content(of: $0.newest) }
            if let content, !content.isWhole || !content.turns.isEmpty { (isCut, firstCarried) = (true, 1) }
            return
        }
        let numbers = word.split(separator: " ").compactMap { UInt64($0) }
        guard let named = numbers.first else { return }
        let first = numbers.count > 1 ? numbers[1] : nil
        // One that takes nothing over is begun after it was named: one below is what an end in between leaves.
        let content = log?.content(of: named)
        isCut = isCut || !(content?.isWhole ?? (first == nil && log?.newest == named &- 1))
        guard let turns = content?.turns, !turns.isEmpty else {
            // What took something over was never empty.
            if let first { (isCut, firstCarried) = (true, first) }
            return
        }
        for turn in turns { take(turn) }
        try beginWithTurns(database)
    }

    private func take(_ turn: LoggedTurn) {
        cursor = turn.cursor
        for verb in turn.verbs { keep(verb) }
        for note in turn.notes { logged.set(note.key, to: note.value) }
        hasLogged = true
    }

    /// Begun without them, this life would tell everybody that what they hold is lost.
    private func beginWithTurns(_ database: Database) throws(JournalError) {
        database.wait(milliseconds: 5_000)
        defer { database.wait(milliseconds: Database.usualWait) }
        do { try begin(database) } catch {
            guard error.isCorruption else { throw .notTakenUp(path: path, reason: error.message) }
            rebuild(after: error)
            if self.database == nil { (logged, hasLogged) = (Unwritten(), false) }
        }
    }

    private func openLog() throws(JournalError) {
        do { log = try TurnLog.open(path, capacity: logCapacity) } catch {
            if error.isLackOfDescriptors { throw .noDescriptors(path: TurnLog.path(beside: path)) }
        }
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
        for (key, value) in notes.entries { held.set(key, to: value) }
        let kept = turn
        endTurn()
        mustState = true
        for verb in kept { keep(verb) }
        return .lost(DurabilityLoss(which: which, sentence: sentence))
    }

    /// SQLite may have done so already. What a start read, it read within the transaction that took up the log: without that the
    /// file holds more again.
    private func rollBack() {
        if database?.isInTransaction == true { try? database?.statement(.rollback).run() }
        (isRead, mayHoldAttempts) = (false, true)
    }

    /// Tries to write what memory holds; true when the database is whole again.
    /// `objection` refuses a file that came back and is not the one that this life goes on with; it says what to do.
    func heal(unless objection: (EventStore) -> String?) -> Bool {
        guard fault != nil else { return false }
        do {
            try openAgain()
            guard let database else { return false }
            if let refusal = objection(self) {
                refuse(refusal)
                return false
            }
            // Cuts the WAL first: on a full file system it may be the only room there is.
            try? database.checkpoint()
            noteWhatIsHeld()
            try writeAll(to: database)
        } catch {
            rollBack()
            if let error = error as? SQLiteFailure, error.isCorruption { corruption = error }
            return false
        }
        // What it said of the log that was there was told with the fault.
        LogIndex.dismissWitness(of: path)
        (fault, held, wasThere) = (nil, Unwritten(), true)
        return true
    }

    private func noteWhatIsHeld() {
        for one in held.events.events {
            noteHeld(one.seq, isShared: true)
            noteTold(one.event)
        }
        for event in held.updates.values { noteTold(event) }
    }

    private func openAgain() throws(JournalError) {
        if let corruption { return rebuild(after: corruption) }
        guard database == nil else { return }
        let known = untold
        try reopen()
        // Said once already, at the first try.
        if database == nil { untold = known }
    }

    private func refuse(_ refusal: String) {
        rollBack()
        (fault, database) = (refusal, nil)
    }

    /// The file is set aside and what is readable of it goes into a new one.
    func rebuild(after failure: SQLiteFailure) {
        database = nil
        take(Opening.replace(path, strength, failure))
        guard hasLogged, let database else { return }
        do { try begin(database) } catch { refuse("cannot write the journal \(path): \(error.message)") }
    }
}
