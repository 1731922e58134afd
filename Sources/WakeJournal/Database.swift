// One connection: opening with the bridge's pragmas, transactions, and the cache of prepared statements.
import CSQLite
import Glibc

final class Database {
    enum Strength: String {
        case normal = "NORMAL"
        case full = "FULL"
    }

    let path: String
    private let connection: OpaquePointer
    /// By the number of their ``Query``.
    private var statements: [Statement?]

    /// `path` may be `:memory:`. A new file belongs to its owner alone: it tells of people's health.
    init(path: String, strength: Strength) throws(SQLiteFailure) {
        _ = countsNoMemory
        if path != ":memory:" { try Database.makePrivate(path) }
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
        guard let opened, code == SQLITE_OK else {
            defer { sqlite3_close_v2(opened) }
            throw SQLiteFailure(
                code: code, message: String(cString: sqlite3_errstr(code)),
                errno: opened.map { sqlite3_system_errno($0) } ?? 0)
        }
        self.path = path
        connection = opened
        statements = Array(repeating: nil, count: Query.allCases.count)
        // Before anything is allocated from the slots that it replaces: half of what SQLite takes unasked.
        wake_set_lookaside(connection, 512, 48)
        sqlite3_extended_result_codes(connection, 1)
        wake_be_defensive(connection)
        wait(milliseconds: Self.usualWait)
        try setUp(strength)
    }

    deinit {
        // Statements first: a connection with live statements would linger.
        statements.removeAll()
        sqlite3_close_v2(connection)
    }

    private static func makePrivate(_ path: String) throws(SQLiteFailure) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .notOpened(errno: errno) }
        fchmod(descriptor, 0o600)
        close(descriptor)
    }

    private func setUp(_ strength: Strength) throws(SQLiteFailure) {
        // The WAL is emptied by compact() while nobody is awake; the 4 MiB limit only keeps an endless flood from filling
        // the disk. 128 pages hold all that a bridge touches that is not behind with its events; a
        // transaction that needs more takes memory, so that only its commit asks the file system for room.
        try execute(
            """
            PRAGMA page_size=1024; PRAGMA journal_mode=WAL; PRAGMA synchronous=\(strength.rawValue);
            PRAGMA wal_autocheckpoint=4096; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-128; PRAGMA cache_spill=OFF;
            PRAGMA foreign_keys=OFF
            """)
    }

    /// How long who finds the file locked waits for it. The bridge's one thread waits too.
    func wait(milliseconds: Int32) { sqlite3_busy_timeout(connection, milliseconds) }
    static let usualWait: Int32 = 50

    func execute(_ sql: String) throws(SQLiteFailure) {
        let code = sqlite3_exec(connection, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw lastFailure(code) }
    }

    /// For statements used once; what runs often is a ``Query``.
    func prepare(_ sql: String) throws(SQLiteFailure) -> Statement {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v2(connection, sql, -1, &handle, nil)
        guard let handle, code == SQLITE_OK else { throw lastFailure(code) }
        return Statement(owning: handle)
    }

    func statement(_ query: Query) throws(SQLiteFailure) -> Statement {
        if let known = statements[query.rawValue] { return known }
        let made = try prepare(query.sql)
        statements[query.rawValue] = made
        return made
    }

    func integer(_ sql: String) throws(SQLiteFailure) -> Int64 {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : 0
    }

    var changes: Int { Int(sqlite3_changes(connection)) }
    var isInTransaction: Bool { sqlite3_get_autocommit(connection) == 0 }

    /// Moves what the WAL holds into the file and cuts the WAL to nothing. A reader beside us may make it partial; that is no error.
    func checkpoint() throws(SQLiteFailure) {
        let code = sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard code == SQLITE_OK || code & 0xff == SQLITE_BUSY || code & 0xff == SQLITE_LOCKED else {
            throw lastFailure(code)
        }
    }

    /// Frames that SQLite has found in the write-ahead log; nil where that cannot be known. What they hold moves into the file.
    func framesInLog() -> UInt32? {
        var frames: Int32 = -1
        let code = sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_PASSIVE, &frames, nil)
        return code == SQLITE_OK ? UInt32(exactly: frames) : nil
    }

    private func lastFailure(_ code: Int32) -> SQLiteFailure {
        SQLiteFailure(
            code: code, message: String(cString: sqlite3_errmsg(connection)), errno: sqlite3_system_errno(connection))
    }
}

/// Once for the process, before its first connection.
private let countsNoMemory = wake_count_no_memory() == SQLITE_OK
