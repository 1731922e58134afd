// One prepared statement: binds, steps and reads columns; with Database the only place that touches SQLite's pointers.
import CSQLite
import Glibc

/// What SQLite answered, with the words of its own that go with it.
struct SQLiteFailure: Error {
    var code: Int32
    var message: String
    /// What the system said, where it was a call of the system that failed.
    var errno: Int32 = 0

    static let corrupt = SQLITE_CORRUPT

    /// A file beside SQLite's that the system would not open.
    static func notOpened(errno: Int32) -> SQLiteFailure {
        SQLiteFailure(code: SQLITE_CANTOPEN, message: String(cString: strerror(errno)), errno: errno)
    }

    /// The file itself is damaged; waiting or making room will not help.
    var isCorruption: Bool { code & 0xff == SQLITE_CORRUPT || code & 0xff == SQLITE_NOTADB }
    /// No file can be opened at present, which says nothing of this one.
    var isLackOfDescriptors: Bool { code & 0xff == SQLITE_CANTOPEN && (errno == EMFILE || errno == ENFILE) }
    var isFull: Bool { code & 0xff == SQLITE_FULL }
}

final class Statement {
    private let handle: OpaquePointer

    /// Takes over `handle`, which must not outlive its connection.
    init(owning handle: OpaquePointer) { self.handle = handle }
    deinit { sqlite3_finalize(handle) }

    func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(handle, index, value) }
    func bind(_ index: Int32, _ value: UInt64) { bind(index, Int64(bitPattern: value)) }
    func bindNull(_ index: Int32) { sqlite3_bind_null(handle, index) }
    func bind(_ index: Int32, _ text: String) {
        var text = text
        _ = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                // A null pointer would bind NULL, which the schema forbids.
                wake_bind_text_copy(handle, index, $0.baseAddress ?? emptyText, Int32($0.count))
            }
        }
    }

    /// Runs to the end; what was read in place is let go before returning.
    func run() throws(SQLiteFailure) {
        let code = sqlite3_step(handle)
        sqlite3_reset(handle)
        guard code == SQLITE_DONE || code == SQLITE_ROW else { throw failure(code) }
    }

    /// Binds `bytes[from...]` at `index` without a copy, and runs.
    func run(blob bytes: [UInt8], from: Int = 0, at index: Int32) throws(SQLiteFailure) {
        let code = bytes.withUnsafeBytes { memory -> Int32 in
            bindInPlace(memory, from, index)
            return stepAndReset()
        }
        guard code == SQLITE_DONE || code == SQLITE_ROW else { throw failure(code) }
    }

    private func bindInPlace(_ memory: UnsafeRawBufferPointer, _ from: Int, _ index: Int32) {
        let slice = UnsafeRawBufferPointer(rebasing: memory[from...])
        // A null pointer would bind NULL, which the schema forbids.
        if slice.isEmpty {
            sqlite3_bind_zeroblob(handle, index, 0)
        } else {
            wake_bind_blob_in_place(handle, index, slice.baseAddress, Int32(slice.count))
        }
    }

    private func stepAndReset() -> Int32 {
        let code = sqlite3_step(handle)
        sqlite3_reset(handle)
        return code
    }

    /// True when a row stands ready; false at the end, after which the statement is reset.
    func step() throws(SQLiteFailure) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            sqlite3_reset(handle)
            return false
        case let code:
            sqlite3_reset(handle)
            throw failure(code)
        }
    }

    func reset() { sqlite3_reset(handle) }
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    func text(_ column: Int32) -> String { String(decoding: blob(column), as: UTF8.self) }
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
    func blob(_ column: Int32) -> [UInt8] {
        guard let bytes = sqlite3_column_blob(handle, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }

    /// Binds the row that stands ready to another statement's parameters, column by column.
    func copyRow(to other: Statement) {
        for column in 0..<sqlite3_column_count(handle) {
            sqlite3_bind_value(other.handle, column + 1, sqlite3_column_value(handle, column))
        }
    }

    private func failure(_ code: Int32) -> SQLiteFailure {
        let connection = sqlite3_db_handle(handle)
        return SQLiteFailure(
            code: code, message: String(cString: sqlite3_errmsg(connection)), errno: sqlite3_system_errno(connection))
    }
}

nonisolated(unsafe) private let emptyText: UnsafePointer<CChar> = {
    let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    byte.pointee = 0
    return UnsafePointer(byte)
}()
