/* See database.h. */
#include "database/database.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/thread.h"

enum { DATABASE_BUSY_MS = 5000 }; /* how long to wait for another writer */

/* Some of SQLite's writes report a full disk as an error like any other, and the number of the
 * system's error is often that of what SQLite did afterwards. */
static bool disk_is_full(int code, const struct database *d)
{
    const int number = d->db != NULL ? sqlite3_system_errno(d->db) : 0;
    const int more = d->db != NULL ? sqlite3_extended_errcode(d->db) : code;
    return (code & 0xff) == SQLITE_FULL ||
           ((code & 0xff) == SQLITE_IOERR &&
            (fault_errno_reason(number) == FAULT_FULL || more == SQLITE_IOERR_WRITE ||
             more == SQLITE_IOERR_SHMSIZE || more == SQLITE_IOERR_SHMOPEN));
}

enum status database_fault(const struct database *d, int code, const char *what,
                           struct fault *fault)
{
    enum status status = ERR_IO;
    const char *hint = NULL;
    const bool full = disk_is_full(code, d);
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        status = ERR_MEMORY;
        break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        status = (code & 0xff) == SQLITE_NOTADB ? d->kind->foreign : d->kind->damaged;
        hint = "this is not a database of twinstack, or it is damaged";
        break;
    case SQLITE_READONLY:
        hint = "the file or its folder may not be written";
        break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        status = d->kind->busy;
        hint = "another program writes to it; try again";
        break;
    case SQLITE_CANTOPEN:
        hint = "the folder is not there, or may not be written";
        break;
    default:
        hint = sqlite3_errstr(code);
        break;
    }
    if (full)
        hint = "the disk is full";
    (void)fault_set_reason(fault, status, what != NULL ? what : d->kind->what,
                           full ? FAULT_FULL : FAULT_NO_REASON, hint);
    fault_set_path(fault, d->path);
    return fault->code;
}

enum status database_run(struct database *d, const char *script, struct fault *fault)
{
    const int code = sqlite3_exec(d->db, script, NULL, NULL, NULL);
    return code == SQLITE_OK ? ERR_NONE : database_fault(d, code, NULL, fault);
}

static enum status read_number(struct database *d, const char *sql, int64_t *out,
                               struct fault *fault)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(d->db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        *out = sqlite3_column_int64(statement, 0);
        code = SQLITE_OK;
    }
    (void)sqlite3_finalize(statement);
    return code == SQLITE_OK ? ERR_NONE : database_fault(d, code, NULL, fault);
}

/* The tables first: a program that sees them sees the numbers, too, which are written with them. */
static enum status read_marks(struct database *d, struct fault *fault)
{
    if (read_number(d, "SELECT count(*) FROM sqlite_schema", &d->tables, fault) == ERR_NONE &&
        read_number(d, "PRAGMA user_version", &d->version, fault) == ERR_NONE)
        (void)read_number(d, "PRAGMA application_id", &d->application_id, fault);
    return fault->code;
}

/* Both happen in one transaction. */
static enum status take_step(struct database *d, int64_t version, struct fault *fault)
{
    char mark[96];
    for (const char *const *sql = d->kind->steps[version]; *sql != NULL; sql++)
        if (database_run(d, *sql, fault) != ERR_NONE)
            return fault->code;
    (void)snprintf(mark, sizeof mark, "PRAGMA application_id=%d; PRAGMA user_version=%d",
                   (int)d->kind->application_id, (int)version + 1);
    return database_run(d, mark, fault);
}

enum status database_upgrade(struct database *d, struct fault *fault)
{
    for (int64_t version = d->version; version < d->kind->version && fault->code == ERR_NONE;
         version++) {
        int64_t now = 0; /* another process may have taken this step while this one waited */
        if (database_begin(d, fault) != ERR_NONE)
            return fault->code;
        if (read_number(d, "PRAGMA user_version", &now, fault) == ERR_NONE && now <= version)
            (void)take_step(d, version, fault);
        if (database_end(d, fault->code, fault) == ERR_NONE && now > d->kind->version)
            return fault_set_reason(fault, ERR_UNSUPPORTED, "database schema", FAULT_NEWER,
                                    "a newer twinstack upgraded it just now");
    }
    return fault->code;
}

/* SQLite calls no busy handler where two connections take a new file to the log at the same time,
 * since each could wait for the other. So the one that was refused asks again. */
