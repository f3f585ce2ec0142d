/* See gate.h. */
#include "study/gate.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "stream/totals.h"
#include "study/selection.h"

struct session {
    const struct gate_request *request;
    struct arena *keep;
    struct gate *out;
};

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static void
add(struct session *s, const char *name, bool holds, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (s->out->check_count == GATE_CHECKS_MAX)
        return;
    s->out->checks[s->out->check_count].name = name;
    s->out->checks[s->out->check_count].holds = holds;
    s->out->checks[s->out->check_count++].text = arena_string(s->keep, text);
}

static void check_metric(struct session *s, enum metric metric, double limit)
{
    const char *name = metric_name(metric);
    if (isnan(limit))
        return;
    const double value = figures_metric(&s->out->figures, metric, s->keep);
    if (isnan(value))
        add(s, name, false, "nothing was measured, %.1f %% demanded", limit * 100);
    else
        add(s, name, value >= limit, "%.2f %%, at least %.2f %% demanded",
            floor(value * 10000) / 100, limit * 100);
}

static void check_verdicts(struct session *s)
{
    const uint32_t *v = s->out->run.info.verdicts;
    uint32_t failing = 0;
    for (int i = 0; i < VERDICT_COUNT; i++)
        failing += run_verdict_fails((enum verdict)i) ? v[i] : 0;
    add(s, "state", s->out->run.info.state == RUN_COMPLETE, "the run is %s",
        run_state_name(s->out->run.info.state));
    for (uint32_t i = 0; i < s->out->figures.problem_count; i++)
        if (s->out->run.info.state == RUN_COMPLETE)
            add(s, "known", false, "%s", s->out->figures.problems[i]);
    if (s->request->strict || s->request->against == NULL)
        add(s, "verdicts", failing == 0, "%u of %u cases fail", failing,
            s->out->run.info.case_count);
    else
        add(s, "errors", v[VERDICT_ERROR] == 0, "%u ERROR", v[VERDICT_ERROR]);
    if (s->request->strict)
        add(s, "unsupported", v[VERDICT_UNSUPPORTED] == 0, "%u UNSUPPORTED",
            v[VERDICT_UNSUPPORTED]);
}

/* Reference engines fail a run only when the request names them. */
static void check_engines(struct session *s)
{
    for (uint32_t i = 0; i < s->request->engine_count; i++) {
        const char *name = s->request->engines[i];
        const struct engine_total *found = NULL;
        for (uint32_t e = 0; e < s->out->figures.engine_count; e++)
            if (strcmp(s->out->figures.engines[e].engine, name) == 0)
                found = &s->out->figures.engines[e];
        if (found == NULL || found->judged == 0)
            add(s, name, false, "no stack of it could be judged");
        else
            add(s, name, found->exact == found->judged, "%u of %u stacks exact", found->exact,
                found->judged);
    }
}

/* A case that is gone cannot fail: if the gate ignored that, losing cases would open it. */
static enum status check_gone(struct session *s, const struct run_diff *diff, uint64_t before,
                              struct fault *fault)
{
    const char *expr = s->request->allow_missing;
    uint32_t gone = 0, allowed = 0;
    const struct run_selection *now = &s->out->run.info.selection;
    const char *part = "";
    if (now->shard_count > 0)
        part = arena_printf(s->keep,
                            " (part %u of %u: `twinstack db merge` makes one run of the parts)",
                            now->shard, now->shard_count);
    for (uint32_t i = 0; i < diff->row_count; i++) {
        const struct diff_row *row = &diff->rows[i];
        bool may = false;
        if (row->group != DIFF_GONE || !row->counts)
            continue;
        if (expr != NULL && selection_matches(expr, row->a, &may, fault) != ERR_NONE)
            return fault->code;
        allowed += may;
        gone += !may;
    }
    add(s, "cases gone", gone == 0,
        "%u gone since run %" PRIu64 ", beside %u allowed by --allow-missing and %u that this run "
        "was not asked for%s",
        gone, before, allowed, diff->counts[DIFF_NOT_SELECTED], text_or_empty(part));
    return ERR_NONE;
}

/* Compares the run with BEFORE. Times only if a limit on them was asked for: reading and comparing
 * those of many cases takes longer than comparing their verdicts. */
static enum status compare_runs(struct session *s, struct store *store, struct run_side *before,
                                struct run_diff *out, struct fault *fault)
{
    const bool timed = !isnan(s->request->max_slowdown);
    const enum diff_detail detail = timed ? DIFF_TIMES : DIFF_VERDICTS;
    struct run_side *now = &s->out->run;
    struct difference whole;
    if (study_read_side_before(store, s->request->against, &now->info, detail, s->keep, before,
                               fault) != ERR_NONE ||
        study_read_side_of(store, now->info.id, detail, s->keep, now, fault) != ERR_NONE)
        return fault->code;
    if (!timed)
        return difference_of_verdicts(&before->side, &now->side, s->keep, out, fault);
    if (difference_make(store, &before->side, &now->side, s->request->max_slowdown, s->keep, &whole,
                        fault) == ERR_NONE)
        *out = whole.diff;
    return fault->code;
}

