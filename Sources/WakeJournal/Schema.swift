// The tables, the steps from each version of them to the next, and the statements that run often.

enum Schema {
    /// `PRAGMA user_version` counts the steps a file has taken. A step, once released, never changes.
    static let steps: [String] = [
        """
        CREATE TABLE events(seq INTEGER PRIMARY KEY, owner INTEGER NOT NULL, device INTEGER NOT NULL, kind INTEGER NOT NULL,
            monotonic INTEGER NOT NULL, boottime INTEGER NOT NULL, wall INTEGER NOT NULL, synced INTEGER NOT NULL,
            crc INTEGER NOT NULL, payload BLOB NOT NULL);
        CREATE TABLE owed(seq INTEGER NOT NULL, handler INTEGER NOT NULL, PRIMARY KEY(seq, handler)) WITHOUT ROWID;
        CREATE TABLE state(key INTEGER PRIMARY KEY, value BLOB NOT NULL);
        CREATE TABLE attempts(handler INTEGER NOT NULL, seq INTEGER NOT NULL, attempts INTEGER NOT NULL,
            charges INTEGER NOT NULL, PRIMARY KEY(handler, seq)) WITHOUT ROWID;
        CREATE TABLE facts(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
        CREATE TABLE devices(id INTEGER PRIMARY KEY, source TEXT NOT NULL UNIQUE, alias TEXT NOT NULL, profile TEXT,
            mode TEXT NOT NULL);
        CREATE TABLE handlers(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, stopped INTEGER NOT NULL DEFAULT 0,
            checkpoint TEXT);
        CREATE TABLE dead_letters(seq INTEGER NOT NULL, handler INTEGER NOT NULL, device INTEGER NOT NULL,
            kind INTEGER NOT NULL, monotonic INTEGER NOT NULL, boottime INTEGER NOT NULL, wall INTEGER NOT NULL,
            synced INTEGER NOT NULL, crc INTEGER NOT NULL, payload BLOB NOT NULL, reason TEXT NOT NULL, at INTEGER NOT NULL,
            PRIMARY KEY(seq, handler)) WITHOUT ROWID;
        """
    ]

    enum Failure: Error {
        case newer(found: Int)
        case database(SQLiteFailure)
    }

    /// Brings the file to the newest version in one transaction: a step that fails leaves it as it was.
    static func migrate(_ database: Database, steps: [String] = Schema.steps) throws(Failure) {
        do {
            let found = Int(try database.integer("PRAGMA user_version"))
            guard found >= 0, found <= steps.count else { throw Failure.newer(found: found) }
            guard found < steps.count else { return }
            try database.execute("BEGIN IMMEDIATE")
            do {
                for step in steps[found...] { try database.execute(step) }
                try database.execute("PRAGMA user_version=\(steps.count); COMMIT")
            } catch {
                try? database.execute("ROLLBACK")
                throw error
            }
        } catch let failure as SQLiteFailure {
            throw .database(failure)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw .database(SQLiteFailure(code: 1, message: "\(error)"))
        }
    }
}

/// Statements that are prepared at first use and kept.
enum Query: String {
    case begin = "BEGIN IMMEDIATE"
    case commit = "COMMIT"
    case rollback = "ROLLBACK"
    case append = "INSERT OR REPLACE INTO events VALUES(?,?,?,?,?,?,?,?,?,?)"
    case owe = "INSERT OR IGNORE INTO owed VALUES(?,?)"
    case acknowledgeSole = "DELETE FROM events WHERE seq BETWEEN ? AND ? AND owner=?"
    case acknowledgeShared = "DELETE FROM owed WHERE seq BETWEEN ? AND ? AND handler=?"
    case dropOrphans =
        "DELETE FROM events WHERE seq BETWEEN ? AND ? AND owner=0 AND NOT EXISTS(SELECT 1 FROM owed WHERE owed.seq=events.seq)"
    case forgetAttempts = "DELETE FROM attempts WHERE seq BETWEEN ? AND ? AND handler=?"
    case setState = "INSERT INTO state VALUES(?,?) ON CONFLICT DO UPDATE SET value=excluded.value"
    case setAttempts = "INSERT OR REPLACE INTO attempts VALUES(?,?,?,?)"
    case find = "SELECT seq,owner,device,kind,monotonic,boottime,wall,synced,crc,payload FROM events WHERE seq=?"
    case owners = "SELECT handler FROM owed WHERE seq=?"
    case setFact = "INSERT OR REPLACE INTO facts VALUES(?,?)"
    case setDevice =
        "INSERT INTO devices VALUES(?1,?2,?3,nullif(?4,''),?5) ON CONFLICT(id) DO UPDATE SET alias=?3,profile=nullif(?4,''),mode=?5"
    case setHandler = "INSERT OR IGNORE INTO handlers(id,name) VALUES(?,?)"
    case setCheckpoint = "UPDATE handlers SET checkpoint=?2 WHERE id=?1"
    case setStopped = "UPDATE handlers SET stopped=?2 WHERE id=?1"
    case bury = "INSERT OR REPLACE INTO dead_letters VALUES(?,?,?,?,?,?,?,?,?,?,?,?)"
    case unbury = "DELETE FROM dead_letters WHERE seq=? AND handler=?"
}
