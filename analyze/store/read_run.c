/* Reads runs, pages and figures: see store.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/process.h"
#include "base/text.h"
#include "store/statements.h"

static uint32_t page_limit(uint32_t asked)
{
    if (asked == 0)
        return STORE_PAGE_DEFAULT;
    return asked > STORE_PAGE_MAX ? STORE_PAGE_MAX : asked;
}

static void read_run_row(struct query *q, struct run_info *run)
{
    memset(run, 0, sizeof *run);
    run->id = query_get(q);
    run->uuid = query_get_text(q);
    const char *state = query_get_text(q);
    if (state == NULL || !run_state_parse(state, &run->state))
        run->state = RUN_INTERRUPTED;
    run->label = query_get_text(q);
    run->started_ns = query_get(q);
    run->finished_ns = query_get(q);
    run->commit = query_get_text(q);
    run->branch = query_get_text(q);
    run->platform = query_get_text(q);
    run->compiler = query_get_text(q);
    run->flags = query_get_text(q);
    run->cpu = query_get_text(q);
    run->command = query_get_text(q);
    run->known_text = query_get_text(q);
}

static void read_verdicts(struct store *store, struct run_info *run, struct arena *keep,
                          struct fault *fault)
{
    struct query q = query_with(store, SQL_READ_RUN_VERDICTS, run->id, keep, fault);
    while (query_row(&q)) {
        enum verdict verdict = VERDICT_PASS;
        const char *word = query_get_text(&q);
        const uint32_t cases = (uint32_t)query_get(&q);
        if (word == NULL || !verdict_parse(word, &verdict))
            continue;
        run->verdicts[verdict] = cases;
        run->case_count += cases;
    }
    (void)query_end(&q);
}

enum status store_find_killed_runs(struct store *store, struct killed_runs *out,
                                   struct fault *fault)
{
    struct arena scratch;
    arena_init(&scratch, 4096);
    out->count = 0;
    struct query q = query_begin(store, SQL_RUNNING_PROCESSES, &scratch, fault);
    while (query_row(&q)) {
        const uint64_t id = query_get(&q);
        const char *process = query_get_text(&q);
        if (out->count < KILLED_RUNS_MAX && process_life_of(process) == PROCESS_GONE)
            out->ids[out->count++] = id;
    }
    (void)query_end(&q);
    arena_free(&scratch);
    return fault->code;
}

uint64_t store_killed_runs(struct store *store)
{
    struct killed_runs killed;
    struct fault ignored = FAULT_INIT;
    uint64_t sum = 0;
    if (store_find_killed_runs(store, &killed, &ignored) == ERR_NONE)
        for (uint32_t i = 0; i < killed.count; i++)
            sum += killed.ids[i];
    return sum;
}

static enum status mark_killed(struct store *store, struct run_info *runs, uint32_t count,
                               struct fault *fault)
{
    struct killed_runs killed;
    bool any = false;
    for (uint32_t i = 0; i < count; i++)
        any |= runs[i].state == RUN_RUNNING;
    if (!any || store_find_killed_runs(store, &killed, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < killed.count; k++)
            if (runs[i].id == killed.ids[k])
                runs[i].state = RUN_INTERRUPTED;
    return ERR_NONE;
}

static void bind_run_filter(struct query *q, const struct run_query *query)
{
    query_text(q, query->branch);
    query_text(q, query->platform);
    query_text(q, query->label);
    query_int(q, query->with_running);
}

enum status store_list_runs(struct store *store, const struct run_query *query, struct arena *keep,
                            struct run_page *out, struct fault *fault)
{
    memset(out, 0, sizeof *out);
    const uint32_t limit = page_limit(query->limit);
    out->runs = ARENA_ARRAY(keep, (size_t)limit + 1, struct run_info);
    if (out->runs == NULL)
        return fault_no_memory(fault, "runs");
    struct query q =
        query_begin(store, query->oldest_first ? SQL_LIST_RUNS_UP : SQL_LIST_RUNS, keep, fault);
    bind_run_filter(&q, query);
    query_int(&q, query->after);
    query_int(&q, (uint64_t)limit + 1); /* one row more shows whether there is a next page */
    while (out->count <= limit && query_row(&q))
        read_run_row(&q, &out->runs[out->count++]);
    (void)query_end(&q);
    if (out->count > limit) {
        out->count = limit;
        out->next = out->runs[limit - 1].id;
    }
    for (uint32_t i = 0; i < out->count; i++) {
        read_verdicts(store, &out->runs[i], keep, fault);
        store_read_pace(store, out->runs[i].id, &out->runs[i].pace, fault);
    }
    struct query count = query_begin(store, SQL_COUNT_RUNS, keep, fault);
    bind_run_filter(&count, query);
    if (query_row(&count))
        out->total = query_get(&count);
    return query_end(&count) == ERR_NONE ? mark_killed(store, out->runs, out->count, fault)
                                         : fault->code;
}

