/* See lanes.h. */
#include "study/lanes.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "store/archive.h"
#include "study/failures_words.h"

static bool is_run(enum verdict verdict)
{
    return verdict != VERDICT_UNSUPPORTED;
}

static struct lane_total *lane_of(struct lane_total *lanes, uint32_t *count, const char *variant,
                                  struct arena *keep)
{
    for (uint32_t i = *count; i-- > 0;) /* most often the last one */
        if (strcmp(lanes[i].variant, variant) == 0)
            return &lanes[i];
    const char *copy = *count < LANES_MAX ? arena_string(keep, variant) : NULL;
    if (copy == NULL)
        return NULL;
    lanes[*count] = (struct lane_total){.variant = copy};
    return &lanes[(*count)++];
}

void lane_add(struct lane_total *lanes, uint32_t *count, const struct run_case *c,
              struct arena *keep)
{
    struct lane_total *lane = lane_of(lanes, count, c->variant, keep);
    if (lane == NULL)
        return;
    lane->cases++;
    lane->run += is_run(c->result.verdict);
    if (lane->arch == CPU_UNKNOWN)
        lane->arch = c->arch;
    if (lane->why == NULL && !is_run(c->result.verdict))
        lane->why = arena_string(keep, text_or_empty(c->result.reason));
}

/* ---- what was not run ----------------------------------------------------------------- */

/* Adds NAME to TEXT, which may be NULL. */
static const char *joined(const char *text, const char *between, const char *name,
                          struct arena *keep)
{
    return text == NULL ? name : arena_printf(keep, "%s%s%s", text, between, name);
}

static bool has_same_reason(const struct lane_total *a, const struct lane_total *b)
{
    return strcmp(text_or_empty(a->why), text_or_empty(b->why)) == 0;
}

/* True when run RUN_ID has cases of VARIANT; *RAN: not all are UNSUPPORTED. */
static bool has_lane(struct store *store, uint64_t run_id, const char *variant, bool *ran,
                     struct arena *keep)
{
    static const enum verdict unsupported = VERDICT_UNSUPPORTED;
    struct case_query query = {.run_id = run_id,
                               .variant = variant,
                               .without_scores = true,
                               .without_findings = true,
                               .limit = 1};
    struct fault fault = FAULT_INIT;
    struct case_page all, not_run;
    if (store_list_cases(store, &query, keep, &all, &fault) != ERR_NONE)
        return false;
    query.verdict = &unsupported;
    if (store_list_cases(store, &query, keep, &not_run, &fault) != ERR_NONE)
        return false;
    *ran = all.total > not_run.total;
    return all.total > 0;
}

enum { RUNS_MOST = 20 }; /* that are looked at before a run */

/* Since when a build is not run, by the complete runs of its branch; "" of a run that is in no
 * database. */
static const char *since_text(const struct run_figures *figures, const char *variant,
                              struct arena *keep)
{
    const struct run_info *first = figures->run;
    const struct run_query query = {
        .branch = first->branch, .after = first->id, .limit = RUNS_MOST};
    struct fault fault = FAULT_INIT;
    struct run_page page;
    if (figures->store == NULL ||
        store_list_runs(figures->store, &query, keep, &page, &fault) != ERR_NONE)
        return "";
    for (uint32_t i = 0; i < page.count; i++) {
        const struct run_info *run = &page.runs[i];
        bool ran = false;
        if (run->state != RUN_COMPLETE || !has_lane(figures->store, run->id, variant, &ran, keep))
            continue;
        if (ran) {
            const struct case_history since = {
                .failing_run = first->id, .failing_commit = first->commit, .good_run = run->id};
            return arena_printf(keep, ", since %s",
                                text_or_empty(failure_since_text(&since, keep)));
        }
        first = run;
    }
    if (page.next != 0)
        return arena_printf(keep, ", nor in the %d runs before", RUNS_MOST);
    return first != figures->run ? ", nor in any run before" : ", and no earlier run has it";
}

/* The builds that have the reason of lane AT, if it is the first of them. */
static const char *reason_text(const struct run_figures *figures, uint32_t at, struct arena *keep)
{
    const struct lane_total *lane = &figures->lanes[at];
    const char *names = NULL;

    for (uint32_t i = 0; i < figures->lane_count; i++) {
        const struct lane_total *other = &figures->lanes[i];
        if (other->run > 0 || !has_same_reason(lane, other))
            continue;
        if (i < at)
            return NULL;
        names = joined(names, ", ", other->variant, keep);
    }
    if (names != NULL && lane->why != NULL && lane->why[0] != '\0')
        names = arena_printf(keep, "%s (%s)", names, lane->why);
    return names != NULL ? arena_printf(keep, "%s%s", names,
                                        text_or_empty(since_text(figures, lane->variant, keep)))
                         : NULL;
}

