// Compiled shim over SQLite: see the header.
#define _GNU_SOURCE
#include "CSQLite.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stddef.h>
#include <sys/eventfd.h>

_Static_assert(SQLITE_PERM == 3 && SQLITE_BUSY == 5 && SQLITE_LOCKED == 6 && SQLITE_READONLY == 8, "codes");
_Static_assert(SQLITE_IOERR == 10 && SQLITE_CORRUPT == 11 && SQLITE_FULL == 13 && SQLITE_CANTOPEN == 14, "codes");
_Static_assert(SQLITE_NOTADB == 26 && SQLITE_ROW == 100 && SQLITE_DONE == 101, "codes");
_Static_assert(SQLITE_READONLY_DBMOVED == 1032 && SQLITE_NULL == 5, "codes");

static pthread_once_t setup_once = PTHREAD_ONCE_INIT;
static int setup_result;

static sqlite3 *raw(csqlite_db *db) { return (sqlite3 *)db; }
static sqlite3_stmt *raw_statement(csqlite_statement *statement) { return (sqlite3_stmt *)statement; }

static void setup(void) {
  // Fails with SQLITE_MISUSE when somebody initialized the library before: then its defaults stay, which is safe.
  sqlite3_config(SQLITE_CONFIG_SMALL_MALLOC, 1);
  sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 64, 64);
  sqlite3_config(SQLITE_CONFIG_MMAP_SIZE, (sqlite3_int64)0, (sqlite3_int64)0);
  setup_result = sqlite3_initialize();
  // Near this much, page caches reuse their own pages instead of growing.
  sqlite3_soft_heap_limit64(1024 * 1024);
}

int csqlite_setup(void) {
  pthread_once(&setup_once, setup);
  return setup_result;
}

int csqlite_open(const char *path, int mode, csqlite_db **ret_db, int *ret_errno) {
  int flags = SQLITE_OPEN_NOMUTEX;
  if (mode == csqlite_open_read_write) flags |= SQLITE_OPEN_READWRITE;
  else flags |= SQLITE_OPEN_READONLY;
  if (mode == csqlite_open_read_only_uri) flags |= SQLITE_OPEN_URI;

  sqlite3 *db = NULL;
  // The file is this process's alone. Its connections then share the index of the WAL in memory; in a file, as the
  // usual VFS keeps it, a commit of ten links dirties five pages of it and three of the WAL.
  int code = sqlite3_open_v2(path, &db, flags, mode == csqlite_open_read_only_uri ? NULL : "unix-excl");
  if (code == SQLITE_OK) code = sqlite3_extended_result_codes(db, 1);
  if (code == SQLITE_OK) code = sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  // Schemas are untrusted: a view or trigger that somebody put there gets no dangerous function.
  if (code == SQLITE_OK) code = sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  if (code == SQLITE_OK) code = sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  if (code != SQLITE_OK) {
    if (db != NULL) {
      code = sqlite3_extended_errcode(db);
      *ret_errno = sqlite3_system_errno(db);
    } else {
      *ret_errno = 0;
    }
    sqlite3_close(db);
    *ret_db = NULL;
    return code;
  }
  *ret_db = (csqlite_db *)db;
  *ret_errno = 0;
  return SQLITE_OK;
}

void csqlite_close(csqlite_db *db) {
  sqlite3_stmt *statement;
  while ((statement = sqlite3_next_stmt(raw(db), NULL)) != NULL) sqlite3_finalize(statement);
  sqlite3_close(raw(db));
}

int csqlite_checkpoint_on_close(csqlite_db *db, bool enabled) {
  return sqlite3_db_config(raw(db), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, enabled ? 0 : 1, NULL);
}

bool csqlite_has_moved(csqlite_db *db) {
  int moved = 0;
  int code = sqlite3_file_control(raw(db), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return code == SQLITE_OK && moved != 0;
}

void csqlite_release_memory(csqlite_db *db) { sqlite3_db_release_memory(raw(db)); }

int csqlite_busy_timeout(csqlite_db *db, int milliseconds) { return sqlite3_busy_timeout(raw(db), milliseconds); }

bool csqlite_autocommit(csqlite_db *db) { return sqlite3_get_autocommit(raw(db)) != 0; }

int csqlite_system_errno(csqlite_db *db) { return sqlite3_system_errno(raw(db)); }

const char *csqlite_error_message(csqlite_db *db) { return sqlite3_errmsg(raw(db)); }

int csqlite_prepare(
    csqlite_db *db, const char *sql, int length, csqlite_statement **ret_statement, int *ret_tail) {
  sqlite3_stmt *statement = NULL;
  const char *tail = sql;
  int code = sqlite3_prepare_v3(raw(db), sql, length, SQLITE_PREPARE_PERSISTENT, &statement, &tail);
  *ret_statement = (csqlite_statement *)statement;
  *ret_tail = (int)(tail - sql);
  return code;
}

void csqlite_finalize(csqlite_statement *statement) { sqlite3_finalize(raw_statement(statement)); }

int csqlite_step(csqlite_statement *statement) { return sqlite3_step(raw_statement(statement)); }

void csqlite_reset(csqlite_statement *statement) {
  sqlite3_reset(raw_statement(statement));
  sqlite3_clear_bindings(raw_statement(statement));
}

int csqlite_bind_integer(csqlite_statement *statement, int position, int64_t value) {
  return sqlite3_bind_int64(raw_statement(statement), position, value);
}

int csqlite_bind_text(csqlite_statement *statement, int position, const char *text, int length) {
  return sqlite3_bind_text(raw_statement(statement), position, text ? text : "", length, SQLITE_TRANSIENT);
}

int csqlite_bind_blob(csqlite_statement *statement, int position, const void *bytes, int length) {
  return sqlite3_bind_blob(raw_statement(statement), position, bytes ? bytes : "", length, SQLITE_TRANSIENT);
}

int csqlite_bind_null(csqlite_statement *statement, int position) {
  return sqlite3_bind_null(raw_statement(statement), position);
}

int csqlite_column_type(csqlite_statement *statement, int column) {
  return sqlite3_column_type(raw_statement(statement), column);
}

int64_t csqlite_column_integer(csqlite_statement *statement, int column) {
  return sqlite3_column_int64(raw_statement(statement), column);
}

const void *csqlite_column_bytes(csqlite_statement *statement, int column, int *ret_length) {
  const void *bytes = sqlite3_column_blob(raw_statement(statement), column);
  *ret_length = sqlite3_column_bytes(raw_statement(statement), column);
  return bytes;
}

csqlite_copy *csqlite_copy_begin(csqlite_db *to, csqlite_db *from) {
  return (csqlite_copy *)sqlite3_backup_init(raw(to), "main", raw(from), "main");
}

int csqlite_copy_step(csqlite_copy *copy, int pages) { return sqlite3_backup_step((sqlite3_backup *)copy, pages); }

int csqlite_copy_end(csqlite_copy *copy) { return sqlite3_backup_finish((sqlite3_backup *)copy); }

int csqlite_make_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void csqlite_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

int csqlite_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *deadline) {
  return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, deadline);
}