static enum status use_log(struct database *d, struct fault *fault)
{
    enum { STEP_MS = 5 };
    int code = SQLITE_BUSY;
    for (int waited_ms = 0; code == SQLITE_BUSY && waited_ms < DATABASE_BUSY_MS;
         waited_ms += STEP_MS) {
        if (waited_ms > 0)
            thread_sleep_ms(STEP_MS);
        code = sqlite3_exec(d->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    }
    return code == SQLITE_OK ? ERR_NONE : database_fault(d, code, NULL, fault);
}

static void end_statements(struct database *d)
{
    for (uint32_t i = 0; d->statements != NULL && i < d->kind->text_count; i++) {
        (void)sqlite3_finalize(d->statements[i]);
        d->statements[i] = NULL;
    }
}

enum status database_open(struct database *out, const struct database_kind *kind, const char *path,
                          bool writing, struct fault *fault)
{
    const int flags = writing ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    *out = (struct database){.kind = kind};
    (void)snprintf(out->path, sizeof out->path, "%s", path);
    out->statements = calloc(kind->text_count, sizeof *out->statements);
    if (out->statements == NULL)
        return fault_no_memory(fault, "database");
    const int code = sqlite3_open_v2(path, &out->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK)
        return database_fault(out, code, NULL, fault);
    (void)sqlite3_busy_timeout(out->db, DATABASE_BUSY_MS);
    (void)sqlite3_db_config(out->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (!writing && database_run(out, "PRAGMA query_only=1", fault) != ERR_NONE)
        return fault->code;
    return read_marks(out, fault);
}

enum status database_start_writing(struct database *d, struct fault *fault)
{
    return use_log(d, fault) == ERR_NONE ? database_run(d, d->kind->settings, fault) : fault->code;
}

void database_close(struct database *d)
{
    end_statements(d);
    free(d->statements);
    (void)sqlite3_close(d->db);
    *d = (struct database){.kind = d->kind};
}

enum status database_copy_to_memory(struct database *d, struct fault *fault)
{
    sqlite3 *copy = NULL;
    int code =
        sqlite3_open_v2(":memory:", &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK) {
        sqlite3_backup *backup = sqlite3_backup_init(copy, "main", d->db, "main");
        code = backup == NULL ? sqlite3_errcode(copy) : SQLITE_OK;
        if (backup != NULL) {
            (void)sqlite3_backup_step(backup, -1);
            code = sqlite3_backup_finish(backup);
        }
    }
    if (code != SQLITE_OK) {
        (void)database_fault(d, code, NULL, fault);
        (void)sqlite3_close(copy);
        return fault->code;
    }
    end_statements(d);
    (void)sqlite3_close(d->db);
    d->db = copy;
    return database_run(d, d->kind->settings, fault);
}

enum status database_end_log(struct database *d, struct fault *fault)
{
    end_statements(d);
    return database_run(d, "PRAGMA journal_mode=DELETE", fault);
}

enum status database_begin(struct database *d, struct fault *fault)
{
    if (d->nested++ == 0 && fault->code == ERR_NONE &&
        database_run(d, "BEGIN IMMEDIATE", fault) != ERR_NONE)
        d->nested--;
    return fault->code;
}

enum status database_end(struct database *d, enum status status, struct fault *fault)
{
    if (--d->nested > 0)
        return status;
    if (status == ERR_NONE)
        status = database_run(d, "COMMIT", fault);
    if (status != ERR_NONE && sqlite3_get_autocommit(d->db) == 0)
        (void)sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

void database_begin_reading(struct database *d)
{
    (void)sqlite3_exec(d->db, "BEGIN", NULL, NULL, NULL);
}

void database_end_reading(struct database *d)
{
    (void)sqlite3_exec(d->db, "COMMIT", NULL, NULL, NULL);
}

uint64_t database_added(const struct database *d)
{
    return (uint64_t)sqlite3_last_insert_rowid(d->db);
}

uint64_t database_changed(const struct database *d)
{
    return (uint64_t)sqlite3_changes(d->db);
}

uint64_t database_changes(struct database *d)
{
    struct fault fault = FAULT_INIT;
    int64_t others = 0;
    (void)read_number(d, "PRAGMA data_version", &others, &fault);
    return (uint64_t)others << 32 | (uint32_t)sqlite3_total_changes(d->db);
}
