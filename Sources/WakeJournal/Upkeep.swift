// What is done while nobody is awake, and the events that were given up on: compaction, healing, dead letters.
import Glibc
import WakeModel

extension Journal {
    /// Commits, heals, erases what nobody owes and empties the WAL. Call while nobody is awake: it may take milliseconds.
    public func compact() -> Compaction {
        var compaction = Compaction()
        let committed = commit()
        if committed != .nothing { compaction.outcomes.append(committed) }
        compaction.outcomes += heal()
        for store in stores where store.fault == nil {
            guard let database = store.database else { continue }
            compaction.orphans += (try? eraseOrphans(in: database)) ?? 0
            try? database.checkpoint()
        }
        compaction.bytes = stores.reduce(0) { $0 + fileSize($1.path) + fileSize($1.path + "-wal") }
        compaction.isOverCap = compaction.bytes > settings.maxBytes
        return compaction
    }

    private func eraseOrphans(in database: Database) throws(SQLiteFailure) -> Int {
        try database.execute(
            "DELETE FROM events WHERE owner=0 AND NOT EXISTS(SELECT 1 FROM owed WHERE owed.seq=events.seq)")
        return database.changes
    }

    // MARK: Dead letters

    /// Moves the handler's copy of the event out of its queue, for a person to look at.
    public func deadLetter(_ seq: Sequence, by handler: HandlerID, reason: String, at time: WallTime) {
        if let event = event(seq) {
            disk.perform(.bury(DeadLetter(seq: seq, handler: handler, event: event, reason: reason, at: time)))
        }
        acknowledge(CollectionOfOne(seq), by: handler)
    }

    /// Those committed, by number.
    public func deadLetters() -> [DeadLetter] {
        var record = EventRecord()
        var found: [DeadLetter] = []
        disk.each("SELECT * FROM dead_letters ORDER BY seq") { row in
            guard let (seq, owner, event) = record.decode(row) else { return }
            found.append(
                DeadLetter(
                    seq: seq, handler: HandlerID(rawValue: owner), event: event, reason: row.text(10),
                    at: WallTime(microseconds: row.integer(11))))
        }
        return found
    }

    /// How many were dropped.
    public func dropDeadLetters(matching matches: (DeadLetter) -> Bool) -> Int {
        let chosen = deadLetters().filter(matches)
        for letter in chosen { disk.perform(.unbury(letter.seq, letter.handler)) }
        return chosen.count
    }

    /// Takes a dead letter out, to be appended again under a new number in the same commit.
    public func takeDeadLetter(_ seq: Sequence, of handler: HandlerID) -> DeadLetter? {
        guard let letter = deadLetters().first(where: { $0.seq == seq && $0.handler == handler }) else { return nil }
        disk.perform(.unbury(seq, handler))
        return letter
    }
}

private func fileSize(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
}
