/* The data of the offline page: what the live API would answer, under its paths, packed.
 *
 * Query parameters are sorted by name and runs are written as numbers, so that the pages find a
 * document however they name it (web/src/carried.js).  offline.h has the limits. */
#include "pages/offline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "pages/pack.h"
#include "pages/table.h"
#include "study/trend.h"
#include "study/triage.h"

enum { SOURCES_MAX = 1024, PATH_BYTES = 1024, NAME_BYTES = 400 };
enum { PARTNERS_MAX = OFFLINE_COMPARED_MAX + 2 }; /* and the baseline, and the run before */

struct carrier {
    const struct view_offline *asked;
    struct store *store;
    struct json *out;
    struct fault *fault;
    uint64_t packed_bytes;
    uint64_t before, baseline; /* runs; 0: none */
    uint64_t partners[PARTNERS_MAX];
    uint32_t partner_count;
    struct triage triage; /* of the run: read once for all its views */
    uint32_t carried_count;
    uint64_t runs_listed, runs_total;
    char sources[SOURCES_MAX][65]; /* already in the file, by content */
    uint32_t source_count;
};

static enum status put(struct carrier *c, const char *path, const char *data, size_t bytes,
                       struct arena *scratch)
{
    const char *packed = view_pack(data, bytes, scratch);
    if (packed == NULL)
        return fault_no_memory(c->fault, "document of the offline page");
    json_key_string(c->out, path, packed);
    c->packed_bytes += strlen(packed);
    return ERR_NONE;
}

/* Writes one member: the path, and what its view says. */
static enum status carry(struct carrier *c, const char *path)
{
    struct arena scratch;
    struct http_query query;
    const struct view *view = NULL;
    char *text = NULL;
    size_t bytes = 0;

    arena_init(&scratch, 0);
    const struct view_input in = {
        .store = c->store, .query = &query, .triage = &c->triage, .keep = &scratch};
    if (view_find(path, &scratch, &query, &view, c->fault) == ERR_NONE && view != NULL &&
        view_make(view, &in, &text, &bytes, c->fault) == ERR_NONE)
        (void)put(c, path, text, bytes, &scratch);
    arena_free(&scratch);
    return c->fault->code;
}

/* ---- other runs --------------------------------------------------------------------------- */

static bool is_comparable(const struct carrier *c, const struct run_info *run)
{
    return run->id != c->asked->run_id && run->state != RUN_RUNNING &&
           (run->case_count > 0 || run_has_run_label(run));
}

static void add_partner(struct carrier *c, uint64_t run_id)
{
    for (uint32_t i = 0; i < c->partner_count; i++)
        if (c->partners[i] == run_id)
            return;
    if (run_id != 0 && run_id != c->asked->run_id && c->partner_count < PARTNERS_MAX)
        c->partners[c->partner_count++] = run_id;
}

/* What "latest~1" means in the file: for the newest run the same as live, for other runs the run
 * before it. */
static void find_before(struct carrier *c, const struct run_page *older)
{
    struct fault none = FAULT_INIT;
    uint64_t latest = 0;
    if (store_find_run(c->store, "latest", &latest, &none) == ERR_NONE &&
        latest == c->asked->run_id) {
        (void)store_find_run(c->store, "latest~1", &c->before, &none);
        return;
    }
    for (uint32_t i = 0; i < older->count && c->before == 0; i++)
        if (is_comparable(c, &older->runs[i]))
            c->before = older->runs[i].id;
}

/* The runs to compare with: half of them the newest, half the ones just before this run. */
static enum status find_runs(struct carrier *c, struct arena *scratch)
{
    struct run_query query = {.with_running = true, .limit = OFFLINE_RUNS_MAX};
    struct run_page newest, older;
    struct fault none = FAULT_INIT;

    if (store_list_runs(c->store, &query, scratch, &newest, c->fault) != ERR_NONE)
        return c->fault->code;
    query.after = c->asked->run_id;
    if (store_list_runs(c->store, &query, scratch, &older, c->fault) != ERR_NONE)
        return c->fault->code;
    c->runs_listed = newest.count;
    c->runs_total = newest.total;
    for (uint32_t i = 0; i < newest.count && c->partner_count < OFFLINE_COMPARED_MAX / 2; i++)
        if (is_comparable(c, &newest.runs[i]))
            add_partner(c, newest.runs[i].id);
    for (uint32_t i = 0; i < older.count && c->partner_count < OFFLINE_COMPARED_MAX; i++)
        if (is_comparable(c, &older.runs[i]))
            add_partner(c, older.runs[i].id);
    find_before(c, &older);
    (void)store_get_baseline(c->store, NULL, NULL, &c->baseline, &none);
    add_partner(c, c->before);
    add_partner(c, c->baseline);
    return ERR_NONE;
}