const char *lanes_not_run(const struct run_figures *figures, struct arena *keep)
{
    const char *text = NULL;

    for (uint32_t i = 0; i < figures->lane_count; i++) {
        const char *one = figures->lanes[i].run == 0 ? reason_text(figures, i, keep) : NULL;
        if (one != NULL)
            text = joined(text, "; ", one, keep);
    }
    const bool whole = run_selection_is_all(&figures->run->selection);
    for (uint32_t i = 0; i < figures->run->environment_count && whole; i++) {
        const struct named_version *fact = &figures->run->environment[i];
        if (strcmp(fact->name, RUN_FACT_NOT_BUILT) == 0)
            text = joined(text, "; ", arena_printf(keep, "%s (not built)", fact->version), keep);
    }
    return text;
}

/* ---- counts --------------------------------------------------------------------------- */

/* What a build's cases count under: its runtime, or the processor. */
static const char *kind_of(const struct lane_total *lane)
{
    static const struct {
        const char *start, *name;
    } runtimes[] = {{"managed10-", ".NET 10"}, {"managed-", ".NET 3.1"}};

    for (size_t i = 0; i < COUNT_OF(runtimes); i++)
        if (strncmp(lane->variant, runtimes[i].start, strlen(runtimes[i].start)) == 0)
            return runtimes[i].name;
    return cpu_name(lane->arch);
}

const char *lanes_counts(const struct run_figures *figures, struct arena *keep)
{
    const char *text = NULL;

    for (uint32_t i = 0; i < figures->lane_count; i++) {
        const char *kind = kind_of(&figures->lanes[i]);
        uint32_t cases = 0, run = 0, first = figures->lane_count;
        for (uint32_t k = 0; k < figures->lane_count; k++) {
            const struct lane_total *other = &figures->lanes[k];
            if (strcmp(kind_of(other), kind) != 0)
                continue;
            first = first < k ? first : k;
            cases += other->cases;
            run += other->run;
        }
        if (first == i)
            text = joined(text, ", ",
                          arena_printf(keep, "%s %" PRIu32 " of %" PRIu32, kind, run, cases), keep);
    }
    return text;
}

void lanes_write_json(struct json *j, const struct run_figures *figures)
{
    struct arena scratch;

    json_key_array(j, "lanes");
    for (uint32_t i = 0; i < figures->lane_count; i++) {
        const struct lane_total *lane = &figures->lanes[i];
        json_object(j);
        json_key_string(j, "variant", lane->variant);
        json_key_string(j, "arch", cpu_name(lane->arch));
        json_key_uint(j, "cases", lane->cases);
        json_key_uint(j, "run", lane->run);
        json_object_end(j);
    }
    json_array_end(j);
    arena_init(&scratch, 0);
    json_key_string(j, "lanes_counts", lanes_counts(figures, &scratch));
    json_key_string(j, "not_run", lanes_not_run(figures, &scratch));
    arena_free(&scratch);
}

/* ---- against another run ---------------------------------------------------------------- */

const char *lanes_lost(const struct run_diff *diff, struct arena *keep)
{
    struct lane_total *before = ARENA_ARRAY(keep, LANES_MAX, struct lane_total);
    const char *text = NULL;
    uint32_t count = 0;

    for (uint32_t i = 0; before != NULL && i < diff->row_count; i++) {
        const struct diff_row *row = &diff->rows[i];
        struct lane_total *lane = row->a != NULL && row->b != NULL
                                      ? lane_of(before, &count, row->a->variant, keep)
                                      : NULL;
        if (lane == NULL)
            continue;
        lane->cases += is_run(row->a->verdict);
        lane->run += is_run(row->b->verdict);
    }
    for (uint32_t i = 0; i < count; i++)
        if (before[i].cases > 0 && before[i].run == 0)
            text = joined(text, ", ",
                          arena_printf(keep, "%s (%" PRIu32 " case%s)", before[i].variant,
                                       before[i].cases, before[i].cases == 1 ? "" : "s"),
                          keep);
    return text;
}
