/* Opening, upgrading and closing databases: see store.h. */
#include "store/store.h"

#include <stdlib.h>

#include "base/files.h"
#include "store/statements.h"

/* "Twst" in the header of the file marks a database of twinstack. */
static const struct database_kind store_kind = {
    .what = "database",
    .application_id = 0x54777374,
    .version = STORE_SCHEMA_VERSION,
    .steps = store_migrations,
    .texts = store_sql,
    .text_count = SQL_COUNT,
    .settings = "PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=1",
    .damaged = ERR_MALFORMED,
    .foreign = ERR_MALFORMED,
    .busy = ERR_IO,
};

static enum status check_version(const struct store *store, struct fault *fault)
{
    const struct database *d = &store->database;
    if (d->tables > 0 && d->application_id != store_kind.application_id)
        return fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "database",
                              "it belongs to another program");
    if (d->tables == 0 && d->version == 0 && store->mode != STORE_WRITE)
        return fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "database",
                              "it is empty; `twinstack run` fills it");
    if (d->version > STORE_SCHEMA_VERSION)
        return fault_set_reason(fault, ERR_UNSUPPORTED, "database schema", FAULT_NEWER,
                                "it was written by a newer twinstack");
    if (d->version < STORE_SCHEMA_VERSION && store->mode == STORE_READ)
        return fault_set_reason(fault, ERR_UNSUPPORTED, "database schema", FAULT_OLDER,
                                "it is older than this program: `twinstack db upgrade` brings it "
                                "up to date");
    return ERR_NONE;
}

/* An older version is upgraded: the file, or a copy of it in memory. */
static enum status upgrade(struct store *store, struct fault *fault)
{
    struct database *d = &store->database;
    const bool copies = store->mode == STORE_READ_OLD;
    if (copies && database_copy_to_memory(d, fault) != ERR_NONE)
        return fault->code;
    (void)store_add_median(d->db);
    if (database_upgrade(d, fault) != ERR_NONE ||
        (d->version > 0 && store_sum_missing(store, fault) != ERR_NONE))
        return fault->code;
    return copies ? database_run(d, "PRAGMA query_only=1", fault) : ERR_NONE;
}

static enum status prepare(struct store *store, struct fault *fault)
{
    struct database *d = &store->database;
    if (check_version(store, fault) != ERR_NONE ||
        (store->mode == STORE_WRITE && database_start_writing(d, fault) != ERR_NONE))
        return fault->code;
    (void)store_add_median(d->db); /* without it each statement that names it says so */
    return d->version < STORE_SCHEMA_VERSION ? upgrade(store, fault) : ERR_NONE;
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
    if (database_open(&store->database, &store_kind, path, mode == STORE_WRITE, fault) !=
            ERR_NONE ||
        prepare(store, fault) != ERR_NONE) {
        fault_set_path(fault, path);
        store_close(store);
        return fault->code;
    }
    *out = store;
    return ERR_NONE;
}

enum status store_open_beside(const struct store *store, const char *path, struct store **out,
                              struct fault *fault)
{
    if (store_open(path, STORE_READ_OLD, out, fault) == ERR_NONE)
        store_set_program(*out, store->program);
    return fault->code;
}

void store_begin_reading(struct store *store)
{
    database_begin_reading(&store->database);
}

void store_end_reading(struct store *store)
{
    database_end_reading(&store->database);
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    database_close(&store->database);
    free(store);
}

uint64_t store_version(struct store *store)
{
    return database_changes(&store->database);
}
