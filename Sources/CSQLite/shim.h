// What SQLite's header offers only as macros or variadic functions, which Swift cannot import.
#pragma once
#include <sqlite3.h>

/// The memory stays valid until the statement is reset: SQLite reads it in place.
static inline int wake_bind_blob_in_place(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_STATIC);
}

/// SQLite keeps a copy.
static inline int wake_bind_text_copy(sqlite3_stmt *statement, int index, const char *text, int count) {
    return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}

/// Trusts nothing that a damaged schema says.
static inline int wake_be_defensive(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}
