// A connection: opening with the journal's pragmas, transactions, and the cache of prepared statements.
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

    /// `path` may be `:memory:`. Only its owner may read a new file, because it may hold health data.
    init(path: String, strength: Strength) throws(SQLiteFailure) {
        _ = countsNoMemory
        if path != ":memory:" { try Database.makePrivate(path) }
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
        guard let opened, code == SQLITE_OK else {
            defer { sqlite3_close_v2(opened) }
            let errno = opened.map { sqlite3_system_errno($0) } ?? 0
            throw SQLiteFailure(code: code, message: String(cString: sqlite3_errstr(code)), errno: errno)
        }
        self.path = path
        connection = opened
        statements = Array(repeating: nil, count: Query.allCases.count)
        // Before anything is allocated from the slots that it replaces. Half of SQLite's default.
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
        // compact() empties the WAL while all handlers are frozen. The 4 MiB limit only keeps an endless flood from filling the
        // disk. 128 pages suffice while handlers keep up. A larger transaction takes memory, so that only its commit needs room.
        try execute(
            """
            PRAGMA page_size=1024; PRAGMA journal_mode=WAL; PRAGMA synchronous=\(strength.rawValue);
            PRAGMA wal_autocheckpoint=4096; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-128; PRAGMA cache_spill=OFF;
            PRAGMA foreign_keys=OFF
            """)
    }

    /// How long to wait for a locked file. The daemon's only thread waits with it.
    func wait(milliseconds: Int32) { sqlite3_busy_timeout(connection, milliseconds) }
    static let usualWait: Int32 = 50

    func execute(_ sql: String) throws(SQLiteFailure) {
        let code = sqlite3_exec(connection, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw lastFailure(code) }
    }

    /// For statements used once; frequent ones are a ``Query``.
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

    var isInTransaction: Bool { sqlite3_get_autocommit(connection) == 0 }

    /// Moves the WAL into the file and truncates it. Another reader may make that partial, which is no error.
    func checkpoint() throws(SQLiteFailure) {
        // To cut an empty WAL would write to the disk each time, though nothing is there for it.
        guard framesInLog() != 0 else { return }
        let code = sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard code == SQLITE_OK || code & 0xff == SQLITE_BUSY || code & 0xff == SQLITE_LOCKED else {
            throw lastFailure(code)
        }
    }

    /// Moves the WAL into the file. Returns how many frames SQLite found in it; nil where that fails.
    func framesInLog() -> UInt32? {
        var frames: Int32 = -1
        let code = sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_PASSIVE, &frames, nil)
        return code == SQLITE_OK ? UInt32(exactly: frames) : nil
    }

    private func lastFailure(_ code: Int32) -> SQLiteFailure { SQLiteFailure(code, of: connection) }
}

/// Once for the process, before its first connection.
private let countsNoMemory = wake_count_no_memory() == SQLITE_OK
