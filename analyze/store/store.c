/* Opening, upgrading and closing databases: see store.h. */
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/thread.h"
#include "store/query.h"

/* "Twst" in the header of the file marks a database of twinstack. */
enum { APPLICATION_ID = 0x54777374 };

static enum status run_script(struct store *store, const char *script, struct fault *fault)
{
    const int code = sqlite3_exec(store->db, script, NULL, NULL, NULL);
    return code == SQLITE_OK ? ERR_NONE : store_fault(store, code, "database upgrade", fault);
}

static enum status read_pragma(struct store *store, const char *sql, int64_t *out,
                               struct fault *fault)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        *out = sqlite3_column_int64(statement, 0);
        code = SQLITE_OK;
    }
    (void)sqlite3_finalize(statement);
    return code == SQLITE_OK ? ERR_NONE : store_fault(store, code, "database header", fault);
}

/* One step per version, each in one transaction with its number. */
static enum status upgrade(struct store *store, int64_t from, struct fault *fault)
{
    for (int64_t version = from; version < STORE_SCHEMA_VERSION; version++) {
        char mark[96];
        (void)snprintf(mark, sizeof mark,
                       "PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT", APPLICATION_ID,
                       (int)version + 1);
        int64_t now = 0; /* another process may have taken this step while we waited */
        if (run_script(store, "BEGIN IMMEDIATE", fault) == ERR_NONE &&
            read_pragma(store, "PRAGMA user_version", &now, fault) == ERR_NONE && now > version) {
            (void)run_script(store, "ROLLBACK", fault);
            if (now > STORE_SCHEMA_VERSION)
                return fault_set_reason(fault, ERR_UNSUPPORTED, "database schema", FAULT_NEWER,
                                        "a newer twinstack upgraded it just now");
            continue;
        }
        for (const char *const *sql = store_migrations[version]; *sql != NULL; sql++)
            if (fault->code == ERR_NONE)
                (void)run_script(store, *sql, fault);
        if (fault->code != ERR_NONE || run_script(store, mark, fault) != ERR_NONE) {
            (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
            return fault->code;
        }
    }
    return ERR_NONE;
}

/* Continues with a copy in memory: the file is not changed. */
static enum status copy_to_memory(struct store *store, struct fault *fault)
{
    sqlite3 *copy = NULL;
    int code =
        sqlite3_open_v2(":memory:", &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK) {
        sqlite3_backup *backup = sqlite3_backup_init(copy, "main", store->db, "main");
        code = backup == NULL ? sqlite3_errcode(copy) : SQLITE_OK;
        if (backup != NULL) {
            (void)sqlite3_backup_step(backup, -1);
            code = sqlite3_backup_finish(backup);
        }
    }
    if (code != SQLITE_OK) {
        (void)store_fault(store, code, "older database", fault);
        (void)sqlite3_close(copy);
        return fault->code;
    }
    (void)sqlite3_close(store->db);
    store->db = copy;
    (void)store_add_median(copy);
    return run_script(store, "PRAGMA foreign_keys=1", fault);
}

static enum status check_version(struct store *store, struct fault *fault)
{
    int64_t version = 0, application = 0, tables = 0;
    /* The tables first: who sees them sees the numbers, too, which are written with them. */
    if (read_pragma(store, "SELECT count(*) FROM sqlite_schema", &tables, fault) != ERR_NONE ||
        read_pragma(store, "PRAGMA user_version", &version, fault) != ERR_NONE ||
        read_pragma(store, "PRAGMA application_id", &application, fault) != ERR_NONE)
        return fault->code;
    if (tables > 0 && application != APPLICATION_ID)
        return fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "database",
                              "it belongs to another program");
    if (tables == 0 && version == 0 && store->mode != STORE_WRITE)
        return fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "database",
                              "it is empty; `twinstack run` fills it");
    if (version > STORE_SCHEMA_VERSION)
        return fault_set_reason(fault, ERR_UNSUPPORTED, "database schema", FAULT_NEWER,
                                "it was written by a newer twinstack");
    if (version == STORE_SCHEMA_VERSION)
        return ERR_NONE;
    if (store->mode == STORE_READ)
        return fault_set_reason(fault, ERR_UNSUPPORTED, "database schema", FAULT_OLDER,
                                "it is older than this program: `twinstack db upgrade` brings it "
                                "up to date");
    if ((store->mode == STORE_READ_OLD && copy_to_memory(store, fault) != ERR_NONE) ||
        upgrade(store, version, fault) != ERR_NONE)
        return fault->code;
    if (version > 0 && store_sum_missing(store, fault) != ERR_NONE)
        return fault->code;
    return store->mode == STORE_WRITE ? ERR_NONE : run_script(store, "PRAGMA query_only=1", fault);
}

/* SQLite calls no busy handler where two connections take a new file to the log at the same time,
 * since each could wait for the other. So the one that was refused asks again. */
static enum status use_log(struct store *store, struct fault *fault)
{
    enum { STEP_MS = 5 };
    int code = SQLITE_BUSY;
    for (int waited_ms = 0; code == SQLITE_BUSY && waited_ms < STORE_BUSY_MS;
         waited_ms += STEP_MS) {
        if (waited_ms > 0)
            thread_sleep_ms(STEP_MS);
        code = sqlite3_exec(store->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    }
    return code == SQLITE_OK ? ERR_NONE : store_fault(store, code, "database upgrade", fault);
}

static enum status prepare(struct store *store, struct fault *fault)
{
    (void)sqlite3_busy_timeout(store->db, STORE_BUSY_MS);
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)store_add_median(store->db); /* without it each statement that names it says so */
    const char *setup = store->mode == STORE_WRITE
                            ? "PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=1"
                            : "PRAGMA query_only=1; PRAGMA foreign_keys=1";
    if ((store->mode == STORE_WRITE && use_log(store, fault) != ERR_NONE) ||
        run_script(store, setup, fault) != ERR_NONE)
        return fault->code;
    return check_version(store, fault);
}

enum status store_open(const char *path, enum store_mode mode, struct store **out,
                       struct fault *fault)
{
    *out = NULL;
    if (mode != STORE_WRITE && !path_is_file(path)) {
        (void)fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "database",
                             "`twinstack run` makes one");
        fault_set_path(fault, path);
        return fault->code;
    }
    struct store *store = calloc(1, sizeof *store);
    if (store == NULL)
        return fault_no_memory(fault, "database");
    store->mode = mode;
    (void)snprintf(store->path, sizeof store->path, "%s", path);
    const int flags =
        mode == STORE_WRITE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    const int code = sqlite3_open_v2(path, &store->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK)
        (void)store_fault(store, code, "database", fault);
    else
        (void)prepare(store, fault);
    if (fault->code != ERR_NONE) {
        fault_set_path(fault, path);
        store_close(store);
        return fault->code;
    }
    *out = store;
    return ERR_NONE;
}

/* Without a transaction, each query just takes its own lock, so failures do not matter. */
void store_begin_reading(struct store *store)
{
    (void)sqlite3_exec(store->db, "BEGIN", NULL, NULL, NULL);
}

void store_end_reading(struct store *store)
{
    (void)sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    for (int i = 0; i < SQL_COUNT; i++)
        (void)sqlite3_finalize(store->statements[i]);
    (void)sqlite3_close(store->db);
    free(store);
}

uint64_t store_version(struct store *store)
{
    struct fault fault = FAULT_INIT;
    int64_t others = 0;
    (void)read_pragma(store, "PRAGMA data_version", &others, &fault);
    return (uint64_t)others << 32 | (uint32_t)sqlite3_total_changes(store->db);
}