static enum status carry_runs(struct carrier *c)
{
    const uint64_t run = c->asked->run_id;
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof path, "/api/v1/runs?limit=%d", (int)OFFLINE_RUNS_MAX);
    enum status status = carry(c, path);
    for (uint32_t i = 0; i < c->partner_count && status == ERR_NONE; i++) {
        const uint64_t other = c->partners[i];
        (void)snprintf(path, sizeof path, "/api/v1/runs/%" PRIu64, other);
        status = carry(c, path);
        for (int turn = 0; turn < 2 && status == ERR_NONE; turn++) {
            (void)snprintf(path, sizeof path, "/api/v1/compare?a=%" PRIu64 "&b=%" PRIu64,
                           turn == 0 ? other : run, turn == 0 ? run : other);
            status = carry(c, path);
        }
    }
    return status;
}

/* ---- the run ------------------------------------------------------------------------------ */

static enum status carry_run(struct carrier *c)
{
    static const char *const of_run[] = {"overview", "timing",  "hooks", "signatures",
                                         "known",    "symbols", NULL};
    const uint64_t run = c->asked->run_id;
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof path, "/api/v1/runs/%" PRIu64, run);
    enum status status = carry(c, path);
    for (size_t i = 0; of_run[i] != NULL && status == ERR_NONE; i++) {
        (void)snprintf(path, sizeof path, "/api/v1/%s?run=%" PRIu64, of_run[i], run);
        status = carry(c, path);
    }
    if (status == ERR_NONE) {
        (void)snprintf(path, sizeof path, "/api/v1/runs/%" PRIu64 "/grid", run);
        status = carry(c, path);
    }
    return status;
}

/* Each figure over runs, up to the one that is carried. */
static enum status carry_trends(struct carrier *c)
{
    enum status status = ERR_NONE;
    for (int i = 0; i < METRIC_COUNT && status == ERR_NONE; i++) {
        char path[PATH_BYTES];
        (void)snprintf(path, sizeof path, "/api/v1/trend?limit=%d&metric=%s&until=%" PRIu64,
                       (int)OFFLINE_TREND_RUNS, metric_name((enum metric)i), c->asked->run_id);
        status = carry(c, path);
    }
    return status;
}

/* The cases in the queue's order, and the problems that have pages. */
static enum status carry_queue(struct carrier *c)
{
    const struct triage *t = &c->triage;
    enum status status = ERR_NONE;
    char path[PATH_BYTES];
    for (uint32_t at = 0;
         status == ERR_NONE && (at == 0 || at < t->item_count) && at < OFFLINE_CASES_MAX;
         at += STORE_PAGE_MAX) {
        int size = snprintf(path, sizeof path, "/api/v1/runs/%" PRIu64 "/queue?", c->asked->run_id);
        if (at > 0)
            size += snprintf(path + size, sizeof path - (size_t)size, "after=%" PRIu64 "&",
                             t->items[at - 1].id);
        (void)snprintf(path + size, sizeof path - (size_t)size, "limit=%d", (int)STORE_PAGE_MAX);
        status = carry(c, path);
    }
    for (uint32_t i = 0; status == ERR_NONE && i < t->failures.count && i < PROBLEMS_MOST; i++) {
        (void)snprintf(path, sizeof path, "/api/v1/runs/%" PRIu64 "/queue?limit=1&problem=%s",
                       c->asked->run_id, t->failures.rows[i].key);
        status = carry(c, path);
    }
    return status;
}

/* The sources of a case, each content once, as text. */
static enum status carry_sources(struct carrier *c, uint64_t case_id)
{
    struct run_case beside = {.id = case_id};
    struct arena scratch;

    arena_init(&scratch, 0);
    (void)store_read_files(c->store, &beside, &scratch, c->fault);
    for (uint32_t i = 0; i < beside.artifact_count && c->fault->code == ERR_NONE; i++) {
        const struct case_artifact *a = &beside.artifacts[i];
        uint32_t known = 0;
        while (known < c->source_count && strcmp(c->sources[known], a->sha256) != 0)
            known++;
        if (a->role != ARTIFACT_SOURCE || known < c->source_count || known == SOURCES_MAX)
            continue;
        memcpy(c->sources[c->source_count++], a->sha256, sizeof a->sha256);
        char path[128];
        (void)snprintf(path, sizeof path, "/api/v1/artifacts/%s", a->sha256);
        (void)put(c, path, a->data, a->bytes, &scratch);
    }
    arena_free(&scratch);
    return c->fault->code;
}

static enum status carry_case(struct carrier *c, const struct triage_item *which)
{
    char path[PATH_BYTES], name[NAME_BYTES], escaped[NAME_BYTES];
    (void)snprintf(name, sizeof name, "%s.%s", which->scenario, which->variant);
    http_escape(name, escaped, sizeof escaped);
    (void)snprintf(path, sizeof path, "/api/v1/runs/%" PRIu64 "/cases/%s%s%.0u", c->asked->run_id,
                   escaped, which->repeat > 0 ? "?repeat=" : "", which->repeat);
    enum status status = carry(c, path);
    c->carried_count++;
    return status == ERR_NONE ? carry_sources(c, which->id) : status;
}

static int by_name(const void *a, const void *b)
{
    const struct triage_item *const *left = a, *const *right = b;
    const int order = strcmp((*left)->scenario, (*right)->scenario);
    return order != 0 ? order : strcmp((*left)->variant, (*right)->variant);
}

