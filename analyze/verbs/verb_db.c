/* twinstack db: whole databases: import, export, prune, publish. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/json.h"
#include "pages/shown.h"
#include "report/words.h"
#include "study/merge.h"
#include "study/runs.h"
#include "verbs/common.h"
#include "verbs/open_store.h"
#include "verbs/verbs.h"

struct db_options {
    const char *db;
    uint64_t keep_runs;
    bool as_json;
};

/* Makes one run of the parts that WORDS name. */
static int merge(const struct verb *self, void *options, const struct option_list *words,
                 struct arena *keep)
{
    const struct db_options *o = options;
    struct store *store = NULL;
    struct run_info run;
    struct fault fault = FAULT_INIT;
    int code = EXIT_GOOD;
    (void)self;
    if (!stored_open(o->db, STORE_WRITE, &store, &code))
        return code;
    if (study_merge(store, words->items, words->count, keep, &run, &fault) != ERR_NONE)
        code = stored_fault(&fault, fault.code != ERR_ABSENT);
    else
        (void)printf("run %" PRIu64 " of %s made of %u parts\n", run.id, o->db, words->count);
    stored_close(store);
    return code;
}

/* Copies the runs that TO lacks from FROM. */
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
    stored_close(to);
    return code;
}

/* What the database costs on disk. */
static void print_size(const char *path, uint64_t cases)
{
    char whole[24], one[24];
    const uint64_t bytes = path_bytes(path);
    (void)printf("%" PRIu64 " case%s in %s", cases, cases == 1 ? "" : "s",
                 bytes_text((double)bytes, whole));
    if (cases > 0)
        (void)printf(": %s per case", bytes_text((double)bytes / (double)cases, one));
    (void)putchar('\n');
}

static uint64_t count_cases(const struct run_page *page)
{
    uint64_t cases = 0;
    for (uint32_t i = 0; i < page->count; i++)
        cases += page->runs[i].case_count;
    return cases;
}

static enum status print_size_after_prune(const char *path, struct store *store,
                                          struct fault *fault)
{
    struct run_query query = {.with_running = true, .limit = STORE_PAGE_MAX};
    struct run_page page = {.next = 0};
    struct arena keep;
    uint64_t cases = 0;
    do {
        arena_init(&keep, 0);
        if (store_list_runs(store, &query, &keep, &page, fault) == ERR_NONE)
            cases += count_cases(&page);
        query.after = page.next;
        arena_free(&keep);
    } while (fault->code == ERR_NONE && query.after != 0);
    print_size(path, cases);
    return fault->code;
}

static int prune(const struct verb *self, void *options, const struct option_list *words,
                 struct arena *keep)
{
    const struct db_options *o = options;
    struct store *store = NULL;
    struct fault fault = FAULT_INIT;
    uint32_t deleted = 0;
    int code = EXIT_GOOD;
    (void)words;
    (void)keep;
    if (o->keep_runs > UINT32_MAX)
        return verb_usage_error(self, "prune needs --keep-runs N");
    if (!stored_open(o->db, stored_to_change(o->db), &store, &code))
        return code;
    if (store_prune(store, (uint32_t)o->keep_runs, &deleted, &fault) != ERR_NONE)
        code = stored_fault(&fault, true);
    else
        (void)printf("%u run%s deleted; the newest %" PRIu64 " and the baselines stay\n", deleted,
                     deleted == 1 ? "" : "s", o->keep_runs);
    if (code == EXIT_GOOD && print_size_after_prune(o->db, store, &fault) != ERR_NONE)
        code = stored_fault(&fault, true);
    stored_close(store);
    return code;
}

static int publish(const struct verb *self, void *options, const struct option_list *words,
                   struct arena *keep)
{
    const struct db_options *o = options;
    struct store *store = NULL;
    struct fault fault = FAULT_INIT;
    int code = EXIT_GOOD;
    (void)self;
    (void)keep;
    if (!stored_open(o->db, STORE_READ, &store, &code))
        return code;
    if (store_publish(store, words->items[0], &fault) != ERR_NONE)
        code = stored_fault(&fault, true);
    store_close(store);
    return code;
}