static void read_notes(struct store *store, uint64_t run_id, const char *kind, struct arena *keep,
                       struct named_version **out, uint32_t *count, struct fault *fault)
{
    struct query q = query_with(store, SQL_READ_RUN_NOTES, run_id, keep, fault);
    query_text(&q, kind);
    struct named_version *note;
    while ((note = query_row_of(&q, out, count, sizeof *note)) != NULL) {
        note->name = query_get_text(&q);
        note->version = query_get_text(&q);
    }
    (void)query_end(&q);
}

/* Runs of older versions stored only their command line. */
static void read_selection(struct store *store, struct run_info *run, struct arena *keep,
                           struct fault *fault)
{
    struct run_selection *out = &run->selection;
    struct named_version *rows = NULL;
    uint32_t count = 0;
    read_notes(store, run->id, "selection", keep, &rows, &count, fault);
    for (uint32_t i = 0; i < count; i++) {
        out->known = true;
        if (strcmp(rows[i].name, "expr") == 0)
            out->expr = rows[i].version;
        else if (strcmp(rows[i].name, "variants") == 0)
            out->variants = rows[i].version;
        else if (strcmp(rows[i].name, "shard") == 0 && rows[i].version != NULL)
            (void)run_selection_parse_shard(rows[i].version, out);
    }
    if (count == 0 && fault->code == ERR_NONE && run_has_run_label(run))
        (void)run_selection_of_command(run->command, keep, out, fault);
}

enum status store_read_run(struct store *store, uint64_t run_id, struct arena *keep,
                           struct run_info *out, struct fault *fault)
{
    memset(out, 0, sizeof *out);
    struct query q = query_with(store, SQL_READ_RUN, run_id, keep, fault);
    if (query_row(&q))
        read_run_row(&q, out);
    if (query_end(&q) != ERR_NONE)
        return fault->code;
    if (out->id == 0)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "run");
    read_notes(store, run_id, "tool", keep, &out->tools, &out->tool_count, fault);
    read_notes(store, run_id, "environment", keep, &out->environment, &out->environment_count,
               fault);
    read_selection(store, out, keep, fault);
    struct named_version *process = NULL;
    uint32_t processes = 0;
    read_notes(store, run_id, "process", keep, &process, &processes, fault);
    out->process = processes > 0 ? process[0].name : NULL;
    read_verdicts(store, out, keep, fault);
    store_read_pace(store, out->id, &out->pace, fault);
    return fault->code == ERR_NONE ? mark_killed(store, out, 1, fault) : fault->code;
}

static enum status find_one(struct query *q, uint64_t *out, const char *what, const char *hint)
{
    uint64_t found = 0;
    uint32_t rows = 0;
    while (query_row(q)) {
        found = query_get(q);
        rows++;
    }
    if (query_end(q) != ERR_NONE)
        return q->fault->code;
    if (rows > 1)
        return fault_set_lasting(q->fault, ERR_USAGE, FAULT_NO_OFFSET, what,
                                 "more than one begins like that");
    if (rows == 0)
        return fault_set_lasting(q->fault, ERR_ABSENT, FAULT_NO_OFFSET, what, hint);
    *out = found;
    return ERR_NONE;
}

/* Enough for ",ID" of each run, a comma and the final 0. */
enum { KILLED_TEXT_BYTES = KILLED_RUNS_MAX * 21 + 2 };

/* A killed run has ended, though the database says `running`: if `latest` skipped it, the run
 * before it would be judged in its place. OUT: ",7,9,". */
