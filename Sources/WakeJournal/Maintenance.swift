// Maintenance that runs only while all handlers are frozen: compaction, and the choice of events to drop under the size
// cap.
import WakeModel

extension Journal {
    /// Commits, heals, erases events that all handlers acknowledged, and empties the WAL. Call it while all handlers
    /// are frozen, because it may take milliseconds.
    ///
    /// The journal itself never erases a pending event. Where there is ``Compaction/excess``, ask ``oldestData(freeing:)`` for that
    /// many bytes and have the core drop these events into gaps of cause `overflow`. Their acknowledgements erase them here.
    public func compact() -> Compaction {
        var compaction = Compaction()
        if losses.areUnreported { clearHole() }
        compaction.outcomes = commit() + flushLogs()
        // The checkpoint below writes the disk in any case.
        disk.includeDeferredFacts()
        if !disk.turn.isEmpty {
            recordOldestPending()
            replay.copy(to: disk)
            streams.copy(to: disk)
        }
        compaction.outcomes += commit() + heal()
        var bytes = 0
        for store in stores where !store.isDegraded {
            guard let database = store.database else { continue }
            try? database.execute(Query.dropAllOrphans)
            try? shrink(database)
            try? database.checkpoint()
            bytes += (try? bytesInUse(database)) ?? 0
        }
        compaction.excess = max(0, bytes - settings.maxBytes)
        return compaction
    }

    private func flushLogs() -> [CommitOutcome] { stores.compactMap { $0.flushLog() }.filter { $0 != .committed } }

    /// Call it when the gaps that report ``Recovery/lost`` are appended, with durability `disk`. Their commit also clears the hole,
    /// so each loss is reported exactly once.
    public func recordLossesReported() {
        guard losses.areUnreported else { return }
        clearHole()
        // The gaps report numbers below the recorded oldest.
        recordOldestPending()
    }

    private func clearHole() {
        losses.areUnreported = false
        if !disk.isDegraded { losses.firstInHole = nil }
        setFact("untold", "")
    }

    /// Frees a file's room after a flood: on a tmpfs that is memory. Only while little stays, because that is copied.
    private func shrink(_ database: Database) throws(SQLiteFailure) {
        let free = try database.integer("PRAGMA freelist_count")
        guard free > 1_024, try database.integer("PRAGMA page_count") - free < 512 else { return }
        try database.execute("VACUUM")
    }

    private func bytesInUse(_ database: Database) throws(SQLiteFailure) -> Int {
        let pages = try database.integer("PRAGMA page_count") - database.integer("PRAGMA freelist_count")
        return Int(pages * (try database.integer("PRAGMA page_size")))
    }

    /// The oldest data events of both databases, by handler, that together free at least `bytes`; advertisements come first.
    /// Never connects, disconnects, attention or gaps. An event that is pending for several handlers is listed for each.
    public func oldestData(freeing bytes: Int) -> [HandlerID: [Sequence]] {
        commits.unreported += flushLogs()
        var found: [HandlerID: [Sequence]] = [:]
        var left = bytes
        for kinds in ["kind=9", "kind IN (3,4,5,6,10)"] {
            for store in stores.reversed() where left > 0 {
                store.each("SELECT seq,owner,length(payload) FROM events WHERE seq>0 AND \(kinds) ORDER BY seq") {
                    row in
                    guard left > 0 else { return }
                    left -= Int(row.integer(2)) + 64
                    let seq = Sequence(stored: row.integer(0))
                    for handler in store.handlers(of: seq, owner: row.integer(1)) {
                        found[handler, default: []].append(seq)
                    }
                }
            }
        }
        return found
    }
}