/* Opening a database for writing upgrades it. */
static int upgrade(const struct verb *self, void *options, const struct option_list *words,
                   struct arena *keep)
{
    const struct db_options *o = options;
    struct store *store = NULL;
    int code = EXIT_GOOD;
    (void)self;
    (void)words;
    (void)keep;
    if (stored_open(o->db, stored_to_change(o->db), &store, &code)) {
        (void)printf("%s has schema %d, the newest\n", o->db, STORE_SCHEMA_VERSION);
        study_end_killed_runs(store);
        shown_write_all(store);
    }
    stored_close(store);
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
    if (run->label != NULL && !run_has_run_label(run))
        (void)printf("  (%s)", run->label);
    (void)putchar('\n');
}

/* All runs, newest first, including those that have not ended or were stopped. */
static int list(const struct verb *self, void *options, const struct option_list *words,
                struct arena *keep)
{
    const struct db_options *o = options;
    struct store *store = NULL;
    struct fault fault = FAULT_INIT;
    struct run_query query = {.with_running = true, .limit = STORE_PAGE_MAX};
    struct run_page page = {.next = 0};
    struct json j;
    uint64_t cases = 0;
    int code = EXIT_GOOD;
    (void)self;
    (void)words;
    if (!stored_open(o->db, STORE_READ, &store, &code))
        return code;
    json_to_stream(&j, stdout, true);
    if (o->as_json)
        json_array(&j);
    do {
        if (store_list_runs(store, &query, keep, &page, &fault) != ERR_NONE)
            break;
        for (uint32_t i = 0; i < page.count; i++)
            if (o->as_json)
                run_info_write_json(&j, &page.runs[i]);
            else
                print_run(&page.runs[i]);
        cases += count_cases(&page);
        query.after = page.next;
    } while (query.after != 0);
    if (o->as_json) {
        json_array_end(&j);
        json_newline(&j);
    } else if (fault.code == ERR_NONE) {
        print_size(o->db, cases);
    }
    store_close(store);
    return fault.code != ERR_NONE ? stored_fault(&fault, true) : EXIT_GOOD;
}

static int import(const struct verb *self, void *options, const struct option_list *words,
                  struct arena *keep)
{
    const struct db_options *o = options;
    (void)self;
    (void)keep;
    return copy(words->items[0], o->db);
}

static int export(const struct verb *self, void *options, const struct option_list *words,
                  struct arena *keep)
{
    const struct db_options *o = options;
    (void)self;
    (void)keep;
    return copy(o->db, words->items[0]);
}

static const struct subcommand subcommands[] = {
    {"list", NULL, "every run, newest first, including unfinished ones", 0, 0, list},
    {"import", "FILE", "copy the runs of FILE that the database lacks", 1, 1, import},
    {"export", "FILE", "copy the runs that FILE lacks into it", 1, 1, export},
    {"merge", "RUN|FILE...", "make one run of the parts that run --shard took", 1,
     SUBCOMMAND_WORDS_MAX, merge},
    {"publish", "FILE", "write one file that opens from a read-only folder", 1, 1, publish},
    {"prune", "--keep-runs N", "delete all but the newest runs and the baselines", 0, 0, prune},
    {"upgrade", NULL, "bring an older database up to date", 0, 0, upgrade},
    {.name = NULL},
};

static int run(const struct verb *self, int argc, char **argv)
{
    struct db_options o = {.db = STORED_DATABASE, .keep_runs = UINT64_MAX};
    const struct option_row rows[] = {
        OPTION(DB, &o.db),
        {"--keep-runs", OPTION_UINT, &o.keep_runs, "N", "prune: how many of the newest stay"},
        OPTION_AS(JSON, &o.as_json, "list"),
    };
    return subcommand_main(self, NULL, rows, COUNT_OF(rows), &o, argc, argv);
}

const struct verb verb_db = {
    .name = "db",
    .summary = "databases as a whole: list, import, export, merge, publish, prune, upgrade",
    .subcommands = subcommands,
    .details =
        "prune never deletes a baseline.  publish is for CI artefacts.  An older database is read "
        "as\nit is, through a copy in memory; upgrade, and any verb that writes, brings it up to "
        "date\nfor good.\n\n"
        "merge needs every part I/N of one command line.  The parts need not be imported first: "
        "a\nFILE is a database whose latest run is a part.\n\n"
        "examples:\n  twinstack db list --json\n  twinstack db merge part-1.db part-2.db "
        "part-3.db\n"
        "  twinstack db publish build/published.db",
    .exits = "  0  done\n  2  usage\n  3  a part of a run is missing\n  4  database not usable",
    .run = run,
};
