// The tables, the steps from each version to the next, and the check of a file's version against flipped bits.

enum JournalSchema {
    /// `PRAGMA user_version` and the fact `schema` count the steps a file has taken. A step, once released, never changes,
    /// and every version keeps the table of facts as it is.
    static let steps: [String] = [
        """
        CREATE TABLE events(seq INTEGER PRIMARY KEY, owner INTEGER NOT NULL, device INTEGER NOT NULL, kind INTEGER NOT NULL,
            monotonic INTEGER NOT NULL, boottime INTEGER NOT NULL, wall INTEGER NOT NULL, synced INTEGER NOT NULL,
            crc INTEGER NOT NULL, payload BLOB NOT NULL);
        CREATE TABLE owed(seq INTEGER NOT NULL, handler INTEGER NOT NULL, crc INTEGER NOT NULL,
            PRIMARY KEY(seq, handler)) WITHOUT ROWID;
        CREATE TABLE attempts(handler INTEGER NOT NULL, seq INTEGER NOT NULL, attempts INTEGER NOT NULL,
            charges INTEGER NOT NULL, crc INTEGER NOT NULL, PRIMARY KEY(handler, seq)) WITHOUT ROWID;
        CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT NOT NULL, crc INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE devices(id INTEGER PRIMARY KEY, source TEXT NOT NULL, alias TEXT NOT NULL, profile TEXT,
            mode TEXT NOT NULL, crc INTEGER NOT NULL);
        CREATE TABLE handlers(id INTEGER PRIMARY KEY, name TEXT NOT NULL, stopped INTEGER NOT NULL, checkpoint TEXT,
            crc INTEGER NOT NULL);
        CREATE TABLE dead_letters(seq INTEGER NOT NULL, handler INTEGER NOT NULL, device INTEGER NOT NULL,
            kind INTEGER NOT NULL, monotonic INTEGER NOT NULL, boottime INTEGER NOT NULL, wall INTEGER NOT NULL,
            synced INTEGER NOT NULL, crc INTEGER NOT NULL, payload BLOB NOT NULL, reason TEXT NOT NULL, at INTEGER NOT NULL,
            PRIMARY KEY(seq, handler)) WITHOUT ROWID;
        """,
        // Until when a nack holds the event back, in microseconds of the wall clock.
        "ALTER TABLE attempts ADD COLUMN held INTEGER NOT NULL DEFAULT 0",
        // The fact `turns` may name a log that continues from this database. A version that does not know the log must not skip it.
        "DELETE FROM facts WHERE name='turns'",
        // The fact may also give the number with which that log begins. A version that cannot read that must not skip
        // the log.
        "UPDATE facts SET value=value WHERE name='turns'",
        // Whether a bond proves the device's identity. An event's `synced` contains it, and a version that cannot read
        // it reports damage.
        "ALTER TABLE devices ADD COLUMN bonded INTEGER NOT NULL DEFAULT 0",
        // Scheduled entries. Their events have a kind that a version without this table reports as damaged.
        """
        CREATE TABLE agenda(handler INTEGER NOT NULL, source TEXT NOT NULL, id TEXT NOT NULL, value BLOB NOT NULL,
            crc INTEGER NOT NULL, PRIMARY KEY(handler, source, id)) WITHOUT ROWID
        """,
    ]
    /// Read at every start, so checked at every start.
    static let smallTables = ["facts", "devices", "handlers", "attempts", "agenda"]
    /// "WkBr" in the header, for file(1).
    static let application: Int64 = 0x576B_4272

    enum Failure: Error {
        case newer(found: Int)
        case database(SQLiteFailure)

        init(_ error: any Error) {
            self =
                switch error {
                case let failure as Failure: failure
                case let failure as SQLiteFailure: .database(failure)
                default: .database(SQLiteFailure(code: 1, message: "\(error)"))
                }
        }
    }

    /// Brings the file to the newest version in one transaction: a step that fails leaves it as it was.
    /// True when the header disagreed with the fact and was repaired: the fact counts, because a check guards it.
    static func migrate(_ database: Database, steps: [String] = JournalSchema.steps) throws(Failure) -> Bool {
        do {
            let header = Int(try database.integer("PRAGMA user_version"))
            let isFresh = try database.integer("SELECT count(*) FROM sqlite_master") == 0
            let found = isFresh ? 0 : try version(of: database)
            guard found <= steps.count else { throw Failure.newer(found: found) }
            if found < steps.count { try run(steps[found...], to: steps.count, database) }
            if !isFresh, found == steps.count, header != found { try database.execute("PRAGMA user_version=\(found)") }
            return !isFresh && header != found
        } catch { throw Failure(error) }
    }

    /// A flipped bit in a table's own description renames a column, and SQLite accepts that.
    static func verify(_ database: Database) throws(SQLiteFailure) {
        let found = try tables(of: database)
        guard found != tables, let madeNow, found != madeNow else { return }
        throw SQLiteFailure(code: SQLiteFailure.corrupt, message: "its tables are not those that were made")
    }