/* Failing cases come first, so that they are in the file whatever is left out. */
static int by_need(const void *a, const void *b)
{
    const struct triage_item *left = *(const struct triage_item *const *)a;
    const struct triage_item *right = *(const struct triage_item *const *)b;
    const bool x = run_verdict_fails(left->verdict), y = run_verdict_fails(right->verdict);
    if (x != y)
        return x ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

/* Each carried case through all runs; repeats share theirs. */
static enum status carry_histories(struct carrier *c, const struct triage_item **cases)
{
    enum status status = ERR_NONE;
    array_sort((void *)cases, c->carried_count, sizeof(const struct triage_item *), by_name);
    for (uint32_t i = 0; i < c->carried_count && status == ERR_NONE; i++) {
        char path[PATH_BYTES], scenario[NAME_BYTES], variant[NAME_BYTES];
        if (i > 0 && by_name((const void *)&cases[i - 1], (const void *)&cases[i]) == 0)
            continue;
        http_escape(cases[i]->scenario, scenario, sizeof scenario);
        http_escape(cases[i]->variant, variant, sizeof variant);
        (void)snprintf(path, sizeof path, "/api/v1/cases/%s/%s", scenario, variant);
        status = carry(c, path);
    }
    return status;
}

static enum status carry_cases(struct carrier *c, struct arena *scratch)
{
    const uint32_t count = c->triage.item_count;
    const struct triage_item **cases =
        (const struct triage_item **)arena_array(scratch, (size_t)count + 1, sizeof *cases);
    enum status status = ERR_NONE;
    if (cases == NULL)
        return fault_no_memory(c->fault, "cases of the offline page");
    for (uint32_t i = 0; i < count; i++)
        cases[i] = &c->triage.items[i];
    array_sort((void *)cases, count, sizeof(const struct triage_item *), by_need);
    for (uint32_t i = 0; i < count && i < OFFLINE_STACKS_MAX && status == ERR_NONE &&
                         c->packed_bytes <= OFFLINE_BYTES_MAX;
         i++)
        status = carry_case(c, cases[i]);
    return status == ERR_NONE ? carry_histories(c, cases) : status;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static void write_name(struct json *out, const char *name, uint64_t run_id)
{
    if (run_id != 0)
        json_key_uint(out, name, run_id);
}

/* What the file holds; not packed, since the pages read it first. */
static void write_facts(const struct carrier *c)
{
    struct json *out = c->out;
    char path[PATH_BYTES];

    json_key_object(out, "offline");
    json_key_uint(out, "run", c->asked->run_id);
    json_key_object(out, "names");
    write_name(out, "latest", c->asked->run_id);
    write_name(out, "latest~1", c->before);
    write_name(out, "baseline", c->baseline);
    json_object_end(out);
    json_key(out, "lists"); /* carried in pages of so many */
    json_object(out);
    json_key_uint(out, "/api/v1/runs", OFFLINE_RUNS_MAX);
    (void)snprintf(path, sizeof path, "/api/v1/runs/%" PRIu64 "/queue", c->asked->run_id);
    json_key_uint(out, path, STORE_PAGE_MAX);
    json_object_end(out);
    json_key_array(out, "compared");
    for (uint32_t i = 0; i < c->partner_count; i++)
        json_uint(out, c->partners[i]);
    json_array_end(out);
    json_key_uint(out, "runs", c->runs_listed);
    json_key_uint(out, "runs_total", c->runs_total);
    json_key_uint(out, "cases", c->carried_count);
    json_key_uint(out, "cases_total", c->triage.item_count);
    json_object_end(out);
}

static enum status carry_all(struct carrier *c, struct arena *keep)
{
    const char *word = arena_printf(keep, "%" PRIu64, c->asked->run_id);
    if (word == NULL)
        return fault_no_memory(c->fault, "number of a run");
    if (triage_make(c->store, word, keep, &c->triage, c->fault) != ERR_NONE ||
        find_runs(c, keep) != ERR_NONE || carry_run(c) != ERR_NONE || carry_queue(c) != ERR_NONE ||
        carry_runs(c) != ERR_NONE || carry_trends(c) != ERR_NONE ||
        carry_cases(c, keep) != ERR_NONE)
        return c->fault->code;
    for (uint32_t i = 0; i < c->asked->extra_count && c->fault->code == ERR_NONE; i++) {
        const struct view_extra *extra = &c->asked->extras[i];
        (void)put(c, extra->path, extra->text, extra->bytes, keep);
    }
    return c->fault->code;
}

enum status view_write_offline(struct store *store, const struct view_offline *asked,
                               struct json *out, struct fault *fault)
{
    struct arena keep;

    arena_init(&keep, 0);
    struct carrier *c = ARENA_NEW(&keep, struct carrier);
    if (c == NULL)
        return fault_no_memory(fault, "offline page");
    c->asked = asked;
    c->store = store;
    c->out = out;
    c->fault = fault;
    json_object(out);
    enum status status = carry_all(c, &keep);
    write_facts(c);
    json_object_end(out);
    arena_free(&keep);
    return status;
}