static enum status check_baseline(struct session *s, struct store *store, struct fault *fault)
{
    struct run_side before;
    struct run_diff compared = {.row_count = 0};
    const struct run_diff *diff = &compared;
    if (s->request->against == NULL)
        return ERR_NONE;
    if (compare_runs(s, store, &before, &compared, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < diff->fact_count; i++)
        add(s, "environment", !s->request->strict, "%s: %s -> %s", diff->facts[i].name,
            diff->facts[i].a != NULL ? diff->facts[i].a : "(unknown)",
            diff->facts[i].b != NULL ? diff->facts[i].b : "(unknown)");
    add(s, "new failures", diff->counts[DIFF_NEW] <= s->request->max_new,
        "%u new since run %" PRIu64 ", at most %" PRIu64 " allowed (%u fixed, %u still failing)",
        diff->counts[DIFF_NEW], before.info.id, s->request->max_new, diff->counts[DIFF_FIXED],
        diff->counts[DIFF_STILL]);
    if (check_gone(s, diff, before.info.id, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < diff->time_count; i++) {
        const struct diff_time *t = &diff->times[i];
        if (!t->subject)
            continue;
        if (t->change.change == CHANGE_TOO_FEW)
            add(s, t->engine, !s->request->strict, "no verdict on time: %u samples are too few",
                t->cases);
        else
            add(s, t->engine, t->change.change != CHANGE_SLOWER,
                "time %+.1f %%, at most %.1f %% allowed, p %.4f", t->change.effect * 100,
                t->change.threshold * 100, t->change.p);
    }
    return ERR_NONE;
}

static void conclude(struct gate *out)
{
    out->open = true;
    for (uint32_t i = 0; i < out->check_count; i++)
        out->open = out->open && out->checks[i].holds;
}

enum status gate_decide(struct store *store, const char *word, const struct gate_request *request,
                        struct arena *keep, struct gate *out, struct fault *fault)
{
    struct session s = {.request = request, .keep = keep, .out = out};
    memset(out, 0, sizeof *out);
    const enum figures_use use =
        isnan(request->min_capture) ? FIGURES_OF_GATE : FIGURES_OF_CAPTURES;
    if (figures_read(store, word, use, keep, &out->run.info, &out->figures, fault) != ERR_NONE)
        return fault->code;
    check_verdicts(&s);
    check_metric(&s, METRIC_CAPTURE_RATE, request->min_capture);
    check_metric(&s, METRIC_EXACT, request->min_exact);
    check_metric(&s, METRIC_F1, request->min_f1);
    check_engines(&s);
    if (check_baseline(&s, store, fault) != ERR_NONE)
        return fault->code;
    conclude(out);
    return ERR_NONE;
}

static void check_agreement(struct session *s, const struct shadow_total *total, double limit)
{
    const uint64_t judged = total->same + total->differs + total->failed;
    const double share = judged > 0 ? (double)total->same / (double)judged : 0;
    if (total->against == NULL)
        return; /* the others are compared with it */
    add(s, total->engine, share >= limit,
        "agrees with %s in %.2f %% of %" PRIu64 " reports (%" PRIu64 " differ, %" PRIu64
        " failed), at least %.2f %% demanded",
        total->against, floor(share * 10000) / 100, judged, total->differs, total->failed,
        limit * 100);
}

enum status gate_decide_shadow(const char *file, const struct gate_request *request,
                               struct arena *keep, struct gate *out, struct fault *fault)
{
    struct session s = {.request = request, .keep = keep, .out = out};
    struct totals *totals = NULL;
    struct shadow_list *list = ARENA_NEW(keep, struct shadow_list);
    const double limit = isnan(request->min_agreement) ? 0.99 : request->min_agreement;
    memset(out, 0, sizeof *out);
    out->shadow = true;
    if (list == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "gate");
    if (totals_open(file, false, &totals, fault) == ERR_NONE)
        (void)totals_read_shadow(totals, NULL, NULL, keep, list, fault);
    totals_close(totals);
    if (fault->code != ERR_NONE)
        return fault->code;
    const uint64_t least = request->strict ? GATE_SHADOW_LEAST : 1;
    add(&s, "sampled reports", list->reports >= least,
        "%" PRIu64 " were judged, at least %" PRIu64 " demanded", list->reports, least);
    for (uint32_t i = 0; i < list->engine_count; i++)
        check_agreement(&s, &list->engines[i], limit);
    conclude(out);
    return ERR_NONE;
}

void gate_write_json(struct json *j, const struct gate *gate)
{
    json_object(j);
    if (gate->shadow)
        json_key_null(j, "run");
    else
        json_key_uint(j, "run", gate->run.info.id);
    json_key_bool(j, "open", gate->open);
    json_key(j, "checks");
    json_array(j);
    for (uint32_t i = 0; i < gate->check_count; i++) {
        json_object(j);
        json_key_string(j, "name", gate->checks[i].name);
        json_key_bool(j, "holds", gate->checks[i].holds);
        json_key_string(j, "said", gate->checks[i].text); /* alias of "text" */
        json_key_string(j, "text", gate->checks[i].text);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}
