/* twinstack db: whole databases: import, export, prune, publish. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "verbs/stored.h"
#include "verbs/verbs.h"

/* Copies what TO lacks from FROM. */
static int copy(const char *from_path, const char *to_path)
{
    struct store *from = NULL, *to = NULL;
    struct fault fault = FAULT_INIT;
    uint32_t copied = 0;
    int code = EXIT_GOOD;
    if (stored_open(from_path, STORE_READ, &from, &code) &&
        stored_open(to_path, STORE_WRITE, &to, &code)) {
        if (store_import(to, from, &copied, &fault) != ERR_NONE)
            code = stored_fault(&fault, true);
        else
            (void)printf("%u run%s copied from %s to %s\n", copied, copied == 1 ? "" : "s",
                         from_path, to_path);
    }
    store_close(from);
    store_close(to);
    return code;
}

static int prune(const char *path, uint64_t keep_runs)
{
    struct store *store = NULL;
    struct fault fault = FAULT_INIT;
    uint32_t deleted = 0;
    int code = EXIT_GOOD;
    if (!stored_open(path, STORE_WRITE, &store, &code))
        return code;
    if (store_prune(store, (uint32_t)keep_runs, &deleted, &fault) != ERR_NONE)
        code = stored_fault(&fault, true);
    else
        (void)printf("%u run%s deleted; the newest %" PRIu64 " and the baselines stay\n", deleted,
                     deleted == 1 ? "" : "s", keep_runs);
    store_close(store);
    return code;
}

static int publish(const char *path, const char *to)
{
    struct store *store = NULL;
    struct fault fault = FAULT_INIT;
    int code = EXIT_GOOD;
    if (!stored_open(path, STORE_READ, &store, &code))
        return code;
    if (store_publish(store, to, &fault) != ERR_NONE)
        code = stored_fault(&fault, true);
    store_close(store);
    return code;
}

/* Opening for writing upgrades. */
static int upgrade(const char *path)
{
    struct store *store = NULL;
    int code = EXIT_GOOD;
    if (!path_is_file(path)) {
        log_error("%s: there is no such database", path);
        return EXIT_DATABASE;
    }
    if (stored_open(path, STORE_WRITE, &store, &code))
        (void)printf("%s has schema %d, the newest\n", path, STORE_SCHEMA_VERSION);
    store_close(store);
    return code;
}

static int run(const struct verb *self, int argc, char **argv)
{
    const char *db = STORED_DATABASE;
    uint64_t keep_runs = UINT64_MAX;
    const struct option_row rows[] = {
        {"--db", OPTION_STRING, &db, "FILE", "database (default " STORED_DATABASE ")"},
        {"--keep-runs", OPTION_UINT, &keep_runs, "N", "prune: how many of the newest stay"},
    };
    struct option_list rest;
    struct arena keep;
    int code = EXIT_GOOD;
    arena_init(&keep, 0);
    if (options_parse(self, rows, sizeof rows / sizeof rows[0], argc, argv, &keep, &rest, &code)) {
        const char *what = rest.count > 0 ? rest.items[0] : "";
        const char *file = rest.count > 1 ? rest.items[1] : NULL;
        if (rest.count == 1 && strcmp(what, "prune") == 0 && keep_runs <= UINT32_MAX)
            code = prune(db, keep_runs);
        else if (rest.count == 1 && strcmp(what, "upgrade") == 0)
            code = upgrade(db);
        else if (rest.count == 2 && strcmp(what, "import") == 0)
            code = copy(file, db);
        else if (rest.count == 2 && strcmp(what, "export") == 0)
            code = copy(db, file);
        else if (rest.count == 2 && strcmp(what, "publish") == 0)
            code = publish(db, file);
        else
            code = verb_usage_error(
                self, "db import FILE, export FILE, publish FILE, prune --keep-runs N or upgrade");
    }
    arena_free(&keep);
    return code;
}

const struct verb verb_db = {
    .name = "db",
    .summary = "databases as a whole: import, export, publish, prune, upgrade",
    .usage = "import FILE | export FILE | publish FILE | prune --keep-runs N | upgrade",
    .details =
        "import and export copy the runs that the other side lacks.  publish writes one "
        "file that\nopens from a read-only folder, for CI artefacts.  prune never deletes "
        "a baseline.  An older database is read as it is, through a copy in memory; upgrade, and "
        "any\nverb that writes, brings it up to date for good.\n\n"
        "example:\n  twinstack db publish build/published.db",
    .exits = "  0  done\n  2  usage\n  4  database not usable",
    .run = run,
};
