// A prepared statement: binds, steps and reads columns. Only this file and Database.swift touch SQLite's pointers.
import CSQLite
import Glibc

struct SQLiteFailure: Error {
    var code: Int32
    var message: String
    var errno: Int32 = 0

    static let corrupt = SQLITE_CORRUPT

    /// A file beside SQLite's that the system did not open.
    static func notOpened(errno: Int32) -> SQLiteFailure {
        SQLiteFailure(code: SQLITE_CANTOPEN, message: String(cString: strerror(errno)), errno: errno)
    }

    /// The file itself is damaged; waiting or making room will not help.
    var isCorruption: Bool { code & 0xff == SQLITE_CORRUPT || code & 0xff == SQLITE_NOTADB }
    /// No file at all can be opened at present.
    var isLackOfDescriptors: Bool { code & 0xff == SQLITE_CANTOPEN && (errno == EMFILE || errno == ENFILE) }
    var isFull: Bool { code & 0xff == SQLITE_FULL }
}

extension SQLiteFailure {
    /// The connection's last one.
    init(_ code: Int32, of connection: OpaquePointer?) {
        self.init(
            code: code, message: String(cString: sqlite3_errmsg(connection)), errno: sqlite3_system_errno(connection))
    }
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

    func run() throws(SQLiteFailure) { try check(stepAndReset()) }

    /// Binds `bytes[from...]` at `index` without a copy, and runs.
    func run(blob bytes: [UInt8], from: Int, at index: Int32) throws(SQLiteFailure) {
        let code = bytes.withUnsafeBytes { memory -> Int32 in
            bindInPlace(memory, from, index)
            return stepAndReset()
        }
        try check(code)
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

    private func check(_ code: Int32) throws(SQLiteFailure) {
        guard code == SQLITE_DONE || code == SQLITE_ROW else {
            throw SQLiteFailure(code, of: sqlite3_db_handle(handle))
        }
    }

    /// True when there is a row; false at the end, after which the statement is reset.
    func step() throws(SQLiteFailure) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        sqlite3_reset(handle)
        try check(code)
        return false
    }

    func reset() { sqlite3_reset(handle) }
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    func text(_ column: Int32) -> String { String(decoding: blob(column), as: UTF8.self) }
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
    func blob(_ column: Int32) -> [UInt8] {
        guard let bytes = sqlite3_column_blob(handle, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }

    /// Binds the current row to another statement's parameters, column by column.
    func copyRow(to other: Statement) {
        for column in 0..<sqlite3_column_count(handle) {
            sqlite3_bind_value(other.handle, column + 1, sqlite3_column_value(handle, column))
        }
    }
}

nonisolated(unsafe) private let emptyText: UnsafePointer<CChar> = {
    let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    byte.pointee = 0
    return UnsafePointer(byte)
}()
