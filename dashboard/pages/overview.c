/* The first page: the newest run, its figures with their history, and what changed. */
#include "pages/view.h"

#include <inttypes.h>
#include <math.h>

#include "base/array.h"
#include "pages/asked.h"
#include "pages/compare.h"
#include "pages/runs.h"
#include "pages/trend.h"
#include "study/accuracy.h"
#include "study/headline.h"
#include "study/lanes.h"
#include "study/triage.h"

enum { FAILING_SHOWN = 8 };

/* {"total", "cases": [...]}: what fails in the run, the first of it in the queue's order. */
static void write_failing(const struct triage *t, struct json *out)
{
    json_object(out);
    json_key_array(out, "cases");
    for (uint32_t i = 0; i < t->wrong && i < FAILING_SHOWN; i++) { /* they come first */
        const struct triage_item *c = &t->items[i];
        json_object(out);
        json_key_string(out, "scenario", c->scenario);
        json_key_string(out, "variant", c->variant);
        json_key_uint(out, "repeat", c->repeat);
        json_key_string(out, "verdict", verdict_name(c->verdict));
        json_key_string(out, "reason", c->reason);
        json_key_string(out, "trouble", trouble_name(c->trouble));
        json_key_bool(out, "is_new", c->is_new);
        json_object_end(out);
    }
    json_array_end(out);
    json_key_uint(out, "total", t->wrong);
    json_object_end(out);
}

/* Those that a trend has, of this run, which may be in none: it was interrupted. */
static void write_figures(const struct run_figures *figures, struct json *out)
{
    static const enum metric shown[] = {METRIC_CAPTURE_RATE, METRIC_EXACT, METRIC_F1};
    json_key_object(out, "figures");
    for (size_t i = 0; i < COUNT_OF(shown); i++) {
        const double value = figures_metric(figures, shown[i]);
        if (isnan(value))
            continue;
        json_key_object(out, metric_name(shown[i]));
        json_key_number(out, "value", value);
        json_key_uint(out, "count", figures_metric_count(figures, shown[i]));
        json_object_end(out);
    }
    json_object_end(out);
}

static enum status write_triage(const struct view_input *in, uint64_t run_id, struct json *out,
                                struct fault *fault)
{
    const struct triage *t = NULL;
    const char *word = arena_printf(in->keep, "%" PRIu64, run_id);
    if (word == NULL)
        return fault_no_memory(fault, "number of a run");
    if (view_get_triage(in, word, &t, fault) != ERR_NONE)
        return fault->code;
    json_key(out, "failing");
    write_failing(t, out);
    json_key_string(out, "not_run", lanes_not_run(&t->figures, in->keep));
    json_key(out, "wrong");
    triage_write_wrong(out, t);
    json_key(out, "shares");
    triage_write_shares(out, t);
    write_figures(&t->figures, out);
    json_key(out, "accuracy");
    accuracy_write_json(out, &t->figures);
    headline_write_members(out, &t->figures);
    return ERR_NONE;
}

/* The newest run that judged something, of a platform or branch; 0: none. */
static enum status find_judging(const struct view_input *in, uint64_t *run_id, struct fault *fault)
{
    struct run_query query = {.platform = http_query_get(in->query, "platform"),
                              .branch = http_query_get(in->query, "branch")};
    struct run_page page;
    *run_id = 0;
    do {
        if (store_list_runs(in->store, &query, in->keep, &page, fault) != ERR_NONE)
            return fault->code;
        for (uint32_t i = 0; i < page.count && *run_id == 0; i++)
            if (page.runs[i].case_count > 0 || run_has_run_label(&page.runs[i]))
                *run_id = page.runs[i].id;
        query.after = page.next;
    } while (*run_id == 0 && page.next != 0);
    return ERR_NONE;
}

/* The run that the query names, else the newest: a bench judges nothing, and must not hide that the
 * run before it failed. The page is empty if there is no run. */
static enum status find_shown(const struct view_input *in, struct run_page *page,
                              struct fault *fault)
{
    const struct run_query query = {.platform = http_query_get(in->query, "platform"),
                                    .branch = http_query_get(in->query, "branch"),
                                    .limit = 1};
    const char *word = http_query_get(in->query, "run");
    const bool filtered = query.platform != NULL || query.branch != NULL;
    struct fault none = FAULT_INIT;
    uint64_t run_id = 0;
    if (store_list_runs(in->store, &query, in->keep, page, fault) != ERR_NONE)
        return fault->code;
    page->count = 0;
    if (word != NULL || !filtered)
        (void)view_find_run(in, word, &run_id, word != NULL ? fault : &none);
    else
        (void)find_judging(in, &run_id, fault);
    if (fault->code != ERR_NONE || run_id == 0)
        return fault->code;
    page->count = 1;
    return store_read_run(in->store, run_id, in->keep, &page->runs[0], fault);
}

enum status view_overview(const struct view_input *in, struct json *out, struct fault *fault)
{
    static const enum metric metrics[] = {METRIC_CAPTURE_RATE, METRIC_EXACT,  METRIC_F1,
                                          METRIC_SPEED_RATIO,  METRIC_OFFSET, METRIC_DUMP};
    struct run_page page;
    struct fault none = FAULT_INIT;
    uint64_t baseline = 0;
    enum status status = find_shown(in, &page, fault);
    if (status != ERR_NONE)
        return status;
    const uint64_t until = http_query_get(in->query, "run") != NULL ? page.runs[0].id : 0;

    json_object(out);
    json_key_uint(out, "total_runs", page.total);
    json_key(out, "run");
    if (page.count == 0) {
        json_null(out);
        json_object_end(out);
        return ERR_NONE;
    }
    run_info_write_json(out, &page.runs[0]);
    json_key_object(out, "trends");
    for (size_t i = 0; i < COUNT_OF(metrics) && status == ERR_NONE; i++) {
        json_key(out, metric_name(metrics[i]));
        status = view_write_trend(
            in, &(struct trend_query){.metric = metrics[i], .until = until, .limit = 30}, out,
            fault);
    }
    json_object_end(out);
    (void)store_get_baseline(in->store, NULL, NULL, &baseline, &none);
    json_key_uint_known(out, "baseline", baseline);
    json_key(out, "changes");
    if (status == ERR_NONE && baseline != 0)
        status = view_write_changes(in, baseline, page.runs[0].id, out, fault);
    else
        json_null(out);
    if (status == ERR_NONE)
        status = write_triage(in, page.runs[0].id, out, fault);
    json_key(out, "causes");
    if (status == ERR_NONE)
        status = view_write_causes(in, page.runs[0].id, out, fault);
    json_object_end(out);
    return status;
}
