// The few calls of SQLite that the store needs, without macros, variadics or SQLite's own types; and three of Linux that
// Swift's Glibc module lacks.
//
// Every int that is returned is an extended result code of SQLite, 0 for success, unless it says otherwise.
#ifndef CSQLITE_H
#define CSQLITE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/// A connection. Used by one thread at a time.
typedef struct csqlite_db csqlite_db;
/// A prepared statement of a connection.
typedef struct csqlite_statement csqlite_statement;
/// A copy of one database into another that is being made.
typedef struct csqlite_copy csqlite_copy;

/// Primary result codes, the low 8 bits of every code.
static const int csqlite_ok = 0;
static const int csqlite_perm = 3;
static const int csqlite_busy = 5;
static const int csqlite_locked = 6;
static const int csqlite_readonly = 8;
static const int csqlite_ioerr = 10;
static const int csqlite_corrupt = 11;
static const int csqlite_full = 13;
static const int csqlite_cantopen = 14;
static const int csqlite_notadb = 26;
static const int csqlite_row = 100;
static const int csqlite_done = 101;
/// Extended: the file of the connection is no longer at its path.
static const int csqlite_readonly_dbmoved = 1032;

/// Values of csqlite_column_type.
static const int csqlite_type_null = 5;

/// How csqlite_open opens.
static const int csqlite_open_read_write = 0;
/// For reading beside a writer in the same process.
static const int csqlite_open_read_only = 1;
/// `path` is a file: URI; no lock is taken and no file is made (with `immutable=1`).
static const int csqlite_open_read_only_uri = 2;

/// Sets the process-wide memory bounds once, before the first connection; later calls do nothing.
int csqlite_setup(void);

/// Opens an existing file. On failure *ret_db is NULL and *ret_errno holds errno of the failing system call or 0.
int csqlite_open(const char *path, int mode, csqlite_db **ret_db, int *ret_errno);
/// Finalizes every statement of the connection and closes it.
void csqlite_close(csqlite_db *db);
/// Whether closing the last connection writes the WAL back and deletes it by its name. Off after opening: a name
/// may belong to another file by then.
int csqlite_checkpoint_on_close(csqlite_db *db, bool enabled);
/// True when the file at the connection's path is not the open one.
bool csqlite_has_moved(csqlite_db *db);
/// Gives back the memory of pages and schemas that are not in use.
void csqlite_release_memory(csqlite_db *db);
int csqlite_busy_timeout(csqlite_db *db, int milliseconds);
/// False while a transaction is open.
bool csqlite_autocommit(csqlite_db *db);
/// errno of the system call that failed last.
int csqlite_system_errno(csqlite_db *db);
/// Text of the last error; valid until the next call.
const char *csqlite_error_message(csqlite_db *db);

/// Compiles the first statement of the `length` bytes at `sql`; *ret_tail is the offset of what follows it.
/// *ret_statement is NULL for white space and comments.
int csqlite_prepare(
    csqlite_db *db, const char *sql, int length, csqlite_statement **ret_statement, int *ret_tail);
void csqlite_finalize(csqlite_statement *statement);
/// csqlite_row, csqlite_done or an error.
int csqlite_step(csqlite_statement *statement);
/// Ends the run of the statement and forgets what was bound.
void csqlite_reset(csqlite_statement *statement);

/// Positions count from 1. Bytes are copied.
int csqlite_bind_integer(csqlite_statement *statement, int position, int64_t value);
int csqlite_bind_text(csqlite_statement *statement, int position, const char *text, int length);
int csqlite_bind_blob(csqlite_statement *statement, int position, const void *bytes, int length);
int csqlite_bind_null(csqlite_statement *statement, int position);

/// Columns count from 0. Bytes are valid until the next step or reset; NULL when there are none.
int csqlite_column_type(csqlite_statement *statement, int column);
int64_t csqlite_column_integer(csqlite_statement *statement, int column);
const void *csqlite_column_bytes(csqlite_statement *statement, int column, int *ret_length);

/// Begins to copy `from` into the empty database `to`; NULL on failure, which is then the last error of `to`. Of one moment
/// when a read transaction is open on `from`.
csqlite_copy *csqlite_copy_begin(csqlite_db *to, csqlite_db *from);
/// Copies so many pages: csqlite_ok when more are left, csqlite_done, or an error.
int csqlite_copy_step(csqlite_copy *copy, int pages);
/// Frees it; what is not done is rolled back.
int csqlite_copy_end(csqlite_copy *copy);

/// A non-blocking, close-on-exec eventfd; -1 and errno on failure.
int csqlite_make_eventfd(void);
/// Names the calling thread, 15 bytes at most, so that its time and wake-ups can be told apart.
void csqlite_name_thread(const char *name);
/// Waits for a condition until this reading of CLOCK_MONOTONIC; an errno. No attribute of the condition is asked: what
/// turns the wall clock under a process (libfaketime) was seen to end a wait at once that was told its clock by one.
int csqlite_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *deadline);

#endif