static enum status write_killed(struct store *store, char out[KILLED_TEXT_BYTES],
                                struct fault *fault)
{
    struct killed_runs killed;
    size_t at = 1;
    (void)snprintf(out, KILLED_TEXT_BYTES, ",");
    if (store_find_killed_runs(store, &killed, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < killed.count; i++)
        at += (size_t)snprintf(out + at, KILLED_TEXT_BYTES - at, "%" PRIu64 ",", killed.ids[i]);
    return ERR_NONE;
}

enum status store_find_run(struct store *store, const char *word, uint64_t *run_id,
                           struct fault *fault)
{
    char killed[KILLED_TEXT_BYTES];
    uint64_t number = 0;
    if (strcmp(word, "baseline") == 0)
        return store_get_baseline(store, NULL, NULL, run_id, fault);
    if (strcmp(word, "latest") == 0 || (strncmp(word, "latest~", 7) == 0 &&
                                        text_parse_uint(word + 7, strlen(word + 7), &number))) {
        if (write_killed(store, killed, fault) != ERR_NONE)
            return fault->code;
        struct query q = query_begin(store, SQL_FIND_RUN_LATEST, NULL, fault);
        query_int(&q, number);
        query_text(&q, killed);
        return find_one(&q, run_id, "run",
                        "fewer runs have finished; `twinstack db list` shows all runs, "
                        "and `twinstack report ID` one that goes on");
    }
    if (text_parse_uint(word, strlen(word), &number)) {
        struct query q = query_begin(store, SQL_RUN_STATE, NULL, fault);
        query_int(&q, number);
        const bool found = query_row(&q);
        (void)query_end(&q);
        if (found) {
            *run_id = number;
            return ERR_NONE;
        }
    }
    if (fault->code != ERR_NONE || write_killed(store, killed, fault) != ERR_NONE)
        return fault->code;
    struct query named = query_begin(store, SQL_FIND_RUN_NAMED, NULL, fault);
    query_text(&named, word);
    query_text(&named, killed);
    const bool found = query_row(&named);
    *run_id = found ? query_get(&named) : 0;
    if (query_end(&named) != ERR_NONE || found)
        return fault->code;
    if (strlen(word) < 4)
        return fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "run",
                              "name a run by id, the start of its uuid or commit, its branch, "
                              "latest, latest~N or baseline");
    struct query q = query_begin(store, SQL_FIND_RUN_UUID, NULL, fault);
    query_text(&q, word);
    return find_one(&q, run_id, "run", "no id, branch, commit or uuid is or begins like that");
}

enum status store_get_baseline(struct store *store, const char *branch, const char *platform,
                               uint64_t *run_id, struct fault *fault)
{
    struct query q = query_begin(store, SQL_GET_BASELINE, NULL, fault);
    query_text(&q, branch);
    query_text(&q, platform);
    return find_one(&q, run_id, "baseline", "`twinstack baseline set RUN` names one");
}

/* ---- figures -------------------------------------------------------------------------- */

enum status store_read_hooks(struct store *store, uint64_t run_id, struct arena *keep,
                             struct hook_outcome **out, uint32_t *count, struct fault *fault)
{
    struct text_pool texts;
    text_pool_init(&texts, keep);
    struct query q = query_with(store, SQL_READ_HOOKS, run_id, keep, fault);
    q.texts = &texts;
    struct hook_outcome *d;
    while ((d = query_row_of(&q, out, count, sizeof *d)) != NULL) {
        d->case_id = query_get(&q);
        d->scenario = query_get_text(&q);
        d->variant = query_get_text(&q);
        d->repeat = (uint32_t)query_get(&q);
        d->expected = hooks_parse(query_get_text(&q));
        d->got = hooks_parse(query_get_text(&q));
        (void)verdict_parse(query_get_text(&q), &d->verdict);
        d->kind = case_kind_parse(query_get_text(&q));
    }
    return query_end(&q);
}

enum status store_read_samples(struct store *store, uint64_t run_id, struct arena *keep,
                               struct bench_sample **out, uint32_t *count, struct fault *fault)
{
    struct query q = query_with(store, SQL_READ_SAMPLES, run_id, keep, fault);
    struct bench_sample *s;
    while ((s = query_row_of(&q, out, count, sizeof *s)) != NULL) {
        s->lane = bench_lane_parse(query_get_text(&q));
        s->stage = bench_stage_parse(query_get_text(&q));
        s->cold = query_get(&q) != 0;
        s->round = (uint32_t)query_get(&q);
        s->ns = query_get(&q);
    }
    return query_end(&q);
}

enum status store_read_bench_cases(struct store *store, uint64_t run_id, struct arena *keep,
                                   struct bench_case **out, uint32_t *count, struct fault *fault)
{
    struct query q = query_with(store, SQL_READ_BENCH_CASES, run_id, keep, fault);
    struct bench_case *c;
    while ((c = query_row_of(&q, out, count, sizeof *c)) != NULL) {
        c->process = (uint32_t)query_get(&q);
        c->scenario = query_get_text(&q);
        c->variant = query_get_text(&q);
        c->arch = cpu_parse(query_get_text(&q));
        c->kind = case_kind_parse(query_get_text(&q));
        c->cold = query_get(&q) != 0;
        c->ns[LANE_OFFSET] = query_get(&q);
        c->ns[LANE_DUMP] = query_get(&q);
    }
    return query_end(&q);
}