    /// The tables that the steps make, each in a line: its columns with type, NOT NULL (!), and place in the key.
    /// Constant, because making the tables in memory took a third of all that a start does with SQLite.
    static let tables = [
        "agenda handler INTEGER!1 source TEXT!2 id TEXT!3 value BLOB! crc INTEGER!",
        "attempts handler INTEGER!1 seq INTEGER!2 attempts INTEGER! charges INTEGER! crc INTEGER! held INTEGER!",
        "dead_letters seq INTEGER!1 handler INTEGER!2 device INTEGER! kind INTEGER! monotonic INTEGER! "
            + "boottime INTEGER! wall INTEGER! synced INTEGER! crc INTEGER! payload BLOB! reason TEXT! at INTEGER!",
        "devices id INTEGER1 source TEXT! alias TEXT! profile TEXT mode TEXT! crc INTEGER! "
            + "bonded INTEGER!",
        "events seq INTEGER1 owner INTEGER! device INTEGER! kind INTEGER! monotonic INTEGER! boottime INTEGER! "
            + "wall INTEGER! synced INTEGER! crc INTEGER! payload BLOB!",
        "facts name TEXT!1 value TEXT! crc INTEGER!",
        "handlers id INTEGER1 name TEXT! stopped INTEGER! checkpoint TEXT crc INTEGER!",
        "owed seq INTEGER!1 handler INTEGER!2 crc INTEGER!",
    ]

    /// The same from this machine's SQLite, which may describe them in other words.
    private static let madeNow: [String]? = {
        guard let fresh = try? Database(path: ":memory:", strength: .normal), (try? migrate(fresh)) != nil else {
            return nil
        }
        return try? tables(of: fresh)
    }()

    static func tables(of database: Database) throws(SQLiteFailure) -> [String] {
        let rows = try database.prepare(
            """
            SELECT t.name, ' '||c.name||' '||c.type||iif(c."notnull", '!', '')||iif(c.pk, c.pk, '')
            FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type='table' ORDER BY t.name, c.cid
            """)
        var (found, latest): ([String], String) = ([], "")
        while try rows.step() {
            let name = rows.text(0)
            if name != latest { found.append(name) }
            latest = name
            found[found.count - 1] += rows.text(1)
        }
        return found
    }

    private static func version(of database: Database) throws(SQLiteFailure) -> Int {
        let row = try database.prepare("SELECT value,crc FROM facts WHERE name='schema'")
        guard try row.step(), let found = Int(row.text(0)), found >= 1,
            CRC32.standard.check(fields: ["schema", row.text(0)]) == row.integer(1)
        else { throw SQLiteFailure(code: SQLiteFailure.corrupt, message: "its schema version cannot be read") }
        return found
    }

    private static func run(
        _ steps: ArraySlice<String>, to version: Int, _ database: Database
    ) throws(SQLiteFailure) {
        try database.execute("BEGIN IMMEDIATE")
        do {
            for step in steps { try database.execute(step) }
            let check = CRC32.standard.check(fields: ["schema", "\(version)"])
            try database.execute(
                """
                INSERT OR REPLACE INTO facts VALUES('schema','\(version)',\(check));
                PRAGMA user_version=\(version); PRAGMA application_id=\(application); COMMIT
                """)
        } catch {
            try? database.execute("ROLLBACK")
            throw error
        }
    }
}

/// Statements that are prepared at first use and kept.
enum Query: Int, CaseIterable {
    case begin, commit, rollback, append, addOwner, acknowledgeSole, acknowledgeShared, dropOrphans, forgetAttempts
    case setAttempts, find, fetch, setFact, setDevice, setHandler, addDeadLetter, removeDeadLetter, setEntry,
        removeEntry

    /// As a row of events is decoded.
    static let eventColumns = "seq,owner,device,kind,monotonic,boottime,wall,synced,crc,payload"

    private static let isOrphan = "owner=0 AND NOT EXISTS(SELECT 1 FROM owed WHERE owed.seq=events.seq)"
    static let dropAllOrphans = "DELETE FROM events WHERE seq>0 AND \(isOrphan)"

    var sql: String {
        switch self {
        case .begin: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"
        case .rollback: "ROLLBACK"
        case .append: "INSERT OR REPLACE INTO events VALUES(?,?,?,?,?,?,?,?,?,?)"
        case .addOwner: "INSERT OR IGNORE INTO owed VALUES(?,?,?)"
        case .acknowledgeSole: "DELETE FROM events WHERE seq BETWEEN ? AND ? AND owner=?"
        case .acknowledgeShared: "DELETE FROM owed WHERE seq BETWEEN ? AND ? AND handler=?"
        case .dropOrphans: "DELETE FROM events WHERE seq BETWEEN ? AND ? AND \(Self.isOrphan)"
        case .forgetAttempts: "DELETE FROM attempts WHERE seq BETWEEN ? AND ? AND handler=?"
        case .setAttempts: "INSERT OR REPLACE INTO attempts VALUES(?,?,?,?,?,?)"
        case .find: "SELECT \(Self.eventColumns) FROM events WHERE seq=?"
        case .fetch: "SELECT \(Self.eventColumns) FROM events WHERE seq BETWEEN ? AND ? ORDER BY seq"
        case .setFact: "INSERT OR REPLACE INTO facts VALUES(?,?,?)"
        case .setDevice: "INSERT OR REPLACE INTO devices VALUES(?1,?2,?3,nullif(?4,''),?5,?6,?7)"
        case .setHandler: "INSERT OR REPLACE INTO handlers VALUES(?,?,?,?,?)"
        case .addDeadLetter: "INSERT OR REPLACE INTO dead_letters VALUES(?,?,?,?,?,?,?,?,?,?,?,?)"
        case .setEntry: "INSERT OR REPLACE INTO agenda VALUES(?,?,?,?,?)"
        case .removeEntry: "DELETE FROM agenda WHERE handler=? AND source=? AND id=?"
        case .removeDeadLetter: "DELETE FROM dead_letters WHERE seq=? AND handler=?"
        }
    }
}
