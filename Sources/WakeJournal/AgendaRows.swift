// The entries of the agenda: kept on disk beside the events that they cause, so that both are in one commit.
import WakeModel

extension Journal {
    /// Writes the entry with the next commit; it replaces the one of the same key.
    public func setEntry(_ entry: StoredEntry) { disk.perform(.setEntry(entry)) }
    public func removeEntry(_ key: StoredEntry.Key) { disk.perform(.removeEntry(key)) }

    /// Call it at the start, once. Damaged rows are counted and reported with the next recovery.
    public func entries() -> [StoredEntry] {
        let found = disk.entries()
        if found.damaged > 0 {
            disk.report(
                "of the scheduled alarms and jobs in \(disk.path) \(found.damaged) cannot be believed and do not come due; "
                    + "order them again, and check its disk")
        }
        return found.sound
    }
}

extension EventStore {
    func write(_ entry: StoredEntry, to database: Database) throws(SQLiteFailure) {
        let statement = try database.statement(.setEntry)
        bind(entry.key, to: statement)
        statement.bind(5, entry.check)
        try statement.run(blob: entry.value, from: 0, at: 4)
    }

    func remove(_ key: StoredEntry.Key, from database: Database) throws(SQLiteFailure) {
        let statement = try database.statement(.removeEntry)
        bind(key, to: statement)
        try statement.run()
    }

    private func bind(_ key: StoredEntry.Key, to statement: Statement) {
        statement.bind(1, key.handler.stored)
        statement.bind(2, key.source)
        statement.bind(3, key.id)
    }

    func entries() -> Rows<StoredEntry> {
        rows("SELECT handler,source,id,value,crc FROM agenda ORDER BY handler,source,id") { row in
            guard let handler = UInt32(exactly: row.integer(0)).map(HandlerID.init) else { return nil }
            let key = StoredEntry.Key(handler: handler, source: row.text(1), id: row.text(2))
            let entry = StoredEntry(key: key, value: row.blob(3))
            return entry.check == row.integer(4) ? entry : nil
        }
    }
}

extension StoredEntry {
    fileprivate var check: Int64 {
        CRC32.standard.check(fields: [
            "\(key.handler.rawValue)", key.source, key.id, String(decoding: value, as: UTF8.self),
        ])
    }
}
