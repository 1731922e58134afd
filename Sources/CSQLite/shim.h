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

/// Before the first connection: no counting of memory, which takes a lock at every allocation.
static inline int wake_count_no_memory(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

/// Small allocations of a connection come from `count` slots of `size` bytes.
static inline int wake_set_lookaside(sqlite3 *connection, int size, int count) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_LOOKASIDE, (void *)0, size, count);
}
