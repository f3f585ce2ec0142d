/* twinstack db: whole databases: import, export, prune, publish. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "report/words.h"
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
        if (study_import(to, from, &copied, &fault) != ERR_NONE)
            code = stored_fault(&fault, true);
        else
            (void)printf("%u run%s copied from %s to %s\n", copied, copied == 1 ? "" : "s",
                         from_path, to_path);
    }
    study_close(from);
    study_close(to);
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
    if (study_prune(store, (uint32_t)keep_runs, &deleted, &fault) != ERR_NONE)
        code = stored_fault(&fault, true);
    else
        (void)printf("%u run%s deleted; the newest %" PRIu64 " and the baselines stay\n", deleted,
                     deleted == 1 ? "" : "s", keep_runs);
    study_close(store);
    return code;
}

static int publish(const char *path, const char *to)
{
    struct store *store = NULL;
    struct fault fault = FAULT_INIT;
    int code = EXIT_GOOD;
    if (!stored_open(path, STORE_READ, &store, &code))
        return code;
    if (study_publish(store, to, &fault) != ERR_NONE)
        code = stored_fault(&fault, true);
    study_close(store);
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
    study_close(store);
    return code;
}

static void print_run(const struct run_info *run)
{
    char when[32];
    uint32_t failing = 0;
    for (int v = 0; v < VERDICT_COUNT; v++)
        failing += run_verdict_fails((enum verdict)v) ? run->verdicts[v] : 0;
    (void)printf("%6" PRIu64 "  %s  %-11s  %5u cases, %5u fail  %-12.12s  %s", run->id,
                 time_text(run->started_ns, when), run_state_name(run->state), run->case_count,
                 failing, run->commit != NULL ? run->commit : "-",
                 run->branch != NULL ? run->branch : "-");
    if (run->label != NULL && strcmp(run->label, "run") != 0)
        (void)printf("  (%s)", run->label);
    (void)putchar('\n');
}

/* All runs, the newest first, also those that are going or were stopped. */
static int list(const char *path, bool as_json, struct arena *keep)
{
    struct store *store = NULL;
    struct fault fault = FAULT_INIT;
    struct run_query query = {.with_running = true, .limit = STORE_PAGE_MAX};
    struct run_page page = {.next = 0};
    struct json j;
    int code = EXIT_GOOD;
    if (!stored_open(path, STORE_READ, &store, &code))
        return code;
    json_to_stream(&j, stdout, true);
    if (as_json)
        json_array(&j);
    do {
        if (study_list_runs(store, &query, keep, &page, &fault) != ERR_NONE)
            break;
        for (uint32_t i = 0; i < page.count; i++)
            if (as_json)
                run_info_write_json(&j, &page.runs[i]);
            else
                print_run(&page.runs[i]);
        query.after = page.next;
    } while (query.after != 0);
    if (as_json) {
        json_array_end(&j);
        json_newline(&j);
    }
    study_close(store);
    return fault.code != ERR_NONE ? stored_fault(&fault, true) : EXIT_GOOD;
}

static int run(const struct verb *self, int argc, char **argv)
{
    bool as_json = false;
    const char *db = STORED_DATABASE;
    uint64_t keep_runs = UINT64_MAX;
    const struct option_row rows[] = {
        {"--db", OPTION_STRING, &db, "FILE", "database (default " STORED_DATABASE ")"},
        {"--keep-runs", OPTION_UINT, &keep_runs, "N", "prune: how many of the newest stay"},
        {"--json", OPTION_FLAG, &as_json, NULL, "list: one JSON document"},
    };
    struct option_list rest;
    struct arena keep;
    int code = EXIT_GOOD;
    arena_init(&keep, 0);
    if (options_parse(self, rows, sizeof rows / sizeof rows[0], argc, argv, &keep, &rest, &code)) {
        const char *what = rest.count > 0 ? rest.items[0] : "";
        const char *file = rest.count > 1 ? rest.items[1] : NULL;
        if (rest.count == 1 && strcmp(what, "list") == 0)
            code = list(db, as_json, &keep);
        else if (rest.count == 1 && strcmp(what, "prune") == 0 && keep_runs <= UINT32_MAX)
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
                self, "db list, import FILE, export FILE, publish FILE, prune --keep-runs N or "
                      "upgrade");
    }
    arena_free(&keep);
    return code;
}

const struct verb verb_db = {
    .name = "db",
    .summary = "databases as a whole: list, import, export, publish, prune, upgrade",
    .usage = "list | import FILE | export FILE | publish FILE | prune --keep-runs N | upgrade",
    .details =
        "list shows every run, also those that are going or were stopped.  import and export "
        "copy\nthe runs that the other side lacks.  publish writes one file that opens from a "
        "read-only\nfolder, for CI artefacts.  prune never deletes a baseline.  An older database "
        "is read as\nit is, through a copy in memory; upgrade, and any verb that writes, brings "
        "it up to date\nfor good.\n\n"
        "examples:\n  twinstack db list --json\n  twinstack db publish build/published.db",
    .exits = "  0  done\n  2  usage\n  4  database not usable",
    .run = run,
};
